//! JSON values as the tokens of constants of `kubewright_core::schema::Json`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{LitStr, ext::IdentExt};

use crate::attr::schema::{Column, ExternalDocs, Names, Number, Scalar, Validation, Values};

/// The tokens of a JSON constant, in the scope of [`emit`].
pub(super) struct Json(TokenStream);

impl Json {
    pub(super) fn bool(value: bool) -> Self {
        Json(quote!(Json::Bool(#value)))
    }

    pub(super) fn integer(value: i64) -> Self {
        Json(quote!(Json::Integer(#value)))
    }

    pub(super) fn text(value: &str) -> Self {
        Json(quote!(Json::Text(#value)))
    }

    pub(super) fn list(values: impl IntoIterator<Item = Json>) -> Self {
        let values = values.into_iter().map(|Json(value)| value);
        Json(quote!(Json::List(&[#(#values),*])))
    }

    pub(super) fn object(fields: &[(&'static str, Json)]) -> Self {
        let fields = list_of_fields(fields);
        Json(quote!(Json::Object(#fields)))
    }
}

fn list_of_fields(fields: &[(&'static str, Json)]) -> TokenStream {
    let fields = fields.iter().map(|(name, Json(value))| quote!((#name, #value)));
    quote!(&[#(#fields),*])
}

/// Emits keywords as a constant.
pub(super) fn emit(keywords: &[(&'static str, Json)], krate: &TokenStream) -> TokenStream {
    let list = list_of_fields(keywords);
    match keywords {
        [] => list,
        _ => quote!({ use #krate::schema::Json; #list }),
    }
}

impl From<&LitStr> for Json {
    fn from(text: &LitStr) -> Self {
        Json::text(&text.value())
    }
}

impl From<&Number> for Json {
    fn from(number: &Number) -> Self {
        let Number { integer, value, .. } = number;
        Json(match integer.map(|integer| (i64::try_from(integer), u64::try_from(integer))) {
            Some((Ok(integer), _)) => quote!(Json::Integer(#integer)),
            Some((_, Ok(integer))) => quote!(Json::Unsigned(#integer)),
            _ => quote!(Json::Float(#value)),
        })
    }
}

impl From<&Values> for Json {
    fn from(values: &Values) -> Self {
        Json::list(values.0.iter().map(Json::from))
    }
}

impl From<&Scalar> for Json {
    fn from(scalar: &Scalar) -> Self {
        match scalar {
            Scalar::Text(value) => value.into(),
            Scalar::Boolean(value) => Json::bool(*value),
            Scalar::Number(number) => number.into(),
        }
    }
}

impl From<&ExternalDocs> for Json {
    fn from(docs: &ExternalDocs) -> Self {
        let description = docs.description.as_ref().map(|value| ("description", value.into()));
        let url = ("url", (&docs.url).into());
        Json::object(&description.into_iter().chain([url]).collect::<Vec<_>>())
    }
}

impl From<&Names> for Json {
    fn from(names: &Names) -> Self {
        Json::list(names.0.iter().map(|name| Json::text(&name.unraw().to_string())))
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
        fields.extend(validation.optional_old_self.is_present().then_some(("optionalOldSelf", Json::bool(true))));
        Json::object(&fields)
    }
}

impl From<&Column> for Json {
    fn from(Column(keys): &Column) -> Self {
        let mut fields = Vec::new();
        for (name, value) in [("name", &keys.name), ("description", &keys.description), ("format", &keys.format)] {
            fields.extend(value.as_ref().map(|value| (name, value.into())));
        }
        let priority = keys.priority.as_ref().and_then(|number| number.base10_parse().ok());
        fields.extend(priority.map(|priority| ("priority", Json::integer(priority))));
        Json::object(&fields)
    }
}
