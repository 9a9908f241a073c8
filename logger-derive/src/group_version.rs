//! `group_version!`: declares a version of an API group in its module.

use std::collections::HashSet;

use darling::ast::NestedMeta;
use kubewright_names::{case::is_snake_case, resource::is_group, version::is_version};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, Ident, LitStr, Meta, Path};

use crate::{
    attr::{
        self,
        group_version::{GroupVersionKeys, Kinds, Listed},
        ungrouped,
    },
    crate_path::crate_path,
    errors::Errors,
    grammar,
};

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let items = NestedMeta::parse_meta_list(input).unwrap_or_else(|error| {
        errors.extend(error);
        Vec::new()
    });
    let keys: GroupVersionKeys = attr::parse_keys(items.clone(), &mut errors);
    let krate = match crate_path(keys.krate.as_ref()) {
        Ok(krate) => krate,
        Err(error) => return error.into_compile_error(),
    };
    let declaration = Declaration::parse(keys, krate, &mut errors);
    match errors.is_empty() {
        true => declaration.emit(),
        false => declaration.placeholder(&named_types(&items), errors),
    }
}

/// Returns the types that a rejected declaration lists: every path value of a key other than `crate`.
fn named_types(items: &[NestedMeta]) -> Vec<Listed<&Path>> {
    let mut types = Vec::new();
    for item in items {
        let NestedMeta::Meta(Meta::NameValue(pair)) = item else {
            continue;
        };
        let values: Vec<_> = match &pair.value {
            Expr::Array(array) => array.elems.iter().collect(),
            value => vec![value],
        };
        for value in values {
            let Expr::Path(path) = ungrouped(value) else { continue };
            let cfgs = attr::named("cfg", &path.attrs).cloned().collect();
            let listed = Listed { cfgs, ty: &path.path };
            if !pair.path.is_ident("crate") && !types.contains(&listed) {
                types.push(listed);
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
    kinds: Vec<Listed<Ident>>,
}

impl Declaration {
    fn parse(keys: GroupVersionKeys, krate: TokenStream, errors: &mut Errors) -> Self {
        if errors.is_empty() {
            check_required_keys(&keys, errors);
        }
        let GroupVersionKeys { krate: _, group, version, group_ident, kinds } = keys;
        let Kinds(kinds) = kinds.unwrap_or_default();
        check_duplicates(&kinds, errors);
        if let Some(ident) = group_ident.as_ref().filter(|ident| !is_snake_case(&ident.value())) {
            errors.push(ident, "expected an identifier in snake case, such as `second_example`");
        }
        Declaration {
            krate,
            group: group.map_or_else(String::new, |group| group_name(&group, errors)),
            version: version.map_or_else(String::new, |version| version_name(&version, errors)),
            group_ident,
            kinds,
        }
    }
}

fn check_required_keys(keys: &GroupVersionKeys, errors: &mut Errors) {
    for (missing, key) in
        [(keys.group.is_none(), "group"), (keys.version.is_none(), "version"), (keys.kinds.is_none(), "kinds")]
    {
        if missing {
            errors.extend(syn::Error::new(Span::call_site(), grammar::missing(None, key)));
        }
    }
}

fn group_name(group: &LitStr, errors: &mut Errors) -> String {
    if !is_group(&group.value()) {
        errors.push(group, "invalid group: expected a lower-case domain name with a dot, such as `example.com`");
    }
    group.value()
}

fn version_name(version: &LitStr, errors: &mut Errors) -> String {
    if !is_version(&version.value()) {
        errors.push(
            version,
            "invalid version: expected at most 63 lower-case letters, digits and `-`, starting with \
                              a letter, such as `v1` or `v1beta1`",
        );
    }
    version.value()
}

fn check_duplicates(kinds: &[Listed<Ident>], errors: &mut Errors) {
    let mut known = HashSet::new();
    let unconditional = kinds.iter().filter(|kind| kind.cfgs.is_empty());
    for Listed { ty, .. } in unconditional.filter(|kind| !known.insert(kind.ty.to_string())) {
        errors.push(ty, "duplicate type; keep one");
    }
}

impl Declaration {
    fn emit(&self) -> TokenStream {
        let Declaration { krate, kinds, .. } = self;
        let metas = kinds.iter().map(|Listed { cfgs, ty }| {
            let meta = quote_spanned!(ty.span()=> <#ty as #krate::RootType>::META);
            quote!(#(#cfgs)* #meta)
        });
        let adds = kinds.iter().map(|Listed { cfgs, ty }| {
            let add = quote_spanned!(ty.span()=> <#ty as #krate::RootType>::add_to_scheme);
            quote!(#(#cfgs)* #add(scheme)?;)
        });
        let items = self.items(quote!(#(#adds)*), quote!(#(#metas),*));
        let registered = kinds.iter().map(|kind| registered(krate, kind));
        quote!(#items #(#registered)*)
    }

    /// Emits the items that other code refers to, without bodies, so that a rejected declaration is reported once.
    fn placeholder(&self, types: &[Listed<&Path>], errors: Errors) -> TokenStream {
        let errors = errors.into_compile_errors();
        let items = self.items(quote!(let _ = scheme;), quote!());
        let registered = types.iter().map(|ty| registered(&self.krate, ty));
        quote!(#errors #items #(#registered)*)
    }

    /// Emits the public items, with the body of `add_to_scheme` and the types of `API_GROUP`.
    fn items(&self, adds: TokenStream, metas: TokenStream) -> TokenStream {
        let Declaration { krate, group, version, .. } = self;
        let group_ident = match &self.group_ident {
            Some(ident) => quote!(::core::option::Option::Some(#ident)),
            None => quote!(::core::option::Option::None),
        };
        let api_version = if group.is_empty() { version.clone() } else { format!("{group}/{version}") };
        quote! {
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
            };
        }
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
