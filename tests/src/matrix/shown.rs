//! What each verb does, whatever the kind. Objects are made and looked at without its client, which may lack the verbs.

use kube::Api;
use kube::api::{ListParams, PostParams};
use kube::core::{ApiResource, DynamicObject};
use logger_core::meta::{Scope, Verb};
use matrix_client::Clientset;
use serde_json::{Value, json};

use super::{Call, Subject};

/// The verbs of one kind, on a server.
pub(super) struct Shown<'a> {
    subject: &'a Subject,
    namespace: Option<&'a str>,
    resource: ApiResource,
    api: Api<DynamicObject>,
}

impl<'a> Shown<'a> {
    pub(super) fn new(subject: &'a Subject, clientset: &Clientset, namespace: &'a str) -> Self {
        let by_name = clientset.for_resource(&matrix_types::v1::resource(subject.kind.plural)).expect("a client");
        let (client, resource) = (clientset.client().clone(), by_name.resource().clone());
        let api = match subject.scope {
            Scope::Namespaced => Api::namespaced_with(client, namespace, &resource),
            Scope::Cluster => Api::all_with(client, &resource),
        };
        Shown { subject, namespace: subject.namespace(namespace), resource, api }
    }

    pub(super) async fn verb(&self, call: &Call) {
        match call.verb {
            Verb::Create => self.create(call).await,
            Verb::Update => self.update(call).await,
            Verb::UpdateStatus => self.update_status(call).await,
            Verb::Delete => self.delete(call).await,
            Verb::DeleteCollection => self.delete_collection(call).await,
            Verb::Get => self.get(call).await,
            Verb::List => self.list(call).await,
            Verb::Watch => self.watch(call).await,
            Verb::Patch => self.patch(call).await,
            Verb::Apply => self.apply(call).await,
            Verb::ApplyStatus => self.apply_status(call).await,
        }
    }

    async fn create(&self, call: &Call) {
        let made = self.run(call, self.object("created")).await;
        assert_eq!(made, self.stored("created").await);
        assert_eq!(made["spec"], json!({"word": "first", "count": 1}));
        assert_eq!(made["status"], Value::Null, "a status is not created");
        assert_eq!(made["metadata"]["namespace"].as_str(), self.namespace);
        let again = (call.run)(self.object("created")).await.expect_err("it is there");
        assert!(again.is_already_exists(), "{again}");
    }

    async fn get(&self, call: &Call) {
        let made = self.make("got").await;
        assert_eq!(self.run(call, made.clone()).await, made);
        let missing = (call.run)(self.object("nobody")).await.expect_err("it is not there");
        assert!(missing.is_not_found(), "{missing}");
    }

    async fn list(&self, call: &Call) {
        let made = self.make("listed").await;
        let list = self.run(call, Value::Null).await;
        assert_eq!(list["kind"], format!("{}List", self.subject.kind.kind));
        assert!(list["metadata"]["resourceVersion"].is_string());
        assert!(list["items"].as_array().expect("a list").contains(&made), "{list}");
    }

    async fn watch(&self, call: &Call) {
        let before = self.api.list(&ListParams::default()).await.expect("a list").metadata.resource_version;
        let made = self.make("watched").await;
        assert_eq!(self.run(call, json!({"metadata": {"resourceVersion": before}})).await, made);
    }

    async fn update(&self, call: &Call) {
        let made = self.make("updated").await;
        let updated = self.run(call, self.changed(&made)).await;
        self.is_changed(&made, &updated).await;
        assert_eq!(updated["spec"], json!({"word": "second", "count": 1}));
        assert_eq!(updated["status"], made["status"], "the status is left alone");
        let stale = (call.run)(self.changed(&made)).await.expect_err("it was changed");
        assert!(stale.is_conflict(), "{stale}");
    }

