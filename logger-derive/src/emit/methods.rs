//! Emits the extension methods of a client: verbs under another name, on a subresource, or with other types.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};

use super::option;
use crate::{
    attr::genclient::Method,
    model::{Kind, method_verb},
};

/// Emits the methods as data, and their types as associated types, whose paths rustc resolves in the user's module.
pub(super) fn emit(kind: &Kind) -> (TokenStream, TokenStream) {
    let (ident, krate) = (&kind.root.ident, &kind.root.krate);
    let metas = kind.methods().iter().map(|method| meta(method, krate));
    let types = kind.methods().iter().enumerate().map(|(i, method)| {
        let input = method.input.as_ref().map_or_else(|| quote!(#ident), |path| quote!(#path));
        let result = match (&method.result, method_verb(method)) {
            (Some(path), _) => quote!(#path),
            (None, Some(("list", ..))) => quote!(<#ident as #krate::Listed>::List),
            (None, _) => quote!(#ident),
        };
        quote! {
            #[automatically_derived]
            impl #krate::ExtensionMethod<#i> for #ident {
                type Input = #input;
                type Result = #result;
            }
        }
    });
    (quote!(&[#(#metas),*]), quote!(#(#types)*))
}

fn meta(method: &Method, krate: &TokenStream) -> TokenStream {
    let name = method.name.get_ident().map(ToString::to_string).unwrap_or_default();
    let verb = format_ident!("{}", method_verb(method).map_or("Get", |(_, variant, _)| variant));
    let subresource = option(method.subresource.as_ref());
    let has_input = method.input.is_some();
    let input = match &method.input {
        Some(input) => shape_of(input, krate),
        None => quote!(::core::option::Option::None),
    };
    quote! {
        #krate::meta::Method {
            name: #name,
            verb: #krate::meta::ClientVerb::#verb,
            has_input: #has_input,
            input: #input,
            subresource: #subresource,
        }
    }
}

/// Emits the shape of a type, or `None` if it cannot be part of an apply configuration.
pub(super) fn shape_of(ty: impl ToTokens, krate: &TokenStream) -> TokenStream {
    quote! {{
        #[allow(unused_imports)]
        use #krate::apply::NoShape as _;
        #krate::apply::DerivedShape::<#ty>::SHAPE
    }}
}
