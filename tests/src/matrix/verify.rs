//! The specified behaviour of each verb, for any kind. Objects are created and read with a dynamic client, since the
//! kind's own client may lack the verbs.

use fixture_client::Clientset;
use kube::{
    Api,
    api::{ListParams, PostParams},
    core::{ApiResource, DynamicObject},
};
use kubewright_core::meta::{ClientVerb, Scope};
use serde_json::{Value, json};

use super::{Call, Subject};

/// Verifies the verbs of one kind on a server.
pub(super) struct Verifier<'a> {
    subject: &'a Subject,
    namespace: Option<&'a str>,
    resource: ApiResource,
    api: Api<DynamicObject>,
}

impl<'a> Verifier<'a> {
    pub(super) fn new(subject: &'a Subject, clientset: &Clientset, namespace: &'a str) -> Self {
        let generic =
            clientset.for_resource(&fixture_types::matrix_v1::resource(subject.kind.plural)).expect("a client");
        let (client, resource) = (clientset.client().clone(), generic.resource().clone());
        let api = match subject.scope {
            Scope::Namespaced => Api::namespaced_with(client, namespace, &resource),
            Scope::Cluster => Api::all_with(client, &resource),
        };
        Verifier { subject, namespace: subject.namespace(namespace), resource, api }
    }

    pub(super) async fn verb(&self, call: &Call) {
        match call.verb {
            ClientVerb::Create => self.create(call).await,
            ClientVerb::Update => self.update(call).await,
            ClientVerb::UpdateStatus => self.update_status(call).await,
            ClientVerb::Delete => self.delete(call).await,
            ClientVerb::DeleteCollection => self.delete_collection(call).await,
            ClientVerb::Get => self.get(call).await,
            ClientVerb::List => self.list(call).await,
            ClientVerb::Watch => self.watch(call).await,
            ClientVerb::Patch => self.patch(call).await,
            ClientVerb::Apply => self.apply(call).await,
            ClientVerb::ApplyStatus => self.apply_status(call).await,
        }
    }

    async fn create(&self, call: &Call) {
        let created = self.run(call, self.object("created")).await;
        assert_eq!(created, self.stored("created").await);
        assert_eq!(created["spec"], json!({"word": "first", "count": 1}));
        assert_eq!(created["status"], Value::Null, "create ignores the status");
        assert_eq!(created["metadata"]["namespace"].as_str(), self.namespace);
        let error = (call.run)(self.object("created")).await.expect_err("the object exists");
        assert!(error.is_already_exists(), "{error}");
    }

    async fn get(&self, call: &Call) {
        let created = self.create_object("got").await;
        assert_eq!(self.run(call, created.clone()).await, created);
        let missing = (call.run)(self.object("nobody")).await.expect_err("the object does not exist");
        assert!(missing.is_not_found(), "{missing}");
    }

    async fn list(&self, call: &Call) {
        let created = self.create_object("listed").await;
        let list = self.run(call, Value::Null).await;
        assert_eq!(list["kind"], format!("{}List", self.subject.kind.kind));
        assert!(list["metadata"]["resourceVersion"].is_string());
        assert!(list["items"].as_array().expect("a list").contains(&created), "{list}");
    }

    async fn watch(&self, call: &Call) {
        let before = self.api.list(&ListParams::default()).await.expect("a list").metadata.resource_version;
        let created = self.create_object("watched").await;
        assert_eq!(self.run(call, json!({"metadata": {"resourceVersion": before}})).await, created);
    }

    async fn update(&self, call: &Call) {
        let created = self.create_object("updated").await;
        let updated = self.run(call, self.changed(&created)).await;
        self.assert_changed(&created, &updated).await;
        assert_eq!(updated["spec"], json!({"word": "second", "count": 1}));
        assert_eq!(updated["status"], created["status"], "the status is unchanged");
        let stale = (call.run)(self.changed(&created)).await.expect_err("the object was changed");
        assert!(stale.is_conflict(), "{stale}");
    }

    async fn update_status(&self, call: &Call) {
        let created = self.create_object("reported").await;
        let updated = self.run(call, self.changed(&created)).await;
        self.assert_changed(&created, &updated).await;
        assert_eq!(updated["status"], json!({"word": "second"}));
        assert_eq!(updated["spec"], created["spec"], "the spec is unchanged");
        let stale = (call.run)(self.changed(&created)).await.expect_err("the object was changed");
        assert!(stale.is_conflict(), "{stale}");
    }

