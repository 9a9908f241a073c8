//! The attributes of a write, which the rules of webhooks and their reviews refer to.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::{
    api::{endpoint::Endpoint, object::Stored},
    authorization::user::User,
    handlers::request::ResourceRequest,
    resource::registry::Resource,
};

/// What a request does to one object.
#[derive(Debug, Clone)]
pub(super) struct Attributes {
    pub(super) operation: &'static str,
    pub(super) kind: Arc<Resource>,
    /// Empty for the object itself.
    pub(super) subresource: &'static str,
    /// Empty for cluster-scoped kinds, except for a namespace, which is inside itself.
    pub(super) namespace: String,
    /// Empty while the name is not generated.
    pub(super) name: String,
    pub(super) user: Arc<User>,
    pub(super) dry_run: bool,
    /// The options of the operation.
    pub(super) options: Value,
    /// The object before an update or a deletion.
    pub(super) old: Option<Stored>,
}

impl Attributes {
    /// Returns the attributes of a creation, or of an update if there is an old object.
    pub(super) fn from_write(request: &ResourceRequest, old: Option<&Stored>, name: &str, dry_run: bool) -> Self {
        let (operation, options) =
            if old.is_some() { ("UPDATE", "UpdateOptions") } else { ("CREATE", "CreateOptions") };
        let options = options_of(request, options, dry_run);
        let namespace = request.namespace.as_deref().unwrap_or_default();
        Self { old: old.cloned(), ..Self::new(request, operation, (namespace, name), options, dry_run) }
    }

    /// Returns the attributes of a deletion.
    pub(super) fn from_deletion(request: &ResourceRequest, old: &Stored, mut options: Value, dry_run: bool) -> Self {
        options["kind"] = json!("DeleteOptions");
        options["apiVersion"] = json!("meta.k8s.io/v1");
        let key = (old.namespace(), old.name());
        Self { old: Some(old.clone()), ..Self::new(request, "DELETE", key, options, dry_run) }
    }

    fn new(
        request: &ResourceRequest,
        operation: &'static str,
        (namespace, name): (&str, &str),
        options: Value,
        dry_run: bool,
    ) -> Self {
        let subresource = match request.endpoint {
            Endpoint::Status => "status",
            Endpoint::Finalize => "finalize",
            Endpoint::Approval => "approval",
            Endpoint::Pod(subresource) => subresource.name(),
            Endpoint::Main | Endpoint::Token | Endpoint::Scale(_) => "",
        };
        let mut attributes = Self {
            operation,
            kind: Arc::clone(&request.kind),
            subresource,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            user: Arc::clone(&request.user),
            dry_run,
            options,
            old: None,
        };
        if attributes.is_namespace() && operation != "CREATE" {
            name.clone_into(&mut attributes.namespace);
        }
        attributes
    }

    /// Returns whether the labels of the namespace are those of the new object: it is a namespace itself.
    pub(super) fn has_labels_of_namespace(&self) -> bool {
        self.is_namespace() && self.subresource.is_empty() && self.operation != "DELETE"
    }

    /// Returns whether the object is a namespace.
    fn is_namespace(&self) -> bool {
        self.kind.group.is_empty() && self.kind.plural == "namespaces"
    }
}

fn options_of(request: &ResourceRequest, kind: &str, dry_run: bool) -> Value {
    let mut options = Map::new();
    options.insert("kind".to_owned(), json!(kind));
    options.insert("apiVersion".to_owned(), json!("meta.k8s.io/v1"));
    if dry_run {
        options.insert("dryRun".to_owned(), json!(["All"]));
    }
    for name in ["fieldManager", "fieldValidation"] {
        if let Some(value) = request.query.get(name) {
            options.insert(name.to_owned(), json!(value));
        }
    }
    Value::Object(options)
}