    async fn update_status(&self, call: &Call) {
        let made = self.make("reported").await;
        let updated = self.run(call, self.changed(&made)).await;
        self.is_changed(&made, &updated).await;
        assert_eq!(updated["status"], json!({"word": "second"}));
        assert_eq!(updated["spec"], made["spec"], "the spec is left alone");
        let stale = (call.run)(self.changed(&made)).await.expect_err("it was changed");
        assert!(stale.is_conflict(), "{stale}");
    }

    async fn patch(&self, call: &Call) {
        let made = self.make("patched").await;
        let patch = json!({"metadata": {"name": "patched"}, "spec": {"word": "second"}, "status": {"word": "second"}});
        let patched = self.run(call, patch).await;
        self.is_changed(&made, &patched).await;
        assert_eq!(patched["spec"], json!({"word": "second", "count": 1}));
        assert_eq!(patched["status"], made["status"], "the status is left alone");
    }

    async fn apply(&self, call: &Call) {
        let made = self.run(call, self.configuration("applied", json!({"spec": {"word": "first"}}))).await;
        assert_eq!(made, self.stored("applied").await);
        let applied = self.run(call, self.configuration("applied", json!({"spec": {"count": 2}}))).await;
        self.is_changed(&made, &applied).await;
        assert_eq!(applied["spec"], json!({"count": 2}), "what is not applied any more is removed");
    }

    async fn apply_status(&self, call: &Call) {
        let made = self.make("judged").await;
        let wanted = json!({"spec": {"word": "second"}, "status": {"word": "second"}});
        let applied = self.run(call, self.configuration("judged", wanted)).await;
        self.is_changed(&made, &applied).await;
        assert_eq!(applied["status"], json!({"word": "second"}));
        assert_eq!(applied["spec"], made["spec"], "the spec is left alone");
    }

    async fn delete(&self, call: &Call) {
        let made = self.make("deleted").await;
        self.run(call, made.clone()).await;
        assert!(self.api.get_opt("deleted").await.expect("an answer").is_none());
        let again = (call.run)(made).await.expect_err("it is gone");
        assert!(again.is_not_found(), "{again}");
    }

    async fn delete_collection(&self, call: &Call) {
        self.make("gathered").await;
        self.run(call, Value::Null).await;
        let left = self.api.list(&ListParams::default()).await.expect("a list");
        assert!(left.items.is_empty(), "{left:?}");
    }

    async fn run(&self, call: &Call, object: Value) -> Value {
        let called = (call.run)(object).await;
        called.unwrap_or_else(|error| panic!("{:?} of {}: {error}", call.verb, self.subject.kind.kind))
    }

    /// The object as it is now is another version, and as it was returned.
    async fn is_changed(&self, before: &Value, now: &Value) {
        let name = before["metadata"]["name"].as_str().expect("a name");
        assert_eq!(*now, self.stored(name).await);
        assert_ne!(now["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
        assert_eq!(now["metadata"]["uid"], before["metadata"]["uid"]);
    }

    async fn make(&self, name: &str) -> Value {
        let object = serde_json::from_value(self.object(name)).expect("an object");
        json(&self.api.create(&PostParams::default(), &object).await.expect("it is made"))
    }

    async fn stored(&self, name: &str) -> Value {
        json(&self.api.get(name).await.expect("it is stored"))
    }

    /// An object to be made, with a status if its type has one.
    fn object(&self, name: &str) -> Value {
        let mut object = self.configuration(name, json!({"spec": {"word": "first", "count": 1}}));
        if self.subject.status != "Plain" {
            object["status"] = json!({"word": "first"});
        }
        object
    }

    /// The object with other words in spec and status.
    fn changed(&self, object: &Value) -> Value {
        let mut changed = object.clone();
        changed["spec"]["word"] = json!("second");
        if self.subject.status != "Plain" {
            changed["status"] = json!({"word": "second"});
        }
        changed
    }

    /// What is given, of an object of this name.
    fn configuration(&self, name: &str, given: Value) -> Value {
        let mut object = given;
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
    serde_json::to_value(object).expect("it is JSON")
}
