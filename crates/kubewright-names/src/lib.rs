//! Names as the API server validates them: DNS labels and subdomains, label keys, kinds, versions, CEL reserved words;
//! verbs, case conversions, and the private keywords of schemas.
//!
//! Each rule for names is in this crate and nowhere else. Without the feature `manifest` the crate has no
//! dependencies.

pub mod case;
pub mod cel;
pub mod extension;
#[cfg(feature = "manifest")]
pub mod manifest;
pub mod resource;
pub mod validation;
pub mod verb;
pub mod version;
