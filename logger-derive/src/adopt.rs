//! `adopt!`: hands kinds that were declared elsewhere to the generator.

use darling::FromMeta;
use darling::ast::NestedMeta;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Expr, Ident, Meta, Path};

use crate::attr::{self, Genclient};
use crate::errors::Errors;
use crate::model::crate_path;
use crate::verbs;

#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct Keywords {
    #[darling(rename = "crate")]
    krate: Option<Path>,
    built_in: Kinds,
    custom_resources: Kinds,
}

/// `[Pod, a::Widget(status, readonly)]`
#[derive(Default)]
struct Kinds(Vec<Meta>);

impl FromMeta for Kinds {
    fn from_expr(expr: &Expr) -> darling::Result<Self> {
        let Expr::Array(array) = expr else {
            return Err(darling::Error::custom("expected a list of types, such as `[Pod, Service]`").with_span(expr));
        };
        let mut errors = darling::Error::accumulator();
        let kind = |elem: &Expr| {
            let kind = syn::parse2(elem.to_token_stream()).ok().filter(|meta| !matches!(meta, Meta::NameValue(_)));
            kind.ok_or_else(|| darling::Error::custom("expected a type, such as `Pod`").with_span(elem))
        };
        let kinds = array.elems.iter().filter_map(|elem| errors.handle(kind(elem))).collect();
        errors.finish_with(Kinds(kinds))
    }
}

/// What may be said of a type that kube's derive made, in parentheses.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct Said {
    status: darling::util::Flag,
    #[darling(flatten)]
    genclient: Genclient,
}

/// A type that kube's derive made, and what is said of it.
struct Kind {
    path: Path,
    said: Said,
}

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let items = NestedMeta::parse_meta_list(input).unwrap_or_else(|error| {
        errors.extend(error);
        Vec::new()
    });
    let Keywords { krate, built_in, custom_resources } = attr::keywords(items, &mut errors);
    let krate = crate_path(krate.as_ref());
    if errors.is_empty() && built_in.0.is_empty() && custom_resources.0.is_empty() {
        let message = "nothing to adopt: list kinds in `built_in = [..]` or `custom_resources = [..]`";
        errors.extend(syn::Error::new(Span::call_site(), message));
    }
    let mut named = Vec::new();
    let mut built_in: Vec<_> = built_in.0.into_iter().filter_map(|meta| plain(meta, &mut errors)).collect();
    built_in.retain(|path| is_name_of_its_own(&mut named, path, &mut errors));
    let mut custom: Vec<_> = custom_resources.0.into_iter().filter_map(|meta| Kind::parse(meta, &mut errors)).collect();
    custom.retain(|kind| is_name_of_its_own(&mut named, &kind.path, &mut errors));
    let uses = named.iter().map(visible);
    let for_kube = for_kube(&custom, &krate, errors.is_empty());
    let custom_paths: Vec<_> = custom.iter().map(|kind| &kind.path).collect();
    let custom = custom.iter().map(Kind::adopted);
    let names = built_in.iter().map(rust_name);
    let errors = errors.into_compile_errors();
    quote! {
        #errors
        #(#uses)*

        /// What is known of the adopted kinds of this module: the input of the generator.
        #[allow(non_local_definitions)]
        pub fn api_groups() -> ::std::vec::Vec<#krate::meta::ApiGroup> {
            #for_kube
            #krate::adopt::api_groups(
                ::core::module_path!(),
                [#(#krate::adopt::Adopted::built_in::<#built_in>(#names),)* #(#custom,)*],
            )
        }

        /// Registers the adopted kinds of this module and their lists.
        ///
        /// # Errors
        /// Another type is registered under one of their names.
        #[inline]
        pub fn add_to_scheme(
            scheme: &mut #krate::Scheme,
        ) -> ::core::result::Result<(), #krate::scheme::Conflict> {
            #[allow(unused_imports)]
            use #krate::adopt::Refused as _;
            #(#krate::adopt::add_built_in::<#built_in>(scheme)?;)*
            #(#krate::adopt::Entry::<#custom_paths>::add_to_scheme(scheme)?;)*
            ::core::result::Result::Ok(())
        }
    }
}

