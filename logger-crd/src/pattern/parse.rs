//! Go's syntax of patterns, read as Go reads it, and put into the words of the `regex` crate.
//!
//! After `regexp/syntax/parse.go` of Go 1.26, whose limits these are.

use super::{Error, class};

/// How often a repetition may repeat, nested ones multiplied.
const MOST_REPEATS: u64 = 1000;
/// How deep a pattern may be nested.
const MOST_HEIGHT: u64 = 1000;
/// How many instructions a pattern may compile to.
const MOST_SIZE: u64 = (128 << 20) / 40;

const BAD_ESCAPE: &str = "invalid escape sequence";
const BAD_FLAGS: &str = "invalid or unsupported Perl syntax";
const BAD_COUNT: &str = "invalid repeat count";
const BAD_NAME: &str = "invalid named capture";
const NO_ARGUMENT: &str = "missing argument to repetition operator";

pub(super) fn error(code: &'static str, part: &str) -> Error {
    Error { code, part: part.to_owned() }
}

/// The pattern in the words of the `regex` crate.
pub(super) fn translated(pattern: &str) -> Result<String, Error> {
    Parser { whole: pattern, flags: Flags::default(), groups: vec![Group::default()] }.run()
}

/// What `(?i)`, `(?m)` and `(?s)` have set. `(?U)` changes no verdict.
#[derive(Clone, Copy, Default)]
pub(super) struct Flags {
    fold: bool,
    lines: bool,
    dot_all: bool,
}

impl Flags {
    /// Words that mean letters of either case, if that is set.
    pub(super) fn fold(self, words: &str) -> String {
        if self.fold { format!("(?i:{words})") } else { words.to_owned() }
    }
}

/// A part of a pattern.
#[derive(Default)]
struct Part {
    words: String,
    /// The most copies that its repetitions come to.
    copies: u64,
    size: u64,
    height: u64,
}

impl Part {
    fn atom(words: String) -> Self {
        Self { words, copies: 1, size: 1, height: 1 }
    }

    /// Several parts as one, with the words between.
    fn joined(parts: Vec<Self>, between: &str) -> Self {
        if parts.is_empty() {
            return Self::atom(String::new());
        }
        let deeper = u64::from(parts.len() > 1);
        Self {
            copies: parts.iter().map(|part| part.copies).max().unwrap_or(1),
            size: parts.iter().map(|part| part.size).sum(),
            height: deeper + parts.iter().map(|part| part.height).max().unwrap_or(1),
            words: parts.into_iter().map(|part| part.words).collect::<Vec<_>>().join(between),
        }
    }
}

/// A group that is open, or the pattern as a whole.
#[derive(Default)]
struct Group {
    alternatives: Vec<Part>,
    current: Vec<Part>,
    captures: bool,
    /// What was set before it.
    flags: Flags,
}

impl Group {
    fn bar(&mut self) {
        let current = std::mem::take(&mut self.current);
        self.alternatives.push(Part::joined(current, ""));
    }

    fn closed(mut self) -> Part {
        self.bar();
        let mut part = Part::joined(self.alternatives, "|");
        part.words = format!("(?:{})", part.words);
        if self.captures {
            part.size += 2;
            part.height += 1;
        }
        part
    }
}

struct Parser<'a> {
    whole: &'a str,
    flags: Flags,
    /// Those that are open; the first is the pattern as a whole.
    groups: Vec<Group>,
}

impl<'a> Parser<'a> {
    fn run(mut self) -> Result<String, Error> {
        let mut rest = self.whole;
        // Where the repetition before this began.
        let mut repeated: Option<&str> = None;
        while let Some(c) = rest.chars().next() {
            let before = rest;
            let mut repeats = false;
            rest = match c {
                '(' if rest.starts_with("(?") => self.perl_group(rest)?,
                '(' => self.open(true, &rest[1..]),
                '|' => {
                    self.group().bar();
                    &rest[1..]
                }
                ')' => self.close(&rest[1..])?,
                '[' => {
                    let (words, rest) = class::bracketed(rest, self.flags)?;
                    self.push(Part::atom(words));
                    rest
                }
                '*' | '+' | '?' => {
                    repeats = true;
                    self.repeat((c, 0, None), before, &rest[1..], repeated)?
                }
                '{' => match count(rest) {
                    None => self.literal(c, &rest[1..]),
                    Some(Count { least, most, rest }) => {
                        let is_fine =
                            least <= MOST_REPEATS && most.is_none_or(|most| most <= MOST_REPEATS && least <= most);
                        if !is_fine {
                            return Err(error(BAD_COUNT, &before[..before.len() - rest.len()]));
                        }
                        repeats = true;
                        self.repeat((c, least, most), before, rest, repeated)?
                    }
                },
                '\\' => self.escaped(rest)?,
                '^' => self.anchor(r"\A", "(?m:^)", &rest[1..]),
                '$' => self.anchor(r"\z", "(?m:$)", &rest[1..]),
                '.' => {
                    self.push(Part::atom(if self.flags.dot_all { "(?s:.)" } else { "(?-s:.)" }.to_owned()));
                    &rest[1..]
                }
                _ => self.literal(c, &rest[c.len_utf8()..]),
            };
            repeated = repeats.then_some(before);
        }
        self.finish()
    }

