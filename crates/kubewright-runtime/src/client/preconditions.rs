//! Preconditions of a deletion, as in apimachinery: the UID and the resource version that the object must have.

use kube::{Resource, api::DeleteParams};

/// Conditions that an object must meet to be deleted. If it does not meet them, the request is a conflict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    uid: Option<String>,
    resource_version: Option<String>,
}

impl Preconditions {
    /// Requires the UID of this object: an object that was recreated under the same name is not deleted.
    pub fn uid(object: &impl Resource) -> Self {
        Preconditions { uid: object.meta().uid.clone(), resource_version: None }
    }

    /// Requires the UID and the resource version of this object: an object that was changed since is not deleted.
    pub fn uid_and_resource_version(object: &impl Resource) -> Self {
        Preconditions { resource_version: object.meta().resource_version.clone(), ..Self::uid(object) }
    }

    /// Returns the parameters of a deletion with these preconditions.
    pub fn apply_to(self, params: DeleteParams) -> DeleteParams {
        let Preconditions { uid, resource_version } = self;
        DeleteParams { preconditions: Some(kube::api::Preconditions { uid, resource_version }), ..params }
    }
}
