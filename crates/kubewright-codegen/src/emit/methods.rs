//! The client of a kind with extension methods: a dedicated type that dereferences to the generic client.

use kubewright_core::meta::{ClientVerb, Method};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::{applyconfigurations, client_docs::client_docs, root, source::doc};
use crate::{
    api::{ClientKind, Group},
    apply,
    layout::Layout,
    names,
};

pub(super) fn client(group: &Group, kind: &ClientKind, layout: &Layout) -> Vec<TokenStream> {
    vec![definition(group, kind, layout), methods(group, kind, layout), deref(kind)]
}

fn definition(group: &Group, kind: &ClientKind, layout: &Layout) -> TokenStream {
    let (ty, client, deprecated) = (&kind.ty, kind.type_named("Client"), &kind.deprecated);
    let docs = client_docs(group, kind, layout);
    quote! {
        #docs
        #deprecated
        #[derive(Clone, Debug)]
        pub struct #client {
            client: kubewright_runtime::TypedClient<#ty>,
        }
    }
}

fn methods(group: &Group, kind: &ClientKind, layout: &Layout) -> TokenStream {
    let client = kind.type_named("Client");
    let methods = kind.meta.methods.iter().enumerate().map(|(i, declared)| method(group, kind, layout, i, declared));
    let constructor = match kind.is_namespaced() {
        true => quote! {
            /// Creates the client of a namespace.
            #[inline]
            pub fn namespaced(client: Client, namespace: &str) -> Self {
                #client { client: kubewright_runtime::TypedClient::namespaced(client, namespace) }
            }
        },
        false => quote! {
            /// Creates the client of a cluster-scoped kind.
            #[inline]
            pub fn cluster(client: Client) -> Self {
                #client { client: kubewright_runtime::TypedClient::cluster(client) }
            }
        },
    };
    let allowed = allowed(kind);
    quote! {
        #allowed
        impl #client {
            #constructor
            #(#methods)*
        }
    }
}

/// Returns one extension method, whose body calls the generic client.
fn method(group: &Group, kind: &ClientKind, layout: &Layout, index: usize, method: &Method) -> TokenStream {
    let (ty, name, index) = (&kind.ty, names::ident(method.name), Literal::usize_unsuffixed(index));
    let extension = quote!(<#ty as ExtensionMethod<#index>>);
    let subresource = match method.subresource {
        Some(subresource) => quote!(Some(#subresource)),
        None => quote!(None),
    };
    // Lists and creates address the collection, or the subresource of a named object.
    let (name_parameter, parent) = match method.subresource {
        Some(subresource) => (quote!(name: &str,), quote!(Some((#subresource, name)))),
        None => (quote!(), quote!(None)),
    };
    let (generics, arguments, call) = match method.verb {
        ClientVerb::List => {
            (quote!(), quote!(#name_parameter params: &ListParams), quote!(extended_list(#parent, params)))
        }
        ClientVerb::Create => (
            quote!(),
            quote!(#name_parameter input: &#extension::Input, params: &PostParams),
            quote!(extended_create(#parent, input, params)),
        ),
        ClientVerb::Update => (
            quote!(),
            quote!(name: &str, input: &#extension::Input, params: &PostParams),
            quote!(extended_update(#subresource, name, input, params)),
        ),
        ClientVerb::Patch => (
            quote!(<P: kubewright_core::serde::Serialize + std::fmt::Debug>),
            quote!(name: &str, patch: &Patch<P>, params: &PatchParams),
            quote!(extended_patch(#subresource, name, patch, params)),
        ),
        ClientVerb::Apply if method.has_input => {
            let input = apply::input_configuration(group, method).unwrap_or_else(|| quote!(#extension::Input));
            (
                quote!(),
                quote!(name: &str, configuration: &#input, manager: &kubewright_runtime::FieldManager),
                quote!(extended_apply(#subresource, name, configuration, manager)),
            )
        }
        ClientVerb::Apply => {
            let configuration = applyconfigurations::path(group, kind);
            (
                quote!(),
                quote!(configuration: &#configuration, manager: &kubewright_runtime::FieldManager),
                quote!(extended_apply(#subresource, configuration.metadata.name(), configuration, manager)),
            )
        }
        _ => (quote!(), quote!(name: &str), quote!(extended_get(#subresource, name))),
    };
    let docs = doc(&described(method));
    let takes_configuration =
        method.verb == ClientVerb::Apply && (!method.has_input || apply::input_configuration(group, method).is_some());
    let gate = takes_configuration.then(|| root::gate("applyconfigurations", layout));
    quote! {
        #docs
        ///
        /// # Errors
        /// The request failed, or the server rejected it.
        #gate
        #[inline]
        pub fn #name #generics(&self, #arguments) -> ResponseFuture<#extension::Result> {
            self.client.#call
        }
    }
}

fn described(method: &Method) -> String {
    let verb = match method.verb {
        ClientVerb::List => "Lists",
        ClientVerb::Create => "Creates",
        ClientVerb::Update => "Updates",
        ClientVerb::Patch => "Patches",
        ClientVerb::Apply => "Applies",
        _ => "Gets",
    };
    match method.subresource {
        Some(subresource) => format!("{verb} the `{subresource}` of an object."),
        None => format!("{verb} objects with custom types."),
    }
}

fn deref(kind: &ClientKind) -> TokenStream {
    let (ty, client, allowed) = (&kind.ty, kind.type_named("Client"), allowed(kind));
    quote! {
        #allowed
        impl std::ops::Deref for #client {
            type Target = kubewright_runtime::TypedClient<#ty>;

            fn deref(&self) -> &Self::Target {
                &self.client
            }
        }
    }
}

/// Returns `#[allow(deprecated)]` for an impl of a deprecated client, which does not use it.
fn allowed(kind: &ClientKind) -> TokenStream {
    if kind.deprecated.is_empty() { quote!() } else { quote!(#[allow(deprecated)]) }
}

/// Returns the imports of the methods.
pub(super) fn imports(kinds: &[ClientKind]) -> TokenStream {
    let verbs = || kinds.iter().flat_map(|kind| kind.meta.methods).map(|method| method.verb);
    let has = |wanted: &[ClientVerb]| verbs().any(|verb| wanted.contains(&verb));
    let params = [
        (has(&[ClientVerb::List]), quote!(ListParams)),
        (has(&[ClientVerb::Patch]), quote!(Patch)),
        (has(&[ClientVerb::Patch]), quote!(PatchParams)),
        (has(&[ClientVerb::Create, ClientVerb::Update]), quote!(PostParams)),
    ];
    let params: Vec<_> = params.into_iter().filter(|(used, _)| *used).map(|(_, name)| name).collect();
    let params = match params.is_empty() {
        true => quote!(),
        false => quote!(use kubewright_runtime::kube::api::{#(#params),*};),
    };
    match verbs().next() {
        None => quote!(),
        Some(_) => quote! {
            use kubewright_core::ExtensionMethod;
            use kubewright_runtime::ResponseFuture;
            #params
        },
    }
}