    fn finish(mut self) -> Result<String, Error> {
        let group = self.groups.pop().unwrap_or_default();
        if !self.groups.is_empty() {
            return Err(error("missing closing )", self.whole));
        }
        let part = group.closed();
        self.check(&part)?;
        Ok(part.words)
    }

    fn group(&mut self) -> &mut Group {
        if self.groups.is_empty() {
            self.groups.push(Group::default());
        }
        let last = self.groups.len() - 1;
        &mut self.groups[last]
    }

    fn push(&mut self, part: Part) {
        self.group().current.push(part);
    }

    fn check(&self, part: &Part) -> Result<(), Error> {
        match part {
            Part { size, .. } if *size > MOST_SIZE => Err(error("expression too large", self.whole)),
            Part { height, .. } if *height > MOST_HEIGHT => Err(error("expression nests too deeply", self.whole)),
            _ => Ok(()),
        }
    }

    fn literal<'b>(&mut self, c: char, rest: &'b str) -> &'b str {
        self.code(c.into());
        rest
    }

    fn code(&mut self, code: u32) {
        // A surrogate is in no text.
        let words =
            char::from_u32(code).map_or_else(|| r"[^\x{0}-\x{10FFFF}]".to_owned(), |_| format!(r"\x{{{code:x}}}"));
        self.push(Part::atom(self.flags.fold(&words)));
    }

    fn anchor<'b>(&mut self, of_text: &str, of_line: &str, rest: &'b str) -> &'b str {
        self.push(Part::atom(if self.flags.lines { of_line } else { of_text }.to_owned()));
        rest
    }

    fn open<'b>(&mut self, captures: bool, rest: &'b str) -> &'b str {
        self.groups.push(Group { captures, flags: self.flags, ..Group::default() });
        rest
    }

    fn close<'b>(&mut self, rest: &'b str) -> Result<&'b str, Error> {
        let group = self.groups.pop().filter(|_| !self.groups.is_empty());
        let group = group.ok_or_else(|| error("unexpected )", self.whole))?;
        self.flags = group.flags;
        let part = group.closed();
        self.check(&part)?;
        self.push(part);
        Ok(rest)
    }

    /// Repeats what is before by `*`, `+`, `?` or a count.
    fn repeat(
        &mut self,
        (operator, least, most): (char, u64, Option<u64>),
        before: &str,
        after: &'a str,
        repeated: Option<&str>,
    ) -> Result<&'a str, Error> {
        let rest = after.strip_prefix('?').unwrap_or(after);
        if let Some(repeated) = repeated {
            let both = &repeated[..repeated.len() - rest.len()];
            return Err(error("invalid nested repetition operator", both));
        }
        let written = &before[..before.len() - rest.len()];
        let Some(mut part) = self.group().current.pop() else {
            return Err(error(NO_ARGUMENT, written));
        };
        let operator = match (operator, most) {
            ('{', _) => {
                part.copies =
                    if most == Some(0) { 1 } else { part.copies.saturating_mul(most.unwrap_or(least).max(1)) };
                part.size = repeated_size(part.size, least, most);
                most.map_or_else(|| format!("{{{least},}}"), |most| format!("{{{least},{most}}}"))
            }
            _ => {
                part.size += if operator == '*' { 2 } else { 1 };
                operator.to_string()
            }
        };
        part.height += 1;
        part.words = format!("(?:{}){operator}", part.words);
        self.check(&part)?;
        if (least >= 2 || most.is_some_and(|most| most >= 2)) && part.copies > MOST_REPEATS {
            return Err(error(BAD_COUNT, written));
        }
        self.push(part);
        Ok(rest)
    }

    /// What begins with a backslash, outside of brackets.
    fn escaped(&mut self, text: &'a str) -> Result<&'a str, Error> {
        let rest = text.get(2..);
        let atom = match (text.as_bytes().get(1), rest) {
            (Some(b'A'), _) => r"\A",
            (Some(b'z'), _) => r"\z",
            (Some(b'b'), _) => r"(?-u:\b)",
            (Some(b'B'), _) => r"\B",
            (Some(b'C'), _) => return Err(error(BAD_ESCAPE, r"\C")),
            (Some(b'Q'), Some(rest)) => {
                let (literal, rest) = rest.split_once(r"\E").unwrap_or((rest, ""));
                literal.chars().for_each(|c| self.code(c.into()));
                return Ok(rest);
            }
            _ => return self.class_or_character(text),
        };
        self.push(Part::atom(atom.to_owned()));
        Ok(rest.unwrap_or_default())
    }

    fn class_or_character(&mut self, text: &'a str) -> Result<&'a str, Error> {
        let class = match class::unicode(text)? {
            Some(found) => Some(found),
            None => class::perl(text),
        };
        if let Some((words, rest)) = class {
            self.push(Part::atom(self.flags.fold(&words)));
            return Ok(rest);
        }
        let (code, rest) = escape(text)?;
        self.code(code);
        Ok(rest)
    }

    /// `(?P<name>`, `(?<name>`, `(?flags)` and `(?flags:`.
    fn perl_group(&mut self, text: &'a str) -> Result<&'a str, Error> {
        let python = text.strip_prefix("(?P<").filter(|rest| !rest.is_empty());
        if let Some(named) = python.or_else(|| text.strip_prefix("(?<").filter(|rest| !rest.is_empty())) {
            let (name, rest) = named.split_once('>').ok_or_else(|| error(BAD_NAME, text))?;
            if name.is_empty() || !name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) {
                return Err(error(BAD_NAME, &text[..text.len() - rest.len()]));
            }
            return Ok(self.open(true, rest));
        }
        let (mut flags, mut on, mut seen) = (self.flags, true, false);
        let mut chars = text[2..].chars();
        while let Some(c) = chars.next() {
            match c {
                'i' => flags.fold = on,
                'm' => flags.lines = on,
                's' => flags.dot_all = on,
                'U' => {}
                '-' if on => {
                    (on, seen) = (false, false);
                    continue;
                }
                ':' | ')' if on || seen => {
                    if c == ':' {
                        self.open(false, "");
                    }
                    self.flags = flags;
                    return Ok(chars.as_str());
                }
                _ => break,
            }
            seen = true;
        }
        Err(error(BAD_FLAGS, &text[..text.len() - chars.as_str().len()]))
    }
}

/// How many instructions a part takes that is repeated.
fn repeated_size(size: u64, least: u64, most: Option<u64>) -> u64 {
    match (least, most) {
        (0, None) => 2 + size,
        (least, None) => 1 + least.saturating_mul(size),
        (least, Some(most)) => (most.saturating_mul(size) + most - least).max(1),
    }
}

struct Count<'a> {
    least: u64,
    most: Option<u64>,
    rest: &'a str,
}

