//! Emits how the API server converts objects between the versions of a kind.

use proc_macro2::TokenStream;
use quote::quote;

use super::option;
use crate::{attr::k8s::Conversion, model::Kind};

/// Emits the conversion of the definition, an `Option`.
pub(super) fn emit(kind: &Kind) -> TokenStream {
    let krate = &kind.root.krate;
    let declared = kind.k8s.conversion.as_ref();
    let conversion = match declared {
        Some(Conversion { none: Some(reason), .. }) => Some(quote!(#krate::meta::Conversion::None { reason: #reason })),
        Some(Conversion { service: Some(service), namespace: Some(namespace), path, port, .. }) => {
            let port = port.as_ref().and_then(|port| port.base10_parse::<u16>().ok());
            let (path, port) = (option(path.as_ref()), option(port));
            Some(quote! {
                #krate::meta::Conversion::Service {
                    name: #service,
                    namespace: #namespace,
                    path: #path,
                    port: #port,
                }
            })
        }
        _ => (declared.is_some() || kind.converts).then(|| quote!(#krate::meta::Conversion::Webhook)),
    };
    option(conversion)
}
