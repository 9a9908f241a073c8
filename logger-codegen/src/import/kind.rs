//! A kind, its list and its `group_version!`, as Rust.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::emit::{Fields, Written, fields, of_docs};
use super::facts;
use super::types::{Column, Kind, Module};
use crate::diagnostic::Diagnostics;
use crate::names::ident;

/// The type of a kind with what makes its defaults, and its list.
pub(super) fn items(kind: &Kind, item: usize, written: &Written<'_>, found: &mut Diagnostics) -> Vec<TokenStream> {
    let name = &written.names[item];
    let docs = of_docs(&written.items[item].docs);
    let says = facts::attributes(&written.items[item].facts);
    let Fields { fields, functions, defaults, camel_case } = fields(item, written, found);
    let camel_case = camel_case.then(|| quote!(#[serde(rename_all = "camelCase")]));
    let default = written.item_has_default(item).then(|| quote!(Default,));
    let deprecated = deprecated(kind);
    let (genclient, k8s) = (genclient(kind), k8s(kind));
    let root = quote! {
        #(#docs)* #deprecated #defaults
        #[derive(Clone, Debug, #default PartialEq, ApplyConfiguration, DeepCopy, KubeSchema, Object)]
        #genclient
        #[k8s(#(#k8s),*)]
        #camel_case #(#says)*
        pub struct #name {
            #[doc = " Its name, labels and all that every object has."]
            pub metadata: ObjectMeta,
            #(#fields)*
        }
    };
    [root].into_iter().chain(functions).chain([list(kind)]).collect()
}

fn list(kind: &Kind) -> TokenStream {
    let (list, item) = (ident(&kind.names.list_kind), ident(&kind.names.kind));
    let docs = format!(" A list of objects of kind `{}`.", kind.names.kind);
    quote! {
        #[doc = #docs]
        #[derive(Clone, Debug, Default, PartialEq, DeepCopy, ObjectList)]
        pub struct #list {
            #[doc = " Version and continuation."]
            pub metadata: ListMeta,
            #[doc = " The objects."]
            pub items: Vec<#item>,
        }
    }
}

fn deprecated(kind: &Kind) -> Option<TokenStream> {
    kind.deprecated.as_deref().map(|warning| match warning {
        "" => quote!(#[deprecated]),
        warning => {
            let warning = facts::text(warning);
            quote!(#[deprecated(note = #warning)])
        }
    })
}

/// A client of what is served.
fn genclient(kind: &Kind) -> Option<TokenStream> {
    kind.served.then(|| match kind.namespaced {
        true => quote!(#[genclient]),
        false => quote!(#[genclient(non_namespaced)]),
    })
}

fn k8s(kind: &Kind) -> Vec<TokenStream> {
    let names = &kind.names;
    let plural = &names.plural;
    let mut words = vec![quote!(plural = #plural)];
    if names.singular != names.kind.to_lowercase() {
        let singular = &names.singular;
        words.push(quote!(singular = #singular));
    }
    words.extend(list_of("short_names", &names.short_names));
    words.extend(list_of("categories", &names.categories));
    if !kind.served {
        let scope = if kind.namespaced { "Namespaced" } else { "Cluster" };
        words.push(quote!(scope = #scope));
        words.push(quote!(unserved));
    }
    words.extend(kind.storage.then(|| quote!(storage)));
    words.extend(subresources(kind));
    words.extend(list_of("selectable_fields", &kind.selectable));
    let pairs = |pairs: &[(String, String)]| pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let (annotations, labels): (Vec<String>, Vec<String>) = (pairs(&kind.annotations), pairs(&kind.labels));
    let metadata: Vec<_> =
        [list_of("annotations", &annotations), list_of("labels", &labels)].into_iter().flatten().collect();
    words.extend((!metadata.is_empty()).then(|| quote!(metadata(#(#metadata),*))));
    if !kind.columns.is_empty() {
        let columns = kind.columns.iter().map(column);
        words.push(quote!(printcolumns = [#(#columns),*]));
    }
    words
}

fn list_of(word: &str, texts: &[String]) -> Option<TokenStream> {
    let word = format_ident!("{word}");
    (!texts.is_empty()).then(|| quote!(#word = [#(#texts),*]))
}

fn subresources(kind: &Kind) -> Option<TokenStream> {
    let status = kind.status.then(|| quote!(status));
    let scale = kind.scale.as_ref().map(|(spec, status, selector)| {
        let selector = selector.as_ref().map(|path| quote!(, selector_path = #path));
        quote!(scale(spec_path = #spec, status_path = #status #selector))
    });
    let all: Vec<TokenStream> = status.into_iter().chain(scale).collect();
    (!all.is_empty()).then(|| quote!(subresource(#(#all),*)))
}

fn column(column: &Column) -> TokenStream {
    let Column { column_type, name, path, description, format, priority } = column;
    let (column_type, path) = (format_ident!("{column_type}"), facts::text(path));
    let description = description.as_deref().map(facts::text).map(|text| quote!(.description(#text)));
    let format = format.as_ref().map(|format| quote!(.format(#format)));
    let priority = (*priority != 0).then(|| Literal::i64_unsuffixed(*priority)).map(|of| quote!(.priority(#of)));
    quote!(#column_type(#name, #path) #description #format #priority)
}

/// Where the module says what it is.
pub(super) fn group_version(module: &Module) -> TokenStream {
    let Module { group, version, kinds, .. } = module;
    let kinds = kinds.iter().flat_map(|kind| [ident(&kind.names.kind), ident(&kind.names.list_kind)]);
    quote!(logger_core::group_version! { group = #group, version = #version, kinds = [#(#kinds),*] })
}
