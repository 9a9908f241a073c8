//! The objects that tokens are bound to, for unit tests.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    api::object::{Object, Stored},
    resource::strategy::Objects,
};

/// Objects in any namespace.
#[derive(Default)]
pub(super) struct Existing(Vec<(&'static str, Stored)>);

impl Existing {
    /// Adds an object whose UID is composed of its resource and its name.
    pub(super) fn with(mut self, resource: &'static str, name: &str, deletion: Option<i64>) -> Self {
        let deletion = deletion.map(|second| json!(Timestamp::from_second(second).unwrap()));
        let metadata = json!({ "name": name, "uid": format!("{resource}-{name}"), "deletionTimestamp": deletion });
        let Value::Object(fields) = json!({ "metadata": metadata }) else { panic!("an object") };
        self.0.push((resource, Arc::new(Object::from_json(fields).unwrap())));
        self
    }
}

impl Objects for Existing {
    fn get(&self, resource: &str, _: &str, name: &str) -> Option<Stored> {
        let mut found = self.0.iter().filter(|(other, object)| *other == resource && object.name() == name);
        found.next().map(|(_, object)| object.clone())
    }

    fn list(&self, _: &str, _: Option<&str>) -> Vec<Stored> {
        Vec::new()
    }
}
