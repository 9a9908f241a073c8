//! The names in scope of an imported module.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::super::{
    model::{Body, Field, Item, Module, Type, Types},
    names,
};
use crate::names::ident;

/// The names of the types and fields of a module, and the paths of all other types.
pub(super) struct Scope<'a> {
    pub(super) types: &'a Types,
    /// The names of the items, in order.
    pub(super) items: Vec<Ident>,
    fields: BTreeMap<(usize, String), Ident>,
    /// Names of the types of kinds and lists. Other types with one of these names are named by their paths.
    kinds: BTreeSet<String>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(module: &'a Module) -> Self {
        let types = &module.types;
        let kinds = module.kinds.iter().flat_map(|kind| [&kind.names.type_name, &kind.names.list_type_name]);
        let kinds: BTreeSet<String> = kinds.cloned().collect();
        let mut reserved = kinds.clone();
        reserved.extend(types.kubernetes().iter().map(|known| known.name.to_owned()));
        let items = names::of_items(&types.items, &reserved).iter().map(|name| ident(name)).collect();
        let fields = types.items.iter().enumerate().flat_map(|(i, item)| field_names(i, item)).collect();
        Scope { types, items, fields, kinds }
    }

    /// Whether an item can be imported: no kind has its name.
    pub(super) fn is_importable(&self, path: &str) -> bool {
        !self.kinds.contains(last_segment(path))
    }

    /// Returns the name of an imported item, or its path if a kind has its name.
    pub(super) fn path(&self, path: &str) -> TokenStream {
        if self.is_importable(path) {
            return ident(last_segment(path)).into_token_stream();
        }
        let segments = path.split("::").map(ident);
        quote!(::#(#segments)::*)
    }

    /// Returns the Rust type.
    pub(super) fn ty(&self, ty: &Type) -> TokenStream {
        match ty {
            Type::Bool => quote!(bool),
            Type::Integer(name) | Type::Float(name) => ident(name).into_token_stream(),
            Type::String => self.path("std::string::String"),
            Type::Json => self.path("serde_json::Value"),
            Type::Kubernetes(known) => self.path(&format!("{}::{}", known.module, known.name)),
            Type::Local(item) => self.items[*item].to_token_stream(),
            Type::List(item) => {
                let (vec, item) = (self.path("std::vec::Vec"), self.ty(item));
                quote!(#vec<#item>)
            }
            Type::Map(value) => {
                let (map, string) = (self.path("std::collections::BTreeMap"), self.path("std::string::String"));
                let value = self.ty(value);
                quote!(#map<#string, #value>)
            }
        }
    }

    /// Returns the Rust name of a field.
    pub(super) fn field(&self, item: usize, json: &str) -> Ident {
        self.fields.get(&(item, json.to_owned())).cloned().unwrap_or_else(|| ident(&names::field(json)))
    }

    /// Returns the name of the field with all unknown fields.
    pub(super) fn other(&self, item: usize) -> Ident {
        let is_free = |name: &&str| self.fields.iter().all(|((owner, _), field)| *owner != item || field != name);
        format_ident!("{}", ["other", "other_fields"].into_iter().find(is_free).unwrap_or("unknown_fields"))
    }

    pub(super) fn is_optional(&self, item: usize, field: &Field) -> bool {
        self.types.is_optional(item, field)
    }
}

fn last_segment(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// Returns unique names for the fields of an item.
fn field_names(i: usize, item: &Item) -> Vec<((usize, String), Ident)> {
    let Body::Struct { fields, .. } = &item.body else { return Vec::new() };
    let is_kind = item.path.len() == 1;
    // The fields that every kind has.
    let common = ["api_version", "kind", "metadata"].into_iter().filter(|_| is_kind).map(str::to_owned);
    let mut seen: BTreeSet<String> = common.collect();
    let named = fields.iter().map(|field| {
        let mut name = names::field(&field.json);
        while !seen.insert(name.clone()) {
            name.push('_');
        }
        ((i, field.json.clone()), ident(&name))
    });
    named.collect()
}
