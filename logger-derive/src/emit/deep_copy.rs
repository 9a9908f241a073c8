//! Emits a field-by-field copy.

use kubewright_names::case::snake_case;
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Generics, Ident, Path, spanned::Spanned};

use crate::model::{CopiedBody, CopiedField, CopiedType};

/// Emits the impl of `DeepCopy`, and the methods that copy the value as a trait object.
pub(crate) fn emit(model: &CopiedType) -> TokenStream {
    let CopiedType { ident, krate, traits, .. } = model;
    let (copy, copy_into) = match &model.body {
        CopiedBody::Struct(fields) => struct_bodies(fields, krate),
        CopiedBody::Enum(variants) => enum_bodies(variants, krate),
        CopiedBody::Union => (quote!(::core::unreachable!()), quote!()),
    };
    let generics = bounded(&model.generics, krate);
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let methods = traits.iter().map(|path| trait_object_method(path, krate));
    let methods =
        (!traits.is_empty()).then(|| quote!(impl #impl_generics #ident #ty_generics #where_clause { #(#methods)* }));
    quote! {
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
        #methods
    }
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

/// Emits a copy of the value that the expression refers to.
fn copy(field: &CopiedField, krate: &TokenStream, from: impl ToTokens) -> TokenStream {
    let copy = match field.clone {
        true => call(field, &quote!(::core::clone::Clone), "clone"),
        false => call(field, &quote!(#krate::DeepCopy), "deep_copy"),
    };
    quote!(#copy(#from))
}

/// Emits a copy into the value that the other expression refers to.
fn copy_into(field: &CopiedField, krate: &TokenStream, from: impl ToTokens, to: impl ToTokens) -> TokenStream {
    match field.clone {
        true => {
            let clone_from = call(field, &quote!(::core::clone::Clone), "clone_from");
            quote!(#clone_from(#to, #from);)
        }
        false => {
            let copy_into = call(field, &quote!(#krate::DeepCopy), "deep_copy_into");
            quote!(#copy_into(#from, #to);)
        }
    }
}

/// Emits the method with the span of the field's type, on which rustc reports a missing impl.
fn call(field: &CopiedField, copied_by: &TokenStream, method: &str) -> TokenStream {
    let (ty, span) = (&field.ty, field.ty.span());
    let method = Ident::new(method, span);
    quote_spanned!(span=> <#ty as #copied_by>::#method)
}

/// Emits the bodies of `deep_copy` and `deep_copy_into` of a struct.
fn struct_bodies(parts: &[CopiedField], krate: &TokenStream) -> (TokenStream, TokenStream) {
    let copies = parts.iter().map(|part| {
        let member = &part.member;
        let copy = copy(part, krate, quote!(&self.#member));
        quote!(#member: #copy)
    });
    let copies_into = parts.iter().map(|part| {
        let member = &part.member;
        copy_into(part, krate, quote!(&self.#member), quote!(&mut target.#member))
    });
    let copy = quote!(Self { #(#copies),* });
    match parts.is_empty() {
        true => (copy, quote!(let _ = target;)),
        false => (copy, quote!(#(#copies_into)*)),
    }
}

/// Emits the same bodies of an enum, which copies in place if both values have the same variant.
fn enum_bodies(variants: &[(Ident, Vec<CopiedField>)], krate: &TokenStream) -> (TokenStream, TokenStream) {
    let variants = variants.iter().map(|(ident, fields)| variant_arms(ident, fields, krate));
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

fn variant_arms(ident: &Ident, parts: &[CopiedField], krate: &TokenStream) -> (TokenStream, TokenStream) {
    let froms: Vec<_> = (0..parts.len()).map(|i| format_ident!("from_{i}")).collect();
    let tos: Vec<_> = (0..parts.len()).map(|i| format_ident!("to_{i}")).collect();
    let names: Vec<_> = parts.iter().map(|part| &part.member).collect();
    let copies = parts.iter().zip(&froms).map(|(part, from)| copy(part, krate, from));
    let copy = quote!(Self::#ident { #(#names: #froms),* } => Self::#ident { #(#names: #copies),* },);
    // A variant without fields is assigned by the last arm.
    if parts.is_empty() {
        return (copy, quote!());
    }
    let copies_into =
        parts.iter().zip(froms.iter().zip(&tos)).map(|(part, (from, to))| copy_into(part, krate, from, to));
    let copy_into = quote! {
        (Self::#ident { #(#names: #froms),* }, Self::#ident { #(#names: #tos),* }) => {
            #(#copies_into)*
        }
    };
    (copy, copy_into)
}