/// Generated code names the types in this module: what is elsewhere is made public here, and what is here must be public.
fn visible(path: &Path) -> TokenStream {
    match name_here(path) {
        Some(ident) => quote_spanned! {ident.span()=>
            #[allow(unused_imports)]
            pub use self::#ident as _;
        },
        None => quote!(#[allow(unused_imports)] #[doc(no_inline)] pub use #path;),
    }
}

/// The name of a type that is in this module already: `Widget` or `self::Widget`.
fn name_here(path: &Path) -> Option<&Ident> {
    match path.segments.iter().collect::<Vec<_>>()[..] {
        [name] if path.leading_colon.is_none() => Some(&name.ident),
        [module, name] if module.ident == "self" => Some(&name.ident),
        _ => None,
    }
}

/// The name that a type has in this module.
fn rust_name(path: &Path) -> String {
    path.segments.last().map_or_else(String::new, |last| last.ident.to_string())
}

/// Where that name stands, for what is emitted on its account.
fn at(path: &Path) -> Span {
    let span = Span::call_site();
    path.segments.last().map_or(span, |last| span.located_at(last.ident.span()))
}

/// Two types of one name cannot be told apart in one module: each but the first is a mistake.
fn is_name_of_its_own(named: &mut Vec<Path>, path: &Path, errors: &mut Errors) -> bool {
    let name = rust_name(path);
    let message = match named.iter().find(|other| rust_name(other) == name) {
        None => {
            named.push(path.clone());
            return true;
        }
        Some(other) if other == path => "listed twice; keep one".to_owned(),
        Some(_) => format!(
            "`{name}` names another kind here; give this one a name of its own, `pub use path::{name} as Other{name};`, \
             and list that"
        ),
    };
    errors.push(path, message);
    false
}

/// Nothing is to be said of Kubernetes' own kinds.
fn plain(meta: Meta, errors: &mut Errors) -> Option<Path> {
    if let Meta::Path(path) = meta {
        return Some(path);
    }
    errors.push(&meta, "every verb is granted to a built-in kind; remove the parentheses");
    None
}

/// What the types that kube's derive made need beside it. kube is the user's: only where this expands it can be named.
fn for_kube(custom: &[Kind], krate: &TokenStream, is_accepted: bool) -> TokenStream {
    if custom.is_empty() {
        return quote!();
    }
    let (kube_kind, kube_object, kube_says) = (kube_kind(krate), kube_object(krate), kube_says());
    let impls = custom.iter().map(|kind| kind.impls(krate));
    // A word that was refused may have been meant to say it.
    let statuses = custom.iter().filter(|_| is_accepted).map(Kind::status_is_said);
    quote! {
        #kube_kind
        #kube_object
        #kube_says
        #(#impls)*
        #(#statuses)*
    }
}

/// A trait of all that can be adopted, so that what cannot is one error in our words. It has a lifetime because a bound
/// `for<'a>` that does not hold is no error where it stands, so there is none but that of `adopted`.
fn kube_kind(krate: &TokenStream) -> TokenStream {
    quote! {
        #[diagnostic::on_unimplemented(
            message = "`{Self}` is no kind that kube knows",
            label = "cannot be listed in `custom_resources`",
            note = "list the kind that kube's `CustomResource` derive makes, not the struct that it stands on",
            note = "what else is a `kube::Resource` must be `Clone`, `Debug`, `Serialize` and `DeserializeOwned` too"
        )]
        pub trait KubeKind<'a> {
            type List: #krate::serde::Serialize
                + #krate::serde::de::DeserializeOwned
                + ::core::marker::Send
                + ::core::marker::Sync
                + 'static;
            fn adopted(
                rust_name: &'static ::core::primitive::str,
                status: ::core::primitive::bool,
            ) -> #krate::adopt::Adopted
            where
                Self: #krate::verbs::Granted;
        }
        #[diagnostic::do_not_recommend]
        impl<'a, K> KubeKind<'a> for K
        where
            K: ::kube::Resource<DynamicType = (), Scope: #krate::meta::HasScope>,
            K: ::core::clone::Clone + ::core::fmt::Debug + ::core::marker::Send + ::core::marker::Sync + 'static,
            K: #krate::serde::Serialize + #krate::serde::de::DeserializeOwned,
        {
            type List = ::kube::core::ObjectList<K>;
            fn adopted(
                rust_name: &'static ::core::primitive::str,
                status: ::core::primitive::bool,
            ) -> #krate::adopt::Adopted
            where
                K: #krate::verbs::Granted,
            {
                #krate::adopt::Adopted {
                    group: #krate::adopt::literal(K::group(&())),
                    version: #krate::adopt::literal(K::version(&())),
                    kind: #krate::meta::ApiKind {
                        kind: #krate::adopt::literal(K::kind(&())),
                        rust_name,
                        plural: #krate::adopt::literal(K::plural(&())),
                        scope: <K::Scope as #krate::meta::HasScope>::SCOPE,
                        genclient: true,
                        verbs: K::VERBS,
                        status,
                        ..#krate::meta::ApiKind::UNKNOWN
                    },
                }
            }
        }
    }
}

