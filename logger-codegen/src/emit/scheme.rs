//! `scheme.rs`: the types of every group.

use std::collections::BTreeSet;

use quote::quote;

use super::Source;
use crate::api::Api;

pub(super) fn sources(api: &Api) -> Vec<Source> {
    // One module may adopt the kinds of several groups.
    let mut seen = BTreeSet::new();
    let groups = api.groups.iter().filter(|group| seen.insert(group.meta.module));
    let paths = groups.map(|group| group.path());
    let items = vec![
        quote!(
            use logger_core::Scheme;
            use logger_core::scheme::Conflict;
        ),
        quote! {
            /// Registers the types of every group.
            ///
            /// # Errors
            /// Another type is registered under one of their names.
            pub fn add_to_scheme(scheme: &mut Scheme) -> Result<(), Conflict> {
                #(#paths::add_to_scheme(scheme)?;)*
                Ok(())
            }
        },
        quote! {
            /// A scheme that knows the types of every group, and no others.
            ///
            /// # Errors
            /// Two of them claim the same group, version and kind.
            pub fn scheme() -> Result<Scheme, Conflict> {
                let mut scheme = Scheme::new();
                add_to_scheme(&mut scheme)?;
                Ok(scheme)
            }
        },
    ];
    vec![("scheme.rs".to_owned(), "The scheme: which Rust type each group, version and kind is.".to_owned(), items)]
}
