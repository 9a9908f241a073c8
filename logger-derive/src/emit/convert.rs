//! Emits the conversion of a type between versions as data, and its checks as constants.
//!
//! A type of the hub declares its fields, each as an impl of `HubField` for a hash of its name. A type of a spoke
//! declares a plan, which refers to the fields of the hub by these hashes: their types and JSON names are not known to
//! the macro. Types are compared by rustc, names by `const` functions of `kubewright_core::conversion::check`.

mod field;
mod hub;
mod pair;
mod variants;

use proc_macro2::TokenStream;
use quote::quote;
use syn::Path;

use super::in_const_block;
use crate::{
    attr::convert::HubKey,
    model::{ConvertBody, ConvertType},
};

/// Emits the impls of a type; those of a rejected one have no bodies.
pub(crate) fn emit(model: &ConvertType, is_rejected: bool) -> TokenStream {
    let items = match (&model.attr.hub, is_rejected) {
        (Some(HubKey::Itself), _) => hub::emit(model),
        (Some(HubKey::Type(hub)), false) => emit_spoke(model, hub),
        (Some(HubKey::Type(hub)), true) => placeholder(model, hub),
        (None, _) => TokenStream::new(),
    };
    in_const_block(items)
}

/// Emits the impls of a type of a spoke.
fn emit_spoke(model: &ConvertType, hub: &Path) -> TokenStream {
    let (ident, krate) = (&model.ident, &model.krate);
    let (items, conversion) = match &model.body {
        ConvertBody::Struct(fields) => field::emit_struct(model, hub, fields),
        ConvertBody::Newtype(field) => field::emit_newtype(model, hub, field),
        ConvertBody::Enum(variants) => variants::emit(model, hub, variants),
        ConvertBody::Skipped | ConvertBody::Tuple | ConvertBody::Union => return TokenStream::new(),
    };
    let impls = spoke_impls(model, hub, &conversion);
    let flattens = matches!(model.body, ConvertBody::Struct(_))
        .then(|| quote!(#[automatically_derived] impl #krate::conversion::Flattens for #ident {}));
    let versions = quote! {
        [#krate::conversion::Root::<#ident>::GROUP_VERSION, #krate::conversion::Root::<#hub>::GROUP_VERSION]
    };
    quote! {
        #[allow(unused_imports)]
        use #krate::conversion::{NoCounterpart as _, NotRegistered as _, OtherPair as _};

        #items
        #impls
        #flattens

        #[automatically_derived]
        impl ::core::convert::TryFrom<#ident> for #hub {
            type Error = #krate::conversion::ConversionError;
            fn try_from(spoke: #ident) -> ::core::result::Result<Self, Self::Error> {
                #krate::conversion::to_hub::<#ident, #hub>(&spoke, #versions)
            }
        }

        #[automatically_derived]
        impl ::core::convert::TryFrom<#hub> for #ident {
            type Error = #krate::conversion::ConversionError;
            fn try_from(hub: #hub) -> ::core::result::Result<Self, Self::Error> {
                #krate::conversion::from_hub::<#ident, #hub>(&hub, #versions)
            }
        }
    }
}

/// Emits the impls for a spoke that other types refer to.
fn spoke_impls(model: &ConvertType, hub: &Path, conversion: &TokenStream) -> TokenStream {
    let (ident, krate) = (&model.ident, &model.krate);
    quote! {
        #[automatically_derived]
        impl #krate::conversion::Spoke for #ident {
            type Hub = #hub;
        }

        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        impl #krate::conversion::ConvertTo<#hub> for #ident {
            fn conversion() -> #krate::conversion::plan::Conversion {
                #conversion
            }
        }

        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        impl #krate::conversion::Narrows<#hub> for #ident {
            fn narrowing() -> #krate::conversion::plan::Conversion {
                <Self as #krate::conversion::ConvertTo<#hub>>::conversion()
            }
        }
    }
}

/// Emits the impls of a rejected type without bodies, to prevent follow-up errors in types that contain it.
fn placeholder(model: &ConvertType, hub: &Path) -> TokenStream {
    spoke_impls(model, hub, &quote!(::core::unreachable!()))
}
