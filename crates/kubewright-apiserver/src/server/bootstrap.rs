//! Bootstrap objects: the namespaces, system priority classes and control plane objects of every cluster.

pub(crate) mod control_plane;
pub(crate) mod default_roles;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Map, Value, json};

use crate::{
    api::{endpoint::Endpoint, object::Object},
    resource::{
        built_in::SYSTEM_PRIORITIES,
        managed_fields::{self, Author},
        metadata, namespace, priority_class,
        registry::Resource,
    },
    storage::state::State,
};

/// The manager of objects that the server itself creates.
const SERVER: &str = "kube-apiserver";

/// The bootstrap namespaces.
const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Creates the bootstrap objects.
pub(crate) fn create(state: &mut State) {
    create_namespaces(state);
    if let Some(kind) = state.registry.of_resource(priority_class::RESOURCE) {
        SYSTEM_PRIORITIES.iter().for_each(|priority| create_priority(state, &kind, priority));
    }
}

/// Creates an object if it does not exist.
fn create_object(state: &mut State, resource: &str, object: &Value) {
    let (Some(kind), Some(fields)) = (state.registry.of_resource(resource), object.as_object()) else {
        return;
    };
    let Ok(mut object) = Object::from_json(fields.clone()) else {
        return;
    };
    let exists = state.store.get(resource, object.namespace(), object.name()).is_some();
    if exists || kind.default(&mut object.body).is_err() {
        return;
    }
    managed_fields::track(Author { manager: SERVER, kind: &kind, endpoint: &Endpoint::Main }, None, &mut object);
    metadata::fill_system_fields(kind.strategy.generation, &mut object);
    if kind.write(&mut object).is_ok() {
        state.store.put(resource, object);
    }
}

fn create_priority(state: &mut State, kind: &Resource, (name, value, description): &(&str, i64, &str)) {
    let mut class = Object::default();
    class.metadata.name = Some((*name).to_owned());
    class.body.insert("description".to_owned(), json!(description));
    class.body.insert("value".to_owned(), json!(value));
    kind.default_built_in(&mut class.body);
    managed_fields::track(Author::server(kind, &Endpoint::Main), None, &mut class);
    metadata::fill_system_fields(kind.strategy.generation, &mut class);
    state.store.put(priority_class::RESOURCE, class);
}

/// Creates the bootstrap namespaces.
fn create_namespaces(state: &mut State) {
    let kind = Resource::namespace();
    for name in NAMESPACES {
        let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
        let mut namespace = Object::new(metadata, Map::new());
        namespace::default(&mut namespace);
        managed_fields::track(Author::server(&kind, &Endpoint::Main), None, &mut namespace);
        metadata::fill_system_fields(kind.strategy.generation, &mut namespace);
        namespace::prepare_create(&mut namespace);
        state.store.put("namespaces", namespace);
    }
}
