//! Declarations that must compile without warnings: the expansion uses absolute paths.

#![deny(future_incompatible)]

extern crate kubewright_core as renamed;

pub mod adopted;
pub mod declared_kinds;
pub mod deprecated_kind;
pub mod in_a_function;
pub mod many_fields;
pub mod map_keys;
pub mod no_warnings;
pub mod renamed_crate;
pub mod shadowed_names;
pub mod umbrella;
pub mod unsigned_bounds;
pub mod version_names;
