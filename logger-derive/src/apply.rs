//! `#[derive(ApplyConfiguration)]`: emits the shape of a type as data for the generator of apply configurations.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Attribute, Data, DeriveInput, Field, Fields, Ident, LitStr, Meta, ext::IdentExt, spanned::Spanned};

use crate::{
    attr::{
        self,
        apply::{FieldAttr, TypeAttr},
        docs::docs,
        literal,
    },
    emit::{in_const_block, located_at},
    errors::{Errors, Expanded},
    model::rust_type::inside_option,
};

pub(crate) fn derive(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let _: TypeAttr = attr::parse("apply", &input.attrs, &mut errors);
    if !input.generics.params.is_empty() {
        let message = "`ApplyConfiguration` does not support generic types: an apply configuration has one name; \
                       remove the parameters, or this derive and use `#[apply(atomic)]` on the fields of this type";
        errors.push(&input.generics, message);
    }
    let emitted = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(_) if has_other_encoding(&input.attrs) => emit_atomic(input, krate, &mut errors),
            Fields::Named(fields) => {
                check_rename_all(&input.attrs, &mut errors);
                let fields =
                    fields.named.iter().enumerate().filter_map(|(i, f)| AppliedField::parse(i, f, &mut errors));
                emit_struct(input, krate, &fields.collect::<Vec<_>>())
            }
            Fields::Unnamed(_) | Fields::Unit => emit_atomic(input, krate, &mut errors),
        },
        Data::Enum(_) => emit_atomic(input, krate, &mut errors),
        Data::Union(_) => {
            errors.push(&input.ident, "unsupported union: its active field is not known; use an enum");
            quote!()
        }
    };
    let items = match errors.is_empty() {
        true => emitted,
        false => applied(input, krate, &quote!(Atomic(::core::option::Option::None))),
    };
    Expanded { errors, items: in_const_block(items) }
}

/// A serialised field.
struct AppliedField {
    index: usize,
    field: Field,
    atomic: bool,
    serde: Serde,
}

/// The supported serde attributes of a field.
#[derive(Default)]
struct Serde {
    rename: Option<LitStr>,
    flatten: bool,
    skipped: bool,
}

impl AppliedField {
    fn parse(index: usize, field: &Field, errors: &mut Errors) -> Option<Self> {
        let FieldAttr { atomic } = attr::parse("apply", &field.attrs, errors);
        let serde = Serde::parse(&field.attrs, errors);
        (!serde.skipped).then(|| AppliedField { index, field: field.clone(), atomic: atomic.is_present(), serde })
    }

    /// Emits the field as data of this struct.
    fn meta(&self, of: &Ident, krate: &TokenStream) -> TokenStream {
        let AppliedField { index, field, serde, .. } = self;
        let name = field.ident.as_ref().map(|ident| ident.unraw().to_string());
        let (rename, flatten, docs) = (optional(serde.rename.as_ref()), serde.flatten, docs(&field.attrs));
        quote! {
            #krate::apply::Field {
                name: #name,
                index: #index,
                rename: #rename,
                flatten: #flatten,
                docs: #docs,
                shape: <#of as #krate::apply::AppliedField<#index>>::shape,
            }
        }
    }

    /// Emits its type as an associated type, whose path rustc resolves in the user's module.
    fn impls(&self, of: &Ident, krate: &TokenStream) -> TokenStream {
        let (index, ty) = (self.index, &self.field.ty);
        let ty = match self.atomic {
            true => {
                let inner = inside_option(ty).unwrap_or(ty);
                let atomic = located_at(quote!(#krate::apply::Atomic), inner.span());
                quote_spanned!(inner.span()=> #atomic<#inner>)
            }
            false => quote!(#ty),
        };
        quote! {
            #[automatically_derived]
            impl #krate::apply::AppliedField<#index> for #of {
                type Type = #ty;
            }
        }
    }
}

impl Serde {
    fn parse(attrs: &[Attribute], errors: &mut Errors) -> Self {
        let mut serde = Serde::default();
        for meta in attr::keys("serde", attrs) {
            match (meta.path().get_ident().map(ToString::to_string).unwrap_or_default().as_str(), &meta) {
                ("rename", Meta::NameValue(value)) => serde.rename = literal(value),
                ("rename", _) => errors.push(
                    meta,
                    "different names for serialisation and deserialisation are not supported; use `rename = \"..\"`",
                ),
                ("flatten", _) => serde.flatten = true,
                ("skip" | "skip_serializing", _) => serde.skipped = true,
                ("with" | "serialize_with" | "deserialize_with", _) => errors.push(
                    meta,
                    "a custom serialisation is not supported in an apply configuration; use a type that implements it",
                ),
                _ => {}
            }
        }
        serde
    }
}

/// Whether the encoding of a struct is not that of its fields.
fn has_other_encoding(attrs: &[Attribute]) -> bool {
    let encodings = ["from", "into", "remote", "tag", "transparent", "try_from"];
    encodings.iter().any(|key| attr::key("serde", key, attrs).is_some())
}

fn check_rename_all(attrs: &[Attribute], errors: &mut Errors) {
    if let Some(meta @ Meta::List(_)) = attr::key("serde", "rename_all", attrs) {
        let message =
            "different names for serialisation and deserialisation are not supported; use `rename_all = \"..\"`";
        errors.push(meta, message);
    }
}

/// Emits the impls of a struct whose fields are applied one by one.
fn emit_struct(input: &DeriveInput, krate: &TokenStream, fields: &[AppliedField]) -> TokenStream {
    let (ident, docs, of) = (&input.ident, docs(&input.attrs), type_data(input, krate));
    let rename_all = attr::keys("serde", &input.attrs).into_iter().find_map(|meta| match meta {
        Meta::NameValue(value) if value.path.is_ident("rename_all") => literal(&value),
        _ => None,
    });
    let rename_all = optional(rename_all.as_ref());
    let metas = fields.iter().map(|field| field.meta(ident, krate));
    let impls = fields.iter().map(|field| field.impls(ident, krate));
    let shape = quote! {
        Struct(#krate::apply::Struct {
            of: #of,
            docs: #docs,
            rename_all: #rename_all,
            fields: &[#(#metas),*],
        })
    };
    let applied = applied(input, krate, &shape);
    quote!(#applied #(#impls)*)
}

/// Emits the impl of a type that is applied atomically: an enum, a tuple struct or a unit struct.
fn emit_atomic(input: &DeriveInput, krate: &TokenStream, errors: &mut Errors) -> TokenStream {
    let fields = match &input.data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| &variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    };
    for attr in fields.into_iter().flat_map(|field| attr::named("apply", &field.attrs)) {
        errors.push(attr, "this type is applied atomically, with all its fields; remove this");
    }
    let (ident, of) = (&input.ident, type_data(input, krate));
    let applied = applied(input, krate, &quote!(Atomic(::core::option::Option::Some(#of))));
    let checked = assert_atomic_value(&quote_spanned!(ident.span()=> #ident), krate);
    quote!(#applied #checked)
}

/// Emits the type as data.
fn type_data(input: &DeriveInput, krate: &TokenStream) -> TokenStream {
    let name = input.ident.unraw().to_string();
    quote!(#krate::apply::Type { name: #name, module: ::core::module_path!() })
}

fn applied(input: &DeriveInput, krate: &TokenStream, shape: &TokenStream) -> TokenStream {
    let ident = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
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

fn optional(value: Option<&LitStr>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
