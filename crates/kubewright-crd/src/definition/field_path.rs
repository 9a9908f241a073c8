//! Field paths of selectable fields and of `fieldPath` in rules (`.spec.a`, `.spec['a.b']`), resolved in a schema.
//!
//! After `ValidFieldPath` of `apiextensions-apiserver/pkg/apiserver/schema/cel`.

use crate::schema::{Additional, Schema};

/// A resolved path.
pub(super) struct ResolvedPath<'a> {
    /// The first segment.
    pub(super) root: String,
    /// The path in the server's format.
    pub(super) path: String,
    /// The schema of the field. `None` if it has no schema.
    pub(super) schema: Option<Schema<'a>>,
}

/// The error of a path to a field that is not part of the schema.
pub(super) const NOT_A_FIELD: &str = "does not refer to a valid field";

/// Resolves a path in a schema. `allow_brackets` specifies whether `['name']` is allowed.
pub(super) fn resolve<'a>(path: &str, schema: Schema<'a>, allow_brackets: bool) -> Result<ResolvedPath<'a>, String> {
    let end = || "unexpected end of JSON path".to_owned();
    let mut resolved = ResolvedPath { root: String::new(), path: String::new(), schema: Some(schema) };
    let mut tokens = Tokens(path);
    while let Some(token) = tokens.next() {
        match token {
            "[" if !allow_brackets => return Err("array notation is not allowed".to_owned()),
            "[" => {
                let token = tokens.next().ok_or_else(end)?;
                let name =
                    token.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).filter(|_| token.len() > 1);
                let name = name.ok_or_else(|| format!("expected single quoted string but got {token}"))?;
                resolved.push(&unescape(name).map_err(|detail| format!("invalid string literal: {detail}"))?)?;
                match tokens.next().ok_or_else(end)? {
                    "]" => {}
                    other => return Err(format!("expected ] but got {other}")),
                }
            }
            "." => resolved.push(tokens.next().ok_or_else(end)?)?,
            other => return Err(format!("expected [ or . but got: {other}")),
        }
    }
    Ok(resolved)
}

impl ResolvedPath<'_> {
    fn push(&mut self, name: &str) -> Result<(), String> {
        let not_a_field = || NOT_A_FIELD.to_owned();
        let schema = self.schema.ok_or_else(not_a_field)?;
        if schema.has_properties() {
            self.schema = Some(schema.property(name).ok_or_else(not_a_field)?);
            self.path.push_str(if self.path.is_empty() { "" } else { "." });
            self.path.push_str(name);
        } else {
            self.schema = match schema.additional().ok_or_else(not_a_field)? {
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

/// Splits a path into tokens: `.`, `[`, `]`, strings in single quotes, and names.
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

/// Returns the end of a string in quotes: a quote without a preceding backslash.
fn quoted_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    (1..bytes.len())
        .find(|index| bytes[*index] == b'\'' && bytes[index - 1] != b'\\')
        .map_or(text.len(), |last| last + 1)
}

fn unescape(text: &str) -> Result<String, String> {
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
