//! The trait of types that a `group_version!` registers.

use super::{Conflict, Scheme};
use crate::meta;

/// A type that can be listed in a `group_version!`: a kind or a list.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a kind nor a list",
    label = "cannot be listed in `group_version!`",
    note = "derive `ApiObject` on a kind, or `Object` on it and `ObjectList` on its list"
)]
pub trait RootType {
    /// The metadata that its derive declares.
    const META: meta::TypeMeta;

    /// Registers the type.
    ///
    /// # Errors
    /// Another type is registered for its group, version and kind.
    fn add_to_scheme(scheme: &mut Scheme) -> Result<(), Conflict>;
}
