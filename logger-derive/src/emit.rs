//! From a checked model to impls; where the model was refused, to the errors and stand-ins that keep others quiet.

mod kind;
mod list;
mod stand_in;
mod wire;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::DeriveInput;

use crate::errors::Errors;
use crate::model::{Kind, List};
use crate::{check, model};

/// One item in, its impls out; every error at once.
pub(crate) fn derive_object(input: DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let kind = Kind::parse(&input, &mut errors);
    check::kind(&kind, &mut errors);
    match errors.is_empty() {
        true => in_its_own_scope(kind::emit(&kind)),
        false => with_errors(errors, stand_in::kind(&input, &kind)),
    }
}

/// One item in, its impls out; every error at once.
pub(crate) fn derive_list(input: DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let list = List::parse(&input, &mut errors);
    check::list(&list, &mut errors);
    match errors.is_empty() {
        true => in_its_own_scope(list::emit(&list)),
        false => with_errors(errors, stand_in::list(&input, &list)),
    }
}

fn with_errors(errors: Errors, stand_in: TokenStream) -> TokenStream {
    let errors = errors.into_compile_errors();
    quote!(#errors #stand_in)
}

/// What is emitted for a deprecated type is no use of it.
fn in_its_own_scope(impls: TokenStream) -> TokenStream {
    quote! {
        #[allow(deprecated)]
        const _: () = { #impls };
    }
}

impl model::Root {
    /// `ApiType`, the same for kinds and lists but for the name of the constant.
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

    /// k8s-openapi's `Resource` and `Metadata`: kube's own traits follow from them.
    fn resource_impls(&self, url_path_segment: TokenStream, scope: TokenStream, meta: TokenStream) -> TokenStream {
        let model::Root { ident, krate, .. } = self;
        let (name, metadata) = (self.name(), self.metadata());
        // One span and one form for each use: rustc then reports a type that is registered nowhere once.
        let group_version = quote_spanned!(ident.span()=> <#ident as #krate::Registered>::GROUP_VERSION);
        quote! {
            #[automatically_derived]
            impl #krate::k8s_openapi::Resource for #ident {
                const API_VERSION: &'static ::core::primitive::str = #group_version.api_version;
                const GROUP: &'static ::core::primitive::str = #group_version.group;
                const KIND: &'static ::core::primitive::str = #name;
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
