//! `adopt!`: hands kinds that were declared elsewhere to the generator.

use darling::FromMeta;
use darling::ast::NestedMeta;
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
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

/// A kind and what is said of it.
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
        errors.extend(syn::Error::new(proc_macro2::Span::call_site(), message));
    }
    let built_in: Vec<_> = built_in.0.into_iter().filter_map(|meta| plain(meta, &mut errors)).collect();
    let custom: Vec<_> = custom_resources.0.into_iter().map(|meta| Kind::parse(meta, &mut errors)).collect();
    let errors = errors.into_compile_errors();
    let uses = built_in.iter().chain(custom.iter().map(|kind| &kind.path)).map(visible);
    let impls = custom.iter().map(|kind| kind.impls(&krate));
    let custom_paths: Vec<_> = custom.iter().map(|kind| &kind.path).collect();
    let custom = custom.iter().map(|kind| kind.adopted(&krate));
    quote! {
        #errors
        #(#uses)*
        #(#impls)*

        /// What is known of the adopted kinds of this module: the input of the generator.
        pub fn api_groups() -> ::std::vec::Vec<#krate::meta::ApiGroup> {
            #krate::adopt::api_groups(
                ::core::module_path!(),
                [#(#krate::adopt::Adopted::built_in::<#built_in>(),)* #(#custom,)*],
            )
        }

        /// Registers the adopted kinds of this module and their lists.
        ///
        /// # Errors
        /// Another type is registered under one of their names.
        pub fn add_to_scheme(
            scheme: &mut #krate::Scheme,
        ) -> ::core::result::Result<(), #krate::scheme::Conflict> {
            #(#krate::adopt::add_built_in::<#built_in>(scheme)?;)*
            #(#krate::adopt::add_custom_resource::<#custom_paths>(scheme)?;)*
            ::core::result::Result::Ok(())
        }
    }
}

/// Generated code names the types in this module: what is elsewhere is made public here.
fn visible(path: &Path) -> TokenStream {
    match path.get_ident() {
        Some(_) => quote!(),
        None => quote!(#[allow(unused_imports)] #[doc(no_inline)] pub use #path;),
    }
}

/// Nothing is to be said of Kubernetes' own kinds.
fn plain(meta: Meta, errors: &mut Errors) -> Option<Path> {
    match meta {
        Meta::Path(path) => Some(path),
        other => {
            errors.push(other, "every verb is granted to a built-in kind; remove the parentheses");
            None
        }
    }
}

impl Kind {
    fn parse(meta: Meta, errors: &mut Errors) -> Self {
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
        let kind = Kind { path, said };
        kind.check(errors);
        kind
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
        quote! {
            #(#[automatically_derived] impl #krate::verbs::#verbs for #path {})*

            #[automatically_derived]
            impl #krate::verbs::Granted for #path {
                const VERBS: &'static [#krate::meta::Verb] = &[#(#krate::meta::Verb::#verbs),*];
            }

            #[automatically_derived]
            impl #krate::Listed for #path {
                type List = ::kube::core::ObjectList<#path>;
            }

            #object
        }
    }

    /// What k8s-openapi's traits give to other kinds.
    fn object(&self, krate: &TokenStream) -> TokenStream {
        let path = &self.path;
        let resource = quote_spanned!(path.span()=> <#path as ::kube::Resource>);
        quote! {
            #[automatically_derived]
            impl #krate::adopt::CustomResource for #path {
                fn registration() -> #krate::scheme::Registration {
                    #krate::scheme::Registration {
                        gvk: #krate::GroupVersionKind {
                            group: #resource::group(&()),
                            version: #resource::version(&()),
                            kind: #resource::kind(&()),
                        },
                        plural: #resource::plural(&()),
                        scope: <#resource::Scope as #krate::meta::HasScope>::SCOPE,
                        is_list: false,
                        lifecycle: ::core::option::Option::None,
                    }
                }
            }

            #[automatically_derived]
            impl #krate::Object for #path {
                fn group_version_kind(&self) -> #krate::GroupVersionKind {
                    <Self as #krate::adopt::CustomResource>::registration().gvk
                }
                fn object_meta(&self) -> ::core::option::Option<&#krate::wire::ObjectMeta> {
                    ::core::option::Option::Some(#resource::meta(self))
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

    /// What kube's derive knows of it, asked when the generator runs.
    fn adopted(&self, krate: &TokenStream) -> TokenStream {
        let (path, status) = (&self.path, self.said.status.is_present());
        let resource = quote_spanned!(path.span()=> <#path as ::kube::Resource>);
        quote! {
            #krate::adopt::Adopted {
                group: #krate::adopt::literal(#resource::group(&())),
                version: #krate::adopt::literal(#resource::version(&())),
                kind: #krate::meta::ApiKind {
                    kind: #krate::adopt::literal(#resource::kind(&())),
                    plural: #krate::adopt::literal(#resource::plural(&())),
                    scope: <#resource::Scope as #krate::meta::HasScope>::SCOPE,
                    genclient: true,
                    verbs: <#path as #krate::verbs::Granted>::VERBS,
                    status: #status,
                    ..#krate::meta::ApiKind::UNKNOWN
                },
            }
        }
    }
}
