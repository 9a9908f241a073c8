//! Emits the plan of the variants of a spoke type, and the checks of each on its token.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, LitStr, Path, ext::IdentExt};

use super::{
    field::{Emitted, conversion},
    pair::{location, tagging},
};
use crate::{
    attr::convert::ReasonOrReasons,
    emit::{located_at, option},
    model::{ConvertType, ConvertVariant, Payload},
};

/// Emits the items of an enum, and the body of the function that returns its conversion.
pub(super) fn emit(model: &ConvertType, hub: &Path, variants: &[ConvertVariant]) -> (TokenStream, TokenStream) {
    let krate = &model.krate;
    let declared = quote!(<#hub as #krate::conversion::Hub>);
    let tagging = tagging(&model.serde.tagging(), krate);
    let rows = variants.iter().enumerate().map(|(i, variant)| rows(variant, i, model, hub));
    let checks = variants.iter().map(|variant| checks(variant, model, hub));
    let structs = variants.iter().enumerate().map(|(i, variant)| struct_items(variant, i, model, hub));
    let one_to_one = variants.iter().filter(|variant| !variant.is_many_to_one()).map(ConvertVariant::hub_name);
    let stands_for = variants.iter().flat_map(ConvertVariant::stands_for).map(|(name, _)| name.unraw().to_string());
    let covered = one_to_one.chain(stands_for);
    let coverage = located_at(
        quote!(const _: () = #krate::conversion::check::variants(#declared::VARIANTS, &[#(#covered),*]);),
        location(hub),
    );
    let items = quote! {
        #(#structs)*
        const __ENUM: &#krate::conversion::plan::Enum = &#krate::conversion::plan::Enum {
            spoke: #tagging,
            hub: #declared::TAGGING,
            variants: &[#(#rows)*],
        };
        #coverage
        #(#checks)*
    };
    (items, quote!(#krate::conversion::plan::Conversion::Enum(__ENUM)))
}

/// Emits the pairs with this variant, each with a comma.
fn rows(variant: &ConvertVariant, index: usize, model: &ConvertType, hub: &Path) -> TokenStream {
    let (krate, spoke) = (&model.krate, &variant.json);
    let declared = located_at(quote!(<#hub as #krate::conversion::Hub>), variant.ident.span());
    let row = |name: &str, payload: TokenStream, narrows: Option<Ident>, lost: Option<&LitStr>| {
        let narrows = option(narrows.map(|direction| quote!(#krate::conversion::plan::Direction::#direction)));
        let lost = option(lost);
        quote! {
            #krate::conversion::plan::Variant {
                spoke: #spoke,
                hub: #krate::conversion::check::json_name(#declared::VARIANTS, #name),
                payload: #krate::conversion::plan::Payload::#payload,
                narrows: #narrows,
                lost: #lost,
            },
        }
    };
    let counterpart = match (variant.is_many_to_one(), &variant.attr.lost) {
        (true, Some(ReasonOrReasons::Reason(reason))) => {
            row(&variant.hub_name(), quote!(Unit), Some(format_ident!("ToHub")), Some(reason))
        }
        (true, _) => row(&variant.hub_name(), quote!(Unit), Some(format_ident!("ToHub")), None),
        (false, _) => row(&variant.hub_name(), payload(variant, index, model, hub), None, None),
    };
    let others = variant
        .stands_for()
        .into_iter()
        .map(|(name, lost)| row(&name.unraw().to_string(), quote!(Unit), Some(format_ident!("FromHub")), lost));
    std::iter::once(counterpart).chain(others).collect()
}

/// Emits the content.
fn payload(variant: &ConvertVariant, index: usize, model: &ConvertType, hub: &Path) -> TokenStream {
    match &variant.payload {
        Payload::Unit | Payload::Tuple(_) => quote!(Unit),
        Payload::Newtype(field) => {
            let conversion = conversion(model, hub, &prefix(variant), field);
            quote!(Newtype(|| #conversion))
        }
        Payload::Struct(_) => {
            let constant = struct_constant(index);
            quote!(Struct(#constant))
        }
    }
}

/// Returns the prefix of the names of its fields in the hub.
fn prefix(variant: &ConvertVariant) -> String {
    format!("{}.", variant.hub_name())
}

/// Emits the plan of its named fields, with their checks.
fn struct_items(variant: &ConvertVariant, index: usize, model: &ConvertType, hub: &Path) -> TokenStream {
    let Payload::Struct(fields) = &variant.payload else { return TokenStream::new() };
    if variant.is_many_to_one() {
        return TokenStream::new();
    }
    let (krate, constant, name) = (&model.krate, struct_constant(index), variant.hub_name());
    let emitted: Vec<Emitted> = fields.iter().map(|field| Emitted::new(model, hub, &prefix(variant), field)).collect();
    let (plans, checks) = (emitted.iter().map(|field| &field.plan), emitted.iter().map(|field| &field.check));
    let covered = fields.iter().map(|field| format!("{}{}", prefix(variant), field.hub_name()));
    let coverage = quote! {
        const _: () = #krate::conversion::check::variant_fields(
            <#hub as #krate::conversion::Hub>::FIELDS,
            #name,
            &[#(#covered),*],
        );
    };
    let coverage = located_at(coverage, variant.ident.span());
    quote! {
        const #constant: &#krate::conversion::plan::Struct =
            &#krate::conversion::plan::Struct { fields: &[#(#plans),*], hub_only: &[] };
        #coverage
        #(#checks)*
    }
}

/// Emits the checks of the names in the hub.
fn checks(variant: &ConvertVariant, model: &ConvertType, hub: &Path) -> TokenStream {
    let krate = &model.krate;
    let check = |name: &str, is_unit: bool, at: proc_macro2::Span| {
        let declared = quote!(<#hub as #krate::conversion::Hub>::VARIANTS);
        let unit = is_unit.then(|| quote!(#krate::conversion::check::unit_variant(#declared, #name);));
        let check = quote!(const _: () = { #krate::conversion::check::variant(#declared, #name); #unit };);
        located_at(check, at)
    };
    let is_unit = matches!(variant.payload, Payload::Unit) || variant.is_many_to_one();
    let counterpart = check(&variant.hub_name(), is_unit, variant.ident.span());
    let others = variant.stands_for().into_iter().map(|(name, _)| check(&name.unraw().to_string(), false, name.span()));
    std::iter::once(counterpart).chain(others).collect()
}

/// Returns the name of the constant with the fields of a variant.
fn struct_constant(index: usize) -> Ident {
    format_ident!("__VARIANT_{index}")
}