    async fn patch(&self, call: &Call) {
        let created = self.create_object("patched").await;
        let patch = json!({"metadata": {"name": "patched"}, "spec": {"word": "second"}, "status": {"word": "second"}});
        let patched = self.run(call, patch).await;
        self.assert_changed(&created, &patched).await;
        assert_eq!(patched["spec"], json!({"word": "second", "count": 1}));
        assert_eq!(patched["status"], created["status"], "the status is unchanged");
    }

    async fn apply(&self, call: &Call) {
        let created = self.run(call, self.configuration("applied", json!({"spec": {"word": "first"}}))).await;
        assert_eq!(created, self.stored("applied").await);
        let applied = self.run(call, self.configuration("applied", json!({"spec": {"count": 2}}))).await;
        self.assert_changed(&created, &applied).await;
        assert_eq!(applied["spec"], json!({"count": 2}), "fields that are no longer applied are removed");
    }

    async fn apply_status(&self, call: &Call) {
        let created = self.create_object("assessed").await;
        let desired = json!({"spec": {"word": "second"}, "status": {"word": "second"}});
        let applied = self.run(call, self.configuration("assessed", desired)).await;
        self.assert_changed(&created, &applied).await;
        assert_eq!(applied["status"], json!({"word": "second"}));
        assert_eq!(applied["spec"], created["spec"], "the spec is unchanged");
    }

    async fn delete(&self, call: &Call) {
        let created = self.create_object("deleted").await;
        self.run(call, created.clone()).await;
        assert!(self.api.get_opt("deleted").await.expect("an answer").is_none());
        let error = (call.run)(created).await.expect_err("the object is gone");
        assert!(error.is_not_found(), "{error}");
    }

    async fn delete_collection(&self, call: &Call) {
        self.create_object("gathered").await;
        self.run(call, Value::Null).await;
        let left = self.api.list(&ListParams::default()).await.expect("a list");
        assert!(left.items.is_empty(), "{left:?}");
    }

    async fn run(&self, call: &Call, object: Value) -> Value {
        let called = (call.run)(object).await;
        called.unwrap_or_else(|error| panic!("{:?} of {}: {error}", call.verb, self.subject.kind.kind))
    }

    /// Asserts that a returned object is the stored one, in another version than before.
    async fn assert_changed(&self, before: &Value, now: &Value) {
        let name = before["metadata"]["name"].as_str().expect("a name");
        assert_eq!(*now, self.stored(name).await);
        assert_ne!(now["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
        assert_eq!(now["metadata"]["uid"], before["metadata"]["uid"]);
    }

    async fn create_object(&self, name: &str) -> Value {
        let object = serde_json::from_value(self.object(name)).expect("an object");
        json(&self.api.create(&PostParams::default(), &object).await.expect("the object is created"))
    }

    async fn stored(&self, name: &str) -> Value {
        json(&self.api.get(name).await.expect("the object is stored"))
    }

    /// Returns a new object, with a status if its type has one.
    fn object(&self, name: &str) -> Value {
        let mut object = self.configuration(name, json!({"spec": {"word": "first", "count": 1}}));
        if self.subject.status != "Plain" {
            object["status"] = json!({"word": "first"});
        }
        object
    }

    /// Returns the object with other values in spec and status.
    fn changed(&self, object: &Value) -> Value {
        let mut changed = object.clone();
        changed["spec"]["word"] = json!("second");
        if self.subject.status != "Plain" {
            changed["status"] = json!({"word": "second"});
        }
        changed
    }

    /// Returns these fields with the type and the name of an object.
    fn configuration(&self, name: &str, fields: Value) -> Value {
        let mut object = fields;
        object["apiVersion"] = json!(self.resource.api_version);
        object["kind"] = json!(self.resource.kind);
        object["metadata"] = match self.namespace {
            Some(namespace) => json!({"name": name, "namespace": namespace}),
            None => json!({"name": name}),
        };
        object
    }
}

fn json(object: &DynamicObject) -> Value {
    serde_json::to_value(object).expect("the object is JSON")
}
