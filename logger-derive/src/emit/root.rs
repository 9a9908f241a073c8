//! Emits the impls that kinds and lists have in common.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Ident;

use crate::model::Root;

/// Emits the impl of `RootType`: that of a kind, of a list, or of a kind with its list.
pub(crate) fn root_type(root: &Root, meta: TokenStream, list: Option<&Ident>) -> TokenStream {
    let Root { ident, krate, .. } = root;
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
pub(super) fn resource_impls(
    root: &Root,
    kind: TokenStream,
    url_path_segment: TokenStream,
    scope: TokenStream,
    meta: TokenStream,
) -> TokenStream {
    let Root { ident, krate, registered, .. } = root;
    let metadata = root.metadata();
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
