//! The API of gadgets.

use kubewright_core::meta::ApiGroup;

pub mod v1;

/// Returns every group and version of this crate.
pub const fn groups() -> &'static [ApiGroup] {
    &[v1::API_GROUP]
}
