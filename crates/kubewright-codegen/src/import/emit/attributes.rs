//! `#[schema(..)]`, and `#[schemars(extend(..))]` for keywords without a key.

use kubewright_names::extension::Extension;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};
use serde_json::{Map, Value};

use super::super::{
    model::{Overrides, SchemaAttributes},
    names,
};
use crate::{
    names::{ident, schema_key},
    schema_path::{Pointer, text_of_pointer},
};

/// Returns the attributes of a type.
pub(super) fn of_type(attributes: &SchemaAttributes) -> Vec<TokenStream> {
    of_field(attributes, &Overrides::new())
}

/// Returns the attributes of a field, with its overrides.
pub(super) fn of_field(attributes: &SchemaAttributes, overrides: &Overrides) -> Vec<TokenStream> {
    of_kind(attributes, overrides, Map::new())
}

/// Returns the attributes of a kind, with its overrides and the patches of its version and definition.
pub(super) fn of_kind(
    attributes: &SchemaAttributes,
    overrides: &Overrides,
    patches: Map<String, Value>,
) -> Vec<TokenStream> {
    let mut overrides = overrides.clone();
    // `serde_json::json!` recurses for each token, so large values are strings in an override.
    let (extend, large): (Map<String, Value>, Map<String, Value>) =
        attributes.extend.clone().into_iter().partition(|(_, value)| size(value) <= MAX_SIZE);
    if !large.is_empty() {
        overrides.entry(Pointer::new()).or_default().extend(large);
    }
    let mut extend = extend;
    extend.extend(overrides_mark(&overrides, patches));
    let mut tokens = Vec::new();
    let keys = keys(attributes);
    if !keys.is_empty() {
        tokens.push(quote!(#[schema(#(#keys),*)]));
    }
    tokens.extend(rules(attributes).into_iter().map(|rule| quote!(#[schema(#rule)])));
    tokens.extend(self::extend(&extend));
    tokens
}

/// Returns `#[schemars(extend(..))]`, if there is anything to add.
fn extend(keywords: &Map<String, Value>) -> Option<TokenStream> {
    let pairs = keywords.iter().map(|(key, value)| {
        let value = match size(value) <= MAX_SIZE {
            true => json(value),
            false => text(&value.to_string()).into_token_stream(),
        };
        quote!(#key = #value)
    });
    (!keywords.is_empty()).then(|| quote!(#[schemars(extend(#(#pairs),*))]))
}

/// Returns the mark that the generator applies: keywords by JSON pointers, and patches.
fn overrides_mark(overrides: &Overrides, patches: Map<String, Value>) -> Option<(String, Value)> {
    let by_pointer = |(pointer, keywords): (&Pointer, &Map<String, Value>)| {
        (text_of_pointer(pointer), Value::Object(keywords.clone()))
    };
    let all: Map<String, Value> = overrides.iter().map(by_pointer).chain(patches).collect();
    (!all.is_empty()).then(|| (Extension::Override.name().to_owned(), Value::Object(all)))
}

/// Returns the key of `#[schema(..)]` that sets a keyword, as an identifier.
fn key(keyword: &str) -> Ident {
    format_ident!("{}", schema_key(keyword))
}

/// Returns the keys of `#[schema(..)]` without rules.
fn keys(attributes: &SchemaAttributes) -> Vec<TokenStream> {
    let mut words: Vec<TokenStream> = attributes.choices.iter().map(choice).collect();
    if !words.is_empty() {
        words.push(quote!(via = schema));
    }
    let flags = attributes.flags.iter().map(|flag| format_ident!("{flag}"));
    words.extend(flags.map(|flag| quote!(#flag)));
    let keywords = &attributes.keywords;
    for keyword in ["minimum", "maximum", "multipleOf"] {
        let word = key(keyword);
        words.extend(keywords.get(keyword).map(|value| {
            let value = number(value);
            quote!(#word = #value)
        }));
    }
    for keyword in ["exclusiveMinimum", "exclusiveMaximum"] {
        let word = key(keyword);
        words.extend(keywords.contains_key(keyword).then(|| quote!(#word)));
    }
    for (least, most) in [("minLength", "maxLength"), ("minItems", "maxItems"), ("minProperties", "maxProperties")] {
        words.extend(bounds(keywords, least, most));
    }
    for keyword in ["pattern", "format", "title"] {
        let word = key(keyword);
        words.extend(keywords.get(keyword).and_then(Value::as_str).map(|value| {
            let value = text(value);
            quote!(#word = #value)
        }));
    }
    words.extend(keywords.get("enum").map(|values| {
        let values = values.as_array().into_iter().flatten().map(json);
        quote!(values = [#(#values),*])
    }));
    words.extend(merge_strategy(keywords));
    words.extend(keywords.get("externalDocs").map(external_docs));
    if let Some(each) = &attributes.each {
        let mut inside = self::keys(each);
        inside.extend(rules(each));
        words.push(quote!(each(#(#inside),*)));
    }
    words
}

fn choice((word, fields): &(&'static str, Vec<String>)) -> TokenStream {
    let word = format_ident!("{word}");
    let fields = fields.iter().map(|field| ident(&names::field(field)));
    quote!(#word = [#(#fields),*])
}

fn bounds(keywords: &Map<String, Value>, least: &str, most: &str) -> Option<TokenStream> {
    let bound = |key: &str| keywords.get(key).and_then(Value::as_u64).map(Literal::u64_unsuffixed);
    let word = key(least);
    match (bound(least), bound(most)) {
        (None, None) => None,
        (Some(min), None) => Some(quote!(#word = #min..)),
        (min, Some(max)) => Some(quote!(#word = #min..=#max)),
    }
}

/// Returns the keys for the merge strategy of lists and maps, and for unknown fields.
fn merge_strategy(keywords: &Map<String, Value>) -> Vec<TokenStream> {
    let mut words = Vec::new();
    for keyword in ["x-kubernetes-list-type", "x-kubernetes-map-type"] {
        let value = keywords.get(keyword).and_then(Value::as_str).map(|value| format_ident!("{value}"));
        let word = key(keyword);
        words.extend(value.map(|value| quote!(#word = #value)));
    }
    words.extend(keywords.get("x-kubernetes-list-map-keys").map(|keys| {
        let keys = keys.as_array().into_iter().flatten().map(json);
        quote!(list_map_keys = [#(#keys),*])
    }));
    for keyword in ["x-kubernetes-embedded-resource", "x-kubernetes-preserve-unknown-fields"] {
        let word = key(keyword);
        words.extend(keywords.contains_key(keyword).then(|| quote!(#word)));
    }
    words
}

fn external_docs(keywords: &Value) -> TokenStream {
    let pair = |key: &str| {
        let word = format_ident!("{key}");
        keywords.get(key).and_then(Value::as_str).map(|value| quote!(#word = #value))
    };
    let pairs = [pair("url"), pair("description")].into_iter().flatten();
    quote!(external_docs(#(#pairs),*))
}

fn rules(attributes: &SchemaAttributes) -> Vec<TokenStream> {
    let rules = attributes.keywords.get("x-kubernetes-validations").and_then(Value::as_array);
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

/// Returns a number with its sign.
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

/// The maximum number of values that `serde_json::json!` is used for.
const MAX_SIZE: usize = 30;

/// Returns the number of values within a value.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(size).sum(),
        Value::Object(values) => values.values().map(size).sum(),
        _ => 0,
    }
}

/// Returns an expression for any JSON.
pub(super) fn json_expression(value: &Value) -> TokenStream {
    if size(value) > MAX_SIZE {
        let text = text(&value.to_string());
        return quote!(::serde_json::from_str(#text).expect("the default is JSON"));
    }
    let value = json(value);
    quote!(::serde_json::json!(#value))
}

/// Returns a number as an element of JSON. It has a suffix unless it is an `i32`, the default type of integer literals.
fn json_number(value: &Value) -> TokenStream {
    match (value.as_i64(), value.as_u64()) {
        (Some(integer), _) if i32::try_from(integer).is_err() => {
            let (sign, digits) = ((integer < 0).then(|| quote!(-)), integer.unsigned_abs());
            let literal: Literal = format!("{digits}i64").parse().unwrap_or_else(|_| Literal::i64_suffixed(integer));
            quote!(#sign #literal)
        }
        (None, Some(integer)) => {
            let literal = Literal::u64_suffixed(integer);
            quote!(#literal)
        }
        _ => number(value),
    }
}

/// Returns a string literal, which is raw if that is easier to read.
pub(super) fn text(text: &str) -> Literal {
    let is_raw = |c: char| !c.is_control() || c == '\n' || c == '\t';
    if !text.contains(['"', '\\', '\n']) || !text.chars().all(is_raw) {
        return Literal::string(text);
    }
    let hashes = (0..).map(|count| "#".repeat(count)).find(|hashes| !text.contains(&format!("\"{hashes}")));
    let hashes = hashes.unwrap_or_default();
    format!("r{hashes}\"{text}\"{hashes}").parse().unwrap_or_else(|_| Literal::string(text))
}

/// Returns JSON as `serde_json::json!` accepts it.
pub(super) fn json(value: &Value) -> TokenStream {
    match value {
        Value::Null => quote!(null),
        Value::Bool(value) => quote!(#value),
        Value::Number(_) => json_number(value),
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
