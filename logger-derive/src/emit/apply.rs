//! Emits the shape of a type as data for the generator of apply configurations.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Ident, spanned::Spanned};

use super::{in_const_block, located_at, option};
use crate::model::{AppliedBody, AppliedField, AppliedType, rust_type::inside_option};

/// Emits the impls of a type.
pub(crate) fn emit(model: &AppliedType) -> TokenStream {
    in_const_block(match &model.body {
        AppliedBody::Struct(fields) => emit_struct(model, fields),
        AppliedBody::Atomic { .. } | AppliedBody::Union => emit_atomic(model),
    })
}

/// Emits the impl of a rejected type, to prevent follow-up errors in types that contain it.
pub(crate) fn placeholder(model: &AppliedType) -> TokenStream {
    in_const_block(applied(model, &quote!(Atomic(::core::option::Option::None))))
}

/// Emits the impls of a struct whose fields are applied one by one.
fn emit_struct(model: &AppliedType, fields: &[AppliedField]) -> TokenStream {
    let AppliedType { ident, krate, docs, .. } = model;
    let type_data = type_data(model);
    let rename_all = option(model.rename_all.as_ref());
    let data = fields.iter().map(|field| field_data(field, ident, krate));
    let impls = fields.iter().map(|field| field_impl(field, ident, krate));
    let shape = quote! {
        Struct(#krate::apply::Struct {
            rust_type: #type_data,
            docs: #docs,
            rename_all: #rename_all,
            fields: &[#(#data),*],
        })
    };
    let applied = applied(model, &shape);
    quote!(#applied #(#impls)*)
}

/// Emits the field as data of this struct.
fn field_data(field: &AppliedField, ident: &Ident, krate: &TokenStream) -> TokenStream {
    let AppliedField { index, name, flatten, docs, .. } = field;
    let rename = option(field.rename.as_ref());
    quote! {
        #krate::apply::Field {
            name: #name,
            index: #index,
            rename: #rename,
            flatten: #flatten,
            docs: #docs,
            shape: <#ident as #krate::apply::AppliedField<#index>>::shape,
        }
    }
}

/// Emits its type as an associated type, whose path rustc resolves in the user's module.
fn field_impl(field: &AppliedField, ident: &Ident, krate: &TokenStream) -> TokenStream {
    let (index, ty) = (field.index, &field.ty);
    let ty = match field.atomic {
        true => {
            let inner = inside_option(ty).unwrap_or(ty);
            let atomic = located_at(quote!(#krate::apply::Atomic), inner.span());
            quote_spanned!(inner.span()=> #atomic<#inner>)
        }
        false => quote!(#ty),
    };
    quote! {
        #[automatically_derived]
        impl #krate::apply::AppliedField<#index> for #ident {
            type Type = #ty;
        }
    }
}

/// Emits the impl of a type that is applied atomically.
fn emit_atomic(model: &AppliedType) -> TokenStream {
    let (AppliedType { ident, krate, .. }, type_data) = (model, type_data(model));
    let applied = applied(model, &quote!(Atomic(::core::option::Option::Some(#type_data))));
    let checked = assert_atomic_value(&quote_spanned!(ident.span()=> #ident), krate);
    quote!(#applied #checked)
}

/// Emits the type as data.
fn type_data(model: &AppliedType) -> TokenStream {
    let (krate, name) = (&model.krate, model.name());
    quote!(#krate::apply::Type { name: #name, module: ::core::module_path!() })
}

fn applied(model: &AppliedType, shape: &TokenStream) -> TokenStream {
    let AppliedType { ident, krate, generics, .. } = model;
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::apply::Applied for #ident #ty_generics #where_clause {
            type Leaf = Self;
            fn shape() -> #krate::apply::Shape {
                #krate::apply::Shape::#shape
            }
        }
    }
}

/// Emits the assertion that the type can be used in an apply configuration unchanged.
fn assert_atomic_value(ty: &TokenStream, krate: &TokenStream) -> TokenStream {
    quote! {
        const _: fn() = || {
            fn assert_atomic_value<T: #krate::apply::AtomicValue>() {}
            assert_atomic_value::<#ty>();
        };
    }
}
