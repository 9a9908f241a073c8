//! JSON values that are emitted as constants of `kubewright_core::schema`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{LitStr, ext::IdentExt};

use crate::attr::schema::{Column, ExternalDocs, Names, Number, Scalar, Validation, Values};

/// A JSON value that is emitted as a constant.
pub(super) enum Json {
    Bool(bool),
    Integer(i64),
    Unsigned(u64),
    Float(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

impl Json {
    /// Returns an integer, or the nearest float beyond the ranges of `i64` and `u64`.
    fn integer(value: i128) -> Self {
        match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) => Json::Integer(value),
            (_, Ok(value)) => Json::Unsigned(value),
            _ => Json::Float(value as f64),
        }
    }

    pub(super) fn emit(&self, krate: &TokenStream) -> TokenStream {
        let json = quote!(#krate::schema::Json);
        match self {
            Json::Bool(value) => quote!(#json::Bool(#value)),
            Json::Integer(value) => quote!(#json::Integer(#value)),
            Json::Unsigned(value) => quote!(#json::Unsigned(#value)),
            Json::Float(value) => quote!(#json::Float(#value)),
            Json::Text(value) => quote!(#json::Text(#value)),
            Json::List(values) => {
                let values = values.iter().map(|value| value.emit(krate));
                quote!(#json::List(&[#(#values),*]))
            }
            Json::Object(fields) => {
                let fields = emit(fields, krate);
                quote!(#json::Object(#fields))
            }
        }
    }
}

/// Emits the fields of an object.
pub(super) fn emit(keywords: &[(&'static str, Json)], krate: &TokenStream) -> TokenStream {
    let keywords = keywords.iter().map(|(name, value)| {
        let value = value.emit(krate);
        quote!((#name, #value))
    });
    quote!(&[#(#keywords),*])
}

impl From<&LitStr> for Json {
    fn from(text: &LitStr) -> Self {
        Json::Text(text.value())
    }
}

impl From<&Number> for Json {
    fn from(number: &Number) -> Self {
        number.integer.map_or(Json::Float(number.value), Json::integer)
    }
}

impl From<&Values> for Json {
    fn from(values: &Values) -> Self {
        Json::List(values.0.iter().map(Json::from).collect())
    }
}

impl From<&Scalar> for Json {
    fn from(scalar: &Scalar) -> Self {
        match scalar {
            Scalar::Text(value) => value.into(),
            Scalar::Boolean(value) => Json::Bool(*value),
            Scalar::Number(number) => number.into(),
        }
    }
}

impl From<&ExternalDocs> for Json {
    fn from(docs: &ExternalDocs) -> Self {
        let description = docs.description.as_ref().map(|value| ("description", value.into()));
        Json::Object(description.into_iter().chain([("url", (&docs.url).into())]).collect())
    }
}

impl From<&Names> for Json {
    fn from(names: &Names) -> Self {
        Json::List(names.0.iter().map(|name| Json::Text(name.unraw().to_string())).collect())
    }
}

impl From<&Validation> for Json {
    fn from(validation: &Validation) -> Self {
        let mut fields = vec![("rule", (&validation.rule).into())];
        for (name, value) in [
            ("message", &validation.message),
            ("messageExpression", &validation.message_expression),
            ("reason", &validation.reason),
            ("fieldPath", &validation.field_path),
        ] {
            fields.extend(value.as_ref().map(|value| (name, value.into())));
        }
        fields.extend(validation.optional_old_self.is_present().then_some(("optionalOldSelf", Json::Bool(true))));
        Json::Object(fields)
    }
}

impl From<&Column> for Json {
    fn from(Column(keys): &Column) -> Self {
        let mut fields = Vec::new();
        for (name, value) in [("name", &keys.name), ("description", &keys.description), ("format", &keys.format)] {
            fields.extend(value.as_ref().map(|value| (name, value.into())));
        }
        let priority = keys.priority.as_ref().and_then(|number| number.base10_parse().ok());
        fields.extend(priority.map(|priority| ("priority", Json::Integer(priority))));
        Json::Object(fields)
    }
}
