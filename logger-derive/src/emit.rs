//! Emits the impls of a checked model; for a rejected one its errors, and placeholder impls that prevent follow-up
//! errors.

mod generated_list;
mod kind;
mod list;
mod placeholder;
mod wire;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{DeriveInput, Ident, spanned::Spanned};

use crate::{
    check,
    errors::{Errors, Expanded},
    model::{self, Kind, List},
};

/// Expands `#[derive(Object)]`. All errors are reported at once.
pub(crate) fn object(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let kind = Kind::parse(input, "Object", krate, &mut errors);
    if let Some(list) = &kind.k8s.list {
        errors.push(list, "`list` replaces the list that `ApiObject` generates; `Object` generates none; remove this");
    }
    check::kind(&kind, &mut errors);
    let impls = expanded_kind(input, &kind, errors.is_empty(), kind.root.root_type(quote!(Kind(API_KIND)), None));
    Expanded { errors, items: impls }
}

/// Expands the part of `#[derive(ApiObject)]` that is `Object`, and the list of the kind.
pub(crate) fn api_object(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let kind = Kind::parse(input, "ApiObject", krate, &mut errors);
    check::kind(&kind, &mut errors);
    let is_accepted = errors.is_empty();
    let (root_type, list) = match &kind.k8s.list {
        Some(list) => (kind.root.root_type(quote!(Kind(API_KIND)), None), assert_list(&kind, list)),
        // A generic kind is rejected.
        None if !input.generics.params.is_empty() => (TokenStream::new(), TokenStream::new()),
        None => {
            let list = generated_list::name(&kind);
            let meta = quote!(KindWithList(API_KIND, <#list as #krate::KindList>::API_LIST));
            (kind.root.root_type(meta, Some(&list)), generated_list::emit(input, &kind, !is_accepted))
        }
    };
    let impls = expanded_kind(input, &kind, is_accepted, root_type);
    Expanded { errors, items: quote!(#impls #list) }
}

/// Emits the assertion that the list of the kind is the declared one.
fn assert_list(kind: &Kind, list: &syn::Path) -> TokenStream {
    let (ident, krate) = (&kind.root.ident, &kind.root.krate);
    quote_spanned! {list.span()=>
        #[allow(deprecated)]
        const _: fn(<#ident as #krate::Listed>::List) -> #list = |list| list;
    }
}

/// Expands `#[derive(ObjectList)]`. All errors are reported at once.
pub(crate) fn object_list(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let list = List::parse(input, krate, &mut errors);
    check::list(&list, &mut errors);
    let items = match errors.is_empty() {
        true => in_const_block(list::emit(&list)),
        false => placeholder::list(input, &list),
    };
    Expanded { errors, items }
}

fn expanded_kind(input: &DeriveInput, kind: &Kind, is_accepted: bool, root_type: TokenStream) -> TokenStream {
    match is_accepted {
        true => {
            let impls = kind::emit(kind);
            in_const_block(quote!(#impls #root_type))
        }
        false => placeholder::kind(input, kind),
    }
}

/// Wraps the impls, so that those of a deprecated type do not warn about its use.
fn in_const_block(impls: TokenStream) -> TokenStream {
    quote! {
        #[allow(deprecated)]
        const _: () = { #impls };
    }
}

impl model::Root {
    /// Emits the impl of `RootType`: that of a kind, of a list, or of a kind with its list.
    fn root_type(&self, meta: TokenStream, list: Option<&Ident>) -> TokenStream {
        let model::Root { ident, krate, .. } = self;
        let list = list.map(|list| quote!(scheme.add_declared::<#list>()?;));
        quote! {
            #[automatically_derived]
            impl #krate::RootType for #ident {
                const META: #krate::meta::TypeMeta = #krate::meta::TypeMeta::#meta;
                #[inline]
                fn add_to_scheme(
                    scheme: &mut #krate::Scheme,
                ) -> ::core::result::Result<(), #krate::scheme::Conflict> {
                    #list
                    scheme.add_declared::<Self>()
                }
            }
        }
    }

    /// Emits k8s-openapi's `Resource` and `Metadata`, from which kube's traits follow.
    fn resource_impls(
        &self,
        kind: TokenStream,
        url_path_segment: TokenStream,
        scope: TokenStream,
        meta: TokenStream,
    ) -> TokenStream {
        let model::Root { ident, krate, registered, .. } = self;
        let metadata = self.metadata();
        // With one span and one expression for each use, rustc reports an unregistered type once.
        let group_version = quote_spanned!(ident.span()=> <#registered as #krate::Registered>::GROUP_VERSION);
        quote! {
            #[automatically_derived]
            impl #krate::k8s_openapi::Resource for #ident {
                const API_VERSION: &'static ::core::primitive::str = #group_version.api_version;
                const GROUP: &'static ::core::primitive::str = #group_version.group;
                const KIND: &'static ::core::primitive::str = #kind;
                const VERSION: &'static ::core::primitive::str = #group_version.version;
                const URL_PATH_SEGMENT: &'static ::core::primitive::str = #url_path_segment;
                type Scope = #scope;
            }

            #[automatically_derived]
            impl #krate::k8s_openapi::Metadata for #ident {
                type Ty = #meta;
                #[inline]
                fn metadata(&self) -> &#meta {
                    &self.#metadata
                }
                #[inline]
                fn metadata_mut(&mut self) -> &mut #meta {
                    &mut self.#metadata
                }
            }
        }
    }
}

/// Emits an `Option`.
pub(crate) fn option(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
