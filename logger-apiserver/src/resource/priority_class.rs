//! Priority classes of the system.

use crate::{
    api::{
        error::{ApiError, Result},
        kind::Kind,
    },
    resource::built_in::SYSTEM_PRIORITIES,
};

/// The resource of priority classes.
pub(crate) const RESOURCE: &str = "priorityclasses.scheduling.k8s.io";

/// The priorities of the system stay.
pub(crate) fn check_mortal(kind: &Kind, name: &str) -> Result<()> {
    if SYSTEM_PRIORITIES.iter().any(|(own, ..)| *own == name) {
        return Err(ApiError::forbidden(kind, name, "this is a system priority class and cannot be deleted"));
    }
    Ok(())
}
