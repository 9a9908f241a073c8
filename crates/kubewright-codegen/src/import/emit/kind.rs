//! A kind, its list and `group_version!`.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use serde_json::{Map, Value};

use super::{
    super::model::{Column, Kind, Module, Names, Scale, Types},
    attributes,
    docs::DocAttributes,
    item::{Fields, fields, item_docs},
    scope::Scope,
};
use crate::{
    crd::{conventions, overrides},
    names::ident,
};

/// Returns the type of a kind with the functions of its defaults, and its list if the derive would generate another one.
pub(super) fn items(kind: &Kind, item: usize, scope: &Scope<'_>) -> Vec<TokenStream> {
    let name = &scope.items[item];
    let DocAttributes { docs, helpers } = item_docs(&scope.types.items[item].docs);
    let schema = attributes::of_kind(&scope.types.items[item].attributes, &kind.overrides, patches(kind));
    let Fields { fields, functions, defaults, camel_case } = fields(item, scope);
    let camel_case = camel_case.then(|| quote!(#[serde(rename_all = "camelCase")]));
    let default = scope.types.has_default(item).then(|| quote!(Default,));
    let deprecated = deprecated(kind);
    let (genclient, k8s) = (genclient(kind), k8s(kind, name));
    let status = lacks_status(kind, scope.types).then(|| status(scope));
    let api_object = scope.path("kubewright_core::ApiObject");
    let metadata = scope.path("k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta");
    let root = quote! {
        #(#docs)* #deprecated #defaults
        #[derive(Clone, Debug, #default PartialEq, #api_object)]
        #genclient
        #[k8s(#(#k8s),*)]
        #(#helpers)* #camel_case #(#schema)*
        pub struct #name {
            #[doc = " Standard object's metadata."]
            pub metadata: #metadata,
            #(#fields)*
            #status
        }
    };
    [root].into_iter().chain(functions).chain(has_own_list(kind, name).then(|| list(kind, name, scope))).collect()
}

/// Whether the kind has a status subresource, but no `status` in its schema. The type needs a field for it.
pub(super) fn lacks_status(kind: &Kind, types: &Types) -> bool {
    kind.status && types.items[kind.item].body.fields().iter().all(|field| field.json != "status")
}

fn status(scope: &Scope<'_>) -> TokenStream {
    let (option, value) = (scope.path("std::option::Option"), scope.path("serde_json::Value"));
    quote! {
        #[doc = " The status, which is not part of the schema."]
        #[serde(default)]
        #[schemars(skip)]
        pub status: #option<#value>,
    }
}

fn list(kind: &Kind, item: &Ident, scope: &Scope<'_>) -> TokenStream {
    let list = ident(&kind.names.list_type_name);
    let k8s = list_k8s(kind, item);
    let docs = format!(" A list of `{}` objects.", kind.names.kind);
    let [deep_copy, object_list] =
        ["DeepCopy", "ObjectList"].map(|name| scope.path(&format!("kubewright_core::{name}")));
    let metadata = scope.path("k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta");
    let vec = scope.path("std::vec::Vec");
    quote! {
        #[doc = #docs]
        #[derive(Clone, Debug, Default, PartialEq, #deep_copy, #object_list)]
        #k8s
        pub struct #list {
            #[doc = " Standard list metadata."]
            pub metadata: #metadata,
            #[doc = " The objects."]
            pub items: #vec<#item>,
        }
    }
}

/// Whether the list that `ApiObject` generates for a kind of this type name would have another name or kind.
pub(super) fn has_own_list(kind: &Kind, type_name: &Ident) -> bool {
    let Names { kind, list_kind, list_type_name, .. } = &kind.names;
    *list_type_name != format!("{type_name}List") || *list_kind != format!("{kind}List")
}

