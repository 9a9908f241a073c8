//! Splits an API server's answer into its objects and what is around them, while its bytes come.

use super::BadAnswer;
use super::scan::{Scan, Scanned};

/// The longest object that is taken, and the longest text around objects, in bytes: etcd refuses objects of a few megabytes.
const LONGEST: usize = 64 << 20;
/// So much room is kept from one object to the next, in bytes.
pub(super) const KEPT: usize = 1 << 20;

/// Where an answer has its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Many, as the elements of `items`.
    List,
    /// One, as `object`; an answer is many of these, one after the other.
    Events,
}

/// What is there to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// An object.
    Object,
    /// The end of a list, or of an event: what was around the object, or objects.
    Around,
}

/// Takes an answer's bytes and tells where its objects end. No more than one object is kept.
#[derive(Debug)]
pub(super) struct Frames {
    around: Scan,
    object: Scan,
    shape: Shape,
    place: Place,
    /// The items, or the object, were met.
    has_value: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before the answer or the next event, or after the last one.
    Between,
    Around,
    /// At the place of an element, the first or one after a comma.
    Element {
        is_first: bool,
    },
    /// Behind an element.
    Comma,
    InObject,
}

const ITEMS: &[&str] = &["items"];
const OBJECT: &[&str] = &["object"];
pub(super) const MANAGED_FIELDS: &[&str] = &["metadata", "managedFields"];

impl Frames {
    /// Of an answer of this shape.
    pub(super) fn new(shape: Shape, keep_managed_fields: bool) -> Self {
        let around = Scan::up_to(if shape == Shape::List { ITEMS } else { OBJECT });
        let object = Scan::without(if keep_managed_fields { &[] } else { MANAGED_FIELDS });
        Frames { around, object, shape, place: Place::Between, has_value: false }
    }

    /// The object that was found.
    pub(super) fn object(&self) -> &[u8] {
        self.object.text()
    }

    /// What was around the object or objects.
    pub(super) fn around(&self) -> &[u8] {
        self.around.text()
    }

    /// Whether it is in the middle of something.
    pub(super) fn is_within(&self) -> bool {
        self.place != Place::Between
    }

    /// Goes on to the next thing that is whole and takes the bytes up to there; `None` if all were taken without one.
    ///
    /// # Errors
    /// The bytes are no such answer.
    pub(super) fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<Found>, BadAnswer> {
        while let Some(&byte) = bytes.first() {
            let found = match self.place {
                Place::Around => self.go_around(bytes)?,
                Place::InObject => self.go_through_object(bytes)?,
                _ if byte.is_ascii_whitespace() => {
                    *bytes = &bytes[1..];
                    None
                }
                _ if byte == b'{' => {
                    self.enter()?;
                    None
                }
                _ => {
                    self.pass(byte)?;
                    *bytes = &bytes[1..];
                    None
                }
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// An opening bracket: of an answer, an event or an element.
    fn enter(&mut self) -> Result<(), BadAnswer> {
        self.place = match self.place {
            Place::Between => {
                self.around.clear(KEPT);
                self.object.clear(KEPT);
                self.has_value = false;
                Place::Around
            }
            Place::Element { .. } => {
                self.object.clear(KEPT);
                Place::InObject
            }
            _ => return Err(BadAnswer::NoJson),
        };
        Ok(())
    }

    /// What stands between elements, or in the place of one.
    fn pass(&mut self, byte: u8) -> Result<(), BadAnswer> {
        self.place = match (self.place, byte) {
            (Place::Element { is_first: true } | Place::Comma, b']') => {
                self.around.replace(b"[]");
                Place::Around
            }
            (Place::Comma, b',') => Place::Element { is_first: false },
            (Place::Between, _) => return Err(BadAnswer::NoJson),
            _ => return Err(BadAnswer::NoObjects),
        };
        Ok(())
    }

    fn go_around(&mut self, bytes: &mut &[u8]) -> Result<Option<Found>, BadAnswer> {
        match self.around.push(bytes) {
            Scanned::More => {
                *bytes = &[];
                bounded(&self.around)?;
            }
            Scanned::Value(at) => {
                *bytes = &bytes[at..];
                self.begin_value(bytes)?;
            }
            Scanned::Whole(end) => {
                *bytes = &bytes[end..];
                self.place = Place::Between;
                return Ok(Some(Found::Around));
            }
        }
        Ok(None)
    }

    /// The items or the object, unless it is `null` or something that the reader of the text around will refuse.
    fn begin_value(&mut self, bytes: &mut &[u8]) -> Result<(), BadAnswer> {
        self.place = match (self.shape, bytes.first()) {
            (Shape::List, Some(b'[')) => {
                *bytes = &bytes[1..];
                Place::Element { is_first: true }
            }
            (Shape::Events, Some(b'{')) => Place::InObject,
            _ => return Ok(()),
        };
        match std::mem::replace(&mut self.has_value, true) {
            true => Err(BadAnswer::NoObjects),
            false => Ok(()),
        }
    }

    fn go_through_object(&mut self, bytes: &mut &[u8]) -> Result<Option<Found>, BadAnswer> {
        let Scanned::Whole(end) = self.object.push(bytes) else {
            *bytes = &[];
            return bounded(&self.object).map(|()| None);
        };
        *bytes = &bytes[end..];
        self.place = match self.shape {
            Shape::List => Place::Comma,
            Shape::Events => {
                self.around.replace(b"null");
                Place::Around
            }
        };
        Ok(Some(Found::Object))
    }
}

fn bounded(scan: &Scan) -> Result<(), BadAnswer> {
    if scan.text().len() > LONGEST { Err(BadAnswer::TooLong) } else { Ok(()) }
}
