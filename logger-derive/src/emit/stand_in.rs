//! Impls without a body for a type whose declaration was refused: the mistake is reported once, not again wherever
//! the type is used. They never run, since the errors beside them end the build.

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

pub(super) fn kind(input: &DeriveInput, krate: &TokenStream) -> TokenStream {
    let meta = quote!(#krate::wire::ObjectMeta);
    let (_, _, where_clause) = input.generics.split_for_impl();
    let (ident, (impl_generics, ty_generics, _)) = (&input.ident, input.generics.split_for_impl());
    let common = common(
        input,
        krate,
        &meta,
        quote!(#krate::meta::TypeMeta::Kind(<Self as #krate::Kind>::API_KIND)),
    );
    let verbs = [
        "Create",
        "Update",
        "UpdateStatus",
        "Delete",
        "DeleteCollection",
        "Get",
        "List",
        "Watch",
        "Patch",
    ]
    .map(|verb| quote::format_ident!("{verb}"));
    quote! {
        #common
        #(impl #impl_generics #krate::verbs::#verbs for #ident #ty_generics #where_clause {})*
        impl #impl_generics #krate::Kind for #ident #ty_generics #where_clause {
            const API_KIND: #krate::meta::ApiKind = #krate::meta::ApiKind::REFUSED;
        }
    }
}

pub(super) fn list(input: &DeriveInput, krate: &TokenStream) -> TokenStream {
    let meta = quote!(#krate::wire::ListMeta);
    common(
        input,
        krate,
        &meta,
        quote!(#krate::meta::TypeMeta::List(#krate::meta::ApiList::REFUSED)),
    )
}

fn common(input: &DeriveInput, krate: &TokenStream, meta: &TokenStream, type_meta: TokenStream) -> TokenStream {
    let ident = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let mut de = input.generics.clone();
    de.params.insert(0, syn::parse_quote!('de));
    let (de_generics, _, _) = de.split_for_impl();
    quote! {
        impl #impl_generics #krate::k8s_openapi::Resource for #ident #ty_generics #where_clause {
            const API_VERSION: &'static str = "";
            const GROUP: &'static str = "";
            const KIND: &'static str = "";
            const VERSION: &'static str = "";
            const URL_PATH_SEGMENT: &'static str = "";
            type Scope = #krate::k8s_openapi::NamespaceResourceScope;
        }
        impl #impl_generics #krate::k8s_openapi::Metadata for #ident #ty_generics #where_clause {
            type Ty = #meta;
            fn metadata(&self) -> &#meta { ::core::unreachable!() }
            fn metadata_mut(&mut self) -> &mut #meta { ::core::unreachable!() }
        }
        impl #impl_generics #krate::Object for #ident #ty_generics #where_clause {
            fn group_version_kind(&self) -> #krate::GroupVersionKind { ::core::unreachable!() }
            fn object_meta(&self) -> ::core::option::Option<&#krate::wire::ObjectMeta> { ::core::unreachable!() }
            fn deep_copy_object(&self) -> ::std::boxed::Box<dyn #krate::Object> { ::core::unreachable!() }
            fn as_any(&self) -> &dyn ::core::any::Any { ::core::unreachable!() }
            fn into_any(self: ::std::boxed::Box<Self>) -> ::std::boxed::Box<dyn ::core::any::Any> { ::core::unreachable!() }
        }
        impl #impl_generics #krate::ApiType for #ident #ty_generics #where_clause {
            const META: #krate::meta::TypeMeta = #type_meta;
            fn add_to_scheme(_: &mut #krate::Scheme) -> ::core::result::Result<(), #krate::scheme::Conflict> {
                ::core::unreachable!()
            }
        }
        impl #impl_generics #krate::serde::Serialize for #ident #ty_generics #where_clause {
            fn serialize<S: #krate::serde::Serializer>(&self, _: S) -> ::core::result::Result<S::Ok, S::Error> {
                ::core::unreachable!()
            }
        }
        impl #de_generics #krate::serde::Deserialize<'de> for #ident #ty_generics #where_clause {
            fn deserialize<D: #krate::serde::Deserializer<'de>>(_: D) -> ::core::result::Result<Self, D::Error> {
                ::core::unreachable!()
            }
        }
    }
}
