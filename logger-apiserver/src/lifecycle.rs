//! What storing and deleting an object entails: finalizers, grace periods, namespaces and definitions.

pub(crate) mod commit;
pub(crate) mod definitions;
pub(crate) mod deletion;
pub(crate) mod namespaces;
