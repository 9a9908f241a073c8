//! Finds one value in a JSON object by its path, while the object's bytes come in pieces of any size.

use std::ops::Range;

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
    /// In brackets that lead to no value: they end where this depth is reached again.
    passes: Option<usize>,
    /// What is in those brackets does not go into the text.
    drops: bool,
    /// The bytes are the whole object: what comes behind the value need not be looked at.
    is_whole: bool,
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
            passes: None,
            drops: false,
            is_whole: false,
        }
    }

    /// A scan that skips the value, where it is one in brackets.
    pub(super) fn without(path: &'static [&'static str]) -> Self {
        Scan { skips: true, ..Self::up_to(path) }
    }

    /// Takes the whole of an object at once: its text.
    pub(super) fn whole(&mut self, object: &[u8]) -> &[u8] {
        self.text.reserve(object.len());
        self.is_whole = true;
        if let Scanned::Whole(end) = self.push(object) {
            // To be refused by whoever reads it, if there is anything.
            self.text.extend_from_slice(&object[end..]);
        }
        &self.text
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
                _ if self.passes.is_some() => self.pass(&mut cursor),
                Place::Outside if self.is_due && !byte.is_ascii_whitespace() => self.meet_value(byte, &mut cursor),
                Place::Outside => self.go_on(byte, &mut cursor),
                place => {
                    (cursor.at, self.place) = string(bytes, cursor.at, place);
                    self.string.end = self.text.len() + (cursor.at - cursor.from);
                    None
                }
            };
            if let Some(end) = end {
                return end;
            }
        }
        if !self.drops {
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
                self.passes = Some(self.depth);
                self.drops = true;
            }
            b'{' => {
                self.entered += 1;
                self.depth += 1;
                cursor.at += 1;
            }
            _ => {}
        }
        None
    }

    /// A byte where keys of the path may be.
    fn go_on(&mut self, byte: u8, cursor: &mut Cursor<'_>) -> Option<Scanned> {
        match byte {
            b'"' => {
                self.place = Place::InString;
                self.string.start = self.text.len() + (cursor.at - cursor.from);
            }
            // The object's own bracket, or one of a value that is of no interest.
            b'{' | b'[' if self.depth == 0 => self.depth = 1,
            b'{' | b'[' => {
                self.passes = Some(self.depth);
                return None;
            }
            b'}' | b']' => return self.leave(cursor),
            b':' => {
                self.take(cursor);
                self.is_due = self.is_key();
            }
            _ => {}
        }
        cursor.at += 1;
        None
    }

    /// A closing bracket, of the object or of one on the path.
    fn leave(&mut self, cursor: &mut Cursor<'_>) -> Option<Scanned> {
        cursor.at += 1;
        self.depth = self.depth.saturating_sub(1);
        self.entered = self.entered.saturating_sub(1);
        (self.depth == 0 || self.is_whole).then(|| {
            self.take(cursor);
            Scanned::Whole(cursor.at)
        })
    }

    /// All that is in brackets of no interest: most of an object, so this is quick.
    fn pass(&mut self, cursor: &mut Cursor<'_>) -> Option<Scanned> {
        let (bytes, floor) = (cursor.bytes, self.passes?);
        let (mut at, mut depth, mut place) = (cursor.at, self.depth, self.place);
        while let Some(&byte) = bytes.get(at) {
            if place != Place::Outside {
                (at, place) = string(bytes, at, place);
                continue;
            }
            at += 1;
            // Square and curly: `[` and `]` differ from `{` and `}` in one bit.
            match byte | 0x20 {
                _ if byte == b'"' => (at, place) = string(bytes, at, Place::InString),
                b'{' => depth += 1,
                b'}' => {
                    depth -= 1;
                    if depth == floor {
                        self.passes = None;
                        break;
                    }
                }
                _ => {}
            }
        }
        (cursor.at, self.depth, self.place) = (at, depth, place);
        if self.passes.is_none() && std::mem::take(&mut self.drops) {
            cursor.from = at;
            return self.is_whole.then_some(Scanned::Whole(at));
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

/// Goes on in a string: where it ends, or the bytes do.
#[inline]
fn string(bytes: &[u8], mut at: usize, mut place: Place) -> (usize, Place) {
    if place == Place::AfterBackslash && at < bytes.len() {
        at += 1;
        place = Place::InString;
    }
    if place != Place::InString {
        return (at, place);
    }
    loop {
        match quote_or_backslash(bytes, at) {
            Some(found) if bytes[found] == b'"' => return (found + 1, Place::Outside),
            // What follows the backslash is no end.
            Some(found) if found + 1 < bytes.len() => at = found + 2,
            Some(_) => return (bytes.len(), Place::AfterBackslash),
            None => return (bytes.len(), Place::InString),
        }
    }
}

/// The place of the first of either, from this one on: eight bytes at a time, since most strings are short.
#[inline]
fn quote_or_backslash(bytes: &[u8], from: usize) -> Option<usize> {
    let (words, rest) = bytes.get(from..)?.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = zero_bytes(word ^ (EACH * u64::from(b'"'))) | zero_bytes(word ^ (EACH * u64::from(b'\\')));
        if found != 0 {
            return Some(from + i * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let at = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    Some(bytes.len() - rest.len() + at)
}

/// A one in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The high bit of each byte that is zero; of those above the lowest one it may be wrong.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(EACH) & !word & (EACH << 7)
}
