//! Converts YAML to JSON with line numbers, so that each type needs one decoder for both.
//!
//! A second decoder from YAML would quadruple the compile time of a type of the size of a Pod.

use std::{borrow::Cow, fmt};

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use serde_saphyr::{DefaultMessageFormatter, Localizer, Location, Options, Spanned, alias_limits, budget, options};

use super::DecodeError;

/// A document of a text.
pub(super) struct Document<'a> {
    /// Its number, from 1.
    pub(super) number: usize,
    /// Its first line in the text, from 1.
    pub(super) first_line: usize,
    text: &'a str,
}

/// Splits a text into the documents between `---` and `...`. Only these markers can begin a line with `---` or `...` in
/// YAML, so that documents are found without parsing, and an invalid document does not affect others.
pub(super) fn documents(text: &str) -> Vec<Document<'_>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut documents = Vec::new();
    let (mut start, mut end, mut first_line, mut has_content) = (0, 0, 1, false);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if has_content && is_marker(line, "---") {
            documents.push(Document { number: documents.len() + 1, first_line, text: &text[start..end] });
            (start, first_line) = (end, index + 1);
        }
        has_content |= is_content(line);
        end += line.len();
        if is_marker(line, "...") {
            documents.push(Document { number: documents.len() + 1, first_line, text: &text[start..end] });
            (start, first_line, has_content) = (end, index + 2, false);
        }
    }
    if has_content {
        documents.push(Document { number: documents.len() + 1, first_line, text: &text[start..] });
    }
    documents
}

fn is_marker(line: &str, marker: &str) -> bool {
    line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// Whether the line is content of a document, not a blank line, a comment or a directive before it.
fn is_content(line: &str) -> bool {
    !line.trim().is_empty() && !line.trim_start().starts_with('#') && !line.starts_with('%')
}

impl Document<'_> {
    /// Converts the document to JSON; `None` if it is empty. An error has its line.
    pub(super) fn to_json(&self) -> Result<Option<Json>, (usize, DecodeError)> {
        let lines_before = self.first_line - 1;
        let node: Node = serde_saphyr::from_str_with_options(self.text, limits()).map_err(|error| {
            let line = error.location().map_or(1, |location| line(&location));
            (lines_before + line, DecodeError::Yaml(message(&error)))
        })?;
        if matches!(node, Node::Null) {
            return Ok(None);
        }
        let mut json = Json { lines_before, ..Json::default() };
        json.write(&node, json.first_line(&node).unwrap_or(self.first_line));
        Ok(Some(json))
    }
}

/// Returns the message of an error without its location. That of the parser for a duplicate key names an option.
fn message(error: &serde_saphyr::Error) -> String {
    match error {
        serde_saphyr::Error::DuplicateMappingKey { key: Some(key), .. } => format!("duplicate key `{key}`"),
        serde_saphyr::Error::DuplicateMappingKey { key: None, .. } => "duplicate key".to_owned(),
        error => error.render_with_formatter(&DefaultMessageFormatter.with_localizer(&WithoutLocations)),
    }
}

/// Options of the YAML parser. As in Kubernetes, `0644` is octal. Aliases can expand to a hundred thousand nodes in
/// total. Nesting of the maximum depth uses 1.5 MB of stack in a debug build, where a thread has 2 MB. The defaults
/// limit the numbers of nodes and bytes.
fn limits() -> Options {
    options! {
        with_snippet: false,
        budget: budget! { max_depth: 50 },
        legacy_octal_numbers: true,
        alias_limits: alias_limits! { max_total_replayed_events: 100_000 },
    }
}

fn line(location: &Location) -> usize {
    usize::try_from(location.line()).unwrap_or(usize::MAX).max(1)
}

/// Omits locations from messages, because their lines are relative to the document, not to the text.
struct WithoutLocations;

impl Localizer for WithoutLocations {
    fn attach_location<'a>(&self, base: Cow<'a, str>, _: Location) -> Cow<'a, str> {
        base
    }

    fn alias_defined_at(&self, _: Location) -> String {
        String::new()
    }

    fn alias_used_at(&self, _: Location) -> String {
        String::new()
    }
}

/// JSON that was converted from YAML.
#[derive(Default)]
pub(super) struct Json {
    pub(super) text: String,
    /// Byte offsets in the text, with their lines in the YAML.
    lines: Vec<(usize, usize)>,
    lines_before: usize,
}

impl Json {
    /// Returns the line of the last byte that was read.
    pub(super) fn line_of(&self, bytes_read: usize) -> usize {
        let after = self.lines.partition_point(|(start, _)| *start < bytes_read);
        self.lines.get(after.saturating_sub(1)).map_or(1, |(_, line)| *line)
    }

    /// Returns the line of the first key of a mapping.
    fn first_line(&self, node: &Node) -> Option<usize> {
        match node {
            Node::Mapping(entries) => entries.first().map(|(key, _)| self.lines_before + line(&key.referenced)),
            _ => None,
        }
    }

    /// Writes a node. Its line is that of its key; of the items of a sequence only mappings have separate lines.
    fn write(&mut self, node: &Node, line: usize) {
        self.at(line);
        match node {
            Node::Null => self.text.push_str("null"),
            Node::Bool(value) => self.text.push_str(if *value { "true" } else { "false" }),
            Node::Number(value) => self.text.push_str(&value.to_string()),
            Node::Text(value) => self.string(value),
            Node::Sequence(items) => {
                self.text.push('[');
                for (i, item) in items.iter().enumerate() {
                    self.separate(i);
                    self.write(item, self.first_line(item).unwrap_or(line));
                }
                self.close(']', line);
            }
            Node::Mapping(entries) => {
                self.text.push('{');
                for (i, (key, value)) in entries.iter().enumerate() {
                    let line = self.lines_before + self::line(&key.referenced);
                    self.separate(i);
                    self.at(line);
                    self.string(&key.value);
                    self.text.push(':');
                    self.write(value, line);
                }
                self.close('}', line);
            }
        }
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.text.push(',');
        }
    }

    /// Writes the closing bracket with the line of the opening one: missing fields are detected at the end of a
    /// mapping, and reported at its beginning.
    fn close(&mut self, bracket: char, begin: usize) {
        self.at(begin);
        self.text.push(bracket);
    }

    fn at(&mut self, line: usize) {
        self.lines.push((self.text.len(), line));
    }

    fn string(&mut self, value: &str) {
        self.text.push_str(&Value::from(value).to_string());
    }
}

/// A YAML value, with the locations of its keys. Those of values would double the stack usage of nesting.
enum Node {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    Sequence(Vec<Node>),
    Mapping(Vec<(Spanned<String>, Node)>),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that JSON supports")
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Node, E> {
        Number::from_f64(value).map(Node::Number).ok_or_else(|| E::custom("JSON does not support this number"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::Sequence(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Mapping(entries))
    }
}
