//! Finds one value in a JSON object by its path, while the bytes of the object arrive in pieces of any size.

use std::ops::Range;

/// The result of scanning a piece.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Scanned {
    /// All bytes were consumed, and the object is incomplete.
    Incomplete,
    /// The value at the path starts at this position. Bytes before it were consumed.
    Value(usize),
    /// The object ends before this position.
    Complete(usize),
}

/// Scans the bytes of one JSON object, each once, and buffers them as its text.
///
/// It only looks at quotes and brackets. The deserializer of the text checks whether it is valid JSON.
#[derive(Debug)]
pub(super) struct Scanner {
    /// The keys that lead to the value; empty if no value is searched for.
    path: &'static [&'static str],
    /// Whether the value is replaced by `null` in the text.
    skip_value: bool,
    text: Vec<u8>,
    mode: Mode,
    /// The number of open brackets.
    depth: usize,
    /// The number of keys of the path that enclose the current position.
    matched: usize,
    /// The range of the last string in the text, quotes included.
    string: Range<usize>,
    /// Whether the next key of the path was read, and its value was not.
    expects_value: bool,
    /// Set inside a nested value that is not on the path: the depth at which it ends.
    skip_to_depth: Option<usize>,
    /// Whether the nested value is left out of the text.
    discard: bool,
    /// Whether the piece is the complete object, so that scanning can stop after the value.
    is_complete_input: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Outside,
    InString,
    AfterBackslash,
}

/// A position in a piece. The bytes before `from` are in the text, or skipped.
struct Cursor<'a> {
    bytes: &'a [u8],
    from: usize,
    at: usize,
}

