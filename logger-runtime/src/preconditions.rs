//! Preconditions of a deletion: it is this object that is meant, as it was read, and no other.

use kube::Resource;
use kube::api::DeleteParams;

/// What must hold of an object for it to be deleted; otherwise the request is a conflict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    uid: Option<String>,
    resource_version: Option<String>,
}

impl Preconditions {
    /// It is this object, and not one that was made anew under its name.
    pub fn same(object: &impl Resource) -> Self {
        Preconditions { uid: object.meta().uid.clone(), resource_version: None }
    }

    /// It is this object, and nobody changed it since it was read.
    pub fn unchanged(object: &impl Resource) -> Self {
        Preconditions { resource_version: object.meta().resource_version.clone(), ..Self::same(object) }
    }

    /// Deletion under these conditions, otherwise as `params` say.
    pub fn delete(self, params: DeleteParams) -> DeleteParams {
        let Preconditions { uid, resource_version } = self;
        DeleteParams { preconditions: Some(kube::api::Preconditions { uid, resource_version }), ..params }
    }
}
