//! Field selectors, for the selectable fields of each kind.

use serde_json::Value;

use crate::{
    api::{kind::Kind, object::Object},
    resource::strategy::Strategy,
};

/// One comma-separated part of a field selector.
#[derive(Debug)]
pub(super) struct Term {
    field: Field,
    value: String,
    negated: bool,
}

#[derive(Debug)]
enum Field {
    Name,
    Namespace,
    /// A field of the body, by path.
    Other(String),
}

impl Term {
    pub(super) fn matches(&self, object: &Object) -> bool {
        let found = match &self.field {
            Field::Name => object.name().to_owned(),
            Field::Namespace => object.namespace().to_owned(),
            Field::Other(path) if path == "source" => source(object),
            Field::Other(path) => text(path, object.field(path)),
        };
        (found == self.value) != self.negated
    }
}

/// Returns the value of a field for field selectors. Missing fields are empty, except for those with a zero value in
/// Go.
fn text(path: &str, value: Option<&Value>) -> String {
    match (path, value) {
        (_, Some(Value::String(text))) => text.clone(),
        (_, Some(value @ (Value::Bool(_) | Value::Number(_)))) => value.to_string(),
        ("spec.hostNetwork" | "spec.unschedulable", _) => "false".to_owned(),
        ("status.successful", _) => "0".to_owned(),
        _ => String::new(),
    }
}

/// Returns the source of an event: the deprecated component, or the reporting controller.
fn source(event: &Object) -> String {
    let sources = ["source.component", "reportingComponent"].iter().filter_map(|path| event.field(path)?.as_str());
    sources.into_iter().find(|text| !text.is_empty()).unwrap_or_default().to_owned()
}

/// Parses a field selector for a kind.
pub(super) fn parse(selector: &str, kind: &Kind, strategy: &Strategy) -> Result<Vec<Term>, String> {
    let terms = terms(selector);
    terms.iter().filter(|term| !term.is_empty()).map(|term| parse_term(selector, term, kind, strategy)).collect()
}

/// Splits a selector at commas that are not escaped.
fn terms(selector: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (position, c) in selector.char_indices() {
        if c == ',' && !escaped {
            terms.push(&selector[start..position]);
            start = position + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    terms.push(&selector[start..]);
    terms
}

fn parse_term(selector: &str, term: &str, kind: &Kind, strategy: &Strategy) -> Result<Term, String> {
    let (name, value, negated) = match (term.split_once("!="), term.split_once("=="), term.split_once('=')) {
        (Some((name, value)), _, _) => (name, value, true),
        (None, Some((name, value)), _) | (None, None, Some((name, value))) => (name, value, false),
        (None, None, None) => return Err(format!("invalid selector: '{selector}'; can't understand '{term}'")),
    };
    let value = unescape(value)?;
    let field = match name {
        "metadata.name" => Field::Name,
        "metadata.namespace" => Field::Namespace,
        other => other_field(other, kind, strategy)?,
    };
    Ok(Term { field, value, negated })
}

/// Replaces the escape sequences `\\`, `\,` and `\=`; others are errors.
fn unescape(value: &str) -> Result<String, String> {
    let mut text = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => text.push(escaped),
                other => {
                    let other = other.map(String::from).unwrap_or_default();
                    return Err(format!("invalid field selector: invalid escape sequence: \\{other}"));
                }
            },
            other => text.push(other),
        }
    }
    Ok(text)
}

fn other_field(name: &str, kind: &Kind, strategy: &Strategy) -> Result<Field, String> {
    if kind.selectable.iter().any(|field| field == name) {
        Ok(Field::Other(name.to_owned()))
    } else if kind.selectable.is_empty() && !kind.is_custom {
        let known = r#"only "metadata.name", "metadata.namespace""#;
        Err(format!("{name:?} is not a known field selector: {known}"))
    } else if strategy.names_kind_in_field_errors {
        Err(format!("field label {name:?} not supported for {}", kind.kind))
    } else {
        Err(format!("field label not supported: {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_split_at_unescaped_commas() {
        assert_eq!(terms(r"a=b\,c,d=e"), [r"a=b\,c", "d=e"]);
        assert_eq!(unescape(r"b\,c\=\\").as_deref(), Ok(r"b,c=\"));
        assert_eq!(unescape(r"a\b"), Err(r"invalid field selector: invalid escape sequence: \b".to_owned()));
    }
}
