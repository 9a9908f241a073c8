//! Names as the API server validates them: DNS labels and subdomains, label keys, kinds, versions, CEL reserved words,
//! and case conversions.
//!
//! Each rule for names is in this crate and nowhere else. The crate has no dependencies, so that proc macros can use
//! it.

pub mod case;
pub mod cel;
pub mod resource;
pub mod validation;
pub mod version;