/// `{3}`, `{3,}` or `{3,5}`; anything else is no count.
fn count(text: &str) -> Option<Count<'_>> {
    let (least, rest) = integer(text.strip_prefix('{')?)?;
    let (most, rest) = match rest.strip_prefix(',') {
        None => (Some(least), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => integer(rest).map(|(most, rest)| (Some(most), rest))?,
    };
    Some(Count { least, most, rest: rest.strip_prefix('}')? })
}

/// An integer without zeros before it; one that is too big is as good as any that is.
fn integer(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let digits = &text[..end];
    if digits.is_empty() || digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    Some((digits.parse().unwrap_or(u64::MAX), &text[end..]))
}

/// An escape that stands for one character; gives its code and the rest.
pub(super) fn escape(text: &str) -> Result<(u32, &str), Error> {
    let mut chars = text[1..].chars();
    let Some(c) = chars.next() else {
        return Err(error("trailing backslash at end of expression", ""));
    };
    let rest = chars.as_str();
    let is_octal = |text: &str| text.starts_with(|c: char| c.is_digit(8));
    let found = match c {
        '1'..='7' if !is_octal(rest) => None,
        '0'..='7' => Some(octal(c, rest)),
        'x' => return hexadecimal(text, rest),
        'a' => Some((7, rest)),
        'f' => Some((12, rest)),
        'n' => Some((10, rest)),
        'r' => Some((13, rest)),
        't' => Some((9, rest)),
        'v' => Some((11, rest)),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some((c.into(), rest)),
        _ => None,
    };
    found.ok_or_else(|| error(BAD_ESCAPE, &text[..text.len() - rest.len()]))
}

/// Up to three octal digits.
fn octal(first: char, rest: &str) -> (u32, &str) {
    let more = rest.chars().take(2).take_while(|c| c.is_digit(8)).count();
    let (digits, rest) = rest.split_at(more);
    let value = |c: char| c.to_digit(8).unwrap_or_default();
    (digits.chars().fold(value(first), |code, c| code * 8 + value(c)), rest)
}

/// `\x41` or `\x{1F600}`.
fn hexadecimal<'a>(text: &'a str, rest: &'a str) -> Result<(u32, &'a str), Error> {
    let mut chars = rest.chars();
    let bad = |chars: &std::str::Chars<'_>| Err(error(BAD_ESCAPE, &text[..text.len() - chars.as_str().len()]));
    let first = chars.next();
    if first != Some('{') {
        let second = first.and_then(|_| chars.next());
        let digit = |c: Option<char>| c.and_then(|c| c.to_digit(16));
        return match (digit(first), digit(second)) {
            (Some(high), Some(low)) => Ok((high * 16 + low, chars.as_str())),
            _ => bad(&chars),
        };
    }
    let mut code: Option<u32> = None;
    while let Some(c) = chars.next() {
        match (c, c.to_digit(16), code) {
            ('}', _, Some(code)) => return Ok((code, chars.as_str())),
            (_, Some(digit), known) => match known.unwrap_or_default() * 16 + digit {
                next if next <= 0x10_FFFF => code = Some(next),
                _ => break,
            },
            _ => break,
        }
    }
    bad(&chars)
}
