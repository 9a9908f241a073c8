//! Extension methods of `#[genclient]`: verbs under another name, on a subresource, or with other types.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};

use crate::{
    attr::genclient::Method,
    errors::Errors,
    grammar::verbs::{METHOD_VERBS, VERBS},
    model::Kind,
};

/// The methods that a client has in addition to its verbs.
const RESERVED: [&str; 4] = ["cluster", "get_opt", "get_with", "namespaced"];

/// Checks names, verbs and types of the extension methods.
pub(crate) fn check(kind: &Kind, errors: &mut Errors) {
    let methods = kind.methods();
    for (i, method) in methods.iter().enumerate() {
        let is_reserved = |name: &str| RESERVED.contains(&name) || VERBS.iter().any(|(verb, _)| *verb == name);
        match method.name.get_ident().map(ToString::to_string) {
            None => errors.push(&method.name, "expected a method name, such as `get_scale`"),
            Some(name) if is_reserved(&name) => errors
                .push(&method.name, "reserved name: the client already has a method of this name; rename this one"),
            Some(_) if methods[..i].iter().any(|earlier| earlier.name == method.name) => {
                errors.push(&method.name, "duplicate method name; rename one");
            }
            Some(_) => {}
        }
        match (method.verb(), &method.input) {
            (None, _) => {
                let expected = METHOD_VERBS.map(|(verb, ..)| format!("`{verb}`")).join(", ");
                errors.push(
                    &method.verb,
                    format_args!("unsupported verb of an extension method; expected one of {expected}"),
                );
            }
            (Some((verb, _, false)), Some(input)) => {
                errors.push(input, format_args!("`{verb}` has no request body; remove `input`"));
            }
            (Some(_), _) => {}
        }
    }
}

impl Kind {
    pub(crate) fn methods(&self) -> &[Method] {
        self.genclient.as_ref().map_or(&[], |(_, client)| &client.method)
    }
}

impl Method {
    fn verb(&self) -> Option<(&'static str, &'static str, bool)> {
        METHOD_VERBS.into_iter().find(|(verb, ..)| self.verb.is_ident(verb))
    }
}

/// Emits the methods as data, and their types as associated types, whose paths rustc resolves in the user's module.
pub(crate) fn emit(kind: &Kind) -> (TokenStream, TokenStream) {
    let (ident, krate) = (&kind.root.ident, &kind.root.krate);
    let metas = kind.methods().iter().map(|method| meta(method, krate));
    let types = kind.methods().iter().enumerate().map(|(i, method)| {
        let input = method.input.as_ref().map_or_else(|| quote!(#ident), |path| quote!(#path));
        let result = match (&method.result, method.verb()) {
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
    let verb = format_ident!("{}", method.verb().map_or("Get", |(_, variant, _)| variant));
    let subresource = match &method.subresource {
        Some(subresource) => quote!(::core::option::Option::Some(#subresource)),
        None => quote!(::core::option::Option::None),
    };
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
pub(crate) fn shape_of(ty: impl ToTokens, krate: &TokenStream) -> TokenStream {
    quote! {{
        #[allow(unused_imports)]
        use #krate::apply::NoShape as _;
        #krate::apply::DerivedShape::<#ty>::SHAPE
    }}
}
