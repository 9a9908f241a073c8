//! Emits what adopted kinds need, and passes them to the generator.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{Ident, Path};

use crate::model::{
    Adoption, CustomResource,
    adopt::{local_name, name, name_span},
};

/// Emits the items of the kinds, which have no duplicate names.
pub(crate) fn emit(adoption: &Adoption, is_accepted: bool) -> TokenStream {
    let krate = &adoption.krate;
    let (built_in, custom) = (adoption.unique_built_in(), adoption.unique_custom());
    let uses = adoption.unique_paths().into_iter().map(reexport);
    let for_kube = for_kube(&custom, krate, is_accepted);
    let custom_paths: Vec<_> = custom.iter().map(|kind| &kind.path).collect();
    let custom = custom.iter().map(|kind| adopted(kind, krate));
    let names = built_in.iter().map(|path| name(path));
    quote! {
        #(#uses)*

        /// The metadata of the adopted kinds of this module: the input of the generator.
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
        /// Another type is registered for one of their group, version and kind.
        #[inline]
        pub fn add_to_scheme(
            scheme: &mut #krate::Scheme,
        ) -> ::core::result::Result<(), #krate::scheme::Conflict> {
            #[allow(unused_imports)]
            use #krate::adopt::NotAdoptable as _;
            #(#krate::adopt::add_built_in::<#built_in>(scheme)?;)*
            #(#krate::adopt::Entry::<#custom_paths>::add_to_scheme(scheme)?;)*
            ::core::result::Result::Ok(())
        }
    }
}

/// Generated code uses the types through this module: types of other modules are re-exported, its own must be public.
fn reexport(path: &Path) -> TokenStream {
    match local_name(path) {
        Some(ident) => quote_spanned! {ident.span()=>
            #[allow(unused_imports)]
            pub use self::#ident as _;
        },
        None => quote!(#[allow(unused_imports)] #[doc(no_inline)] pub use #path;),
    }
}

/// Emits the impls that types of kube's derive need. Only the user's crate, where this expands, depends on kube.
fn for_kube(custom: &[&CustomResource], krate: &TokenStream, is_accepted: bool) -> TokenStream {
    if custom.is_empty() {
        return quote!();
    }
    let (kube_kind, kube_object, kube_facts) = (kube_kind(krate), kube_object(krate), kube_facts(krate));
    let impls = custom.iter().map(|kind| impls(kind, krate));
    // A rejected key may be a misspelt `status`.
    let statuses = custom.iter().filter(|_| is_accepted).map(|kind| check_status(kind));
    quote! {
        #[allow(unused_imports)]
        use #krate::apply::NoShape as _;
        #kube_kind
        #kube_object
        #kube_facts
        #(#impls)*
        #(#statuses)*
    }
}

/// Emits a trait of all types that can be adopted, so that any other type is one error with our message. The lifetime
/// parameter prevents follow-up errors: an unsatisfied bound with `for<'a>` is not reported where it is declared, so
/// that only the use in `adopted` is.
fn kube_kind(krate: &TokenStream) -> TokenStream {
    quote! {
        #[diagnostic::on_unimplemented(
            message = "`{Self}` is not a custom resource of kube",
            label = "cannot be listed in `custom_resources`",
            note = "list the kind that kube's `CustomResource` derive generates, not the spec struct that has the derive",
            note = "another `kube::Resource` must also be `Clone`, `Debug`, `Serialize` and `DeserializeOwned`"
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
                    group: #krate::adopt::static_str(K::group(&())),
                    version: #krate::adopt::static_str(K::version(&())),
                    kind: #krate::meta::ApiKind {
                        kind: #krate::adopt::static_str(K::kind(&())),
                        rust_name,
                        plural: #krate::adopt::static_str(K::plural(&())),
                        scope: <K::Scope as #krate::meta::HasScope>::SCOPE,
                        genclient: true,
                        verbs: K::VERBS,
                        status,
                        ..#krate::meta::ApiKind::DEFAULT
                    },
                }
            }
        }
    }
}

/// Emits a trait with the requirements of `Object`. It has no diagnostic message, because `KubeKind` reports the error.
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

