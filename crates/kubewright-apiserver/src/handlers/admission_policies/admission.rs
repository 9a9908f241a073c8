//! A write that policies admit, and the values of the variables of their expressions.

use std::{borrow::Cow, sync::Arc};

use serde_json::{Value, json};

use crate::{
    api::{
        endpoint::Endpoint,
        error::{ApiError, Result},
        object::Object,
    },
    controllers::controlled_state::ControlledState,
    handlers::request::ResourceRequest,
    resource::registry::Resource,
};

/// The group of policies and their bindings.
pub(super) const GROUP: &str = "admissionregistration.k8s.io";

/// An operation on an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

impl Operation {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// A write: its object in the version of the request, and the object before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Admission<'a> {
    pub(super) request: &'a ResourceRequest,
    pub(super) operation: Operation,
    /// The object after the write; `None` for a deletion.
    pub(super) object: Option<&'a Object>,
    /// The object before the write; `None` for a creation.
    pub(super) old: Option<&'a Object>,
    pub(super) dry_run: bool,
}

impl<'a> Admission<'a> {
    /// Whether policies apply to the kind and the endpoint at all. They do not apply to the configuration of admission,
    /// so that a policy cannot prevent its own repair.
    pub(super) fn is_admitted(&self) -> bool {
        self.request.kind.group != GROUP && self.subresource().is_some()
    }

    pub(super) fn kind(&self) -> &'a Arc<Resource> {
        &self.request.kind
    }

    /// Returns the subresource, empty for the object itself; `None` for a subresource with another body than the
    /// object.
    pub(super) fn subresource(&self) -> Option<&'static str> {
        match self.request.endpoint {
            Endpoint::Main => Some(""),
            Endpoint::Status => Some("status"),
            Endpoint::Finalize => Some("finalize"),
            Endpoint::Approval => Some("approval"),
            Endpoint::Pod(subresource) if subresource.is_part() => Some(subresource.name()),
            Endpoint::Pod(_) | Endpoint::Token | Endpoint::Scale(_) => None,
        }
    }

    /// Returns the name in the request. It is empty for a new object whose name is generated.
    pub(super) fn name(&self) -> &'a str {
        let object = self.object.or(self.old);
        let of_object = || object.map(|object| object.name()).unwrap_or_default();
        self.request.name.as_deref().unwrap_or_else(of_object)
    }

    /// Returns the name in error messages: without a name, the prefix of the generated one.
    pub(super) fn displayed_name(&self) -> &'a str {
        let prefix = self.object.and_then(|object| object.metadata.generate_name.as_deref());
        match self.name() {
            "" => prefix.unwrap_or("Unknown"),
            name => name,
        }
    }

    /// Whether the object is a namespace.
    pub(super) fn is_namespace(&self) -> bool {
        self.kind().plural == "namespaces" && self.kind().group.is_empty()
    }

    /// Returns the namespace of the request, empty at the cluster scope. A namespace is also inside itself.
    pub(super) fn namespace(&self) -> &'a str {
        match self.is_namespace() {
            true => self.request.name.as_deref().unwrap_or_default(),
            false => self.request.namespace.as_deref().unwrap_or_default(),
        }
    }

    /// Returns the namespace of the object, as the variable `namespaceObject`; null at the cluster scope.
    ///
    /// # Errors
    /// The namespace does not exist.
    pub(super) fn namespace_object(&self, state: &ControlledState) -> Result<Value> {
        let name = self.namespace();
        if name.is_empty() || self.is_namespace() {
            return Ok(Value::Null);
        }
        let stored = state.lock().store.get("namespaces", "", name);
        let stored = stored.ok_or_else(|| ApiError::namespace_not_found(name))?;
        let mut object = stored.to_json("v1", "Namespace");
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
            metadata.remove("ownerReferences");
        }
        Ok(object)
    }

    /// Returns the variable `request` for a policy that sees the object in a version of its kind.
    pub(super) fn attributes(&self, kind: &Resource) -> Value {
        let (request, own_kind) = (self.request, self.kind());
        let version = |kind: &Resource| json!({ "group": kind.group, "version": kind.version, "kind": kind.kind });
        let resource =
            |kind: &Resource| json!({ "group": kind.group, "version": kind.version, "resource": kind.plural });
        let mut attributes = json!({
            "kind": version(kind),
            "resource": resource(kind),
            "requestKind": version(own_kind),
            "requestResource": resource(own_kind),
            "operation": self.operation.name(),
            "userInfo": { "username": request.user.name, "groups": request.user.groups },
            "dryRun": self.dry_run,
            "options": self.options(),
        });
        let subresource = self.subresource().unwrap_or_default();
        let optional = [
            ("subResource", subresource),
            ("requestSubResource", subresource),
            ("name", self.name()),
            ("namespace", self.namespace()),
        ];
        for (field, text) in optional.into_iter().filter(|(_, text)| !text.is_empty()) {
            attributes[field] = text.into();
        }
        attributes
    }

    /// Returns the options of the request.
    fn options(&self) -> Value {
        let kind = match self.operation {
            Operation::Create => "CreateOptions",
            Operation::Update => "UpdateOptions",
            Operation::Delete => "DeleteOptions",
        };
        let mut options = json!({ "apiVersion": "meta.k8s.io/v1", "kind": kind });
        for field in ["fieldManager", "fieldValidation"] {
            if let Some(value) = self.request.query.get(field) {
                options[field] = value.into();
            }
        }
        if self.dry_run {
            options["dryRun"] = json!(["All"]);
        }
        options
    }

    /// Returns an object of the request as JSON, in another version of its kind; null without an object.
    ///
    /// # Errors
    /// The object cannot be converted.
    pub(super) fn object_in(&self, object: Option<&Object>, kind: &Resource) -> Result<Value> {
        let Some(object) = object else { return Ok(Value::Null) };
        Ok(converted(object, self.kind(), kind)?.to_json(&kind.api_version(), &kind.kind))
    }
}

/// Converts an object between versions of its kind.
pub(super) fn converted<'a>(object: &'a Object, from: &Resource, to: &Resource) -> Result<Cow<'a, Object>> {
    if from.api_version() == to.api_version() {
        return Ok(Cow::Borrowed(object));
    }
    let mut stored = object.clone();
    from.write(&mut stored)?;
    Ok(Cow::Owned(Object::clone(&*to.read(&Arc::new(stored))?)))
}
