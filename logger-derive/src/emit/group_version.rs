//! Emits the items of a version of an API group.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};

use super::option;
use crate::{attr::group_version::Listed, model::Declaration};

/// Emits the items of a checked declaration.
pub(crate) fn emit(declaration: &Declaration) -> TokenStream {
    let (krate, kinds) = (&declaration.krate, declaration.kinds());
    let metas = kinds.iter().map(|Listed { cfgs, ty }| {
        let meta = quote_spanned!(ty.span()=> <#ty as #krate::RootType>::META);
        quote!(#(#cfgs)* #meta)
    });
    let adds = kinds.iter().map(|Listed { cfgs, ty }| {
        let add = quote_spanned!(ty.span()=> <#ty as #krate::RootType>::add_to_scheme);
        quote!(#(#cfgs)* #add(scheme)?;)
    });
    let items = items(declaration, quote!(#(#adds)*), quote!(#(#metas),*));
    let registered = kinds.iter().map(|kind| registered(krate, kind));
    quote!(#items #(#registered)*)
}

/// Emits the items that other code refers to, without bodies, so that a rejected declaration is reported once.
pub(crate) fn placeholder(declaration: &Declaration) -> TokenStream {
    let Declaration { krate, types, .. } = declaration;
    let items = items(declaration, quote!(let _ = scheme;), quote!());
    let registered = types.iter().map(|ty| registered(krate, ty));
    quote!(#items #(#registered)*)
}

/// Emits the public items, with the body of `add_to_scheme` and the types of `API_GROUP`.
fn items(declaration: &Declaration, adds: TokenStream, metas: TokenStream) -> TokenStream {
    let Declaration { krate, group_ident, .. } = declaration;
    let (group, version, api_version) = (declaration.group(), declaration.version(), declaration.api_version());
    let group_ident = option(group_ident.as_ref());
    quote! {
        // The first name that a second declaration in the module defines again: its error states the rule.
        #[allow(dead_code)]
        const ONE_GROUP_VERSION_PER_MODULE: () = ();

        /// The API group and version of the kinds in this module.
        pub const GROUP_VERSION: #krate::GroupVersion =
            #krate::GroupVersion { group: #group, version: #version, api_version: #api_version };

        /// Returns the resource of this group and version with the given plural name.
        pub const fn resource(plural: &'static ::core::primitive::str) -> #krate::GroupVersionResource {
            GROUP_VERSION.resource(plural)
        }

        /// Registers the kinds of this module.
        ///
        /// # Errors
        /// Another type is registered for one of their group, version and kind.
        #[allow(deprecated)]
        #[inline]
        pub fn add_to_scheme(
            scheme: &mut #krate::Scheme,
        ) -> ::core::result::Result<(), #krate::scheme::Conflict> {
            #adds
            ::core::result::Result::Ok(())
        }

        /// The metadata of the kinds in this module: the input of the generator.
        #[allow(deprecated)]
        pub const API_GROUP: #krate::meta::ApiGroup = #krate::meta::ApiGroup {
            group: #group,
            version: #version,
            group_ident: #group_ident,
            module: ::core::module_path!(),
            types: &[#metas],
            location: #krate::meta::Location { file: ::core::file!(), line: ::core::line!() },
        };
    }
}

fn registered(krate: &TokenStream, Listed { cfgs, ty }: &Listed<impl ToTokens>) -> TokenStream {
    quote! {
        #(#cfgs)*
        #[automatically_derived]
        #[allow(deprecated)]
        #[diagnostic::do_not_recommend]
        impl #krate::Registered for #ty {
            const GROUP_VERSION: #krate::GroupVersion = GROUP_VERSION;
        }
    }
}
