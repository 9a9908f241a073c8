//! `#[schema(..)]`, and `#[schemars(extend(..))]` for what it has no keyword for.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use serde_json::{Map, Value};

use super::names;
use super::types::Facts;
use crate::names::ident;

/// The attributes that say these facts.
pub(super) fn attributes(facts: &Facts) -> Vec<TokenStream> {
    let mut attributes = Vec::new();
    let words = words(facts);
    if !words.is_empty() {
        attributes.push(quote!(#[schema(#(#words),*)]));
    }
    attributes.extend(rules(facts).into_iter().map(|rule| quote!(#[schema(#rule)])));
    if !facts.extend.is_empty() {
        let pairs = facts.extend.iter().map(|(key, value)| {
            let value = json(value);
            quote!(#key = #value)
        });
        attributes.push(quote!(#[schemars(extend(#(#pairs),*))]));
    }
    attributes
}

/// Whether `#[schema(..)]` can say this.
pub(super) fn has_word(key: &str, value: &Value) -> bool {
    let is_word = |words: &[&str]| value.as_str().is_some_and(|word| words.contains(&word));
    match key {
        "enum" => value.as_array().is_some_and(|all| {
            let is_literal =
                |value: &Value| value.is_string() || value.as_u64().is_some_and(|number| number <= i64::MAX as u64);
            !all.is_empty() && all.iter().all(is_literal)
        }),
        "maximum" | "minimum" | "multipleOf" => value.is_f64() || value.is_i64(),
        key if bounds_word(key).is_some() => value.as_u64().is_some_and(|bound| u32::try_from(bound).is_ok()),
        "x-kubernetes-list-type" => is_word(&["atomic", "map", "set"]),
        "x-kubernetes-map-type" => is_word(&["atomic", "granular"]),
        _ => true,
    }
}

fn bounds_word(key: &str) -> Option<&'static str> {
    match key {
        "minLength" | "maxLength" => Some("length"),
        "minItems" | "maxItems" => Some("items"),
        "minProperties" | "maxProperties" => Some("properties"),
        _ => None,
    }
}

/// The keywords, rules apart.
fn words(facts: &Facts) -> Vec<TokenStream> {
    let mut words: Vec<TokenStream> = facts.choices.iter().map(one_of).collect();
    if !words.is_empty() {
        words.push(quote!(via = schema));
    }
    let flags = facts.flags.iter().map(|flag| format_ident!("{flag}"));
    words.extend(flags.map(|flag| quote!(#flag)));
    let said = &facts.said;
    for (key, word) in [("minimum", "min"), ("maximum", "max"), ("multipleOf", "multiple_of")] {
        let word = format_ident!("{word}");
        words.extend(said.get(key).map(|value| {
            let value = number(value);
            quote!(#word = #value)
        }));
    }
    for (key, word) in [("exclusiveMinimum", "exclusive_min"), ("exclusiveMaximum", "exclusive_max")] {
        let word = format_ident!("{word}");
        words.extend(said.contains_key(key).then(|| quote!(#word)));
    }
    for (least, most) in [("minLength", "maxLength"), ("minItems", "maxItems"), ("minProperties", "maxProperties")] {
        words.extend(bounds(said, least, most));
    }
    for (key, word) in [("pattern", "pattern"), ("format", "format"), ("title", "title")] {
        let word = format_ident!("{word}");
        words.extend(said.get(key).and_then(Value::as_str).map(|value| {
            let value = text(value);
            quote!(#word = #value)
        }));
    }
    words.extend(said.get("enum").map(|values| {
        let values = values.as_array().into_iter().flatten().map(json);
        quote!(values = [#(#values),*])
    }));
    words.extend(topology(said));
    words.extend(said.get("externalDocs").map(external_docs));
    if let Some(each) = &facts.each {
        let mut inside = self::words(each);
        inside.extend(rules(each));
        words.push(quote!(each(#(#inside),*)));
    }
    words
}

fn one_of((word, fields): &(&'static str, Vec<String>)) -> TokenStream {
    let word = format_ident!("{word}");
    let fields = fields.iter().map(|field| ident(&names::field(field)));
    quote!(#word = [#(#fields),*])
}

fn bounds(said: &Map<String, Value>, least: &str, most: &str) -> Option<TokenStream> {
    let bound = |key: &str| said.get(key).and_then(Value::as_u64).map(Literal::u64_unsuffixed);
    let word = format_ident!("{}", bounds_word(least)?);
    match (bound(least), bound(most)) {
        (None, None) => None,
        (Some(min), None) => Some(quote!(#word = #min..)),
        (min, Some(max)) => Some(quote!(#word = #min..=#max)),
    }
}

/// How lists and maps merge, and what is kept in objects.
fn topology(said: &Map<String, Value>) -> Vec<TokenStream> {
    let mut words = Vec::new();
    for (key, word) in [("x-kubernetes-list-type", "list_type"), ("x-kubernetes-map-type", "map_type")] {
        let value = said.get(key).and_then(Value::as_str).map(|value| format_ident!("{value}"));
        let word = format_ident!("{word}");
        words.extend(value.map(|value| quote!(#word = #value)));
    }
    words.extend(said.get("x-kubernetes-list-map-keys").map(|keys| {
        let keys = keys.as_array().into_iter().flatten().map(json);
        quote!(list_map_keys = [#(#keys),*])
    }));
    for (key, word) in [
        ("x-kubernetes-embedded-resource", "embedded_resource"),
        ("x-kubernetes-preserve-unknown-fields", "preserve_unknown_fields"),
    ] {
        let word = format_ident!("{word}");
        words.extend(said.contains_key(key).then(|| quote!(#word)));
    }
    words
}

fn external_docs(said: &Value) -> TokenStream {
    let pair = |key: &str| {
        let word = format_ident!("{key}");
        said.get(key).and_then(Value::as_str).map(|value| quote!(#word = #value))
    };
    let pairs = [pair("url"), pair("description")].into_iter().flatten();
    quote!(external_docs(#(#pairs),*))
}

fn rules(facts: &Facts) -> Vec<TokenStream> {
    let rules = facts.said.get("x-kubernetes-validations").and_then(Value::as_array);
    rules.into_iter().flatten().map(rule).collect()
}

fn rule(rule: &Value) -> TokenStream {
    let words = [
        ("rule", "rule"),
        ("message", "message"),
        ("messageExpression", "message_expression"),
        ("reason", "reason"),
        ("fieldPath", "field_path"),
    ];
    let words = words.into_iter().filter_map(|(key, word)| {
        let (word, value) = (format_ident!("{word}"), text(rule.get(key)?.as_str()?));
        Some(quote!(#word = #value))
    });
    let optional = (rule.get("optionalOldSelf") == Some(&Value::Bool(true))).then(|| quote!(optional_old_self));
    let words = words.chain(optional);
    quote!(validation(#(#words),*))
}

/// A number, with its sign.
pub(super) fn number(value: &Value) -> TokenStream {
    match (value.as_i64(), value.as_f64()) {
        (Some(whole), _) => {
            let (sign, digits) = ((whole < 0).then(|| quote!(-)), Literal::u64_unsuffixed(whole.unsigned_abs()));
            quote!(#sign #digits)
        }
        (None, float) => {
            let float = float.unwrap_or_default();
            let (sign, digits) = ((float < 0.0).then(|| quote!(-)), Literal::f64_unsuffixed(float.abs()));
            quote!(#sign #digits)
        }
    }
}

/// A text, raw where that is easier to read.
pub(super) fn text(text: &str) -> Literal {
    let is_raw = |c: char| !c.is_control() || c == '\n' || c == '\t';
    if !text.contains(['"', '\\', '\n']) || !text.chars().all(is_raw) {
        return Literal::string(text);
    }
    let hashes = (0..).map(|count| "#".repeat(count)).find(|hashes| !text.contains(&format!("\"{hashes}")));
    let hashes = hashes.unwrap_or_default();
    format!("r{hashes}\"{text}\"{hashes}").parse().unwrap_or_else(|_| Literal::string(text))
}

/// JSON as `serde_json::json!` takes it.
pub(super) fn json(value: &Value) -> TokenStream {
    match value {
        Value::Null => quote!(null),
        Value::Bool(value) => quote!(#value),
        Value::Number(_) => number(value),
        Value::String(value) => {
            let value = text(value);
            quote!(#value)
        }
        Value::Array(all) => {
            let all = all.iter().map(json);
            quote!([#(#all),*])
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| {
                let value = json(value);
                quote!(#key: #value)
            });
            quote!({ #(#fields),* })
        }
    }
}