/// Returns `#[k8s(kind = "..")]` if the derive would give the list another kind.
fn list_k8s(kind: &Kind, item: &Ident) -> Option<TokenStream> {
    let Names { kind, list_kind, list_type_name, .. } = &kind.names;
    let by_convention = *list_type_name == format!("{item}List");
    let default = if by_convention { format!("{kind}List") } else { list_type_name.clone() };
    (*list_kind != default).then(|| quote!(#[k8s(kind = #list_kind)]))
}

fn deprecated(kind: &Kind) -> Option<TokenStream> {
    kind.deprecated.as_deref().map(|warning| match warning {
        "" => quote!(#[deprecated]),
        warning => {
            let warning = attributes::text(warning);
            quote!(#[deprecated(note = #warning)])
        }
    })
}

/// Returns `#[genclient]` for a served version.
fn genclient(kind: &Kind) -> Option<TokenStream> {
    kind.served.then(|| match kind.namespaced {
        true => quote!(#[genclient]),
        false => quote!(#[genclient(non_namespaced)]),
    })
}

/// Returns the keys of `#[k8s(..)]` on the kind, whose type has this name.
fn k8s(kind: &Kind, type_name: &Ident) -> Vec<TokenStream> {
    let names = &kind.names;
    let (name, plural) = (&names.kind, &names.plural);
    let mut keys = Vec::new();
    keys.extend((type_name != name).then(|| quote!(kind = #name)));
    if has_own_list(kind, type_name) {
        let list = ident(&names.list_type_name);
        keys.push(quote!(list = #list));
    }
    keys.push(quote!(plural = #plural));
    if names.singular != names.kind.to_lowercase() {
        let singular = &names.singular;
        keys.push(quote!(singular = #singular));
    }
    keys.extend(list_of("short_names", &names.short_names));
    keys.extend(list_of("categories", &names.categories));
    if !kind.served {
        let scope = if kind.namespaced { "Namespaced" } else { "Cluster" };
        keys.push(quote!(scope = #scope));
        keys.push(quote!(unserved));
    }
    keys.extend(kind.storage.then(|| quote!(storage)));
    // An override contains any other conversion.
    let is_unconverted = kind.storage && kind.definition_patch.pointer("/spec/conversion").is_none();
    keys.extend(is_unconverted.then(|| quote!(conversion(none = "as in the imported definition"))));
    keys.extend(subresources(kind));
    keys.extend(allowed(kind));
    keys.extend(list_of("selectable_fields", &kind.selectable));
    let pairs = |pairs: &[(String, String)]| pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let (annotations, labels): (Vec<String>, Vec<String>) = (pairs(&kind.annotations), pairs(&kind.labels));
    let metadata: Vec<_> =
        [list_of("annotations", &annotations), list_of("labels", &labels)].into_iter().flatten().collect();
    keys.extend((!metadata.is_empty()).then(|| quote!(metadata(#(#metadata),*))));
    if !kind.columns.is_empty() {
        let columns = kind.columns.iter().map(column);
        keys.push(quote!(printcolumns = [#(#columns),*]));
    }
    keys
}

fn list_of(key: &str, texts: &[String]) -> Option<TokenStream> {
    let key = format_ident!("{key}");
    (!texts.is_empty()).then(|| quote!(#key = [#(#texts),*]))
}

fn subresources(kind: &Kind) -> Option<TokenStream> {
    let status = kind.status.then(|| quote!(status));
    let scale = kind.scale.as_ref().map(|Scale { spec, status, selector }| {
        let selector = selector.as_ref().map(|path| quote!(, selector_path = #path));
        quote!(scale(spec_path = #spec, status_path = #status #selector))
    });
    let all: Vec<TokenStream> = status.into_iter().chain(scale).collect();
    (!all.is_empty()).then(|| quote!(subresource(#(#all),*)))
}

/// Returns `allow(..)` for a status that the generator warns about.
fn allowed(kind: &Kind) -> Option<TokenStream> {
    let names = conventions::status_warnings(kind.status, &kind.schema);
    let words = names.iter().map(|name| format_ident!("{name}"));
    (!names.is_empty()).then(|| quote!(allow(#(#words),*)))
}

fn column(column: &Column) -> TokenStream {
    let Column { column_type, name, path, description, format, priority } = column;
    let (column_type, path) = (format_ident!("{column_type}"), attributes::text(path));
    let description = description.as_deref().map(attributes::text).map(|text| quote!(.description(#text)));
    let format = format.as_ref().map(|format| quote!(.format(#format)));
    let priority =
        (*priority != 0).then(|| Literal::i64_unsuffixed(*priority)).map(|priority| quote!(.priority(#priority)));
    quote!(#column_type(#name, #path) #description #format #priority)
}

/// Returns the patches with the fields of the definition and the version that no attribute expresses.
fn patches(kind: &Kind) -> Map<String, Value> {
    let patches = [(overrides::DEFINITION, &kind.definition_patch), (overrides::VERSION, &kind.version_patch)];
    let present = patches.into_iter().filter(|(_, patch)| patch.as_object().is_some_and(|patch| !patch.is_empty()));
    present.map(|(key, patch)| (key.to_owned(), patch.clone())).collect()
}

/// Returns the declaration of the version.
pub(super) fn group_version(module: &Module, scope: &Scope<'_>) -> TokenStream {
    let Module { group, version, kinds, .. } = module;
    let kinds = kinds.iter().flat_map(|kind| {
        let name = &scope.items[kind.item];
        let list = has_own_list(kind, name).then(|| ident(&kind.names.list_type_name));
        [name.clone()].into_iter().chain(list)
    });
    quote!(kubewright_core::group_version! { group = #group, version = #version, kinds = [#(#kinds),*] })
}
