//! YAML streams as kubectl reads them: by the rules of YAML 1.1, in which some unquoted names are booleans.

use std::{fmt, thread};

use anyhow::{Context, Result, anyhow};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{Location, Options, Spanned, budget, options};

use crate::{
    crd,
    diagnostic::{Diagnostic, RustItem},
};

/// The stack of the parser. Each level of a document uses about 30 kB in a debug build.
const STACK_BYTES: usize = 64 << 20;

/// The documents of a stream.
pub(super) struct Stream {
    pub(super) documents: Vec<Value>,
    /// The keys and values that are booleans for kubectl.
    pub(super) warnings: Vec<Diagnostic>,
}

/// Parses a stream.
pub(super) fn parse(text: &str, source: &str) -> Result<Stream> {
    let parsed: Result<Stream> = thread::scope(|scope| {
        let parser = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || stream(text, source));
        parser.context("cannot start a thread")?.join().map_err(|_| anyhow!("the parser failed"))?
    });
    parsed.with_context(|| match has_action(text) {
        true => template(source),
        false => format!("{source} is not YAML"),
    })
}

/// The error for a Helm template.
pub(super) fn template(source: &str) -> String {
    format!("{source} is a Helm template, not YAML; render it first: `helm template --show-only FILE CHART`")
}

fn stream(text: &str, source: &str) -> Result<Stream> {
    let nodes: Vec<Node> = serde_saphyr::from_multiple_with_options(text, limits()).map_err(crd::patch::yaml_error)?;
    let mut converter = Converter { lines: text.lines().collect(), source, warnings: Vec::new() };
    let documents = nodes.into_iter().map(|node| converter.value(node)).collect();
    Ok(Stream { documents, warnings: converter.warnings })
}

fn limits() -> Options {
    options! { with_snippet: false, legacy_octal_numbers: true, budget: budget! { max_depth: 1000 } }
}

/// Whether a line, or a value at the start of one, is an action of a Helm template.
fn has_action(text: &str) -> bool {
    text.lines().any(|line| {
        let item = line.trim_start().trim_start_matches("- ");
        let value = item.split_once(": ").map_or("", |(_, value)| value.trim_start());
        item.starts_with("{{") || value.starts_with("{{")
    })
}

/// Converts nodes to JSON.
struct Converter<'a> {
    lines: Vec<&'a str>,
    source: &'a str,
    warnings: Vec<Diagnostic>,
}

impl Converter<'_> {
    fn value(&mut self, node: Node) -> Value {
        match node {
            Node::Scalar(value) => value,
            Node::Sequence(items) => items.into_iter().map(|item| self.part(item)).collect(),
            Node::Mapping(entries) => {
                let mut fields = Map::new();
                for (key, value) in entries {
                    let value = self.part(value);
                    fields.insert(self.key(key), value);
                }
                Value::Object(fields)
            }
        }
    }

    /// Converts an item of a sequence, or a value of a mapping.
    fn part(&mut self, node: Spanned<Node>) -> Value {
        if let Node::Scalar(Value::Bool(_)) = node.value {
            // An anchor and a tag precede the value.
            let mut words = self.text_at(node.referenced).split_whitespace();
            let word = words.find(|word| !word.starts_with(['&', '!'])).map_or("", first_word);
            self.warn_of_boolean(word, node.referenced.line());
        }
        self.value(node.value)
    }

    /// Returns the key that kubectl sends.
    fn key(&mut self, key: Spanned<String>) -> String {
        let is_plain = || self.text_at(key.referenced).starts_with(&key.value);
        let Some(boolean) = boolean(&key.value).filter(|_| is_plain()) else { return key.value };
        if key.value != boolean {
            let message = format!("kubectl reads this key as `{boolean}`, by the rules of YAML 1.1; quote it");
            self.warn(key.value, key.referenced.line(), message);
        }
        boolean.to_owned()
    }

    /// Warns of a word that is a boolean by the rules of YAML 1.1 only.
    fn warn_of_boolean(&mut self, word: &str, line: u64) {
        let Some(boolean) = boolean(word).filter(|boolean| !word.eq_ignore_ascii_case(boolean)) else { return };
        let message =
            format!("kubectl reads this value as `{boolean}`, by the rules of YAML 1.1; quote it if it is a string");
        self.warn(word.to_owned(), line, message);
    }

    fn warn(&mut self, item: String, line: u64, message: String) {
        self.warnings.push(RustItem::in_line(item, self.source, line).diagnostic(message));
    }
}

