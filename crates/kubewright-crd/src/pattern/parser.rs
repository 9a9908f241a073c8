//! Parses Go's regular expression syntax and translates it to that of the `regex` crate.
//!
//! The grammar and the limits are those of `regexp/syntax/parse.go` of Go 1.26.

use super::{
    class,
    error::Error,
    escape::{BAD_ESCAPE, escape},
    flags::Flags,
};

/// The maximum repeat count. The counts of nested repetitions are multiplied.
const MAX_REPEAT: u64 = 1000;
/// The maximum nesting depth of a pattern.
const MAX_HEIGHT: u64 = 1000;
/// The maximum number of instructions that a pattern compiles to.
const MAX_SIZE: u64 = (128 << 20) / 40;

const BAD_FLAGS: &str = "invalid or unsupported Perl syntax";
const BAD_COUNT: &str = "invalid repeat count";
const BAD_NAME: &str = "invalid named capture";
const NO_ARGUMENT: &str = "missing argument to repetition operator";

/// Translates a Go pattern to the syntax of the `regex` crate.
pub(super) fn translate(pattern: &str) -> Result<String, Error> {
    Parser { pattern, flags: Flags::default(), groups: vec![Group::default()] }.parse()
}

/// A parsed part of a pattern.
#[derive(Default)]
struct Node {
    translated: String,
    /// The product of the counts of nested repetitions.
    repeats: u64,
    /// The number of instructions.
    size: u64,
    height: u64,
}

impl Node {
    fn atom(translated: String) -> Self {
        Self { translated, repeats: 1, size: 1, height: 1 }
    }

    /// Joins nodes with a separator: the empty string for a concatenation, `|` for an alternation.
    fn join(nodes: Vec<Self>, separator: &str) -> Self {
        if nodes.is_empty() {
            return Self::atom(String::new());
        }
        let deeper = u64::from(nodes.len() > 1);
        Self {
            repeats: nodes.iter().map(|node| node.repeats).max().unwrap_or(1),
            size: nodes.iter().map(|node| node.size).sum(),
            height: deeper + nodes.iter().map(|node| node.height).max().unwrap_or(1),
            translated: nodes.into_iter().map(|node| node.translated).collect::<Vec<_>>().join(separator),
        }
    }
}

/// An open group, or the complete pattern.
#[derive(Default)]
struct Group {
    alternatives: Vec<Node>,
    current: Vec<Node>,
    captures: bool,
    /// The flags before the group.
    flags: Flags,
}

impl Group {
    fn end_alternative(&mut self) {
        let current = std::mem::take(&mut self.current);
        self.alternatives.push(Node::join(current, ""));
    }

    fn close(mut self) -> Node {
        self.end_alternative();
        let mut node = Node::join(self.alternatives, "|");
        node.translated = format!("(?:{})", node.translated);
        if self.captures {
            node.size += 2;
            node.height += 1;
        }
        node
    }
}

struct Parser<'a> {
    pattern: &'a str,
    flags: Flags,
    /// The open groups. The first one is the complete pattern.
    groups: Vec<Group>,
}

impl<'a> Parser<'a> {
    fn parse(mut self) -> Result<String, Error> {
        let mut rest = self.pattern;
        // The pattern from the previous repetition operator on, if one directly precedes.
        let mut repeated: Option<&str> = None;
        while let Some(c) = rest.chars().next() {
            let before = rest;
            let mut repeats = false;
            rest = match c {
                '(' if rest.starts_with("(?") => self.parse_perl_group(rest)?,
                '(' => self.open_group(true, &rest[1..]),
                '|' => {
                    self.group().end_alternative();
                    &rest[1..]
                }
                ')' => self.close_group(&rest[1..])?,
                '[' => {
                    let (translated, rest) = class::parse_bracket_expression(rest, self.flags)?;
                    self.push(Node::atom(translated));
                    rest
                }
                '*' | '+' | '?' => {
                    repeats = true;
                    self.repeat((c, 0, None), before, &rest[1..], repeated)?
                }
                '{' => match count(rest) {
                    None => self.push_literal(c, &rest[1..]),
                    Some(Count { min, max, rest }) => {
                        let is_valid = min <= MAX_REPEAT && max.is_none_or(|max| max <= MAX_REPEAT && min <= max);
                        if !is_valid {
                            return Err(Error::new(BAD_COUNT, &before[..before.len() - rest.len()]));
                        }
                        repeats = true;
                        self.repeat((c, min, max), before, rest, repeated)?
                    }
                },
                '\\' => self.parse_escape(rest)?,
                '^' => self.push_anchor(r"\A", "(?m:^)", &rest[1..]),
                '$' => self.push_anchor(r"\z", "(?m:$)", &rest[1..]),
                '.' => {
                    self.push(Node::atom(if self.flags.dot_matches_newline { "(?s:.)" } else { "(?-s:.)" }.to_owned()));
                    &rest[1..]
                }
                _ => self.push_literal(c, &rest[c.len_utf8()..]),
            };
            repeated = repeats.then_some(before);
        }
        self.finish()
    }

