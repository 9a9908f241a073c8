//! Emits the plan of the fields of a spoke type, and the checks of each on its token.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, ExprLit, Ident, Lit, Path, ext::IdentExt, spanned::Spanned};

use super::pair::{location, name_hash};
use crate::{
    attr::convert::TypeAttr,
    emit::{located_at, option},
    model::{ConvertField, ConvertType},
};

/// Emits the items of a struct, and the body of the function that returns its conversion.
pub(super) fn emit_struct(model: &ConvertType, hub: &Path, fields: &[ConvertField]) -> (TokenStream, TokenStream) {
    let krate = &model.krate;
    let emitted: Vec<Emitted> = fields.iter().map(|field| Emitted::new(model, hub, "", field)).collect();
    let (plans, checks) = (emitted.iter().map(|field| &field.plan), emitted.iter().map(|field| &field.check));
    let hub_only: Vec<HubOnly<'_>> = hub_only(&model.attr);
    let covered =
        fields.iter().map(ConvertField::hub_name).chain(hub_only.iter().map(|field| field.name.unraw().to_string()));
    let (hub_only_plans, hub_only_checks): (Vec<_>, Vec<_>) =
        hub_only.iter().map(|field| field.emit(krate, hub)).unzip();
    let coverage = quote! {
        const _: () = #krate::conversion::check::fields(<#hub as #krate::conversion::Hub>::FIELDS, &[#(#covered),*]);
    };
    let coverage = located_at(coverage, location(hub));
    let items = quote! {
        const __STRUCT: &#krate::conversion::plan::Struct = &#krate::conversion::plan::Struct {
            fields: &[#(#plans),*],
            hub_only: &[#(#hub_only_plans),*],
        };
        #coverage
        #(#checks)*
        #(#hub_only_checks)*
    };
    (items, quote!(#krate::conversion::plan::Conversion::Struct(__STRUCT)))
}

/// Emits the body of the function that returns the conversion of a newtype.
pub(super) fn emit_newtype(model: &ConvertType, hub: &Path, field: &ConvertField) -> (TokenStream, TokenStream) {
    let krate = &model.krate;
    let coverage = quote! {
        const _: () = #krate::conversion::check::fields(<#hub as #krate::conversion::Hub>::FIELDS, &["0"]);
    };
    (located_at(coverage, location(hub)), conversion(model, hub, "", field))
}

/// A field as a plan and the check of its counterpart.
pub(super) struct Emitted {
    pub(super) plan: TokenStream,
    pub(super) check: TokenStream,
}

impl Emitted {
    /// Emits a field of the struct, or of the variant with this prefix in the hub.
    pub(super) fn new(model: &ConvertType, hub: &Path, prefix: &str, field: &ConvertField) -> Self {
        let (krate, json, ty, flatten, keys) = (&model.krate, &field.json, &field.ty, field.flatten, &field.keys);
        let hash = hash(prefix, field);
        let (absent, has_default) = (field.may_be_absent, field.attr.default.is_some());
        // A field that the hub does not have is an error of the check only.
        let probe = quote!(#krate::conversion::Probe::<#hub, #hash>);
        let check = match field.may_be_spoke_only() {
            true => quote!(stored(#absent, #probe::MAY_BE_ABSENT, #has_default)),
            false => quote!(pair::<#hub, #hash>(#absent, #flatten, #has_default)),
        };
        let hub_json = located_at(quote!(#probe::JSON), field.span);
        let check = located_at(quote!(const _: () = #krate::conversion::check::#check;), field.span);
        let conversion = conversion_of_pair(model, hub, &hash, field, &quote!(#probe::NEW.pair::<#ty>()));
        let default = field.attr.default.as_ref().map(|default| match field.may_be_absent {
            true => {
                let ty = located_at(quote!(<#hub as #krate::conversion::HubField<#hash>>::Value), field.span);
                let value = default_value(krate, &ty, &default.0);
                quote!(hub_default: ::core::option::Option::Some(#value),)
            }
            false => {
                let value = default_value(krate, &field.ty, &default.0);
                quote!(spoke_default: ::core::option::Option::Some(#value),)
            }
        });
        let lost = field.attr.lost.as_ref().map(|reason| {
            let reason = &reason.0;
            quote!(lost: ::core::option::Option::Some(#reason),)
        });
        let plan = quote! {
            #krate::conversion::plan::Field {
                spoke: #json,
                hub: #hub_json,
                conversion: || #conversion,
                flatten: #flatten,
                keys: &[#(#keys),*],
                #default
                #lost
                ..#krate::conversion::plan::Field::DEFAULT
            }
        };
        Emitted { plan, check }
    }
}

/// Emits the conversion of a field without a check: it is an error if the hub does not have the field.
pub(super) fn conversion(model: &ConvertType, hub: &Path, prefix: &str, field: &ConvertField) -> TokenStream {
    let (krate, ty, hash) = (&model.krate, &field.ty, hash(prefix, field));
    let hub_ty = quote!(<#hub as #krate::conversion::HubField<#hash>>::Value);
    let pair = quote!(#krate::conversion::Pair::<#ty, #krate::conversion::Is<#hub_ty>>::NEW);
    conversion_of_pair(model, hub, &hash, field, &pair)
}

/// Emits the conversion of a field, by its functions or by the comparison of its types.
fn conversion_of_pair(
    model: &ConvertType,
    hub: &Path,
    hash: &Literal,
    field: &ConvertField,
    pair: &TokenStream,
) -> TokenStream {
    let (krate, ty) = (&model.krate, &field.ty);
    if let Some(module) = &field.attr.with {
        let module = &module.0;
        let hub_ty = quote!(<#hub as #krate::conversion::HubField<#hash>>::Value);
        let to_hub = located_at(quote!(#krate::conversion::call::<#ty, #hub_ty>), field.span);
        let from_hub = located_at(quote!(#krate::conversion::call::<#hub_ty, #ty>), field.span);
        let (to, from) = (quote_spanned!(location(module)=> to_hub), quote_spanned!(location(module)=> from_hub));
        return quote! {
            #krate::conversion::plan::Conversion::Functions {
                to_hub: |value| #to_hub(#module::#to, value),
                from_hub: |value| #from_hub(#module::#from, value),
            }
        };
    }
    if field.flatten {
        return located_at(quote!(#krate::conversion::flattened(#pair.exact())), field.span);
    }
    let is_lossy = field.may_be_spoke_only() || field.attr.store.is_some() || field.attr.lost.is_some();
    let comparison = if is_lossy { quote!(#pair.lossy()) } else { quote!(#pair.exact()) };
    located_at(quote!(#krate::conversion::conversion_of(#comparison)), field.span)
}

/// Returns the hash of the name of the field in the hub.
fn hash(prefix: &str, field: &ConvertField) -> Literal {
    name_hash(&format!("{prefix}{}", field.hub_name()))
}

/// Emits the function that returns a default of this type as JSON.
fn default_value(krate: &TokenStream, ty: &impl ToTokens, value: &Expr) -> TokenStream {
    let value = match value {
        Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) | Expr::Path(_) => {
            let at = value.span().resolved_at(Span::call_site());
            quote_spanned!(at=> <_ as ::core::convert::Into<#ty>>::into(#value))
        }
        other => other.to_token_stream(),
    };
    quote!(|| #krate::conversion::value_of::<#ty>(&(#value)))
}

/// A field of the hub that the spoke does not have.
struct HubOnly<'a> {
    name: &'a Ident,
    default: Option<&'a Expr>,
    lost: Option<&'a syn::LitStr>,
}

/// Returns the fields of the hub that the keys of the type list, each once.
fn hub_only(attr: &TypeAttr) -> Vec<HubOnly<'_>> {
    let stored = attr.store.iter().flat_map(|names| &names.0);
    let lost = || attr.lost.iter().flat_map(|reasons| &reasons.0);
    let defaults = || attr.default.iter().flat_map(|defaults| &defaults.0);
    let names = stored.chain(lost().map(|(name, _)| name)).chain(defaults().map(|(name, _)| name));
    let mut all: Vec<HubOnly<'_>> = Vec::new();
    for name in names {
        if all.iter().all(|field| field.name != name) {
            let default = defaults().find(|(declared, _)| declared == name).map(|(_, value)| value);
            let lost = lost().find(|(declared, _)| declared == name).map(|(_, reason)| reason);
            all.push(HubOnly { name, default, lost });
        }
    }
    all
}

impl HubOnly<'_> {
    /// Emits the plan and the check of the field.
    fn emit(&self, krate: &TokenStream, hub: &Path) -> (TokenStream, TokenStream) {
        let (hash, at) = (name_hash(&self.name.unraw().to_string()), self.name.span());
        let has_default = self.default.is_some();
        let field = quote!(<#hub as #krate::conversion::HubField<#hash>>);
        let (name, ty) = (located_at(quote!(#field::JSON), at), located_at(quote!(#field::Value), at));
        let default = option(self.default.map(|value| default_value(krate, &ty, value)));
        let lost = option(self.lost);
        let plan = quote! {
            #krate::conversion::plan::HubOnly { name: #name, default: #default, lost: #lost }
        };
        let check = quote!(const _: () = #krate::conversion::check::hub_only::<#hub, #hash>(#has_default););
        (plan, located_at(check, at))
    }
}
