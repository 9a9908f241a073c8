//! What `/ephemeralcontainers` of a pod changes: all other changes are dropped (`dropNonEphemeralContainerUpdates`).

use serde_json::Value;

use crate::api::{
    endpoint::{Endpoint, PodSubresource},
    object::Object,
};

const EPHEMERAL_CONTAINERS: &str = "ephemeralContainers";

/// Restores what an update of a pod at an endpoint does not change. Other endpoints change nothing here.
pub(crate) fn drop_other_changes(endpoint: &Endpoint, new: &mut Object, old: &Object) {
    if *endpoint == Endpoint::Pod(PodSubresource::EphemeralContainers) {
        drop_all_but_ephemeral_containers(new, old);
    }
}

fn drop_all_but_ephemeral_containers(new: &mut Object, old: &Object) {
    let containers = new.body.get_mut("spec").and_then(|spec| spec.get_mut(EPHEMERAL_CONTAINERS)).map(Value::take);
    restore(new, old);
    if let Some(Value::Object(spec)) = new.body.get_mut("spec") {
        match containers.filter(|containers| !containers.is_null()) {
            Some(containers) => spec.insert(EPHEMERAL_CONTAINERS.to_owned(), containers),
            None => spec.remove(EPHEMERAL_CONTAINERS),
        };
    }
}

/// Restores the spec, the status and the metadata apart from the managed fields.
fn restore(new: &mut Object, old: &Object) {
    let managed_fields = new.metadata.managed_fields.take();
    let version = new.metadata.resource_version.take();
    new.metadata = old.metadata.clone();
    new.metadata.managed_fields = managed_fields;
    new.metadata.resource_version = version;
    new.body.clone_from(&old.body);
}
