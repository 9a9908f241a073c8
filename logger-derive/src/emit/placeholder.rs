//! Placeholder impls for a rejected type, so that the error is reported once and not at every use of the type. They
//! never run, because the errors beside them fail the build.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Generics;

use crate::{
    grammar::verbs::VERBS,
    model::{Kind, List, Root},
};

pub(crate) fn kind(kind: &Kind) -> TokenStream {
    let Root { ident, krate, .. } = &kind.root;
    let generics = bounded(&kind.root);
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let scope = match kind.is_namespaced() {
        true => quote!(NamespaceResourceScope),
        false => quote!(ClusterResourceScope),
    };
    let meta = quote!(#krate::wire::ObjectMeta);
    let type_meta = quote!(#krate::meta::TypeMeta::Kind(#krate::meta::ApiKind::DEFAULT));
    let parts = [resource(&kind.root, &meta, &scope), object(&kind.root, &type_meta), wire(&kind.root)];
    let verbs = VERBS.map(|(_, verb)| format_ident!("{verb}"));
    quote! {
        #(#parts)*
        #(impl #impl_generics #krate::verbs::#verbs for #ident #ty_generics #where_clause {})*
        impl #impl_generics #krate::verbs::Granted for #ident #ty_generics #where_clause {
            const VERBS: &'static [#krate::meta::ClientVerb] = &[];
        }
        impl #impl_generics #krate::Kind for #ident #ty_generics #where_clause {
            const API_KIND: #krate::meta::ApiKind = #krate::meta::ApiKind::DEFAULT;
        }
    }
}

pub(crate) fn list(list: &List) -> TokenStream {
    let krate = &list.root.krate;
    let meta = quote!(#krate::wire::ListMeta);
    let type_meta = quote!(#krate::meta::TypeMeta::List(#krate::meta::ApiList::PLACEHOLDER));
    let parts = [
        resource(&list.root, &meta, &quote!(NamespaceResourceScope)),
        object(&list.root, &type_meta),
        wire(&list.root),
        kind_list(list),
    ];
    parts.into_iter().collect()
}

/// Emits the impls that connect a list to its kind: that of its items, or else the one that its name implies.
fn kind_list(list: &List) -> TokenStream {
    let Root { ident, krate, .. } = &list.root;
    let items = list.item().map(|item| quote!(#item));
    let Some(item) = items.or_else(|| list.kind_by_name().map(|kind| quote!(#kind))) else {
        return TokenStream::new();
    };
    if list.root.is_generic() {
        return TokenStream::new();
    }
    quote! {
        impl #krate::KindList for #ident {
            type Item = #item;
            const API_LIST: #krate::meta::ApiList = #krate::meta::ApiList::PLACEHOLDER;
            fn metadata(&self) -> &#krate::wire::ListMeta { ::core::unreachable!() }
            fn items(&self) -> &[Self::Item] { ::core::unreachable!() }
            fn into_items(self) -> ::std::vec::Vec<Self::Item> { ::core::unreachable!() }
        }
        impl #krate::Listed for #item {
            type List = #ident;
        }
        impl #krate::k8s_openapi::ListableResource for #item {
            const LIST_KIND: &'static ::core::primitive::str = "";
        }
    }
}

fn resource(root: &Root, meta: &TokenStream, scope: &TokenStream) -> TokenStream {
    let Root { ident, krate, generics, .. } = root;
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    quote! {
        impl #impl_generics #krate::k8s_openapi::Resource for #ident #ty_generics #where_clause {
            const API_VERSION: &'static ::core::primitive::str = "";
            const GROUP: &'static ::core::primitive::str = "";
            const KIND: &'static ::core::primitive::str = "";
            const VERSION: &'static ::core::primitive::str = "";
            const URL_PATH_SEGMENT: &'static ::core::primitive::str = "";
            type Scope = #krate::k8s_openapi::#scope;
        }
        impl #impl_generics #krate::k8s_openapi::Metadata for #ident #ty_generics #where_clause {
            type Ty = #meta;
            fn metadata(&self) -> &#meta { ::core::unreachable!() }
            fn metadata_mut(&mut self) -> &mut #meta { ::core::unreachable!() }
        }
    }
}

fn object(root: &Root, type_meta: &TokenStream) -> TokenStream {
    let Root { ident, krate, .. } = root;
    let generics = bounded(root);
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    quote! {
        impl #impl_generics #krate::RootType for #ident #ty_generics #where_clause {
            const META: #krate::meta::TypeMeta = #type_meta;
            fn add_to_scheme(_: &mut #krate::Scheme) -> ::core::result::Result<(), #krate::scheme::Conflict> {
                ::core::unreachable!()
            }
        }
    }
}

fn wire(root: &Root) -> TokenStream {
    let Root { ident, krate, generics, .. } = root;
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let mut de = generics.clone();
    de.params.insert(0, syn::parse_quote!('de));
    let (de_generics, _, _) = de.split_for_impl();
    let serialize = quote! {
        impl #impl_generics #krate::serde::Serialize for #ident #ty_generics #where_clause {
            fn serialize<S: #krate::serde::Serializer>(&self, _: S) -> ::core::result::Result<S::Ok, S::Error> {
                ::core::unreachable!()
            }
        }
    };
    let deserialize = quote! {
        impl #de_generics #krate::serde::Deserialize<'de> for #ident #ty_generics #where_clause {
            fn deserialize<D: #krate::serde::Deserializer<'de>>(_: D) -> ::core::result::Result<Self, D::Error> {
                ::core::unreachable!()
            }
        }
    };
    // A conflicting derive is already reported.
    let serialize = (!root.derives("Serialize")).then_some(serialize);
    let deserialize = (!root.derives("Deserialize")).then_some(deserialize);
    quote!(#serialize #deserialize)
}

/// Adds all other required bounds to a generic type, which is rejected only for being generic.
fn bounded(root: &Root) -> Generics {
    let (mut generics, krate) = (root.generics.clone(), &root.krate);
    if root.is_generic() {
        generics.make_where_clause().predicates.push(syn::parse_quote! {
            Self: ::core::clone::Clone + ::core::fmt::Debug + ::core::marker::Send + ::core::marker::Sync
                + #krate::DeepCopy + 'static
        });
    }
    generics
}
