//! Finds one value in a JSON object by its path, while the object's bytes come in pieces of any size.

use std::ops::Range;

use memchr::memchr2;

/// What came of the bytes that were handed over.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Scanned {
    /// All were taken, and the object goes on.
    More,
    /// The value at the path begins with the byte at this place, which was not taken.
    Value(usize),
    /// The object ends before this place.
    Whole(usize),
}

/// Takes the bytes of one JSON object, each once, and keeps them as its text.
///
/// It looks at quotes and brackets only: whether the text is JSON is for its reader to say.
#[derive(Debug)]
pub(super) struct Scan {
    /// The keys that lead to the value; none if no value is looked for.
    path: &'static [&'static str],
    /// Whether the value is left out of the text, `null` in its place.
    skips: bool,
    text: Vec<u8>,
    place: Place,
    /// In so many brackets.
    depth: usize,
    /// So many keys of the path enclose the place.
    entered: usize,
    /// Where the last string is in the text, with its quotes.
    string: Range<usize>,
    /// The next key of the path was read, its value was not.
    is_due: bool,
    /// The value in brackets that is being skipped began at this depth.
    skipped_at: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Outside,
    InString,
    AfterBackslash,
}

/// A place in the bytes that were handed over; those before `from` are in the text, or skipped.
struct Cursor<'a> {
    bytes: &'a [u8],
    from: usize,
    at: usize,
}

impl Scan {
    /// A scan that stops at the value.
    pub(super) fn up_to(path: &'static [&'static str]) -> Self {
        Scan {
            path,
            skips: false,
            text: Vec::new(),
            place: Place::Outside,
            depth: 0,
            entered: 0,
            string: 0..0,
            is_due: false,
            skipped_at: None,
        }
    }

    /// A scan that skips the value, where it is one in brackets.
    pub(super) fn without(path: &'static [&'static str]) -> Self {
        Scan { skips: true, ..Self::up_to(path) }
    }

    /// What was taken.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Begins anew; the buffer is kept if it holds no more than this.
    pub(super) fn clear(&mut self, kept: usize) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        text.shrink_to(kept);
        *self = Scan { text, skips: self.skips, ..Self::up_to(self.path) };
    }

    /// Puts this in the place of the value at the path, which was read by someone else.
    pub(super) fn replace(&mut self, value: &[u8]) {
        self.is_due = false;
        self.text.extend_from_slice(value);
    }

    /// Takes bytes of the object, the first of which is its opening bracket.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Scanned {
        let mut cursor = Cursor { bytes, from: 0, at: 0 };
        while let Some(&byte) = bytes.get(cursor.at) {
            let end = match self.place {
                Place::InString => self.go_through_string(&mut cursor),
                Place::AfterBackslash => {
                    self.place = Place::InString;
                    cursor.at += 1;
                    None
                }
                Place::Outside if self.is_due && !byte.is_ascii_whitespace() => self.meet_value(byte, &mut cursor),
                Place::Outside => self.go_on(byte, &mut cursor),
            };
            if let Some(end) = end {
                return end;
            }
        }
        if self.skipped_at.is_none() {
            self.take(&mut cursor);
        }
        Scanned::More
    }

    /// The first byte of the value that belongs to a key of the path.
    fn meet_value(&mut self, byte: u8, cursor: &mut Cursor<'_>) -> Option<Scanned> {
        self.is_due = false;
        let is_last = self.entered + 1 == self.path.len();
        match byte {
            _ if is_last && !self.skips => {
                self.take(cursor);
                return Some(Scanned::Value(cursor.at));
            }
            b'{' | b'[' if is_last => {
                self.take(cursor);
                self.text.extend_from_slice(b"null");
                self.skipped_at = Some(self.depth);
            }
            b'{' => self.entered += 1,
            _ => {}
        }
        None
    }

    #[inline]
    fn go_on(&mut self, byte: u8, cursor: &mut Cursor<'_>) -> Option<Scanned> {
        match byte {
            b'"' => {
                self.place = Place::InString;
                self.string.start = self.text.len() + (cursor.at - cursor.from);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => return self.leave(cursor),
            b':' if self.depth == self.entered + 1 => {
                self.take(cursor);
                self.is_due = self.is_key();
            }
            _ => {}
        }
        cursor.at += 1;
        None
    }

    /// A closing bracket.
    #[inline]
    fn leave(&mut self, cursor: &mut Cursor<'_>) -> Option<Scanned> {
        cursor.at += 1;
        self.depth = self.depth.saturating_sub(1);
        if self.skipped_at == Some(self.depth) {
            self.skipped_at = None;
            cursor.from = cursor.at;
        }
        self.entered = self.entered.min(self.depth.saturating_sub(1));
        (self.depth == 0).then(|| {
            self.take(cursor);
            Scanned::Whole(cursor.at)
        })
    }

    #[inline]
    fn go_through_string(&mut self, cursor: &mut Cursor<'_>) -> Option<Scanned> {
        match memchr2(b'"', b'\\', &cursor.bytes[cursor.at..]) {
            Some(length) => {
                let is_end = cursor.bytes[cursor.at + length] == b'"';
                cursor.at += length + 1;
                self.string.end = self.text.len() + (cursor.at - cursor.from);
                self.place = if is_end { Place::Outside } else { Place::AfterBackslash };
            }
            None => cursor.at = cursor.bytes.len(),
        }
        None
    }

    /// Puts what was passed into the text.
    fn take(&mut self, cursor: &mut Cursor<'_>) {
        self.text.extend_from_slice(&cursor.bytes[cursor.from..cursor.at]);
        cursor.from = cursor.at;
    }

    /// Whether the last string is the next key of the path.
    fn is_key(&self) -> bool {
        let quoted = self.text.get(self.string.clone()).unwrap_or_default();
        let key = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
        self.path.get(self.entered).is_some_and(|wanted| wanted.as_bytes() == key)
    }
}
