//! Extension methods of `#[genclient]`: verbs under another name, on a subresource, or with other types.

use darling::FromMeta;
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{LitStr, Path};

use crate::errors::Errors;
use crate::model::Kind;
use crate::verbs::VERBS;

/// `#[genclient(method(..))]`: Go's `+genclient:method=`.
#[derive(FromMeta)]
pub(crate) struct Method {
    pub(crate) name: Path,
    verb: Path,
    #[darling(default)]
    subresource: Option<LitStr>,
    #[darling(default)]
    input: Option<Path>,
    #[darling(default)]
    result: Option<Path>,
}

/// What a method can do, and whether it sends an object of its own.
const METHOD_VERBS: [(&str, &str, bool); 6] = [
    ("get", "Get", false),
    ("list", "List", false),
    ("create", "Create", true),
    ("update", "Update", true),
    ("patch", "Patch", false),
    ("apply", "Apply", true),
];

/// What a client has beside its verbs.
const TAKEN: [&str; 4] = ["cluster", "get_opt", "get_with", "namespaced"];
/// The verbs of methods as attributes say them.
pub(crate) fn verbs() -> Vec<&'static str> {
    METHOD_VERBS.map(|(verb, ..)| verb).to_vec()
}

/// Names, verbs and types fit together, and no name is taken.
pub(crate) fn check(kind: &Kind, errors: &mut Errors) {
    let methods = kind.methods();
    for (i, method) in methods.iter().enumerate() {
        let taken = |name: &str| TAKEN.contains(&name) || VERBS.iter().any(|(verb, _)| *verb == name);
        match method.name.get_ident().map(ToString::to_string) {
            None => errors.push(&method.name, "expected a name, such as `get_scale`"),
            Some(name) if taken(&name) => {
                errors.push(&method.name, "the client has a method of this name; rename yours")
            }
            Some(_) if methods[..i].iter().any(|earlier| earlier.name == method.name) => {
                errors.push(&method.name, "another method has this name; rename one");
            }
            Some(_) => {}
        }
        match (method.verb(), &method.input) {
            (None, _) => {
                let expected = METHOD_VERBS.map(|(verb, ..)| format!("`{verb}`")).join(", ");
                errors.push(&method.verb, format_args!("no verb for a method; expected one of {expected}"));
            }
            (Some((verb, _, false)), Some(input)) => {
                errors.push(input, format_args!("`{verb}` sends no object of its own; remove `input`"));
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

/// The methods as data, and their types as associated types: rustc resolves the paths where they are written.
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
            verb: #krate::meta::Verb::#verb,
            has_input: #has_input,
            input: #input,
            subresource: #subresource,
        }
    }
}

/// The shape of a type, or none if it cannot be part of an apply configuration.
pub(crate) fn shape_of(ty: impl ToTokens, krate: &TokenStream) -> TokenStream {
    quote! {{
        #[allow(unused_imports)]
        use #krate::apply::NoShape as _;
        #krate::apply::DerivedShape::<#ty>::SHAPE
    }}
}
