//! `#[derive(DeepCopy)]`: a copy field by field.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Field, Fields, Generics, Ident, Index, Member, Type};

use crate::attr::{self, CrateOnly};
use crate::errors::Errors;
use crate::model::crate_path;

pub(crate) fn derive(input: DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let container: CrateOnly = attr::read("deep_copy", &input.attrs, &mut errors);
    let krate = crate_path(container.krate.as_ref());
    for attr in fields(&input.data).flat_map(|field| attr::named("deep_copy", &field.attrs)) {
        errors.push(attr, "`#[deep_copy]` belongs on the type, not on a field of it; every field is copied");
    }
    let (copy, copy_into) = match &input.data {
        Data::Struct(data) => of_struct(&data.fields, &krate),
        Data::Enum(data) => of_enum(data.variants.iter().map(|v| (&v.ident, &v.fields)), &krate),
        Data::Union(_) => {
            errors.push(&input.ident, "a union cannot be deep-copied: which field is live is not known; use an enum");
            (quote!(::core::unreachable!()), quote!())
        }
    };
    let errors = errors.into_compile_errors();
    let ident = &input.ident;
    let generics = bounded(&input.generics, &krate);
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    quote! {
        #errors
        #[automatically_derived]
        impl #impl_generics #krate::DeepCopy for #ident #ty_generics #where_clause {
            fn deep_copy(&self) -> Self {
                #copy
            }
            fn deep_copy_into(&self, target: &mut Self) {
                #copy_into
            }
        }
    }
}

/// Every type parameter must itself be deep-copied, as `Clone`'s derive asks of them.
fn bounded(generics: &Generics, krate: &TokenStream) -> Generics {
    let mut generics = generics.clone();
    for param in generics.type_params_mut() {
        param.bounds.push(syn::parse_quote!(#krate::DeepCopy));
    }
    generics
}

fn fields(data: &Data) -> impl Iterator<Item = &Field> {
    let (of_struct, of_variants) = match data {
        Data::Struct(data) => (Some(&data.fields), None),
        Data::Enum(data) => (None, Some(data.variants.iter().map(|variant| &variant.fields))),
        Data::Union(_) => (None, None),
    };
    of_struct.into_iter().chain(of_variants.into_iter().flatten()).flatten()
}

/// How to make a struct, and how to overwrite one.
fn of_struct(fields: &Fields, krate: &TokenStream) -> (TokenStream, TokenStream) {
    let members: Vec<_> = members(fields).collect();
    let copies = members.iter().map(|(member, ty)| {
        let copy = call(ty, krate, "deep_copy");
        quote!(#member: #copy(&self.#member))
    });
    let copies_into = members.iter().map(|(member, ty)| {
        let copy_into = call(ty, krate, "deep_copy_into");
        quote!(#copy_into(&self.#member, &mut target.#member);)
    });
    let copy = quote!(Self { #(#copies),* });
    match members.is_empty() {
        true => (copy, quote!(let _ = target;)),
        false => (copy, quote!(#(#copies_into)*)),
    }
}

/// How to make an enum, and how to overwrite one: in place where both are of the same variant.
fn of_enum<'a>(
    variants: impl Iterator<Item = (&'a Ident, &'a Fields)>,
    krate: &TokenStream,
) -> (TokenStream, TokenStream) {
    let (copies, copies_into): (Vec<_>, Vec<_>) =
        variants.map(|(ident, fields)| of_variant(ident, fields, krate)).unzip();
    match copies.is_empty() {
        true => (quote!(match *self {}), quote!(let _ = target; match *self {})),
        false => (
            quote!(match self { #(#copies)* }),
            quote! {
                match (self, &mut *target) {
                    #(#copies_into)*
                    (_, target) => *target = #krate::DeepCopy::deep_copy(self),
                }
            },
        ),
    }
}

fn of_variant(ident: &Ident, fields: &Fields, krate: &TokenStream) -> (TokenStream, TokenStream) {
    let members: Vec<_> = members(fields).collect();
    let froms: Vec<_> = (0..members.len()).map(|i| format_ident!("from_{i}")).collect();
    let tos: Vec<_> = (0..members.len()).map(|i| format_ident!("to_{i}")).collect();
    let names: Vec<_> = members.iter().map(|(member, _)| member).collect();
    let copies: Vec<_> = members.iter().map(|(_, ty)| call(ty, krate, "deep_copy")).collect();
    let copies_into: Vec<_> = members.iter().map(|(_, ty)| call(ty, krate, "deep_copy_into")).collect();
    let copy = quote!(Self::#ident { #(#names: #froms),* } => Self::#ident { #(#names: #copies(#froms)),* },);
    // A variant without fields is as cheaply assigned, by the last arm.
    let copy_into = match members.is_empty() {
        true => quote!(),
        false => quote! {
            (Self::#ident { #(#names: #froms),* }, Self::#ident { #(#names: #tos),* }) => {
                #(#copies_into(#froms, #tos);)*
            }
        },
    };
    (copy, copy_into)
}

/// The call, on the span of the field's type: that is where a missing impl is reported.
fn call(ty: &Type, krate: &TokenStream, method: &str) -> TokenStream {
    let span = ty.span();
    let method = Ident::new(method, span);
    quote_spanned!(span=> <#ty as #krate::DeepCopy>::#method)
}

fn members(fields: &Fields) -> impl Iterator<Item = (Member, &Type)> {
    fields.iter().enumerate().map(|(i, field)| {
        let member = match &field.ident {
            Some(ident) => Member::Named(ident.clone()),
            None => Member::Unnamed(Index::from(i)),
        };
        (member, &field.ty)
    })
}
