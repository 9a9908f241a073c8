//! The effects of storing and deleting objects: finalizers, grace periods, namespaces and definitions.

pub(crate) mod commit;
pub(crate) mod definitions;
pub(crate) mod deletion;
pub(crate) mod namespaces;
pub(crate) mod quotas;
