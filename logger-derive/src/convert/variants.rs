//! Emits the plan of the variants of a spoke type, and the checks of each on its token.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, LitStr, Path, ext::IdentExt};

use super::{
    field::{Emitted, conversion},
    location,
    model::{ConvertType, ConvertVariant, Payload},
};
use crate::{
    apply::located_at,
    attr::convert::{ReasonOrReasons, WordOrNames},
};

/// Emits the items of an enum, and the body of the function that returns its conversion.
pub(super) fn emit(of: &ConvertType, hub: &Path, variants: &[ConvertVariant]) -> (TokenStream, TokenStream) {
    let krate = &of.krate;
    let declared = quote!(<#hub as #krate::conversion::Hub>);
    let tagging = of.json.tagging.emit(krate);
    let rows = variants.iter().enumerate().map(|(i, variant)| variant.rows(i, of, hub));
    let checks = variants.iter().map(|variant| variant.checks(of, hub));
    let structs = variants.iter().enumerate().map(|(i, variant)| variant.struct_items(i, of, hub));
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

impl ConvertVariant {
    /// Whether the hub has one variant for this and another variant of the spoke.
    pub(super) fn is_many_to_one(&self) -> bool {
        matches!(self.attr.store, Some(WordOrNames::Word)) || matches!(self.attr.lost, Some(ReasonOrReasons::Reason(_)))
    }

    /// Returns the variants of the hub that the spoke shows as this one, with the reasons why they are lost.
    pub(super) fn stands_for(&self) -> Vec<(&Ident, Option<&LitStr>)> {
        let stored = match &self.attr.store {
            Some(WordOrNames::Names(names)) => names.iter().map(|name| (name, None)).collect(),
            _ => Vec::new(),
        };
        let lost = match &self.attr.lost {
            Some(ReasonOrReasons::Reasons(reasons)) => {
                reasons.iter().map(|(name, reason)| (name, Some(reason))).collect()
            }
            _ => Vec::new(),
        };
        [stored, lost].concat()
    }

    /// Emits the pairs with this variant, each with a comma.
    fn rows(&self, index: usize, of: &ConvertType, hub: &Path) -> TokenStream {
        let (krate, spoke) = (&of.krate, &self.json);
        let declared = located_at(quote!(<#hub as #krate::conversion::Hub>), self.ident.span());
        let row = |name: &str, payload: TokenStream, narrows: Option<Ident>, lost: Option<&LitStr>| {
            let narrows = match narrows {
                Some(direction) => {
                    quote!(::core::option::Option::Some(#krate::conversion::plan::Direction::#direction))
                }
                None => quote!(::core::option::Option::None),
            };
            let lost = match lost {
                Some(reason) => quote!(::core::option::Option::Some(#reason)),
                None => quote!(::core::option::Option::None),
            };
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
        let own = match (self.is_many_to_one(), &self.attr.lost) {
            (true, Some(ReasonOrReasons::Reason(reason))) => {
                row(&self.hub_name(), quote!(Unit), Some(format_ident!("ToHub")), Some(reason))
            }
            (true, _) => row(&self.hub_name(), quote!(Unit), Some(format_ident!("ToHub")), None),
            (false, _) => row(&self.hub_name(), self.payload(index, of, hub), None, None),
        };
        let others = self
            .stands_for()
            .into_iter()
            .map(|(name, lost)| row(&name.unraw().to_string(), quote!(Unit), Some(format_ident!("FromHub")), lost));
        std::iter::once(own).chain(others).collect()
    }

    /// Emits the content.
    fn payload(&self, index: usize, of: &ConvertType, hub: &Path) -> TokenStream {
        match &self.payload {
            Payload::Unit => quote!(Unit),
            Payload::Newtype(field) => {
                let conversion = conversion(of, hub, &self.prefix(), field);
                quote!(Newtype(|| #conversion))
            }
            Payload::Struct(_) => {
                let constant = struct_constant(index);
                quote!(Struct(#constant))
            }
        }
    }

    /// Returns the prefix of the names of its fields in the hub.
    fn prefix(&self) -> String {
        format!("{}.", self.hub_name())
    }

    /// Emits the plan of its named fields, with their checks.
    fn struct_items(&self, index: usize, of: &ConvertType, hub: &Path) -> TokenStream {
        let Payload::Struct(fields) = &self.payload else { return TokenStream::new() };
        if self.is_many_to_one() {
            return TokenStream::new();
        }
        let (krate, constant, name) = (&of.krate, struct_constant(index), self.hub_name());
        let emitted: Vec<Emitted> = fields.iter().map(|field| Emitted::new(of, hub, &self.prefix(), field)).collect();
        let (plans, checks) = (emitted.iter().map(|field| &field.plan), emitted.iter().map(|field| &field.check));
        let covered = fields.iter().map(|field| format!("{}{}", self.prefix(), field.hub_name()));
        let coverage = quote! {
            const _: () = #krate::conversion::check::variant_fields(
                <#hub as #krate::conversion::Hub>::FIELDS,
                #name,
                &[#(#covered),*],
            );
        };
        let coverage = located_at(coverage, self.ident.span());
        quote! {
            const #constant: &#krate::conversion::plan::Struct =
                &#krate::conversion::plan::Struct { fields: &[#(#plans),*], hub_only: &[] };
            #coverage
            #(#checks)*
        }
    }

    /// Emits the checks of the names in the hub.
    fn checks(&self, of: &ConvertType, hub: &Path) -> TokenStream {
        let krate = &of.krate;
        let check = |name: &str, is_unit: bool, at: proc_macro2::Span| {
            let declared = quote!(<#hub as #krate::conversion::Hub>::VARIANTS);
            let unit = is_unit.then(|| quote!(#krate::conversion::check::unit_variant(#declared, #name);));
            let check = quote!(const _: () = { #krate::conversion::check::variant(#declared, #name); #unit };);
            located_at(check, at)
        };
        let is_unit = matches!(self.payload, Payload::Unit) || self.is_many_to_one();
        let own = check(&self.hub_name(), is_unit, self.ident.span());
        let others =
            self.stands_for().into_iter().map(|(name, _)| check(&name.unraw().to_string(), false, name.span()));
        std::iter::once(own).chain(others).collect()
    }
}

/// Returns the name of the constant with the fields of a variant.
fn struct_constant(index: usize) -> Ident {
    format_ident!("__VARIANT_{index}")
}
