//! The reference API: group `example.com`, with one module per version and one file per kind. It contains no generated
//! files.

use kubewright::core::meta::ApiGroup;

pub mod duration;
pub mod v1;
pub mod v2;

/// Returns all groups and versions of this crate, the input of `cargo xtask codegen`.
pub const fn groups() -> &'static [ApiGroup] {
    &[v1::API_GROUP, v2::API_GROUP]
}
