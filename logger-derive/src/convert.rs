//! `#[derive(Convert)]`: emits the conversion of a type between versions as data, and its checks as constants.
//!
//! A type of the hub declares its fields, each as an impl of `HubField` for a hash of its name. A type of a spoke
//! declares a plan, which refers to the fields of the hub by these hashes: their types and JSON names are not known to
//! the macro. Types are compared by rustc, names by `const` functions of `kubewright_core::conversion::check`.

mod check;
mod field;
mod hub;
mod model;
mod variants;

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote;
use syn::{DeriveInput, Path, spanned::Spanned};

use crate::{
    attr::convert::HubKey,
    errors::{Errors, Expanded},
};
use model::{Body, ConvertType};

/// Expands `#[derive(Convert)]`. All errors are reported at once.
pub(crate) fn derive(input: &DeriveInput, krate: &TokenStream) -> Expanded {
    let mut errors = Errors::default();
    let Some(of) = ConvertType::parse(input, krate, &mut errors) else {
        return Expanded { errors, items: TokenStream::new() };
    };
    check::check(&of, &mut errors);
    let is_rejected = !errors.is_empty();
    let items = match (&of.attr.hub, is_rejected) {
        (Some(HubKey::Itself), _) => hub::emit(&of),
        (Some(HubKey::Type(hub)), false) => emit_spoke(&of, hub),
        (Some(HubKey::Type(hub)), true) => placeholder(&of, hub),
        (None, _) => TokenStream::new(),
    };
    // The impls of a deprecated type must not warn about its use.
    let items = quote! {
        #[allow(deprecated)]
        const _: () = { #items };
    };
    Expanded { errors, items }
}

/// Returns the hash of the name of a field, FNV-1a, which stands for the name in types.
fn name_hash(name: &str) -> Literal {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    Literal::u64_suffixed(name.bytes().fold(0xcbf2_9ce4_8422_2325, add))
}

/// Returns the location of a path in messages: that of its last segment.
fn location(path: &Path) -> Span {
    path.segments.last().map_or_else(|| path.span(), |last| last.ident.span())
}

/// Emits the impls of a type of a spoke.
fn emit_spoke(of: &ConvertType, hub: &Path) -> TokenStream {
    let (ident, krate) = (&of.ident, &of.krate);
    let (items, conversion) = match &of.body {
        Body::Struct(fields) => field::emit_struct(of, hub, fields),
        Body::Newtype(field) => field::emit_newtype(of, hub, field),
        Body::Enum(variants) => variants::emit(of, hub, variants),
    };
    let impls = spoke_impls(of, hub, &conversion);
    let flattens = matches!(of.body, Body::Struct(_))
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
fn spoke_impls(of: &ConvertType, hub: &Path, conversion: &TokenStream) -> TokenStream {
    let (ident, krate) = (&of.ident, &of.krate);
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
fn placeholder(of: &ConvertType, hub: &Path) -> TokenStream {
    spoke_impls(of, hub, &quote!(::core::unreachable!()))
}
