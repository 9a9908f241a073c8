//! `typed/<group>.rs`: the clients of a group's kinds.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{Source, doc, methods, modules, transplanted};
use crate::api::{Api, ClientKind, Group};

pub(super) fn sources(api: &Api) -> Vec<Source> {
    let groups: Vec<_> = api.client_groups().collect();
    let mut sources = vec![modules("typed.rs", "Typed clients, one module for each group and version.", &groups)];
    sources.extend(groups.into_iter().map(group));
    sources
}

fn group(group: &Group) -> Source {
    let mut items = vec![imports(group), client(group), getters(group)];
    items.extend(group.kinds.iter().flat_map(|kind| clients(group, kind)));
    (format!("typed/{}.rs", group.module), format!("Typed clients of {}.", group.described()), items)
}

fn imports(group: &Group) -> TokenStream {
    let (types, methods) = (super::types(group), methods::imports(&group.kinds));
    quote! {
        #types
        #methods
        use logger_runtime::kube::Client;
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
            /// The clients of this group on this client.
            pub fn new(client: Client) -> Self {
                #client { client }
            }
            #(#getters)*
        }
    }
}

fn kind_getters(kind: &ClientKind) -> TokenStream {
    let (ty, getter, client) = (&kind.ty, &kind.getter, kind.type_named("Client"));
    if !kind.is_namespaced() {
        let docs = doc(&format!("The {} of the cluster.", kind.meta.plural));
        return quote! {
            #docs
            pub fn #getter(&self) -> #client {
                #client::cluster(self.client.clone())
            }
        };
    }
    let docs = doc(&format!("The {} of a namespace.", kind.meta.plural));
    let all = has_all_namespaces(kind).then(|| {
        let (docs, all) =
            (doc(&format!("The {} of all namespaces, to read.", kind.meta.plural)), format_ident!("all_{getter}"));
        quote! {
            #docs
            pub fn #all(&self) -> logger_runtime::AllNamespaces<#ty> {
                logger_runtime::AllNamespaces::new(self.client.clone())
            }
        }
    });
    quote! {
        #docs
        pub fn #getter(&self, namespace: &str) -> #client {
            #client::namespaced(self.client.clone(), namespace)
        }
        #all
    }
}

fn has_all_namespaces(kind: &ClientKind) -> bool {
    use logger_core::meta::Verb;
    kind.is_namespaced() && (kind.meta.grants(Verb::List) || kind.meta.grants(Verb::Watch))
}

/// The client of a kind: the generic one, or a type of its own around it where there are further methods.
fn clients(group: &Group, kind: &ClientKind) -> Vec<TokenStream> {
    match kind.meta.methods {
        [] => vec![alias(kind)],
        _ => methods::client(group, kind),
    }
}

fn alias(kind: &ClientKind) -> TokenStream {
    let (ty, client) = (&kind.ty, kind.type_named("Client"));
    let docs = doc(&format!("Client of {} objects.\n\n{}", kind.linked(), transplanted(kind.meta.docs)));
    quote! {
        #docs
        pub type #client = logger_runtime::TypedClient<#ty>;
    }
}
