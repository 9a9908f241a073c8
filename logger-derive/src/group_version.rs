//! `group_version!`: declares a version of an API group in its module.

use darling::FromMeta;
use darling::ast::NestedMeta;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, Ident, LitStr, Meta, Path};

use crate::attr;
use crate::errors::Errors;
use crate::grammar;
use crate::model::crate_path;
use crate::names;

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let items = NestedMeta::parse_meta_list(input).unwrap_or_else(|error| {
        errors.extend(error);
        Vec::new()
    });
    let declaration = Declaration::parse(&items, &mut errors);
    match errors.is_empty() {
        true => declaration.emit(),
        false => declaration.stand_in(&named_types(&items), errors),
    }
}

#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct Keywords {
    #[darling(rename = "crate")]
    krate: Option<Path>,
    group: Option<LitStr>,
    version: Option<LitStr>,
    group_ident: Option<LitStr>,
    kinds: Option<Kinds>,
}

/// `[Widget, WidgetList]`
#[derive(Default)]
struct Kinds(Vec<Ident>);

impl FromMeta for Kinds {
    fn from_expr(expr: &Expr) -> darling::Result<Self> {
        let Expr::Array(array) = expr else {
            return Err(
                darling::Error::custom("expected a list of types: `kinds = [Widget, WidgetList]`").with_span(expr)
            );
        };
        let mut errors = darling::Error::accumulator();
        let kinds = array.elems.iter().filter_map(|elem| errors.handle(plain_name(elem))).collect();
        errors.finish_with(Kinds(kinds))
    }
}

fn plain_name(expr: &Expr) -> darling::Result<Ident> {
    let message = "name the type as it is visible here: `pub use` it first, so that its path is that of this module";
    match expr {
        Expr::Path(path) => path.path.get_ident().cloned().ok_or(message),
        _ => Err(message),
    }
    .map_err(|message| darling::Error::custom(message).with_span(expr))
}

/// The types that a refused declaration means to list: whatever a keyword but `crate` is said to be, by its path.
fn named_types(items: &[NestedMeta]) -> Vec<&Path> {
    let mut types = Vec::new();
    for item in items {
        let NestedMeta::Meta(Meta::NameValue(keyword)) = item else {
            continue;
        };
        let values: Vec<_> = match &keyword.value {
            Expr::Array(array) => array.elems.iter().collect(),
            value => vec![value],
        };
        for value in values {
            match value {
                Expr::Path(ty) if !keyword.path.is_ident("crate") && !types.contains(&&ty.path) => types.push(&ty.path),
                _ => {}
            }
        }
    }
    types
}

struct Declaration {
    krate: TokenStream,
    group: String,
    version: String,
    group_ident: Option<LitStr>,
    kinds: Vec<Ident>,
}

impl Declaration {
    fn parse(items: &[NestedMeta], errors: &mut Errors) -> Self {
        let keywords: Keywords = attr::keywords(items.to_vec(), errors);
        if errors.is_empty() {
            nothing_is_missing(&keywords, errors);
        }
        let Keywords { krate, group, version, group_ident, kinds } = keywords;
        let Kinds(kinds) = kinds.unwrap_or_default();
        each_is_listed_once(&kinds, errors);
        if let Some(word) = group_ident.as_ref().filter(|word| !names::is_snake_case(&word.value())) {
            errors.push(word, "expected a word in snake case, such as `second_example`");
        }
        Declaration {
            krate: crate_path(krate.as_ref()),
            group: group.map_or_else(String::new, |group| group_name(&group, errors)),
            version: version.map_or_else(String::new, |version| version_name(&version, errors)),
            group_ident,
            kinds,
        }
    }
}

fn nothing_is_missing(keywords: &Keywords, errors: &mut Errors) {
    for (missing, keyword) in [
        (keywords.group.is_none(), "group"),
        (keywords.version.is_none(), "version"),
        (keywords.kinds.is_none(), "kinds"),
    ] {
        if missing {
            errors.extend(syn::Error::new(Span::call_site(), grammar::missing(None, keyword)));
        }
    }
}

fn group_name(group: &LitStr, errors: &mut Errors) -> String {
    if !names::is_group(&group.value()) {
        errors.push(group, "the API server takes a lower-case domain name with a dot here, such as `example.com`");
    }
    group.value()
}

fn version_name(version: &LitStr, errors: &mut Errors) -> String {
    if !names::is_version(&version.value()) {
        errors.push(version, "a version is `v1`, `v1beta1`, `v1alpha1` or another number of these");
    }
    version.value()
}

fn each_is_listed_once(kinds: &[Ident], errors: &mut Errors) {
    for (i, kind) in kinds.iter().enumerate() {
        if kinds[..i].contains(kind) {
            errors.push(kind, "listed twice; keep one");
        }
    }
}

impl Declaration {
    fn emit(&self) -> TokenStream {
        let Declaration { krate, kinds, .. } = self;
        let metas = kinds.iter().map(|kind| quote_spanned!(kind.span()=> <#kind as #krate::ApiType>::META));
        let adds = kinds.iter().map(|kind| quote_spanned!(kind.span()=> <#kind as #krate::ApiType>::add_to_scheme));
        let items = self.items(quote!(#(#adds(scheme)?;)*), quote!(#(#metas),*));
        let registered = kinds.iter().map(|kind| registered(krate, kind));
        quote!(#items #(#registered)*)
    }

    /// What others name of a declaration that was refused, so that the mistake is reported once.
    fn stand_in(&self, types: &[&Path], errors: Errors) -> TokenStream {
        let errors = errors.into_compile_errors();
        let items = self.items(quote!(let _ = scheme;), quote!());
        let registered = types.iter().map(|ty| registered(&self.krate, ty));
        quote!(#errors #items #(#registered)*)
    }

    /// The public items, with the body of `add_to_scheme` and the types of `API_GROUP`.
    fn items(&self, adds: TokenStream, metas: TokenStream) -> TokenStream {
        let Declaration { krate, group, version, .. } = self;
        let group_ident = match &self.group_ident {
            Some(word) => quote!(::core::option::Option::Some(#word)),
            None => quote!(::core::option::Option::None),
        };
        let api_version = if group.is_empty() { version.clone() } else { format!("{group}/{version}") };
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
            #[allow(deprecated)]
            #[inline]
            pub fn add_to_scheme(
                scheme: &mut #krate::Scheme,
            ) -> ::core::result::Result<(), #krate::scheme::Conflict> {
                #adds
                ::core::result::Result::Ok(())
            }

            /// What the derives know of the kinds in this module: the input of the generator.
            #[allow(deprecated)]
            pub const API_GROUP: #krate::meta::ApiGroup = #krate::meta::ApiGroup {
                group: #group,
                version: #version,
                group_ident: #group_ident,
                module: ::core::module_path!(),
                types: &[#metas],
            };
        }
    }
}

fn registered(krate: &TokenStream, ty: impl ToTokens) -> TokenStream {
    quote! {
        #[automatically_derived]
        #[allow(deprecated)]
        #[diagnostic::do_not_recommend]
        impl #krate::Registered for #ty {
            const GROUP_VERSION: #krate::GroupVersion = GROUP_VERSION;
        }
    }
}
