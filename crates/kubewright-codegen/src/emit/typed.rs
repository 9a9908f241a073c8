//! `typed/<group>.rs`: the clients of the kinds of a group.

use kubewright_core::meta::ClientVerb;
use proc_macro2::TokenStream;
use quote::quote;

use super::{
    client_docs::client_docs,
    methods,
    source::{Source, doc, import_types},
};
use crate::{
    api::{Api, ClientKind, Group},
    layout::Layout,
};

pub(super) fn sources(api: &Api, layout: &Layout) -> Vec<Source> {
    let groups: Vec<_> = api.client_groups().collect();
    let mut sources =
        vec![Source::from_modules("typed.rs", "Typed clients, one module for each group and version.", &groups)];
    sources.extend(groups.into_iter().map(|group| self::group(group, layout)));
    sources
}

fn group(group: &Group, layout: &Layout) -> Source {
    let mut items = vec![imports(group), client(group), getters(group)];
    items.extend(group.kinds.iter().flat_map(|kind| clients(group, kind, layout)));
    Source::new(format!("typed/{}.rs", group.module), format!("Typed clients of {}.", group.described()), items)
}

fn imports(group: &Group) -> TokenStream {
    let (types, methods) = (import_types(group), methods::imports(&group.kinds));
    quote! {
        #types
        #methods
        use kubewright_runtime::kube::Client;
    }
}

fn client(group: &Group) -> TokenStream {
    let client = group.type_named("Client");
    let docs = doc(&format!("The clients of {}.", group.described()));
    quote! {
        #docs
        #[derive(Clone)]
        pub struct #client {
            client: Client,
        }
    }
}

fn getters(group: &Group) -> TokenStream {
    let client = group.type_named("Client");
    let getters = group.kinds.iter().map(kind_getters);
    quote! {
        impl #client {
            /// Creates the clients of this group, which send their requests with this client.
            pub fn new(client: Client) -> Self {
                #client { client }
            }
            #(#getters)*
        }
    }
}

fn kind_getters(kind: &ClientKind) -> TokenStream {
    let (ty, getter, client) = (&kind.ty, &kind.getter, kind.type_named("Client"));
    let deprecated = &kind.deprecated;
    if !kind.is_namespaced() {
        let docs = doc(&format!("Returns the client of {}.", kind.meta.plural));
        return quote! {
            #docs
            #deprecated
            #[inline]
            pub fn #getter(&self) -> #client {
                #client::cluster(self.client.clone())
            }
        };
    }
    let docs = doc(&format!("Returns the client of {} in a namespace.", kind.meta.plural));
    let all = has_all_namespaces(kind).then(|| {
        let (docs, all) = (
            doc(&format!("Returns the read-only client of {} in all namespaces.", kind.meta.plural)),
            kind.all_getter(),
        );
        quote! {
            #docs
            #deprecated
            #[inline]
            pub fn #all(&self) -> kubewright_runtime::AllNamespaces<#ty> {
                kubewright_runtime::AllNamespaces::new(self.client.clone())
            }
        }
    });
    quote! {
        #docs
        #deprecated
        #[inline]
        pub fn #getter(&self, namespace: &str) -> #client {
            #client::namespaced(self.client.clone(), namespace)
        }
        #all
    }
}

fn has_all_namespaces(kind: &ClientKind) -> bool {
    kind.is_namespaced() && (kind.meta.grants(ClientVerb::List) || kind.meta.grants(ClientVerb::Watch))
}

/// Returns the client of a kind: the generic one, or a dedicated type around it if it has extension methods.
fn clients(group: &Group, kind: &ClientKind, layout: &Layout) -> Vec<TokenStream> {
    match kind.meta.methods {
        [] => vec![alias(group, kind, layout)],
        _ => methods::client(group, kind, layout),
    }
}

fn alias(group: &Group, kind: &ClientKind, layout: &Layout) -> TokenStream {
    let (ty, client, deprecated) = (&kind.ty, kind.type_named("Client"), &kind.deprecated);
    let docs = client_docs(group, kind, layout);
    quote! {
        #docs
        #deprecated
        pub type #client = kubewright_runtime::TypedClient<#ty>;
    }
}
