//! `fake.rs`: the fake clientset, which uses an in-memory API server with the definitions of the kinds.

use quote::quote;

use super::source::Source;
use crate::{api::Api, layout::Layout};

/// Path of the definitions below the source directory.
pub(super) const DEFINITIONS: &str = "fake/definitions.yaml";

/// Whether the fake clientset is generated: the package must declare the feature, because it needs the API server.
pub(super) fn is_enabled(layout: &Layout) -> bool {
    layout.features.contains("fake")
}

pub(super) fn sources(api: &Api, layout: &Layout) -> Vec<Source> {
    if !is_enabled(layout) {
        return Vec::new();
    }
    let client = &api.client;
    let items = vec![
        quote! {
            use kubewright_apiserver::{Fake, Fakeable};
            use kubewright_runtime::kube::Client;
        },
        quote! {
            /// The real clientset with a dedicated in-memory API server. `Clientset::new([object, ..])` starts with
            /// these objects, `Clientset::empty()` with none.
            pub type Clientset = Fake<#client::Clientset>;
        },
        quote! {
            impl Fakeable for #client::Clientset {
                const DEFINITIONS: &'static str = include_str!(#DEFINITIONS);

                fn on(client: Client) -> Self {
                    #client::Clientset::new(client)
                }
            }
        },
    ];
    vec![Source::new("fake.rs", "The fake clientset for tests: the real one with an in-memory API server.", items)]
}
