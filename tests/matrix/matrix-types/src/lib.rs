//! The matrix: a kind for each scope, status and choice of verbs, and kinds with every extension method.

use renamed::core::meta::ApiGroup;

mod table;
pub mod v1;

#[doc(hidden)]
pub use pastey::paste;

/// Every group and version of this crate.
pub const fn groups() -> &'static [ApiGroup] {
    &[v1::API_GROUP]
}
