//! `group_version!`: declares a version of an API group in its module.

use darling::FromMeta;
use darling::ast::NestedMeta;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Ident, LitStr, Path};

use crate::errors::Errors;
use crate::model::crate_path;
use crate::names;

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    match parse(input, &mut errors) {
        Some(declaration) if errors.is_empty() => declaration.emit(),
        _ => errors.into_compile_errors(),
    }
}

#[derive(Default, FromMeta)]
#[darling(default)]
struct Keywords {
    #[darling(rename = "crate")]
    krate: Option<Path>,
    group: Option<LitStr>,
    version: Option<LitStr>,
    kinds: Option<Kinds>,
}

/// `[Widget, WidgetList]`
struct Kinds(Vec<Ident>);

impl FromMeta for Kinds {
    fn from_expr(expr: &syn::Expr) -> darling::Result<Self> {
        let syn::Expr::Array(array) = expr else {
            return Err(
                darling::Error::custom("expected a list of types: `kinds = [Widget, WidgetList]`").with_span(expr),
            );
        };
        let mut errors = darling::Error::accumulator();
        let kinds = array
            .elems
            .iter()
            .filter_map(|elem| errors.handle(plain_name(elem)))
            .collect();
        errors.finish_with(Kinds(kinds))
    }
}

fn plain_name(expr: &syn::Expr) -> darling::Result<Ident> {
    let message = "name the type as it is visible here: `pub use` it first, so that its path is that of this module";
    match expr {
        syn::Expr::Path(path) => path.path.get_ident().cloned().ok_or(message),
        _ => Err(message),
    }
    .map_err(|message| darling::Error::custom(message).with_span(expr))
}

struct Declaration {
    krate: TokenStream,
    group: String,
    version: String,
    kinds: Vec<Ident>,
}

fn parse(input: TokenStream, errors: &mut Errors) -> Option<Declaration> {
    let items = match NestedMeta::parse_meta_list(input) {
        Ok(items) => items,
        Err(error) => {
            errors.extend(error);
            return None;
        }
    };
    let keywords: Keywords = errors.accept(Keywords::from_list(&items));
    if !errors.is_empty() {
        return None;
    }
    let group = keywords.group.as_ref().and_then(|group| group_name(group, errors));
    let version = keywords
        .version
        .as_ref()
        .and_then(|version| version_name(version, errors));
    let kinds = keywords
        .kinds
        .as_ref()
        .map_or_else(Vec::new, |Kinds(kinds)| once_each(kinds, errors));
    for (missing, example) in [
        (keywords.group.is_none(), "group = \"example.com\""),
        (keywords.version.is_none(), "version = \"v1\""),
        (keywords.kinds.is_none(), "kinds = [Widget, WidgetList]"),
    ] {
        if missing {
            errors.extend(syn::Error::new(
                proc_macro2::Span::call_site(),
                format_args!("missing `{example}`"),
            ));
        }
    }
    Some(Declaration {
        krate: crate_path(keywords.krate.as_ref()),
        group: group?,
        version: version?,
        kinds,
    })
}

fn group_name(group: &LitStr, errors: &mut Errors) -> Option<String> {
    if names::is_group(&group.value()) {
        return Some(group.value());
    }
    errors.push(
        group,
        "the API server takes a lower-case domain name with a dot here, such as `example.com`",
    );
    None
}

fn version_name(version: &LitStr, errors: &mut Errors) -> Option<String> {
    if names::is_version(&version.value()) {
        return Some(version.value());
    }
    errors.push(
        version,
        "a version is `v1`, `v1beta1`, `v1alpha1` or another number of these",
    );
    None
}

fn once_each(kinds: &[Ident], errors: &mut Errors) -> Vec<Ident> {
    for (i, kind) in kinds.iter().enumerate() {
        if kinds[..i].contains(kind) {
            errors.push(kind, "listed twice; keep one");
        }
    }
    kinds.to_vec()
}

impl Declaration {
    fn emit(&self) -> TokenStream {
        let Declaration {
            krate,
            group,
            version,
            kinds,
        } = self;
        let api_version = format!("{group}/{version}");
        let metas = kinds
            .iter()
            .map(|kind| quote_spanned!(kind.span()=> <#kind as #krate::ApiType>::META));
        let adds = kinds
            .iter()
            .map(|kind| quote_spanned!(kind.span()=> <#kind as #krate::ApiType>::add_to_scheme));
        quote! {
            /// The API group and version of the kinds in this module.
            pub const GROUP_VERSION: #krate::GroupVersion =
                #krate::GroupVersion { group: #group, version: #version, api_version: #api_version };

            /// The resource of this group and version with the given plural name.
            pub const fn resource(plural: &'static ::core::primitive::str) -> #krate::GroupVersionResource {
                GROUP_VERSION.resource(plural)
            }

            /// Registers the kinds of this module.
            ///
            /// # Errors
            /// Another type is registered under one of their names.
            pub fn add_to_scheme(
                scheme: &mut #krate::Scheme,
            ) -> ::core::result::Result<(), #krate::scheme::Conflict> {
                #(#adds(scheme)?;)*
                ::core::result::Result::Ok(())
            }

            /// What the derives know of the kinds in this module: the input of the generator.
            pub const API_GROUP: #krate::meta::ApiGroup = #krate::meta::ApiGroup {
                group: #group,
                version: #version,
                module: ::core::module_path!(),
                types: &[#(#metas),*],
            };

            #(
                #[automatically_derived]
                impl #krate::Registered for #kinds {
                    const GROUP_VERSION: #krate::GroupVersion = GROUP_VERSION;
                }
            )*
        }
    }
}