impl Scanner {
    /// Creates a scanner that stops at the value.
    pub(super) fn stopping_at(path: &'static [&'static str]) -> Self {
        Scanner {
            path,
            skip_value: false,
            text: Vec::new(),
            mode: Mode::Outside,
            depth: 0,
            matched: 0,
            string: 0..0,
            expects_value: false,
            skip_to_depth: None,
            discard: false,
            is_complete_input: false,
        }
    }

    /// Creates a scanner that replaces the value by `null` if it is an object or an array.
    pub(super) fn skipping(path: &'static [&'static str]) -> Self {
        Scanner { skip_value: true, ..Self::stopping_at(path) }
    }

    /// Scans a complete object and returns its text.
    pub(super) fn scan_all(&mut self, object: &[u8]) -> &[u8] {
        self.text.reserve(object.len());
        self.is_complete_input = true;
        if let Scanned::Complete(end) = self.push(object) {
            // Trailing bytes are left to the deserializer, which rejects them.
            self.text.extend_from_slice(&object[end..]);
        }
        &self.text
    }

    /// Returns the buffered text.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Resets the scanner, retaining at most this buffer capacity.
    pub(super) fn clear(&mut self, retained: usize) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        text.shrink_to(retained);
        *self = Scanner { text, skip_value: self.skip_value, ..Self::stopping_at(self.path) };
    }

    /// Writes a replacement for the value at the path, which the caller consumed.
    pub(super) fn replace_value(&mut self, value: &[u8]) {
        self.expects_value = false;
        self.text.extend_from_slice(value);
    }

    /// Scans the next bytes of the object. The first byte is its opening brace.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Scanned {
        let mut cursor = Cursor { bytes, from: 0, at: 0 };
        while let Some(&byte) = bytes.get(cursor.at) {
            let end = match self.mode {
                _ if self.skip_to_depth.is_some() => self.skip_nested(&mut cursor),
                Mode::Outside if self.expects_value && !byte.is_ascii_whitespace() => {
                    self.start_value(byte, &mut cursor)
                }
                Mode::Outside => self.structural(byte, &mut cursor),
                mode => {
                    (cursor.at, self.mode) = skip_string(bytes, cursor.at, mode);
                    self.string.end = self.text.len() + (cursor.at - cursor.from);
                    None
                }
            };
            if let Some(end) = end {
                return end;
            }
        }
        if !self.discard {
            self.copy(&mut cursor);
        }
        Scanned::Incomplete
    }

    /// Handles the first byte of the value of a key on the path.
    fn start_value(&mut self, byte: u8, cursor: &mut Cursor<'_>) -> Option<Scanned> {
        self.expects_value = false;
        let is_last = self.matched + 1 == self.path.len();
        match byte {
            _ if is_last && !self.skip_value => {
                self.copy(cursor);
                return Some(Scanned::Value(cursor.at));
            }
            b'{' | b'[' if is_last => {
                self.copy(cursor);
                self.text.extend_from_slice(b"null");
                self.skip_to_depth = Some(self.depth);
                self.discard = true;
            }
            b'{' => {
                self.matched += 1;
                self.depth += 1;
                cursor.at += 1;
            }
            _ => {}
        }
        None
    }

    /// Handles a byte outside of strings and nested values.
    fn structural(&mut self, byte: u8, cursor: &mut Cursor<'_>) -> Option<Scanned> {
        match byte {
            b'"' => {
                self.mode = Mode::InString;
                self.string.start = self.text.len() + (cursor.at - cursor.from);
            }
            // The brace of the object itself, or the bracket of a value that is not on the path.
            b'{' | b'[' if self.depth == 0 => self.depth = 1,
            b'{' | b'[' => {
                self.skip_to_depth = Some(self.depth);
                return None;
            }
            b'}' | b']' => return self.close(cursor),
            b':' => {
                self.copy(cursor);
                self.expects_value = self.is_key();
            }
            _ => {}
        }
        cursor.at += 1;
        None
    }

    /// Handles the closing brace of the object, or of an object on the path.
    fn close(&mut self, cursor: &mut Cursor<'_>) -> Option<Scanned> {
        cursor.at += 1;
        self.depth = self.depth.saturating_sub(1);
        self.matched = self.matched.saturating_sub(1);
        (self.depth == 0 || self.is_complete_input).then(|| {
            self.copy(cursor);
            Scanned::Complete(cursor.at)
        })
    }

    /// Skips a nested value that is not on the path. This is most of an object, so it has a dedicated loop.
    fn skip_nested(&mut self, cursor: &mut Cursor<'_>) -> Option<Scanned> {
        let (bytes, end_depth) = (cursor.bytes, self.skip_to_depth?);
        let (mut at, mut depth, mut mode) = (cursor.at, self.depth, self.mode);
        while let Some(&byte) = bytes.get(at) {
            if mode != Mode::Outside {
                (at, mode) = skip_string(bytes, at, mode);
                continue;
            }
            at += 1;
            // Matches square and curly brackets: `[` and `]` differ from `{` and `}` in one bit.
            match byte | 0x20 {
                _ if byte == b'"' => (at, mode) = skip_string(bytes, at, Mode::InString),
                b'{' => depth += 1,
                b'}' => {
                    depth -= 1;
                    if depth == end_depth {
                        self.skip_to_depth = None;
                        break;
                    }
                }
                _ => {}
            }
        }
        (cursor.at, self.depth, self.mode) = (at, depth, mode);
        if self.skip_to_depth.is_none() && std::mem::take(&mut self.discard) {
            cursor.from = at;
            return self.is_complete_input.then_some(Scanned::Complete(at));
        }
        None
    }

    /// Copies the scanned bytes to the text.
    fn copy(&mut self, cursor: &mut Cursor<'_>) {
        self.text.extend_from_slice(&cursor.bytes[cursor.from..cursor.at]);
        cursor.from = cursor.at;
    }

    /// Returns whether the last string is the next key of the path.
    fn is_key(&self) -> bool {
        let quoted = self.text.get(self.string.clone()).unwrap_or_default();
        let key = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
        self.path.get(self.matched).is_some_and(|expected| expected.as_bytes() == key)
    }
}

/// Skips to the end of a string, or of the bytes.
#[inline]
fn skip_string(bytes: &[u8], mut at: usize, mut mode: Mode) -> (usize, Mode) {
    if mode == Mode::AfterBackslash && at < bytes.len() {
        at += 1;
        mode = Mode::InString;
    }
    if mode != Mode::InString {
        return (at, mode);
    }
    loop {
        match find_quote_or_backslash(bytes, at) {
            Some(found) if bytes[found] == b'"' => return (found + 1, Mode::Outside),
            // An escaped quote does not end the string.
            Some(found) if found + 1 < bytes.len() => at = found + 2,
            Some(_) => return (bytes.len(), Mode::AfterBackslash),
            None => return (bytes.len(), Mode::InString),
        }
    }
}

/// Returns the position of the first quote or backslash. Reads eight bytes at a time, since most strings are short.
#[inline]
fn find_quote_or_backslash(bytes: &[u8], from: usize) -> Option<usize> {
    let (words, rest) = bytes.get(from..)?.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = zero_bytes(word ^ (ONES * u64::from(b'"'))) | zero_bytes(word ^ (ONES * u64::from(b'\\')));
        if found != 0 {
            return Some(from + i * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let at = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    Some(bytes.len() - rest.len() + at)
}

/// The value 1 in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// Sets the high bit of each byte that is zero. Bytes above the lowest zero byte can be wrong.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}
