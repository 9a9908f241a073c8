//! The Rust source of an imported module.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::kubernetes::Known;
use super::types::{Body, Docs, Field, Item, Module, Type};
use super::{default, docs, facts, kind, kubernetes, names};
use crate::diagnostic::Diagnostics;
use crate::names::{ident, snake};

/// The items of a module with the names they have in Rust.
pub(super) struct Written<'a> {
    pub(super) items: &'a [Item],
    pub(super) names: Vec<Ident>,
    fields: BTreeMap<(usize, String), Ident>,
    /// Fields that are `Option`s although they have a default.
    left_out: BTreeSet<(usize, String)>,
}

impl<'a> Written<'a> {
    fn new(module: &'a Module) -> Self {
        let items = module.items.as_slice();
        let mut reserved: BTreeSet<String> = known(items).iter().map(|known| known.name.to_owned()).collect();
        for kind in &module.kinds {
            reserved.extend([kind.names.kind.clone(), kind.names.list_kind.clone()]);
        }
        let names = super::names::of_items(items, &reserved).iter().map(|name| ident(name)).collect();
        let fields = items.iter().enumerate().flat_map(|(i, item)| field_names(i, item)).collect();
        Written { items, names, fields, left_out: default::left_out(items) }
    }

    pub(super) fn ty(&self, ty: &Type) -> TokenStream {
        match ty {
            Type::Bool => quote!(bool),
            Type::Integer(name) | Type::Float(name) => ident(name).into_token_stream(),
            Type::Text => quote!(String),
            Type::Json => quote!(Value),
            Type::Known(known) => ident(known.name).into_token_stream(),
            Type::Own(item) => self.names[*item].to_token_stream(),
            Type::List(item) => {
                let item = self.ty(item);
                quote!(Vec<#item>)
            }
            Type::Map(value) => {
                let value = self.ty(value);
                quote!(BTreeMap<String, #value>)
            }
        }
    }

    pub(super) fn field(&self, item: usize, json: &str) -> Ident {
        self.fields.get(&(item, json.to_owned())).cloned().unwrap_or_else(|| ident(&names::field(json)))
    }

    /// The field that keeps what the others do not name.
    pub(super) fn other(&self, item: usize) -> Ident {
        let is_free = |name: &&str| self.fields.iter().all(|((of, _), field)| *of != item || field != name);
        format_ident!("{}", ["other", "other_fields"].into_iter().find(is_free).unwrap_or("fields_not_named"))
    }

    pub(super) fn is_optional(&self, item: usize, field: &Field) -> bool {
        let may_be_absent = match field.default {
            None => !field.required,
            Some(_) => self.left_out.contains(&(item, field.json.clone())) || self.is_status(item, field),
        };
        may_be_absent || field.nullable
    }

    /// The status of a kind: a new object has none, whatever the server makes of that.
    fn is_status(&self, item: usize, field: &Field) -> bool {
        self.items[item].path.len() == 1 && field.json == "status"
    }

    fn has_default(&self, ty: &Type) -> bool {
        match ty {
            Type::Known(known) => known.has_default,
            Type::Own(item) => self.item_has_default(*item),
            _ => true,
        }
    }

    pub(super) fn item_has_default(&self, item: usize) -> bool {
        match &self.items[item].body {
            Body::Struct { fields, .. } => {
                let has = |field: &Field| {
                    field.default.is_some() || self.is_optional(item, field) || self.has_default(&field.ty)
                };
                fields.iter().all(has)
            }
            Body::Words(_) | Body::Variants(_) => false,
            Body::Wrapper(ty) => self.has_default(ty),
        }
    }
}

/// The fields of an item, each with a name of its own.
fn field_names(i: usize, item: &Item) -> Vec<((usize, String), Ident)> {
    let Body::Struct { fields, .. } = &item.body else { return Vec::new() };
    let mut seen = BTreeSet::new();
    let named = fields.iter().map(|field| {
        let mut name = names::field(&field.json);
        while !seen.insert(name.clone()) {
            name.push('_');
        }
        ((i, field.json.clone()), ident(&name))
    });
    named.collect()
}

/// The types of Kubernetes' own that are used.
fn known(items: &[Item]) -> Vec<&'static Known> {
    let mut found: Vec<&'static Known> = Vec::new();
    types(items, &mut |ty| {
        if let Type::Known(known) = ty
            && !found.contains(known)
        {
            found.push(known);
        }
    });
    found
}

/// Calls with each type, and those in it.
fn types(items: &[Item], found: &mut impl FnMut(&Type)) {
    fn below(ty: &Type, found: &mut impl FnMut(&Type)) {
        found(ty);
        if let Type::List(ty) | Type::Map(ty) = ty {
            below(ty, found);
        }
    }
    for item in items {
        match &item.body {
            Body::Struct { fields, .. } | Body::Variants(fields) => {
                fields.iter().for_each(|field| below(&field.ty, found));
            }
            Body::Wrapper(ty) => below(ty, found),
            Body::Words(_) => {}
        }
    }
}

/// All of the module. What no Rust can say is noted.
pub(super) fn module(module: &Module, found: &mut Diagnostics) -> String {
    let written = Written::new(module);
    let mut source = head(module);
    let mut items: Vec<TokenStream> = Vec::new();
    for i in 0..module.items.len() {
        match module.kinds.iter().find(|kind| kind.item == i) {
            Some(of) => items.extend(kind::items(of, i, &written, found)),
            None => items.extend(item(i, &written, found)),
        }
    }
    items.push(kind::group_version(module));
    for item in items {
        source.push('\n');
        match syn::parse2(item) {
            Ok(file) => source.push_str(&prettyplease::unparse(&file)),
            Err(error) => found.push(&module.group, format!("what was made of it is no Rust: {error}")),
        }
    }
    source
}

/// The docs of the module, what its lints are not to say, and what it imports.
fn head(module: &Module) -> String {
    let Module { group, version, kinds, items } = module;
    let mut lines = vec![
        format!("//! Version `{version}` of group `{group}`, imported with `cargo xtask crd import`."),
        "// Docs and names are those of the definition.".to_owned(),
        "#![allow(missing_docs, rustdoc::bare_urls, rustdoc::broken_intra_doc_links, rustdoc::invalid_html_tags)]"
            .to_owned(),
        "#![allow(rustdoc::invalid_rust_codeblocks)]".to_owned(),
        "#![allow(clippy::doc_lazy_continuation, clippy::doc_link_with_quotes, clippy::doc_markdown)]".to_owned(),
        "#![allow(clippy::doc_overindented_list_items, clippy::enum_variant_names, clippy::large_enum_variant)]"
            .to_owned(),
        "#![allow(clippy::struct_excessive_bools, clippy::struct_field_names, clippy::too_long_first_doc_paragraph)]"
            .to_owned(),
    ];
    if kinds.iter().any(|kind| kind.deprecated.is_some()) {
        lines.push("#![allow(deprecated)]".to_owned());
    }
    lines.push(String::new());
    let open = |item: &Item| matches!(item.body, Body::Struct { open: true, .. });
    let mut used: BTreeSet<&str> = BTreeSet::new();
    types(items, &mut |ty| match ty {
        Type::Map(_) => drop(used.insert("map")),
        Type::Json => drop(used.insert("json")),
        _ => {}
    });
    if items.iter().any(open) {
        used.extend(["json", "map"]);
    }
    if used.contains("map") {
        lines.extend(["use std::collections::BTreeMap;".to_owned(), String::new()]);
    }
    lines.extend(of_kubernetes(&known(items)));
    let plain = items.len() > kinds.len();
    lines.push("use logger_core::{ApplyConfiguration, DeepCopy, KubeSchema, Object, ObjectList};".to_owned());
    lines.extend(plain.then(|| "use serde::{Deserialize, Serialize};".to_owned()));
    lines.extend(used.contains("json").then(|| "use serde_json::Value;".to_owned()));
    lines.join("\n") + "\n"
}

/// The imports of Kubernetes' own types, one line for each module.
fn of_kubernetes(known: &[&'static Known]) -> Vec<String> {
    let mut modules: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let meta = "k8s_openapi::apimachinery::pkg::apis::meta::v1";
    modules.insert(meta, BTreeSet::from(["ListMeta", "ObjectMeta"]));
    for Known { module, name, .. } in known {
        modules.entry(module).or_default().insert(name);
    }
    let line = |(module, names): (&str, BTreeSet<&str>)| {
        let names: Vec<&str> = names.into_iter().collect();
        match names.as_slice() {
            [only] => format!("use {module}::{only};"),
            names => format!("use {module}::{{{}}};", names.join(", ")),
        }
    };
    modules.into_iter().map(line).collect()
}

/// A type, and the functions of its defaults.
fn item(i: usize, written: &Written<'_>, found: &mut Diagnostics) -> Vec<TokenStream> {
    let item = &written.items[i];
    let name = &written.names[i];
    let docs = of_docs(&item.docs);
    let says = facts::attributes(&item.facts);
    let default = written.item_has_default(i).then(|| quote!(Default,));
    let derives = quote! {
        #[derive(
            Clone, Debug, #default PartialEq, ApplyConfiguration, DeepCopy, Deserialize, KubeSchema, Serialize
        )]
    };
    match &item.body {
        Body::Struct { .. } => {
            let Fields { fields, functions, defaults, camel_case } = fields(i, written, found);
            let camel_case = camel_case.then(|| quote!(#[serde(rename_all = "camelCase")]));
            let of_struct = quote! {
                #(#docs)* #defaults #derives #camel_case #(#says)*
                pub struct #name { #(#fields)* }
            };
            std::iter::once(of_struct).chain(functions).collect()
        }
        Body::Words(words) => {
            let variants = words.iter().map(|word| named_variant(word));
            vec![quote! {
                #(#docs)*
                #[derive(
                    Clone, Copy, Debug, PartialEq, Eq, ApplyConfiguration, DeepCopy, Deserialize, KubeSchema, Serialize
                )]
                #(#says)*
                pub enum #name { #(#variants,)* }
            }]
        }
        Body::Variants(variants) => {
            let variants = variants.iter().map(|variant| {
                let docs = variant.docs.as_deref().map(docs::attributes).unwrap_or_default();
                let (word, ty) = (named_variant(&variant.json), written.ty(&variant.ty));
                quote!(#(#docs)* #word(#ty))
            });
            vec![quote!(#(#docs)* #derives #(#says)* pub enum #name { #(#variants,)* })]
        }
        Body::Wrapper(ty) => {
            let ty = written.ty(ty);
            vec![quote!(#(#docs)* #derives #(#says)* pub struct #name(pub #ty);)]
        }
    }
}

pub(super) fn of_docs(docs: &Docs) -> Vec<TokenStream> {
    match docs {
        Docs::Exactly(docs) => docs.as_deref().map(docs::attributes).unwrap_or_default(),
        Docs::Any(docs) => docs::attributes(docs),
    }
}

/// A variant of this name in JSON.
fn named_variant(word: &str) -> TokenStream {
    let name = names::variant(word);
    let rename = (name != word).then(|| quote!(#[serde(rename = #word)]));
    let name = ident(&name);
    quote!(#rename #name)
}

/// The fields of a struct.
pub(super) struct Fields {
    pub(super) fields: Vec<TokenStream>,
    /// Those that make their defaults.
    pub(super) functions: Vec<TokenStream>,
    /// `#[logger_core::defaults]`, where one has a default.
    pub(super) defaults: Option<TokenStream>,
    /// Whether their names in JSON are those of Rust in camel case.
    pub(super) camel_case: bool,
}

pub(super) fn fields(i: usize, written: &Written<'_>, found: &mut Diagnostics) -> Fields {
    let Body::Struct { fields, open } = &written.items[i].body else {
        return Fields { fields: Vec::new(), functions: Vec::new(), defaults: None, camel_case: false };
    };
    let rust_name = |field: &Field| written.field(i, &field.json).to_string().trim_start_matches("r#").to_owned();
    let camel_case = fields.iter().any(|field| {
        let name = rust_name(field);
        name != field.json && names::in_json(&name) == field.json
    });
    let (mut emitted, mut functions) = (Vec::new(), Vec::new());
    for field in fields {
        let name = rust_name(field);
        let in_json = if camel_case { names::in_json(&name) } else { name };
        let json = &field.json;
        let rename = (in_json != *json).then(|| quote!(#[serde(rename = #json)]));
        let default = of_default(i, field, written, &mut functions, found);
        let docs = field.docs.as_deref().map(docs::attributes).unwrap_or_default();
        let says = facts::attributes(&with_flags(i, field, written));
        let (name, ty) = (written.field(i, json), written.ty(&field.ty));
        let is_optional = written.is_optional(i, field);
        let ty = if is_optional { quote!(Option<#ty>) } else { ty };
        let with = (field.ty == Type::Known(&kubernetes::BYTES)).then(|| with_text(is_optional));
        let atomic = is_atomic(&field.ty).then(|| quote!(#[apply(atomic)]));
        emitted.push(quote!(#(#docs)* #rename #default #with #atomic #(#says)* pub #name: #ty,));
    }
    if *open {
        let other = written.other(i);
        emitted.push(quote! {
            #[doc = " Fields that have no name here."]
            #[serde(flatten)]
            pub #other: BTreeMap<String, Value>,
        });
    }
    let has_defaults = fields.iter().any(|field| field.default.is_some());
    let defaults = has_defaults.then(|| quote!(#[logger_core::defaults]));
    Fields { fields: emitted, functions, defaults, camel_case }
}

/// Whether it has a type that is applied as a whole.
fn is_atomic(ty: &Type) -> bool {
    match ty {
        Type::Known(known) => known.atomic,
        Type::List(ty) | Type::Map(ty) => is_atomic(ty),
        _ => false,
    }
}

/// For the schema of a type that has none.
fn with_text(is_optional: bool) -> TokenStream {
    let with = if is_optional { "Option<String>" } else { "String" };
    quote!(#[schemars(with = #with)])
}

fn with_flags(i: usize, field: &Field, written: &Written<'_>) -> super::types::Facts {
    let mut facts = field.facts.clone();
    let may_be_absent = field.default.is_some() || written.is_optional(i, field);
    facts.flags.extend((field.required && may_be_absent).then_some("required"));
    facts.flags.extend(field.nullable.then_some("nullable"));
    facts
}

/// `#[default(..)]`, and the function that it names if there is one.
fn of_default(
    i: usize,
    field: &Field,
    written: &Written<'_>,
    functions: &mut Vec<TokenStream>,
    found: &mut Diagnostics,
) -> Option<TokenStream> {
    let value = field.default.as_ref()?;
    if let Some(literal) = default::literal(value, &field.ty, written) {
        return Some(quote!(#[default(#literal)]));
    }
    let owner = written.names[i].to_string();
    let function = format_ident!("default_{}_{}", snake(&owner), names::field(&field.json));
    let ty = written.ty(&field.ty);
    match default::expression(value, &field.ty, written) {
        Ok(value) => functions.push(quote!(fn #function() -> #ty { #value })),
        Err(message) => found.push(format!("{}.{}", written.items[i].path.join("."), field.json), message),
    }
    Some(quote!(#[default(with = #function)]))
}
