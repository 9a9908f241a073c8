//! Emits the attribute as constants of `kubewright_core::schema`: keywords of the CRD schema, and extension keywords
//! for the generator.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Ident, LitStr, ext::IdentExt};

use super::parse::{SchemaField, SchemaType};
use crate::attr::schema::{Bounds, Column, ExternalDocs, Names, Number, Scalar, SchemaAttr, Validation, Values};

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

    fn emit(&self, krate: &TokenStream) -> TokenStream {
        let of = quote!(#krate::schema::Json);
        match self {
            Json::Bool(value) => quote!(#of::Bool(#value)),
            Json::Integer(value) => quote!(#of::Integer(#value)),
            Json::Unsigned(value) => quote!(#of::Unsigned(#value)),
            Json::Float(value) => quote!(#of::Float(#value)),
            Json::Text(value) => quote!(#of::Text(#value)),
            Json::List(values) => {
                let values = values.iter().map(|value| value.emit(krate));
                quote!(#of::List(&[#(#values),*]))
            }
            Json::Object(fields) => {
                let fields = emit(fields, krate);
                quote!(#of::Object(#fields))
            }
        }
    }
}

fn emit(keywords: &[(&'static str, Json)], krate: &TokenStream) -> TokenStream {
    let keywords = keywords.iter().map(|(name, value)| {
        let value = value.emit(krate);
        quote!((#name, #value))
    });
    quote!(&[#(#keywords),*])
}

impl SchemaField {
    /// Emits the schema keywords of the field, if it has any.
    pub(super) fn keywords(&self, krate: &TokenStream) -> Option<TokenStream> {
        let keywords = self.attr.keywords();
        (!keywords.is_empty()).then(|| emit(&keywords, krate))
    }

    /// Emits the names and the line of a named field.
    fn data(&self, krate: &TokenStream) -> Option<TokenStream> {
        let SchemaField { name, rename, is_renamed, span, .. } = self;
        let name = name.as_ref().filter(|_| self.is_property)?;
        let rename = match rename {
            Some(rename) => quote!(::core::option::Option::Some(#rename)),
            None => quote!(::core::option::Option::None),
        };
        let line = quote_spanned!(*span=> ::core::line!());
        Some(quote! {
            #krate::schema::Field { name: #name, rename: #rename, is_renamed: #is_renamed, line: #line }
        })
    }
}

impl SchemaType {
    /// Emits the schema keywords of the type itself, and the names of its fields.
    pub(super) fn type_schema(&self, ident: &Ident, krate: &TokenStream) -> TokenStream {
        let fields = self.fields.iter().filter_map(|field| field.data(krate));
        let mut keywords = self.attr.keywords();
        // Decoding drops unknown fields, which the schema of a type without fields alone does not show.
        if self.is_empty && !self.attr.preserve_unknown_fields.is_present() {
            keywords.push(("x-kubewright-empty", Json::Bool(true)));
        }
        let keywords = emit(&keywords, krate);
        let (unions, flattens) = (self.unions(krate), self.flattens);
        quote! {
            #krate::schema::TypeSchema {
                rust_type: ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#ident)),
                file: ::core::file!(),
                fields: &[#(#fields),*],
                flattens: #flattens,
                keywords: #keywords,
                one_of: &[#(#unions),*],
            }
        }
    }

    fn unions(&self, krate: &TokenStream) -> Vec<TokenStream> {
        let SchemaAttr { exactly_one_of, at_most_one_of, at_least_one_of, via, .. } = &self.attr;
        let structural = via.as_ref().is_some_and(|via| via.is_ident("schema"));
        let counts =
            [(quote!(Exactly), exactly_one_of), (quote!(AtMost), at_most_one_of), (quote!(AtLeast), at_least_one_of)];
        let union = |count: &TokenStream, Names(names, _): &Names| {
            let names = names.iter().map(|name| name.unraw().to_string());
            quote! {
                #krate::schema::OneOf {
                    count: #krate::schema::Count::#count,
                    fields: &[#(#names),*],
                    structural: #structural,
                }
            }
        };
        counts.iter().flat_map(|(count, unions)| unions.iter().map(move |names| union(count, names))).collect()
    }
}

impl SchemaAttr {
    fn keywords(&self) -> Vec<(&'static str, Json)> {
        let mut keywords = Vec::new();
        let mut add = |name, value: Option<Json>| keywords.extend(value.map(|value| (name, value)));
        let flag = |flag: &darling::util::Flag| flag.is_present().then_some(Json::Bool(true));
        let ident = |path: &Option<syn::Path>| {
            path.as_ref().and_then(syn::Path::get_ident).map(|ident| Json::Text(ident.to_string()))
        };
        for (name, value) in [("minimum", &self.min), ("maximum", &self.max), ("multipleOf", &self.multiple_of)] {
            add(name, value.as_ref().map(Number::json));
        }
        add("exclusiveMinimum", flag(&self.exclusive_min));
        add("exclusiveMaximum", flag(&self.exclusive_max));
        for (min_keyword, max_keyword, bounds) in [
            ("minLength", "maxLength", &self.length),
            ("minItems", "maxItems", &self.items),
            ("minProperties", "maxProperties", &self.properties),
        ] {
            let (min, max) = bounds.as_ref().map_or((None, None), |Bounds { min, max }| (*min, *max));
            add(min_keyword, min.map(|count| Json::Integer(count.into())));
            // A string of so many bytes has at most as many characters.
            let bytes = self.max_bytes().filter(|_| max_keyword == "maxLength");
            let max = max.into_iter().chain(bytes).min();
            add(max_keyword, max.map(|count| Json::Integer(count.into())));
        }
        for (name, value) in [("pattern", &self.pattern), ("format", &self.format), ("title", &self.title)] {
            add(name, value.as_ref().map(text));
        }
        add("enum", self.values.as_ref().map(Values::json));
        add("externalDocs", self.external_docs.as_ref().map(ExternalDocs::json));
        add("x-kubernetes-list-type", ident(&self.list_type));
        if !self.list_map_keys.is_empty() {
            add("x-kubernetes-list-map-keys", Some(Json::List(self.list_map_keys.iter().map(text).collect())));
        }
        add("x-kubernetes-map-type", ident(&self.map_type).or(ident(&self.struct_type)));
        add("x-kubernetes-embedded-resource", flag(&self.embedded_resource));
        add("x-kubernetes-preserve-unknown-fields", flag(&self.preserve_unknown_fields));
        add("x-kubewright-dependent-required", self.dependent_required.as_ref().map(Names::json));
        add("x-kubewright-dependent-forbidden", self.dependent_forbidden.as_ref().map(Names::json));
        add("x-kubewright-update", self.update.as_ref().map(Names::json));
        let rules = self.rules();
        add("x-kubernetes-validations", (!rules.is_empty()).then_some(Json::List(rules)));
        for (name, value) in [
            ("x-kubewright-nullable", &self.nullable),
            ("x-kubewright-required", &self.required),
            ("x-kubewright-immutable", &self.immutable),
            ("x-kubewright-schemaless", &self.schemaless),
            ("x-kubewright-float", &self.allow_float),
            ("x-kubewright-no-format", &self.no_format),
            ("x-kubewright-selectable", &self.selectable),
        ] {
            add(name, flag(value));
        }
        add("x-kubewright-depth", self.depth.as_ref().and_then(|depth| depth.base10_parse().ok()).map(Json::Integer));
        add("x-kubewright-column", self.column.as_ref().map(Column::json));
        add("x-kubewright-each", self.each.as_ref().map(|each| Json::Object(each.0.keywords())));
        keywords
    }
}

impl Number {
    pub(super) fn json(&self) -> Json {
        self.integer.map_or(Json::Float(self.value), Json::integer)
    }
}

impl Values {
    fn json(&self) -> Json {
        Json::List(self.0.iter().map(Scalar::json).collect())
    }
}

impl Scalar {
    fn json(&self) -> Json {
        match self {
            Scalar::Text(value) => text(value),
            Scalar::Boolean(value) => Json::Bool(*value),
            Scalar::Number(number) => number.json(),
        }
    }
}

impl ExternalDocs {
    fn json(&self) -> Json {
        let description = self.description.as_ref().map(|value| ("description", text(value)));
        Json::Object(description.into_iter().chain([("url", text(&self.url))]).collect())
    }
}

impl Names {
    fn json(&self) -> Json {
        Json::List(self.0.iter().map(|name| Json::Text(name.unraw().to_string())).collect())
    }
}

impl Validation {
    pub(super) fn json(&self) -> Json {
        let mut fields = vec![("rule", text(&self.rule))];
        for (name, value) in [
            ("message", &self.message),
            ("messageExpression", &self.message_expression),
            ("reason", &self.reason),
            ("fieldPath", &self.field_path),
        ] {
            fields.extend(value.as_ref().map(|value| (name, text(value))));
        }
        fields.extend(self.optional_old_self.is_present().then_some(("optionalOldSelf", Json::Bool(true))));
        Json::Object(fields)
    }
}

impl Column {
    fn json(&self) -> Json {
        let keys = &self.0;
        let mut fields = Vec::new();
        for (name, value) in [("name", &keys.name), ("description", &keys.description), ("format", &keys.format)] {
            fields.extend(value.as_ref().map(|value| (name, text(value))));
        }
        let priority = keys.priority.as_ref().and_then(|number| number.base10_parse().ok());
        fields.extend(priority.map(|priority| ("priority", Json::Integer(priority))));
        Json::Object(fields)
    }
}

fn text(literal: &LitStr) -> Json {
    Json::Text(literal.value())
}
