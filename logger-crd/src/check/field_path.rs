//! Paths of fields as selectable fields and `fieldPath` have them: `.spec.a` and `.spec['a.b']`, resolved in a schema.

use crate::schema::{Additional, Schema};

/// Where a path leads.
pub(super) struct Found<'a> {
    /// Its first step.
    pub(super) root: String,
    /// The path as the server writes it.
    pub(super) path: String,
    /// The schema there, if there is one.
    pub(super) schema: Option<Schema<'a>>,
}

/// What is said of a path that leads out of the schema.
pub(super) const NOWHERE: &str = "does not refer to a valid field";

/// Follows a path through a schema; `with_brackets` if it may have steps in brackets.
pub(super) fn resolve<'a>(path: &str, schema: Schema<'a>, with_brackets: bool) -> Result<Found<'a>, String> {
    let end = || "unexpected end of JSON path".to_owned();
    let mut found = Found { root: String::new(), path: String::new(), schema: Some(schema) };
    let mut tokens = Tokens(path);
    while let Some(token) = tokens.next() {
        match token {
            "[" if !with_brackets => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let token = tokens.next().ok_or_else(end)?;
                let name =
                    token.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).filter(|_| token.len() > 1);
                let name = name.ok_or_else(|| format!("expected single quoted string but got {token}"))?;
                found.step(&unescaped(name).map_err(|why| format!("invalid string literal: {why}"))?)?;
                match tokens.next().ok_or_else(end)? {
                    "]" => {}
                    other => return Err(format!("expected ] but got {other}")),
                }
            }
            "." => found.step(tokens.next().ok_or_else(end)?)?,
            other => return Err(format!("expected [ or . but got: {other}")),
        }
    }
    Ok(found)
}

impl Found<'_> {
    fn step(&mut self, name: &str) -> Result<(), String> {
        let nowhere = || NOWHERE.to_owned();
        let schema = self.schema.ok_or_else(nowhere)?;
        if schema.has_properties() {
            self.schema = Some(schema.property(name).ok_or_else(nowhere)?);
            self.path.push_str(if self.path.is_empty() { "" } else { "." });
            self.path.push_str(name);
        } else {
            self.schema = match schema.additional().ok_or_else(nowhere)? {
                Additional::Schema(schema) => Some(schema),
                Additional::Allowed(_) => None,
            };
            self.path.push_str(&format!("[{name}]"));
        }
        if self.root.is_empty() {
            self.root.clone_from(&self.path);
        }
        Ok(())
    }
}

/// A text cut at `.`, `[` and `]`, which are tokens of their own; what is in single quotes is one token.
struct Tokens<'a>(&'a str);

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.0;
        let end = match text.chars().next()? {
            '.' | '[' | ']' => 1,
            '\'' => quoted_end(text),
            _ => text.find(['.', '[', ']']).unwrap_or(text.len()),
        };
        let (token, rest) = text.split_at(end);
        self.0 = rest;
        Some(token)
    }
}

/// Where a quoted text ends: after a quote with no backslash before it.
fn quoted_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    (1..bytes.len())
        .find(|index| bytes[*index] == b'\'' && bytes[index - 1] != b'\\')
        .map_or(text.len(), |last| last + 1)
}

fn unescaped(text: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        plain.push(match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('a')) => '\x07',
            ('\\', Some('b')) => '\x08',
            ('\\', Some('f')) => '\x0c',
            ('\\', Some('n')) => '\n',
            ('\\', Some('r')) => '\r',
            ('\\', Some('t')) => '\t',
            ('\\', Some('v')) => '\x0b',
            ('\\', Some('\'')) => '\'',
            ('\\', Some(other)) if other != '\\' => return Err(format!("invalid escape char \\{other}")),
            (c, _) => c,
        });
    }
    Ok(plain)
}
