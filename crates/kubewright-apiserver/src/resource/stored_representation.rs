//! The conversion of kinds that are stored in the representation of another group or version.

use crate::api::object::Object;

/// Converts objects between the representation of a kind and the stored one.
#[derive(Debug)]
pub(crate) struct Conversion {
    pub(crate) from_storage: fn(&mut Object),
    pub(crate) to_storage: fn(&mut Object),
}