impl<'a> Converter<'a> {
    /// Returns the rest of a line.
    fn text_at(&self, location: Location) -> &'a str {
        let index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
        let line = self.lines.get(index(location.line())).copied().unwrap_or_default();
        line.char_indices().nth(index(location.column())).map_or("", |(start, _)| &line[start..])
    }
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

/// Returns the boolean that YAML 1.1 reads.
fn boolean(text: &str) -> Option<&'static str> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => Some("true"),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => Some("false"),
        _ => None,
    }
}

/// A YAML value, with the locations of its parts.
enum Node {
    Scalar(Value),
    Sequence(Vec<Spanned<Node>>),
    Mapping(Vec<(Spanned<String>, Spanned<Node>)>),
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
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_none<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Scalar(Number::from_f64(value).map_or(Value::Null, Value::Number)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(value.into()))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::parse;

    #[test]
    fn unquoted_keys_that_are_booleans_are_those_of_kubectl() {
        let stream = parse("a: 1\n---\nx: 1\n{y: 2, \"n\": on}: 1\n", "a.yaml");
        assert!(stream.is_err(), "a mapping is no key");
        let stream = parse("# A comment.\n---\nx: 1\n---\ny: 2\n'n': true\nz: {no: 3, true: 4}\n", "a.yaml").unwrap();
        assert_eq!(stream.documents, [json!({"x": 1}), json!({"true": 2, "n": true, "z": {"false": 3, "true": 4}})]);
        let warnings: Vec<String> = stream.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(
            warnings,
            [
                "a.yaml:5: `y`: kubectl reads this key as `true`, by the rules of YAML 1.1; quote it",
                "a.yaml:7: `no`: kubectl reads this key as `false`, by the rules of YAML 1.1; quote it",
            ]
        );
    }

    #[test]
    fn unquoted_values_that_are_booleans_are_those_of_kubectl() {
        let text = "ä: on\n'b': yes # no\nc: [on, 'off', No, true, {d: n}]\ne:\n- off\n- False\nf: 'on'\ng: One\n";
        let stream = parse(text, "a.yaml").unwrap();
        let expected = json!({
            "ä": true, "b": true, "c": [true, "off", false, true, {"d": false}], "e": [false, false], "f": "on", "g": "One",
        });
        assert_eq!(stream.documents, [expected]);
        let warned: Vec<String> = stream
            .warnings
            .iter()
            .map(|warning| warning.to_string().replace("kubectl reads this value as ", ""))
            .collect();
        let rest = ", by the rules of YAML 1.1; quote it if it is a string";
        let expected = [
            "1: `on`: `true`",
            "2: `yes`: `true`",
            "3: `on`: `true`",
            "3: `No`: `false`",
            "3: `n`: `false`",
            "5: `off`: `false`",
        ];
        assert_eq!(warned, expected.map(|warning| format!("a.yaml:{warning}{rest}")));
    }

    #[test]
    fn values_are_found_at_their_place() {
        let text = "'a:no': true\nb:\n  yes\nc: &anchor on\nd: !!bool off\ne: *anchor\n";
        let stream = parse(text, "a.yaml").unwrap();
        let warned: Vec<&str> = stream.warnings.iter().map(|warning| warning.item.as_str()).collect();
        assert_eq!(warned, ["yes", "on", "off"]);
    }

    #[test]
    fn deep_documents_are_parsed() {
        let text = format!("a: {}1{}", "{a: ".repeat(200), "}".repeat(200));
        assert_eq!(parse(&text, "a.yaml").unwrap().documents.len(), 1);
    }

    #[test]
    fn templates_are_reported_as_such() {
        for text in
            ["{{- if .Values.crds }}\na: 1\n{{- end }}\n", "a: {{ .Values.a }}\n", "a:\n  - {{ .Values.a }}: 1\n"]
        {
            let error = parse(text, "a.yaml").err().unwrap().to_string();
            assert!(error.starts_with("a.yaml is a Helm template"), "{error}");
        }
        for text in ["a: '{{ .Values.a }}'\nb: [\n", "a: \"use: {{ x }}\"\nb: [\n"] {
            assert_eq!(parse(text, "a.yaml").err().unwrap().to_string(), "a.yaml is not YAML");
        }
    }
}
