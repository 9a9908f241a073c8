//! YAML streams as kubectl reads them: by the rules of YAML 1.1, in which some unquoted names are booleans.

use std::{fmt, thread};

use anyhow::{Context, Result, anyhow};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{Options, Spanned, budget, options};

use crate::{crd, diagnostic::Diagnostic};

/// The stack of the parser. Each level of a document uses about 30 kB in a debug build.
const STACK_BYTES: usize = 64 << 20;

/// The documents of a stream.
pub(super) struct Stream {
    pub(super) documents: Vec<Value>,
    /// The keys that are booleans for kubectl.
    pub(super) warnings: Vec<Diagnostic>,
}

/// Parses a stream.
pub(super) fn parse(text: &str, source: &str) -> Result<Stream> {
    let parsed: Result<Stream> = thread::scope(|scope| {
        let parser = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || stream(text, source));
        parser.context("cannot start a thread")?.join().map_err(|_| anyhow!("the parser failed"))?
    });
    parsed.with_context(|| match is_template(text) {
        true => {
            format!("{source} is a Helm template, not YAML; render it first: `helm template --show-only FILE CHART`")
        }
        false => format!("{source} is not YAML"),
    })
}

fn stream(text: &str, source: &str) -> Result<Stream> {
    let nodes: Vec<Node> = serde_saphyr::from_multiple_with_options(text, limits()).map_err(crd::patch::yaml_error)?;
    let mut converter = Converter { text, source, warnings: Vec::new() };
    let documents = nodes.into_iter().map(|node| converter.value(node)).collect();
    Ok(Stream { documents, warnings: converter.warnings })
}

fn limits() -> Options {
    options! { with_snippet: false, legacy_octal_numbers: true, budget: budget! { max_depth: 1000 } }
}

/// Whether a line is an action of a Helm template.
fn is_template(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("{{"))
}

/// Converts nodes to JSON.
struct Converter<'a> {
    text: &'a str,
    source: &'a str,
    warnings: Vec<Diagnostic>,
}

impl Converter<'_> {
    fn value(&mut self, node: Node) -> Value {
        match node {
            Node::Scalar(value) => value,
            Node::Sequence(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Node::Mapping(entries) => {
                let mut fields = Map::new();
                for (key, value) in entries {
                    let value = self.value(value);
                    fields.insert(self.key(key), value);
                }
                Value::Object(fields)
            }
        }
    }

    /// Returns the key that kubectl sends.
    fn key(&mut self, key: Spanned<String>) -> String {
        let Some(boolean) = boolean(&key.value).filter(|_| self.is_plain(&key)) else { return key.value };
        let line = key.referenced.line();
        if key.value != boolean {
            self.warnings.push(Diagnostic {
                item: key.value,
                location: Some(format!("{}:{line}", self.source)),
                message: format!("kubectl reads this key as `{boolean}`, by the rules of YAML 1.1; quote it"),
            });
        }
        boolean.to_owned()
    }

    /// Whether a key is not quoted.
    fn is_plain(&self, key: &Spanned<String>) -> bool {
        let index = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
        let line = self.text.lines().nth(index(key.referenced.line())).unwrap_or_default();
        let text: String = line.chars().skip(index(key.referenced.column())).take(key.value.len()).collect();
        text == key.value
    }
}

/// Returns the boolean that YAML 1.1 reads.
fn boolean(text: &str) -> Option<&'static str> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => Some("true"),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => Some("false"),
        _ => None,
    }
}

/// A YAML value, with the locations of its keys.
enum Node {
    Scalar(Value),
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
        let stream = parse("# A comment.\n---\nx: 1\n---\ny: 2\n'n': on\nz: {no: 3, true: 4}\n", "a.yaml").unwrap();
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
    fn deep_documents_are_parsed() {
        let text = format!("a: {}1{}", "{a: ".repeat(200), "}".repeat(200));
        assert_eq!(parse(&text, "a.yaml").unwrap().documents.len(), 1);
    }

    #[test]
    fn templates_are_reported_as_such() {
        let error = parse("{{- if .Values.crds }}\na: 1\n{{- end }}\n", "a.yaml").err().unwrap().to_string();
        assert!(error.starts_with("a.yaml is a Helm template"), "{error}");
    }
}
