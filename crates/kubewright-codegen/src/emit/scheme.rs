//! `scheme.rs`: registration of the types of every group.

use std::collections::BTreeSet;

use quote::quote;

use super::source::Source;
use crate::api::Api;

pub(super) fn sources(api: &Api) -> Vec<Source> {
    // A module can adopt the kinds of several groups.
    let mut seen = BTreeSet::new();
    let groups = api.groups.iter().filter(|group| seen.insert(group.meta.module));
    let paths = groups.map(|group| &group.path);
    let items = vec![
        quote!(
            use kubewright_core::Scheme;
            use kubewright_core::scheme::Conflict;
        ),
        quote! {
            /// Registers the types of every group.
            ///
            /// # Errors
            /// Another type is already registered for one of their kinds.
            #[inline]
            pub fn add_to_scheme(scheme: &mut Scheme) -> Result<(), Conflict> {
                #(#paths::add_to_scheme(scheme)?;)*
                Ok(())
            }
        },
        quote! {
            /// Returns a scheme with the types of every group.
            ///
            /// # Errors
            /// Two of them have the same group, version and kind.
            #[inline]
            pub fn scheme() -> Result<Scheme, Conflict> {
                let mut scheme = Scheme::new();
                add_to_scheme(&mut scheme)?;
                Ok(scheme)
            }
        },
    ];
    vec![Source::new("scheme.rs", "The scheme: the Rust type of each group, version and kind.", items)]
}
