//! `fake.rs`: the clientset on an API server in memory, with the definitions that server needs.

use quote::quote;

use super::Source;
use crate::Layout;

/// Where the definitions stand, below the sources.
pub(super) const DEFINITIONS: &str = "fake/definitions.yaml";

/// Only a package that declares the feature has the server to stand on.
pub(super) fn is_wanted(layout: &Layout) -> bool {
    layout.features.contains("fake")
}

pub(super) fn sources(layout: &Layout) -> Vec<Source> {
    if !is_wanted(layout) {
        return Vec::new();
    }
    let items = vec![
        quote! {
            use logger_apiserver::fake::{Fake, Fakeable};
            use logger_runtime::kube::Client;
        },
        quote! {
            /// The real clientset, on an API server of its own, in memory:
            /// `Clientset::new([object, ..])` begins with these objects, `Clientset::empty()` with none.
            pub type Clientset = Fake<crate::Clientset>;
        },
        quote! {
            impl Fakeable for crate::Clientset {
                const DEFINITIONS: &'static str = include_str!(#DEFINITIONS);

                fn on(client: Client) -> Self {
                    crate::Clientset::new(client)
                }
            }
        },
    ];
    vec![(
        "fake.rs".to_owned(),
        "The fake clientset, for tests: the real one, on an API server in memory.".to_owned(),
        items,
    )]
}
