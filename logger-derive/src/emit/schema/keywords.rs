//! Emits the attribute as constants of `kubewright_core::schema`: keywords of the CRD schema, and extension keywords
//! for the generator.

use darling::util::Flag;
use kubewright_names::extension::Extension;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Path, ext::IdentExt};

use super::{
    json::{Json, emit},
    rules::{max_bytes, rules},
};
use crate::{
    attr::schema::{Bounds, Names, SchemaAttr},
    emit::option,
    model::{SchemaField, SchemaType},
};

/// Emits the schema keywords of the field, if it has any.
pub(super) fn field_keywords(field: &SchemaField, krate: &TokenStream) -> Option<TokenStream> {
    let keywords = keywords(&field.attr);
    (!keywords.is_empty()).then(|| emit(&keywords, krate))
}

/// Emits the names and the line of a named field.
fn names(field: &SchemaField, krate: &TokenStream) -> Option<TokenStream> {
    let SchemaField { rename, is_renamed, span, .. } = field;
    let name = field.name().filter(|_| field.is_property)?;
    let rename = option(rename.as_ref());
    let line = quote_spanned!(*span=> ::core::line!());
    Some(quote! {
        #krate::schema::Field { name: #name, rename: #rename, is_renamed: #is_renamed, line: #line }
    })
}

/// Emits the schema keywords of the type itself, and the names of its fields.
pub(super) fn type_schema(model: &SchemaType, krate: &TokenStream) -> TokenStream {
    let fields = model.fields().filter_map(|field| names(field, krate));
    let mut keywords = keywords(&model.attr);
    // Decoding drops unknown fields, which the schema of a type without fields alone does not show.
    if model.is_empty() && !model.attr.preserve_unknown_fields.is_present() {
        keywords.push((Extension::Empty.name(), Json::bool(true)));
    }
    let keywords = emit(&keywords, krate);
    let (ident, unions, flattens) = (&model.ident, unions(model, krate), model.flattens());
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

fn unions(model: &SchemaType, krate: &TokenStream) -> Vec<TokenStream> {
    let SchemaAttr { exactly_one_of, at_most_one_of, at_least_one_of, via, .. } = &model.attr;
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

/// Returns the keywords of the CRD schema, and those for the generator.
fn keywords(attr: &SchemaAttr) -> Vec<(&'static str, Json)> {
    let mut all = Vec::new();
    let mut add = |name, value: Option<Json>| all.extend(value.map(|value| (name, value)));
    let flag = |flag: &Flag| flag.is_present().then_some(Json::bool(true));
    let ident =
        |path: &Option<Path>| path.as_ref().and_then(Path::get_ident).map(|ident| Json::text(&ident.to_string()));
    for (name, value) in [("minimum", &attr.min), ("maximum", &attr.max), ("multipleOf", &attr.multiple_of)] {
        add(name, value.as_ref().map(Json::from));
    }
    add("exclusiveMinimum", flag(&attr.exclusive_min));
    add("exclusiveMaximum", flag(&attr.exclusive_max));
    for (min_keyword, max_keyword, bounds) in [
        ("minLength", "maxLength", &attr.length),
        ("minItems", "maxItems", &attr.items),
        ("minProperties", "maxProperties", &attr.properties),
    ] {
        let (min, max) = bounds.as_ref().map_or((None, None), |Bounds { min, max }| (*min, *max));
        add(min_keyword, min.map(|count| Json::integer(count.into())));
        // A string of so many bytes has at most as many characters.
        let bytes = max_bytes(attr).filter(|_| max_keyword == "maxLength");
        let max = max.into_iter().chain(bytes).min();
        add(max_keyword, max.map(|count| Json::integer(count.into())));
    }
    for (name, value) in [("pattern", &attr.pattern), ("format", &attr.format), ("title", &attr.title)] {
        add(name, value.as_ref().map(Json::from));
    }
    add("enum", attr.values.as_ref().map(Json::from));
    add("externalDocs", attr.external_docs.as_ref().map(Json::from));
    add("x-kubernetes-list-type", ident(&attr.list_type));
    if !attr.list_map_keys.is_empty() {
        add("x-kubernetes-list-map-keys", Some(Json::list(attr.list_map_keys.iter().map(Json::from))));
    }
    add("x-kubernetes-map-type", ident(&attr.map_type).or(ident(&attr.struct_type)));
    add("x-kubernetes-embedded-resource", flag(&attr.embedded_resource));
    add("x-kubernetes-preserve-unknown-fields", flag(&attr.preserve_unknown_fields));
    add(Extension::DependentRequired.name(), attr.dependent_required.as_ref().map(Json::from));
    add(Extension::DependentForbidden.name(), attr.dependent_forbidden.as_ref().map(Json::from));
    add(Extension::Update.name(), attr.update.as_ref().map(Json::from));
    let rules = rules(attr);
    add("x-kubernetes-validations", (!rules.is_empty()).then_some(Json::list(rules)));
    for (name, value) in [
        (Extension::Nullable.name(), &attr.nullable),
        (Extension::Required.name(), &attr.required),
        (Extension::Immutable.name(), &attr.immutable),
        (Extension::Schemaless.name(), &attr.schemaless),
        (Extension::Float.name(), &attr.allow_float),
        (Extension::NoFormat.name(), &attr.no_format),
        (Extension::Selectable.name(), &attr.selectable),
    ] {
        add(name, flag(value));
    }
    add(Extension::Depth.name(), attr.depth.as_ref().and_then(|depth| depth.base10_parse().ok()).map(Json::integer));
    add(Extension::Column.name(), attr.column.as_ref().map(Json::from));
    add(Extension::Each.name(), attr.each.as_ref().map(|each| Json::object(&keywords(&each.0))));
    all
}
