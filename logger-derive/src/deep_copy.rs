//! `#[derive(DeepCopy)]`: emits a field-by-field copy.

use kubewright_names::case::snake_case;
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Data, DataEnum, DeriveInput, Field, Fields, Generics, Ident, Index, Member, Path, Type, spanned::Spanned};

use crate::{
    attr::{
        self,
        deep_copy::{FieldAttr, TypeAttr},
    },
    defaults,
    errors::{Errors, Expanded},
};

pub(crate) fn derive(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let attr: TypeAttr = attr::parse("deep_copy", &input.attrs, &mut errors);
    defaults::check_defaults_attribute(input, &mut errors);
    let (copy, copy_into) = match &input.data {
        Data::Struct(data) => struct_bodies(&copied_fields(&data.fields, krate, &mut errors)),
        Data::Enum(data) => enum_bodies(data, krate, &mut errors),
        Data::Union(_) => {
            errors.push(&input.ident, "unsupported union: its active field is not known; use an enum");
            (quote!(::core::unreachable!()), quote!())
        }
    };
    let ident = &input.ident;
    let generics = bounded(&input.generics, krate);
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let dynamic = attr.traits.iter().map(|path| trait_object_method(path, krate));
    let dynamic = (!attr.traits.is_empty())
        .then(|| quote!(impl #impl_generics #ident #ty_generics #where_clause { #(#dynamic)* }));
    let items = quote! {
        #[automatically_derived]
        #[allow(deprecated)]
        impl #impl_generics #krate::DeepCopy for #ident #ty_generics #where_clause {
            #[inline]
            fn deep_copy(&self) -> Self {
                #copy
            }
            #[inline]
            fn deep_copy_into(&self, target: &mut Self) {
                #copy_into
            }
        }
        #dynamic
    };
    Expanded { errors, items }
}

/// Adds the bound `DeepCopy` to every type parameter, as the derive of `Clone` does.
fn bounded(generics: &Generics, krate: &TokenStream) -> Generics {
    let mut generics = generics.clone();
    for param in generics.type_params_mut() {
        param.bounds.push(syn::parse_quote!(#krate::DeepCopy));
    }
    generics
}

/// Emits `deep_copy_shape(&self) -> Box<dyn Shape>`, for the trait's own method of this name to call.
fn trait_object_method(path: &Path, krate: &TokenStream) -> TokenStream {
    let name = path.segments.last().map_or_else(String::new, |last| last.ident.to_string());
    let method = format_ident!("deep_copy_{}", snake_case(&name));
    let docs = format!("Returns a deep copy as a boxed [`{name}`].");
    quote! {
        #[doc = #docs]
        pub fn #method(&self) -> ::std::boxed::Box<dyn #path> {
            ::std::boxed::Box::new(#krate::DeepCopy::deep_copy(self))
        }
    }
}

/// A field with its copy mode.
struct CopiedField {
    member: Member,
    ty: Type,
    /// Whether it is copied by `Clone`, which the user declares to be deep.
    clone: bool,
    krate: TokenStream,
}

fn copied_fields(fields: &Fields, krate: &TokenStream, errors: &mut Errors) -> Vec<CopiedField> {
    fields.iter().enumerate().map(|(i, field)| CopiedField::new(i, field, krate, errors)).collect()
}

impl CopiedField {
    fn new(i: usize, field: &Field, krate: &TokenStream, errors: &mut Errors) -> Self {
        let attr: FieldAttr = attr::parse("deep_copy", &field.attrs, errors);
        CopiedField {
            member: field.ident.clone().map_or_else(|| Member::Unnamed(Index::from(i)), Member::Named),
            ty: field.ty.clone(),
            clone: attr.clone.is_present(),
            krate: krate.clone(),
        }
    }

    /// Emits a copy of the value that the expression refers to.
    fn copy(&self, from: impl ToTokens) -> TokenStream {
        let copy = match self.clone {
            true => self.call(&quote!(::core::clone::Clone), "clone"),
            false => self.call(&self.deep_copy(), "deep_copy"),
        };
        quote!(#copy(#from))
    }

    /// Emits a copy into the value that the other expression refers to.
    fn copy_into(&self, from: impl ToTokens, to: impl ToTokens) -> TokenStream {
        match self.clone {
            true => {
                let clone_from = self.call(&quote!(::core::clone::Clone), "clone_from");
                quote!(#clone_from(#to, #from);)
            }
            false => {
                let copy_into = self.call(&self.deep_copy(), "deep_copy_into");
                quote!(#copy_into(#from, #to);)
            }
        }
    }

    fn deep_copy(&self) -> TokenStream {
        let krate = &self.krate;
        quote!(#krate::DeepCopy)
    }

    /// Emits the method with the span of the field's type, on which rustc reports a missing impl.
    fn call(&self, of: &TokenStream, method: &str) -> TokenStream {
        let (ty, span) = (&self.ty, self.ty.span());
        let method = Ident::new(method, span);
        quote_spanned!(span=> <#ty as #of>::#method)
    }
}

/// Emits the bodies of `deep_copy` and `deep_copy_into` of a struct.
fn struct_bodies(parts: &[CopiedField]) -> (TokenStream, TokenStream) {
    let copies = parts.iter().map(|part| {
        let member = &part.member;
        let copy = part.copy(quote!(&self.#member));
        quote!(#member: #copy)
    });
    let copies_into = parts.iter().map(|part| {
        let member = &part.member;
        part.copy_into(quote!(&self.#member), quote!(&mut target.#member))
    });
    let copy = quote!(Self { #(#copies),* });
    match parts.is_empty() {
        true => (copy, quote!(let _ = target;)),
        false => (copy, quote!(#(#copies_into)*)),
    }
}

/// Emits the same bodies of an enum, which copies in place if both values have the same variant.
fn enum_bodies(data: &DataEnum, krate: &TokenStream, errors: &mut Errors) -> (TokenStream, TokenStream) {
    let variants = data.variants.iter().map(|v| variant_arms(&v.ident, &copied_fields(&v.fields, krate, errors)));
    let (copies, copies_into): (Vec<_>, Vec<_>) = variants.unzip();
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

fn variant_arms(ident: &Ident, parts: &[CopiedField]) -> (TokenStream, TokenStream) {
    let froms: Vec<_> = (0..parts.len()).map(|i| format_ident!("from_{i}")).collect();
    let tos: Vec<_> = (0..parts.len()).map(|i| format_ident!("to_{i}")).collect();
    let names: Vec<_> = parts.iter().map(|part| &part.member).collect();
    let copies = parts.iter().zip(&froms).map(|(part, from)| part.copy(from));
    let copy = quote!(Self::#ident { #(#names: #froms),* } => Self::#ident { #(#names: #copies),* },);
    // A variant without fields is assigned by the last arm.
    if parts.is_empty() {
        return (copy, quote!());
    }
    let copies_into = parts.iter().zip(froms.iter().zip(&tos)).map(|(part, (from, to))| part.copy_into(from, to));
    let copy_into = quote! {
        (Self::#ident { #(#names: #froms),* }, Self::#ident { #(#names: #tos),* }) => {
            #(#copies_into)*
        }
    };
    (copy, copy_into)
}
