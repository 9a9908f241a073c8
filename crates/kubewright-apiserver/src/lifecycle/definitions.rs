//! The effects of stored definitions: accepted names, served kinds, and the deletion of their objects.

mod serving;
mod termination;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinitionStatus;
use serde_json::json;

#[cfg(feature = "data-dir")]
pub(crate) use self::serving::install_all;
pub(crate) use self::{
    serving::{sync, uninstall},
    termination::{finalize, mark_terminating, terminate},
};
use crate::{
    api::{
        endpoint::Endpoint,
        object::{Object, Stored},
    },
    resource::{
        definition::{RESOURCE, set_status, status_of},
        managed_fields::{self, Author},
        registry::Resource,
    },
    storage::state::State,
};

/// Updates the status of a stored definition, as a controller of the server does.
fn update_status(
    state: &mut State,
    definition: &Stored,
    change: impl FnOnce(&mut CustomResourceDefinitionStatus),
) -> Stored {
    let mut updated = Object::clone(definition);
    let mut status = status_of(definition);
    change(&mut status);
    set_status(&mut updated, json!(status));
    let kind = Resource::definition();
    managed_fields::track(Author::server(&kind, &Endpoint::Status), Some(definition), &mut updated);
    managed_fields::ignore_timestamp_changes(&mut updated, definition);
    if updated == **definition { definition.clone() } else { state.store.put(RESOURCE, updated) }
}
