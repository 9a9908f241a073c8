//! What was said as constants of `logger_core::schema`: keywords of the API server's schema, and marks for the generator.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Ident, Lit, LitStr};

use super::read::{Bounds, Column, Declared, DeclaredField, ExternalDocs, Facts, Names, Number, Validation, Values};

/// JSON that will be a constant.
enum Json {
    True,
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

impl Json {
    fn emit(&self, krate: &TokenStream) -> TokenStream {
        let of = quote!(#krate::schema::Json);
        match self {
            Json::True => quote!(#of::Bool(true)),
            Json::Integer(value) => quote!(#of::Integer(#value)),
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

fn emit(facts: &[(&'static str, Json)], krate: &TokenStream) -> TokenStream {
    let facts = facts.iter().map(|(name, value)| {
        let value = value.emit(krate);
        quote!((#name, #value))
    });
    quote!(&[#(#facts),*])
}

impl DeclaredField {
    /// Its facts, if there are any.
    pub(super) fn of_field(&self, krate: &TokenStream) -> Option<TokenStream> {
        let facts = self.facts.facts();
        (!facts.is_empty()).then(|| emit(&facts, krate))
    }
}

impl Declared {
    /// The facts of the type itself, and the names of its fields.
    pub(super) fn of_type(&self, ident: &Ident, krate: &TokenStream) -> TokenStream {
        let fields = self.fields.iter().filter_map(|DeclaredField { name, rename, .. }| {
            let (name, rename) = (name.as_ref()?, rename.as_ref());
            let rename = rename.map_or(quote!(None), |rename| quote!(Some(#rename)));
            Some(quote!((#name, ::core::option::Option::#rename)))
        });
        let mut facts = self.facts.facts();
        // Decoding drops what it does not know; without fields, the schema alone would not tell.
        if self.is_empty && !self.facts.preserve_unknown_fields.is_present() {
            facts.push(("x-logger-empty", Json::True));
        }
        let facts = emit(&facts, krate);
        let unions = self.unions(krate);
        quote! {
            #krate::schema::Declared {
                rust_type: ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#ident)),
                fields: &[#(#fields),*],
                facts: #facts,
                one_of: &[#(#unions),*],
            }
        }
    }

    fn unions(&self, krate: &TokenStream) -> Vec<TokenStream> {
        let Facts { exactly_one_of, at_most_one_of, at_least_one_of, via, .. } = &self.facts;
        let by_structure = via.as_ref().is_some_and(|via| via.is_ident("schema"));
        let counts =
            [(quote!(Exactly), exactly_one_of), (quote!(AtMost), at_most_one_of), (quote!(AtLeast), at_least_one_of)];
        let union = |count: &TokenStream, Names(names): &Names| {
            let names = names.iter().map(|name| name.unraw().to_string());
            quote! {
                #krate::schema::OneOf {
                    count: #krate::schema::Count::#count,
                    fields: &[#(#names),*],
                    by_structure: #by_structure,
                }
            }
        };
        counts.iter().flat_map(|(count, unions)| unions.iter().map(move |names| union(count, names))).collect()
    }
}

impl Facts {
    fn facts(&self) -> Vec<(&'static str, Json)> {
        let mut facts = Vec::new();
        let mut fact = |name, value: Option<Json>| facts.extend(value.map(|value| (name, value)));
        let flag = |flag: &darling::util::Flag| flag.is_present().then_some(Json::True);
        let word = |path: &Option<syn::Path>| {
            path.as_ref().and_then(syn::Path::get_ident).map(|word| Json::Text(word.to_string()))
        };
        for (name, value) in [("minimum", &self.min), ("maximum", &self.max), ("multipleOf", &self.multiple_of)] {
            fact(name, value.as_ref().map(Number::json));
        }
        fact("exclusiveMinimum", flag(&self.exclusive_min));
        fact("exclusiveMaximum", flag(&self.exclusive_max));
        for (least, most, bounds) in [
            ("minLength", "maxLength", &self.length),
            ("minItems", "maxItems", &self.items),
            ("minProperties", "maxProperties", &self.properties),
        ] {
            let Some(Bounds { min, max }) = bounds else { continue };
            fact(least, min.map(|count| Json::Integer(count.into())));
            fact(most, max.map(|count| Json::Integer(count.into())));
        }
        for (name, said) in [("pattern", &self.pattern), ("format", &self.format), ("title", &self.title)] {
            fact(name, said.as_ref().map(text));
        }
        fact("enum", self.values.as_ref().map(Values::json));
        fact("externalDocs", self.external_docs.as_ref().map(ExternalDocs::json));
        fact("x-kubernetes-list-type", word(&self.list_type));
        if !self.list_map_keys.is_empty() {
            fact("x-kubernetes-list-map-keys", Some(Json::List(self.list_map_keys.iter().map(text).collect())));
        }
        fact("x-kubernetes-map-type", word(&self.map_type).or(word(&self.struct_type)));
        fact("x-kubernetes-embedded-resource", flag(&self.embedded_resource));
        fact("x-kubernetes-preserve-unknown-fields", flag(&self.preserve_unknown_fields));
        let rules = self.rules();
        fact("x-kubernetes-validations", (!rules.is_empty()).then_some(Json::List(rules)));
        for (name, said) in [
            ("x-logger-nullable", &self.nullable),
            ("x-logger-required", &self.required),
            ("x-logger-immutable", &self.immutable),
            ("x-logger-schemaless", &self.schemaless),
            ("x-logger-float", &self.allow_float),
            ("x-logger-no-format", &self.no_format),
            ("x-logger-selectable", &self.selectable),
        ] {
            fact(name, flag(said));
        }
        fact("x-logger-depth", self.depth.as_ref().and_then(|depth| depth.base10_parse().ok()).map(Json::Integer));
        fact("x-logger-column", self.column.as_ref().map(Column::json));
        fact("x-logger-each", self.each.as_ref().map(|each| Json::Object(each.0.facts())));
        facts
    }

    /// What CEL says: the user's rules, and that the field does not change.
    fn rules(&self) -> Vec<Json> {
        let mut rules: Vec<Json> = self.validation.iter().map(Validation::json).collect();
        if self.immutable.is_present() {
            let text = |text: &str| Json::Text(text.to_owned());
            rules.push(Json::Object(vec![("message", text("it is immutable")), ("rule", text("self == oldSelf"))]));
        }
        rules
    }
}

impl Number {
    fn json(&self) -> Json {
        self.whole.map_or(Json::Float(self.value), Json::Integer)
    }
}

impl Values {
    fn json(&self) -> Json {
        let value = |literal: &Lit| match literal {
            Lit::Str(said) => text(said),
            Lit::Int(number) => number.base10_parse().map_or_else(|_| Json::Text(number.to_string()), Json::Integer),
            other => Json::Text(quote!(#other).to_string()),
        };
        Json::List(self.0.iter().map(value).collect())
    }
}

impl ExternalDocs {
    fn json(&self) -> Json {
        let description = self.description.as_ref().map(|said| ("description", text(said)));
        Json::Object(description.into_iter().chain([("url", text(&self.url))]).collect())
    }
}

impl Validation {
    fn json(&self) -> Json {
        let mut fields = vec![("rule", text(&self.rule))];
        for (name, said) in [
            ("message", &self.message),
            ("messageExpression", &self.message_expression),
            ("reason", &self.reason),
            ("fieldPath", &self.field_path),
        ] {
            fields.extend(said.as_ref().map(|said| (name, text(said))));
        }
        fields.extend(self.optional_old_self.is_present().then_some(("optionalOldSelf", Json::True)));
        Json::Object(fields)
    }
}

impl Column {
    fn json(&self) -> Json {
        let said = &self.0;
        let mut fields = Vec::new();
        for (name, said) in [("name", &said.name), ("description", &said.description), ("format", &said.format)] {
            fields.extend(said.as_ref().map(|said| (name, text(said))));
        }
        let priority = said.priority.as_ref().and_then(|number| number.base10_parse().ok());
        fields.extend(priority.map(|priority| ("priority", Json::Integer(priority))));
        Json::Object(fields)
    }
}

fn text(literal: &LitStr) -> Json {
    Json::Text(literal.value())
}
