//! Emits the impls of a checked model; for a rejected one its errors, and placeholder impls that prevent follow-up
//! errors.

mod kind;
mod list;
mod placeholder;
mod wire;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::DeriveInput;

use crate::{
    check,
    errors::Errors,
    model::{self, Kind, List},
};

/// Expands `#[derive(Object)]`. All errors are reported at once.
pub(crate) fn derive_object(input: DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let kind = Kind::parse(&input, &mut errors);
    check::kind(&kind, &mut errors);
    match errors.is_empty() {
        true => in_const_block(kind::emit(&kind)),
        false => with_errors(errors, placeholder::kind(&input, &kind)),
    }
}

/// Expands `#[derive(ObjectList)]`. All errors are reported at once.
pub(crate) fn derive_list(input: DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let list = List::parse(&input, &mut errors);
    check::list(&list, &mut errors);
    match errors.is_empty() {
        true => in_const_block(list::emit(&list)),
        false => with_errors(errors, placeholder::list(&input, &list)),
    }
}

fn with_errors(errors: Errors, placeholder: TokenStream) -> TokenStream {
    let errors = errors.into_compile_errors();
    quote!(#errors #placeholder)
}

/// Wraps the impls, so that those of a deprecated type do not warn about its use.
fn in_const_block(impls: TokenStream) -> TokenStream {
    quote! {
        #[allow(deprecated)]
        const _: () = { #impls };
    }
}

impl model::Root {
    /// Emits the impl of `ApiType`, which is the same for kinds and lists except for the constant.
    fn api_type(&self, meta: TokenStream) -> TokenStream {
        let model::Root { ident, krate, .. } = self;
        quote! {
            #[automatically_derived]
            impl #krate::ApiType for #ident {
                const META: #krate::meta::TypeMeta = #meta;
                #[inline]
                fn add_to_scheme(
                    scheme: &mut #krate::Scheme,
                ) -> ::core::result::Result<(), #krate::scheme::Conflict> {
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
        let model::Root { ident, krate, .. } = self;
        let metadata = self.metadata();
        // With one span and one expression for each use, rustc reports an unregistered type once.
        let group_version = quote_spanned!(ident.span()=> <#ident as #krate::Registered>::GROUP_VERSION);
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
