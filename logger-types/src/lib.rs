//! The reference API: group `example.com`. One module a version, one file a kind; generated files live elsewhere.

use logger_core::meta::ApiGroup;

pub mod v1;

/// Every group and version of this crate: what `cargo xtask codegen` generates from.
pub const fn groups() -> &'static [ApiGroup] {
    &[v1::API_GROUP]
}
