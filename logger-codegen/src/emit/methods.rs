//! The client of a kind with further methods: a type of its own, which derefs to the generic client.

use logger_core::meta::{Method, Verb};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::{applyconfigurations, doc, root, typed};
use crate::Layout;
use crate::api::{ClientKind, Group};
use crate::{apply, names};

pub(super) fn client(group: &Group, kind: &ClientKind, layout: &Layout) -> Vec<TokenStream> {
    vec![definition(group, kind, layout), methods(group, kind, layout), deref(kind)]
}

fn definition(group: &Group, kind: &ClientKind, layout: &Layout) -> TokenStream {
    let (ty, client, deprecated) = (&kind.ty, kind.type_named("Client"), &kind.deprecated);
    let docs = typed::docs(group, kind, layout);
    quote! {
        #docs
        #deprecated
        #[derive(Clone, Debug)]
        pub struct #client {
            client: logger_runtime::TypedClient<#ty>,
        }
    }
}

fn methods(group: &Group, kind: &ClientKind, layout: &Layout) -> TokenStream {
    let client = kind.type_named("Client");
    let methods = kind.meta.methods.iter().enumerate().map(|(i, of)| method(group, kind, layout, i, of));
    let constructor = match kind.is_namespaced() {
        true => quote! {
            /// The client of a namespace.
            pub fn namespaced(client: Client, namespace: &str) -> Self {
                #client { client: logger_runtime::TypedClient::namespaced(client, namespace) }
            }
        },
        false => quote! {
            /// The client of the cluster.
            pub fn cluster(client: Client) -> Self {
                #client { client: logger_runtime::TypedClient::cluster(client) }
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

/// One method: its name and types are the kind's, its body is the runtime's.
fn method(group: &Group, kind: &ClientKind, layout: &Layout, index: usize, method: &Method) -> TokenStream {
    let (ty, name, index) = (&kind.ty, names::ident(method.name), Literal::usize_unsuffixed(index));
    let of_kind = quote!(<#ty as ExtensionMethod<#index>>);
    let subresource = match method.subresource {
        Some(subresource) => quote!(Some(#subresource)),
        None => quote!(None),
    };
    // A list or a new object is of the whole resource, unless it is below an object of a name.
    let (of_name, of) = match method.subresource {
        Some(subresource) => (quote!(name: &str,), quote!(Some((#subresource, name)))),
        None => (quote!(), quote!(None)),
    };
    let (generics, arguments, call) = match method.verb {
        Verb::List => (quote!(), quote!(#of_name selected: &ListParams), quote!(extended_list(#of, selected))),
        Verb::Create => (
            quote!(),
            quote!(#of_name input: &#of_kind::Input, params: &PostParams),
            quote!(extended_create(#of, input, params)),
        ),
        Verb::Update => (
            quote!(),
            quote!(name: &str, input: &#of_kind::Input, params: &PostParams),
            quote!(extended_update(#subresource, name, input, params)),
        ),
        Verb::Patch => (
            quote!(<P: logger_core::serde::Serialize + std::fmt::Debug>),
            quote!(name: &str, patch: &Patch<P>, params: &PatchParams),
            quote!(extended_patch(#subresource, name, patch, params)),
        ),
        Verb::Apply if method.has_input => {
            let input = apply::input(group, method).unwrap_or_else(|| quote!(#of_kind::Input));
            (
                quote!(),
                quote!(name: &str, configuration: &#input, manager: &logger_runtime::FieldManager),
                quote!(extended_apply(#subresource, name, configuration, manager)),
            )
        }
        Verb::Apply => {
            let configuration = applyconfigurations::path_of(group, kind);
            (
                quote!(),
                quote!(configuration: &#configuration, manager: &logger_runtime::FieldManager),
                quote!(extended_apply(#subresource, configuration.metadata.name(), configuration, manager)),
            )
        }
        _ => (quote!(), quote!(name: &str), quote!(extended_get(#subresource, name))),
    };
    let docs = doc(&described(method));
    let takes_configuration =
        method.verb == Verb::Apply && (!method.has_input || apply::input(group, method).is_some());
    let gate = takes_configuration.then(|| root::gate("applyconfigurations", layout));
    quote! {
        #docs
        ///
        /// # Errors
        /// The request failed, or was refused.
        #gate
        pub fn #name #generics(&self, #arguments) -> Answer<#of_kind::Result> {
            self.client.#call
        }
    }
}

fn described(method: &Method) -> String {
    let verb = match method.verb {
        Verb::List => "Lists",
        Verb::Create => "Creates",
        Verb::Update => "Updates",
        Verb::Patch => "Patches",
        Verb::Apply => "Applies",
        _ => "Gets",
    };
    match method.subresource {
        Some(subresource) => format!("{verb} the `{subresource}` of an object."),
        None => format!("{verb} as its verb does, with types of its own."),
    }
}

fn deref(kind: &ClientKind) -> TokenStream {
    let (ty, client, allowed) = (&kind.ty, kind.type_named("Client"), allowed(kind));
    quote! {
        #allowed
        impl std::ops::Deref for #client {
            type Target = logger_runtime::TypedClient<#ty>;

            fn deref(&self) -> &Self::Target {
                &self.client
            }
        }
    }
}

/// An impl cannot be deprecated, and is no use of its type.
fn allowed(kind: &ClientKind) -> TokenStream {
    if kind.deprecated.is_empty() { quote!() } else { quote!(#[allow(deprecated)]) }
}

/// What the methods name beside the kind's own types.
pub(super) fn imports(kinds: &[ClientKind]) -> TokenStream {
    let verbs = || kinds.iter().flat_map(|kind| kind.meta.methods).map(|method| method.verb);
    let has = |wanted: &[Verb]| verbs().any(|verb| wanted.contains(&verb));
    let params = [
        (has(&[Verb::List]), quote!(ListParams)),
        (has(&[Verb::Patch]), quote!(Patch)),
        (has(&[Verb::Patch]), quote!(PatchParams)),
        (has(&[Verb::Create, Verb::Update]), quote!(PostParams)),
    ];
    let params: Vec<_> = params.into_iter().filter(|(used, _)| *used).map(|(_, name)| name).collect();
    let params = match params.is_empty() {
        true => quote!(),
        false => quote!(use logger_runtime::kube::api::{#(#params),*};),
    };
    match verbs().next() {
        None => quote!(),
        Some(_) => quote! {
            use logger_core::ExtensionMethod;
            use logger_runtime::Answer;
            #params
        },
    }
}
