//! Defaults as Rust: literals in `#[default(..)]`, and expressions of functions.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use serde_json::Value;

use super::{
    super::{
        kubernetes,
        model::{Body, Field, Type},
        names,
    },
    attributes,
    scope::Scope,
};
use crate::names::ident;

/// Returns the argument of `#[default(..)]` for a scalar or a variant.
pub(super) fn literal(value: &Value, ty: &Type, scope: &Scope<'_>) -> Option<TokenStream> {
    match (ty, value) {
        (Type::Bool, Value::Bool(_)) | (Type::String, Value::String(_)) => Some(attributes::json(value)),
        (Type::Integer(_), Value::Number(_)) => Some(attributes::number(value)),
        (Type::Float(_), Value::Number(_)) => Some(float(value)),
        (Type::Local(item), Value::String(word)) => match &scope.types.items[*item].body {
            Body::StringEnum(_) => Some(variant(*item, word, scope)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns a default as an expression of the type. The value is valid for the type.
pub(super) fn expression(value: &Value, ty: &Type, scope: &Scope<'_>) -> TokenStream {
    if let Some(literal) = literal(value, ty, scope) {
        let string = scope.path("std::string::String");
        return match ty {
            Type::String if value == "" => quote!(#string::new()),
            Type::String => quote!(#literal.to_owned()),
            _ => literal,
        };
    }
    match (ty, value) {
        (Type::List(ty), Value::Array(values)) => {
            let vec = scope.path("std::vec::Vec");
            let values = values.iter().map(|value| expression(value, ty, scope));
            quote!(#vec::from([#(#values),*]))
        }
        (Type::Map(ty), Value::Object(values)) => {
            let map = scope.path("std::collections::BTreeMap");
            let pairs = values.iter().map(|(key, value)| {
                let value = expression(value, ty, scope);
                quote!((#key.to_owned(), #value))
            });
            quote!(#map::from([#(#pairs),*]))
        }
        (Type::Local(item), value) => of_item(value, *item, scope),
        (Type::Kubernetes(known), Value::String(text)) if **known == kubernetes::QUANTITY => {
            let ty = scope.ty(ty);
            quote!(#ty(#text.to_owned()))
        }
        (Type::Kubernetes(known), Value::String(text)) if **known == kubernetes::INT_OR_STRING => {
            let ty = scope.ty(ty);
            quote!(#ty::String(#text.to_owned()))
        }
        (Type::Kubernetes(known), Value::Number(_)) if **known == kubernetes::INT_OR_STRING => {
            let (ty, number) = (scope.ty(ty), attributes::number(value));
            quote!(#ty::Int(#number))
        }
        (Type::Kubernetes(_), value) => {
            let value = attributes::json_expression(value);
            let ty = scope.ty(ty);
            quote!(::serde_json::from_value::<#ty>(#value).expect("the default is valid"))
        }
        (_, value) => attributes::json_expression(value),
    }
}

fn of_item(value: &Value, item: usize, scope: &Scope<'_>) -> TokenStream {
    let name = &scope.items[item];
    match (&scope.types.items[item].body, value) {
        (Body::Newtype(ty), value) => {
            let value = expression(value, ty, scope);
            quote!(#name(#value))
        }
        (Body::Struct { fields, open }, value) => {
            let fields = fields.iter().map(|field| of_field(value.get(&field.json), field, item, scope));
            let map = scope.path("std::collections::BTreeMap");
            let other = open.then(|| scope.other(item)).map(|other| quote!(#other: #map::new()));
            let fields = fields.chain(other);
            quote!(#name { #(#fields),* })
        }
        (Body::Union(variants), value) => {
            let present = variants.iter().find_map(|variant| Some((variant, value.get(&variant.json)?)));
            match present {
                Some((variant, value)) => {
                    let variant_name = ident(&names::variant(&variant.json));
                    let value = expression(value, &variant.ty, scope);
                    quote!(#name::#variant_name(#value))
                }
                None => quote!(),
            }
        }
        (Body::StringEnum(_), value) => variant(item, value.as_str().unwrap_or_default(), scope),
    }
}

fn of_field(value: Option<&Value>, field: &Field, item: usize, scope: &Scope<'_>) -> TokenStream {
    let name = scope.field(item, &field.json);
    match (value, scope.is_optional(item, field)) {
        (Some(value), true) => {
            let value = expression(value, &field.ty, scope);
            quote!(#name: Some(#value))
        }
        (Some(value), false) => {
            let value = expression(value, &field.ty, scope);
            quote!(#name: #value)
        }
        (None, _) => quote!(#name: None),
    }
}

fn variant(item: usize, word: &str, scope: &Scope<'_>) -> TokenStream {
    let (name, word): (&Ident, Ident) = (&scope.items[item], ident(&names::variant(word)));
    quote!(#name::#word)
}

/// Returns a number as a float literal.
fn float(value: &Value) -> TokenStream {
    let float = value.as_f64().unwrap_or_default();
    let (sign, digits) = ((float < 0.0).then(|| quote!(-)), proc_macro2::Literal::f64_unsuffixed(float.abs()));
    quote!(#sign #digits)
}