/// Emits `KubeFacts::<K>`: its inherent constants take precedence over those of the trait if their bound is satisfied.
fn kube_facts(krate: &TokenStream) -> TokenStream {
    quote! {
        struct KubeFacts<K>(::core::marker::PhantomData<K>);
        trait KubeFactsDefault {
            const IS_KIND: ::core::primitive::bool = false;
            const HAS_STATUS: ::core::primitive::bool = false;
            const CRD: ::core::option::Option<#krate::meta::DeclaredCrd> = ::core::option::Option::None;
        }
        impl<K> KubeFactsDefault for KubeFacts<K> {}
        impl<K: KubeKind<'static>> KubeFacts<K> {
            const IS_KIND: ::core::primitive::bool = true;
        }
        impl<K: ::kube::core::object::HasStatus> KubeFacts<K> {
            const HAS_STATUS: ::core::primitive::bool = true;
        }
        impl<K: ::kube::CustomResourceExt> KubeFacts<K> {
            const CRD: ::core::option::Option<#krate::meta::DeclaredCrd> =
                ::core::option::Option::Some(Self::crd);
            fn crd() -> ::core::result::Result<#krate::serde_json::Value, #krate::serde_json::Error> {
                #krate::serde_json::to_value(K::crd())
            }
        }
    }
}

fn impls(kind: &CustomResource, krate: &TokenStream) -> TokenStream {
    let (path, object) = (&kind.path, object(kind, krate));
    let verbs: Vec<Ident> = kind.verbs().into_iter().map(|verb| format_ident!("{verb}")).collect();
    quote_spanned! {name_span(path)=>
        #(#[automatically_derived] impl #krate::verbs::#verbs for #path {})*

        #[automatically_derived]
        impl #krate::verbs::Granted for #path {
            const VERBS: &'static [#krate::meta::ClientVerb] = &[#(#krate::meta::ClientVerb::#verbs),*];
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

/// Emits the impls of `Object` and `ObjectKind`, which other kinds have through k8s-openapi's traits.
fn object(kind: &CustomResource, krate: &TokenStream) -> TokenStream {
    let path = &kind.path;
    quote_spanned! {name_span(path)=>
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
        impl #krate::apply::ObjectKind for #path
        where
            for<'a> #path: KubeObject<'a>,
        {
            fn object_api_version() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                ::std::borrow::Cow::Owned(<#path as KubeObject<'static>>::registration().gvk.api_version())
            }
            fn object_kind() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                <#path as KubeObject<'static>>::registration().gvk.kind
            }
            fn object_metadata(&self) -> &#krate::wire::ObjectMeta {
                <#path as KubeObject<'static>>::object_meta(self)
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

/// Emits a check of the `status` key. The type shows whether the kind has a status, but the impls of the verbs
/// cannot depend on that, so the key is required.
fn check_status(kind: &CustomResource) -> TokenStream {
    let (path, name) = (&kind.path, name(&kind.path));
    if kind.has_status() {
        let message = format!("`{name}` has no status; remove `status`, or add `#[kube(status = \"..\")]`");
        return quote_spanned! {kind.keys.status.span()=>
            const _: () = ::core::assert!(KubeFacts::<#path>::HAS_STATUS || !KubeFacts::<#path>::IS_KIND, #message);
        };
    }
    if !kind.has_status_verbs() {
        return quote!();
    }
    let message = format!(
        "`{name}` has a status; use `{name}(status)`, or `{name}(status, no_status)` for a client that does not \
             write it"
    );
    quote_spanned! {name_span(path)=>
        const _: () = ::core::assert!(!KubeFacts::<#path>::HAS_STATUS, #message);
    }
}

/// Emits the metadata of the kind, which is evaluated when the generator runs.
fn adopted(kind: &CustomResource, krate: &TokenStream) -> TokenStream {
    let (path, name, status) = (&kind.path, name(&kind.path), kind.has_status());
    quote! {
        <#path as KubeKind<'static>>::adopted(#name, #status)
            .with_declared(KubeFacts::<#path>::CRD, #krate::apply::DerivedShape::<#path>::SHAPE)
    }
}