/// A trait of what objects need beside it. What is asked above is asked here without a word: it would be said twice.
fn kube_object(krate: &TokenStream) -> TokenStream {
    quote! {
        pub trait KubeObject<'a>:
            ::core::clone::Clone
            + ::core::fmt::Debug
            + ::core::marker::Send
            + ::core::marker::Sync
            + #krate::serde::Serialize
            + #krate::serde::de::DeserializeOwned
            + 'static
        {
            fn registration() -> #krate::scheme::Registration;
            fn object_meta(&self) -> &#krate::wire::ObjectMeta;
        }
        impl<'a, K> KubeObject<'a> for K
        where
            K: ::kube::Resource<DynamicType = (), Scope: #krate::meta::HasScope>,
            K: ::core::clone::Clone + ::core::fmt::Debug + ::core::marker::Send + ::core::marker::Sync + 'static,
            K: #krate::serde::Serialize + #krate::serde::de::DeserializeOwned,
        {
            fn registration() -> #krate::scheme::Registration {
                #krate::scheme::Registration {
                    gvk: #krate::GroupVersionKind {
                        group: K::group(&()),
                        version: K::version(&()),
                        kind: K::kind(&()),
                    },
                    plural: K::plural(&()),
                    scope: <K::Scope as #krate::meta::HasScope>::SCOPE,
                    is_list: false,
                    lifecycle: ::core::option::Option::None,
                }
            }
            fn object_meta(&self) -> &#krate::wire::ObjectMeta {
                self.meta()
            }
        }
    }
}

/// What `KubeSays::<K>` tells as constants: those of the type itself go before those of a trait, where their bound holds.
fn kube_says() -> TokenStream {
    quote! {
        struct KubeSays<K>(::core::marker::PhantomData<K>);
        trait KubeSaysNo {
            const IS_KIND: ::core::primitive::bool = false;
            const HAS_STATUS: ::core::primitive::bool = false;
        }
        impl<K> KubeSaysNo for KubeSays<K> {}
        impl<K: KubeKind<'static>> KubeSays<K> {
            const IS_KIND: ::core::primitive::bool = true;
        }
        impl<K: ::kube::core::object::HasStatus> KubeSays<K> {
            const HAS_STATUS: ::core::primitive::bool = true;
        }
    }
}

impl Kind {
    fn parse(meta: Meta, errors: &mut Errors) -> Option<Self> {
        let (path, said) = match meta {
            Meta::List(list) => match NestedMeta::parse_meta_list(list.tokens.clone()) {
                Ok(items) => (list.path, attr::keywords(items, errors)),
                Err(error) => {
                    errors.extend(error);
                    (list.path, Said::default())
                }
            },
            other => (other.path().clone(), Said::default()),
        };
        if path.segments.first().is_some_and(|first| first.ident == "k8s_openapi") {
            errors.push(path, "this is a kind of Kubernetes' own; list it in `built_in = [..]`");
            return None;
        }
        let kind = Kind { path, said };
        kind.check(errors);
        Some(kind)
    }

