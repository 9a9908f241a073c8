//! Defaults as Rust: literals in `#[default(..)]`, and functions for those of several parts.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use serde_json::Value;

use super::emit::Written;
use super::types::{Body, Field, Item, Type};
use super::{facts, kubernetes, names};
use crate::names::ident;

/// Which fields a default leaves out although they have one themselves: they are `Option`s, so that it can.
pub(super) fn left_out(items: &[Item]) -> BTreeSet<(usize, String)> {
    let mut found = BTreeSet::new();
    for field in items.iter().flat_map(|item| fields(&item.body)) {
        if let Some(default) = &field.default {
            visit(default, &field.ty, items, &mut found);
        }
    }
    found
}

fn fields(body: &Body) -> &[Field] {
    match body {
        Body::Struct { fields, .. } | Body::Variants(fields) => fields,
        Body::Words(_) | Body::Wrapper(_) => &[],
    }
}

fn visit(value: &Value, ty: &Type, items: &[Item], found: &mut BTreeSet<(usize, String)>) {
    match (ty, value) {
        (Type::List(ty), Value::Array(values)) => values.iter().for_each(|value| visit(value, ty, items, found)),
        (Type::Map(ty), Value::Object(values)) => values.values().for_each(|value| visit(value, ty, items, found)),
        (Type::Own(item), value) => match &items[*item].body {
            Body::Wrapper(ty) => visit(value, ty, items, found),
            body => {
                for field in fields(body) {
                    match value.get(&field.json) {
                        Some(value) => visit(value, &field.ty, items, found),
                        None => drop(found.insert((*item, field.json.clone()))),
                    }
                }
            }
        },
        _ => {}
    }
}

/// What stands in `#[default(..)]`, if that takes it: a scalar, or a variant.
pub(super) fn literal(value: &Value, ty: &Type, written: &Written<'_>) -> Option<TokenStream> {
    match (ty, value) {
        (Type::Bool, Value::Bool(_)) | (Type::Text, Value::String(_)) => Some(facts::json(value)),
        (Type::Integer("i32"), Value::Number(number)) => is_i32(number).then(|| facts::number(value)),
        (Type::Integer(_), Value::Number(number)) => number.is_i64().then(|| facts::number(value)),
        (Type::Float(_), Value::Number(_)) => Some(float(value)),
        (Type::Own(item), Value::String(word)) => match &written.items[*item].body {
            Body::Words(words) if words.contains(word) => Some(variant(*item, word, written)),
            _ => None,
        },
        _ => None,
    }
}

/// The value as an expression of the type. An error says what of it the type cannot hold.
pub(super) fn expression(value: &Value, ty: &Type, written: &Written<'_>) -> Result<TokenStream, String> {
    if let Some(literal) = literal(value, ty, written) {
        return Ok(match ty {
            Type::Text if value == "" => quote!(String::new()),
            Type::Text => quote!(#literal.to_owned()),
            _ => literal,
        });
    }
    match (ty, value) {
        (Type::List(ty), Value::Array(values)) => {
            let values = values.iter().map(|value| expression(value, ty, written)).collect::<Result<Vec<_>, _>>()?;
            Ok(quote!(Vec::from([#(#values),*])))
        }
        (Type::Map(ty), Value::Object(values)) => {
            let pairs = values.iter().map(|(key, value)| {
                let value = expression(value, ty, written)?;
                Ok(quote!((#key.to_owned(), #value)))
            });
            let pairs = pairs.collect::<Result<Vec<_>, String>>()?;
            Ok(quote!(BTreeMap::from([#(#pairs),*])))
        }
        (Type::Own(item), value) => of_item(value, *item, written),
        (Type::Json, value) => {
            let value = facts::json(value);
            Ok(quote!(serde_json::json!(#value)))
        }
        (Type::Known(known), Value::String(text)) if **known == kubernetes::QUANTITY => {
            Ok(quote!(Quantity(#text.to_owned())))
        }
        (Type::Known(known), Value::String(text)) if **known == kubernetes::INT_OR_STRING => {
            Ok(quote!(IntOrString::String(#text.to_owned())))
        }
        (Type::Known(known), Value::Number(number)) if **known == kubernetes::INT_OR_STRING && is_i32(number) => {
            let number = facts::number(value);
            Ok(quote!(IntOrString::Int(#number)))
        }
        (Type::Known(_), value) => {
            let value = facts::json(value);
            Ok(quote!(serde_json::from_value(serde_json::json!(#value)).expect("it is one of this type")))
        }
        (ty, value) => Err(format!("its default is {value}, which is no value of `{}`", written.ty(ty))),
    }
}

fn of_item(value: &Value, item: usize, written: &Written<'_>) -> Result<TokenStream, String> {
    let name = &written.names[item];
    match (&written.items[item].body, value) {
        (Body::Wrapper(ty), value) => {
            let value = expression(value, ty, written)?;
            Ok(quote!(#name(#value)))
        }
        (Body::Struct { fields, open }, Value::Object(values)) => {
            let known = |key: &&String| fields.iter().any(|field| field.json == **key);
            if let Some(key) = values.keys().find(|key| !known(key)) {
                return Err(format!("its default has a field `{key}` that its schema does not know"));
            }
            let fields = fields.iter().map(|field| of_field(values.get(&field.json), field, item, written));
            let fields = fields.collect::<Result<Vec<_>, _>>()?;
            let other = open.then(|| written.other(item)).map(|other| quote!(#other: BTreeMap::new()));
            let fields = fields.into_iter().chain(other);
            Ok(quote!(#name { #(#fields),* }))
        }
        (Body::Variants(variants), Value::Object(values)) => {
            let one = variants.iter().find_map(|variant| Some((variant, values.get(&variant.json)?)));
            let Some((variant, value)) = one.filter(|_| values.len() == 1) else {
                return Err(format!("its default {} is none of its variants", Value::Object(values.clone())));
            };
            let (word, value) = (ident(&names::variant(&variant.json)), expression(value, &variant.ty, written)?);
            Ok(quote!(#name::#word(#value)))
        }
        (_, value) => Err(format!("its default is {value}, which is no value of `{name}`")),
    }
}

fn of_field(value: Option<&Value>, field: &Field, item: usize, written: &Written<'_>) -> Result<TokenStream, String> {
    let name = written.field(item, &field.json);
    match (value, written.is_optional(item, field)) {
        (Some(value), true) => {
            let value = expression(value, &field.ty, written)?;
            Ok(quote!(#name: Some(#value)))
        }
        (Some(value), false) => {
            let value = expression(value, &field.ty, written)?;
            Ok(quote!(#name: #value))
        }
        (None, true) => Ok(quote!(#name: None)),
        (None, false) => Err(format!("its default leaves out `{}`, which is required", field.json)),
    }
}

fn variant(item: usize, word: &str, written: &Written<'_>) -> TokenStream {
    let (name, word): (&Ident, Ident) = (&written.names[item], ident(&names::variant(word)));
    quote!(#name::#word)
}

fn is_i32(number: &serde_json::Number) -> bool {
    number.as_i64().is_some_and(|number| i32::try_from(number).is_ok())
}

/// A float is written as one.
fn float(value: &Value) -> TokenStream {
    let float = value.as_f64().unwrap_or_default();
    let (sign, digits) = ((float < 0.0).then(|| quote!(-)), proc_macro2::Literal::f64_unsuffixed(float.abs()));
    quote!(#sign #digits)
}