    fn finish(mut self) -> Result<String, Error> {
        let group = self.groups.pop().unwrap_or_default();
        if !self.groups.is_empty() {
            return Err(Error::new("missing closing )", self.pattern));
        }
        let node = group.close();
        self.check_limits(&node)?;
        Ok(node.translated)
    }

    fn group(&mut self) -> &mut Group {
        if self.groups.is_empty() {
            self.groups.push(Group::default());
        }
        let last = self.groups.len() - 1;
        &mut self.groups[last]
    }

    fn push(&mut self, node: Node) {
        self.group().current.push(node);
    }

    fn check_limits(&self, node: &Node) -> Result<(), Error> {
        match node {
            Node { size, .. } if *size > MAX_SIZE => Err(Error::new("expression too large", self.pattern)),
            Node { height, .. } if *height > MAX_HEIGHT => Err(Error::new("expression nests too deeply", self.pattern)),
            _ => Ok(()),
        }
    }

    fn push_literal<'b>(&mut self, c: char, rest: &'b str) -> &'b str {
        self.push_character(c.into());
        rest
    }

    fn push_character(&mut self, code: u32) {
        // UTF-8 has no surrogates, so a pattern with one matches nothing.
        let translated =
            char::from_u32(code).map_or_else(|| r"[^\x{0}-\x{10FFFF}]".to_owned(), |_| format!(r"\x{{{code:x}}}"));
        self.push(Node::atom(self.flags.fold(&translated)));
    }

    fn push_anchor<'b>(&mut self, of_text: &str, of_line: &str, rest: &'b str) -> &'b str {
        self.push(Node::atom(if self.flags.multi_line { of_line } else { of_text }.to_owned()));
        rest
    }

    fn open_group<'b>(&mut self, captures: bool, rest: &'b str) -> &'b str {
        self.groups.push(Group { captures, flags: self.flags, ..Group::default() });
        rest
    }

    fn close_group<'b>(&mut self, rest: &'b str) -> Result<&'b str, Error> {
        let group = self.groups.pop().filter(|_| !self.groups.is_empty());
        let group = group.ok_or_else(|| Error::new("unexpected )", self.pattern))?;
        self.flags = group.flags;
        let node = group.close();
        self.check_limits(&node)?;
        self.push(node);
        Ok(rest)
    }

    /// Applies `*`, `+`, `?` or a count to the last node.
    fn repeat(
        &mut self,
        (operator, min, max): (char, u64, Option<u64>),
        before: &str,
        after: &'a str,
        repeated: Option<&str>,
    ) -> Result<&'a str, Error> {
        let rest = after.strip_prefix('?').unwrap_or(after);
        if let Some(repeated) = repeated {
            let both = &repeated[..repeated.len() - rest.len()];
            return Err(Error::new("invalid nested repetition operator", both));
        }
        let source = &before[..before.len() - rest.len()];
        let Some(mut node) = self.group().current.pop() else {
            return Err(Error::new(NO_ARGUMENT, source));
        };
        let operator = match (operator, max) {
            ('{', _) => {
                node.repeats = if max == Some(0) { 1 } else { node.repeats.saturating_mul(max.unwrap_or(min).max(1)) };
                node.size = repeated_size(node.size, min, max);
                max.map_or_else(|| format!("{{{min},}}"), |max| format!("{{{min},{max}}}"))
            }
            _ => {
                node.size += if operator == '*' { 2 } else { 1 };
                operator.to_string()
            }
        };
        node.height += 1;
        node.translated = format!("(?:{}){operator}", node.translated);
        self.check_limits(&node)?;
        if (min >= 2 || max.is_some_and(|max| max >= 2)) && node.repeats > MAX_REPEAT {
            return Err(Error::new(BAD_COUNT, source));
        }
        self.push(node);
        Ok(rest)
    }

    /// Parses an escape sequence outside of a bracket expression.
    fn parse_escape(&mut self, text: &'a str) -> Result<&'a str, Error> {
        let rest = text.get(2..);
        let atom = match (text.as_bytes().get(1), rest) {
            (Some(b'A'), _) => r"\A",
            (Some(b'z'), _) => r"\z",
            (Some(b'b'), _) => r"(?-u:\b)",
            (Some(b'B'), _) => r"\B",
            (Some(b'C'), _) => return Err(Error::new(BAD_ESCAPE, r"\C")),
            (Some(b'Q'), Some(rest)) => {
                let (literal, rest) = rest.split_once(r"\E").unwrap_or((rest, ""));
                literal.chars().for_each(|c| self.push_character(c.into()));
                return Ok(rest);
            }
            _ => return self.parse_class_or_character(text),
        };
        self.push(Node::atom(atom.to_owned()));
        Ok(rest.unwrap_or_default())
    }

    fn parse_class_or_character(&mut self, text: &'a str) -> Result<&'a str, Error> {
        let class = match class::parse_unicode_class(text)? {
            Some(found) => Some(found),
            None => class::parse_perl_class(text),
        };
        if let Some((translated, rest)) = class {
            self.push(Node::atom(self.flags.fold(&translated)));
            return Ok(rest);
        }
        let (code, rest) = escape(text)?;
        self.push_character(code);
        Ok(rest)
    }

    /// Parses `(?P<name>`, `(?<name>`, `(?flags)` or `(?flags:`.
    fn parse_perl_group(&mut self, text: &'a str) -> Result<&'a str, Error> {
        let python = text.strip_prefix("(?P<").filter(|rest| !rest.is_empty());
        if let Some(named) = python.or_else(|| text.strip_prefix("(?<").filter(|rest| !rest.is_empty())) {
            let (name, rest) = named.split_once('>').ok_or_else(|| Error::new(BAD_NAME, text))?;
            if name.is_empty() || !name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) {
                return Err(Error::new(BAD_NAME, &text[..text.len() - rest.len()]));
            }
            return Ok(self.open_group(true, rest));
        }
        let (mut flags, mut on, mut seen) = (self.flags, true, false);
        let mut chars = text[2..].chars();
        while let Some(c) = chars.next() {
            match c {
                'i' => flags.fold_case = on,
                'm' => flags.multi_line = on,
                's' => flags.dot_matches_newline = on,
                'U' => {}
                '-' if on => {
                    (on, seen) = (false, false);
                    continue;
                }
                ':' | ')' if on || seen => {
                    if c == ':' {
                        self.open_group(false, "");
                    }
                    self.flags = flags;
                    return Ok(chars.as_str());
                }
                _ => break,
            }
            seen = true;
        }
        Err(Error::new(BAD_FLAGS, &text[..text.len() - chars.as_str().len()]))
    }
}

/// The number of instructions of a repetition.
fn repeated_size(size: u64, min: u64, max: Option<u64>) -> u64 {
    match (min, max) {
        (0, None) => 2 + size,
        (min, None) => 1 + min.saturating_mul(size),
        (min, Some(max)) => (max.saturating_mul(size) + max - min).max(1),
    }
}

struct Count<'a> {
    min: u64,
    max: Option<u64>,
    rest: &'a str,
}

/// Parses `{3}`, `{3,}` or `{3,5}`; `None` for any other text, which is literal.
fn count(text: &str) -> Option<Count<'_>> {
    let (min, rest) = integer(text.strip_prefix('{')?)?;
    let (max, rest) = match rest.strip_prefix(',') {
        None => (Some(min), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => integer(rest).map(|(max, rest)| (Some(max), rest))?,
    };
    Some(Count { min, max, rest: rest.strip_prefix('}')? })
}

/// Parses an integer without leading zeros. One that is too large saturates, because it exceeds the limit in any case.
fn integer(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let digits = &text[..end];
    if digits.is_empty() || digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    Some((digits.parse().unwrap_or(u64::MAX), &text[end..]))
}