    fn check(&self, errors: &mut Errors) {
        let Said { status, genclient } = &self.said;
        verbs::one_at_most(&self.path, genclient, errors);
        verbs::status_is_there(genclient, status.is_present(), "`status` before it", errors);
        if genclient.non_namespaced.is_present() {
            let message = "kube's derive says where objects live; remove this";
            errors.extend(syn::Error::new(genclient.non_namespaced.span(), message));
        }
        for method in &genclient.method {
            errors.push(&method.name, "methods are not for adopted kinds; write a trait with yours");
        }
        for index in &genclient.index {
            errors.push(&index.name, "indexes are not for adopted kinds; add yours with `add_index` to the informer");
        }
    }

    fn verbs(&self) -> Vec<Ident> {
        let verbs = self.said.genclient.verbs(self.said.status.is_present());
        verbs.into_iter().map(|verb| format_ident!("{verb}")).collect()
    }

    fn impls(&self, krate: &TokenStream) -> TokenStream {
        let (path, verbs, object) = (&self.path, self.verbs(), self.object(krate));
        quote_spanned! {at(path)=>
            #(#[automatically_derived] impl #krate::verbs::#verbs for #path {})*

            #[automatically_derived]
            impl #krate::verbs::Granted for #path {
                const VERBS: &'static [#krate::meta::Verb] = &[#(#krate::meta::Verb::#verbs),*];
            }

            #[automatically_derived]
            impl #krate::Listed for #path
            where
                for<'a> #path: KubeKind<'a>,
            {
                type List = <#path as KubeKind<'static>>::List;
            }

            #object
        }
    }

    /// What k8s-openapi's traits give to other kinds.
    fn object(&self, krate: &TokenStream) -> TokenStream {
        let path = &self.path;
        quote_spanned! {at(path)=>
            #[automatically_derived]
            impl #krate::adopt::CustomResource for #path
            where
                for<'a> #path: KubeObject<'a>,
            {
                fn registration() -> #krate::scheme::Registration {
                    <#path as KubeObject<'static>>::registration()
                }
            }

            #[automatically_derived]
            impl #krate::Object for #path
            where
                for<'a> #path: KubeObject<'a>,
            {
                fn group_version_kind(&self) -> #krate::GroupVersionKind {
                    <#path as KubeObject<'static>>::registration().gvk
                }
                fn object_meta(&self) -> ::core::option::Option<&#krate::wire::ObjectMeta> {
                    ::core::option::Option::Some(<#path as KubeObject<'static>>::object_meta(self))
                }
                fn deep_copy_object(&self) -> ::std::boxed::Box<dyn #krate::Object> {
                    ::std::boxed::Box::new(::core::clone::Clone::clone(self))
                }
                fn to_json(&self) -> ::core::result::Result<::std::string::String, #krate::serde_json::Error> {
                    #krate::serde_json::to_string(self)
                }
                fn as_any(&self) -> &dyn ::core::any::Any {
                    self
                }
                fn into_any(self: ::std::boxed::Box<Self>) -> ::std::boxed::Box<dyn ::core::any::Any> {
                    self
                }
            }
        }
    }

    /// Whether a kind has a status is known to kube, but which verbs there are is written before anyone can ask: it must
    /// be said.
    fn status_is_said(&self) -> TokenStream {
        let (path, name, Said { status, genclient }) = (&self.path, rust_name(&self.path), &self.said);
        if status.is_present() {
            let message =
                format!("`{name}` has no status; remove `status`, or give it one: `#[kube(status = \"..\")]`");
            return quote_spanned! {status.span()=>
                const _: () = ::core::assert!(KubeSays::<#path>::HAS_STATUS || !KubeSays::<#path>::IS_KIND, #message);
            };
        }
        if genclient.verbs(true) == genclient.verbs(false) {
            return quote!();
        }
        let message = format!(
            "`{name}` has a status; say `{name}(status)`, or `{name}(status, no_status)` to leave it to others"
        );
        quote_spanned! {at(path)=>
            const _: () = ::core::assert!(!KubeSays::<#path>::HAS_STATUS, #message);
        }
    }

    /// Its facts, asked when the generator runs.
    fn adopted(&self) -> TokenStream {
        let (path, name, status) = (&self.path, rust_name(&self.path), self.said.status.is_present());
        quote!(<#path as KubeKind<'static>>::adopted(#name, #status))
    }
}
