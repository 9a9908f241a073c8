//! Splits a response body into its objects and the envelope around them, while the bytes arrive.

use super::{
    DecodeError,
    scanner::{Scanned, Scanner},
};

/// The maximum size of one object and of the envelope, in bytes. etcd rejects objects of a few megabytes.
const MAX_SIZE: usize = 64 << 20;
/// The buffer capacity that is retained between objects, in bytes.
pub(super) const RETAINED_CAPACITY: usize = 1 << 20;

/// The structure of a response body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A list: the objects are the elements of `items`.
    List,
    /// A sequence of watch events, each with one `object`.
    Events,
}

/// A complete part of the response body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// An object.
    Object,
    /// The envelope around the object or objects: a list or a watch event is complete.
    Envelope,
}

/// Finds the ends of the objects in a response body. At most one object is buffered.
#[derive(Debug)]
pub(super) struct Framer {
    envelope: Scanner,
    object: Scanner,
    shape: Shape,
    position: Position,
    /// Whether the `items` or the `object` of this envelope were found.
    has_value: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// Before the first envelope, between two, or after the last one.
    Outside,
    Envelope,
    /// Before an element: the first one, or one after a comma.
    BeforeElement {
        is_first: bool,
    },
    AfterElement,
    Object,
}

const ITEMS: &[&str] = &["items"];
const OBJECT: &[&str] = &["object"];
pub(super) const MANAGED_FIELDS: &[&str] = &["metadata", "managedFields"];

impl Framer {
    /// Creates a framer for a response body of this shape.
    pub(super) fn new(shape: Shape, keep_managed_fields: bool) -> Self {
        let envelope = Scanner::stopping_at(if shape == Shape::List { ITEMS } else { OBJECT });
        let object = Scanner::skipping(if keep_managed_fields { &[] } else { MANAGED_FIELDS });
        Framer { envelope, object, shape, position: Position::Outside, has_value: false }
    }

    /// Returns the text of the last object.
    pub(super) fn object(&self) -> &[u8] {
        self.object.text()
    }

    /// Returns the text of the envelope, without its objects.
    pub(super) fn envelope(&self) -> &[u8] {
        self.envelope.text()
    }

    /// Returns whether an envelope is incomplete.
    pub(super) fn is_incomplete(&self) -> bool {
        self.position != Position::Outside
    }

    /// Consumes bytes up to the end of the next frame; `None` if all were consumed without completing one.
    ///
    /// # Errors
    /// Fails if the bytes do not have the shape.
    pub(super) fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<Frame>, DecodeError> {
        while let Some(&byte) = bytes.first() {
            let frame = match self.position {
                Position::Envelope => self.scan_envelope(bytes)?,
                Position::Object => self.scan_object(bytes)?,
                _ if byte.is_ascii_whitespace() => {
                    *bytes = &bytes[1..];
                    None
                }
                _ if byte == b'{' => {
                    self.open()?;
                    None
                }
                _ => {
                    self.delimiter(byte)?;
                    *bytes = &bytes[1..];
                    None
                }
            };
            if frame.is_some() {
                return Ok(frame);
            }
        }
        Ok(None)
    }

    /// Handles the opening brace of an envelope or an element.
    fn open(&mut self) -> Result<(), DecodeError> {
        self.position = match self.position {
            Position::Outside => {
                self.envelope.clear(RETAINED_CAPACITY);
                self.object.clear(RETAINED_CAPACITY);
                self.has_value = false;
                Position::Envelope
            }
            Position::BeforeElement { .. } => {
                self.object.clear(RETAINED_CAPACITY);
                Position::Object
            }
            _ => return Err(DecodeError::NotJson),
        };
        Ok(())
    }

    /// Handles a byte between elements.
    fn delimiter(&mut self, byte: u8) -> Result<(), DecodeError> {
        self.position = match (self.position, byte) {
            (Position::BeforeElement { is_first: true } | Position::AfterElement, b']') => {
                self.envelope.replace_value(b"[]");
                Position::Envelope
            }
            (Position::AfterElement, b',') => Position::BeforeElement { is_first: false },
            (Position::Outside, _) => return Err(DecodeError::NotJson),
            _ => return Err(DecodeError::NotAnObject),
        };
        Ok(())
    }

    fn scan_envelope(&mut self, bytes: &mut &[u8]) -> Result<Option<Frame>, DecodeError> {
        match self.envelope.push(bytes) {
            Scanned::Incomplete => {
                *bytes = &[];
                check_size(&self.envelope)?;
            }
            Scanned::Value(at) => {
                *bytes = &bytes[at..];
                self.start_value(bytes)?;
            }
            Scanned::Complete(end) => {
                *bytes = &bytes[end..];
                self.position = Position::Outside;
                return Ok(Some(Frame::Envelope));
            }
        }
        Ok(None)
    }

    /// Starts the items or the object. `null` and values of other types are left to the deserializer of the envelope.
    fn start_value(&mut self, bytes: &mut &[u8]) -> Result<(), DecodeError> {
        self.position = match (self.shape, bytes.first()) {
            (Shape::List, Some(b'[')) => {
                *bytes = &bytes[1..];
                Position::BeforeElement { is_first: true }
            }
            (Shape::Events, Some(b'{')) => Position::Object,
            _ => return Ok(()),
        };
        match std::mem::replace(&mut self.has_value, true) {
            true => Err(DecodeError::NotAnObject),
            false => Ok(()),
        }
    }

    fn scan_object(&mut self, bytes: &mut &[u8]) -> Result<Option<Frame>, DecodeError> {
        let Scanned::Complete(end) = self.object.push(bytes) else {
            *bytes = &[];
            return check_size(&self.object).map(|()| None);
        };
        *bytes = &bytes[end..];
        self.position = match self.shape {
            Shape::List => Position::AfterElement,
            Shape::Events => {
                self.envelope.replace_value(b"null");
                Position::Envelope
            }
        };
        Ok(Some(Frame::Object))
    }
}

fn check_size(scanner: &Scanner) -> Result<(), DecodeError> {
    if scanner.text().len() > MAX_SIZE { Err(DecodeError::TooLarge) } else { Ok(()) }
}
