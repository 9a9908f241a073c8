//! The verbs of a typed client as calls from JSON to JSON: so what is shown of them is compiled once for all kinds.

use futures::StreamExt;
use futures::future::BoxFuture;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use logger_core::apply::ApplyConfiguration;
use logger_core::meta::Verb;
use logger_core::{Kind, Listed, verbs};
use logger_runtime::{Error, FieldManager, TypedClient};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Who applies.
pub const MANAGER: &str = "matrix";

/// What came of a call.
pub type Called = BoxFuture<'static, Result<Value, Error>>;

/// A verb of a client.
pub struct Call {
    /// The verb.
    pub verb: Verb,
    /// Its method. It takes an object; where the method takes a name, that of the object.
    pub run: Box<dyn Fn(Value) -> Called + Send + Sync>,
}

impl Call {
    fn new<K: Kind>(
        verb: Verb,
        client: TypedClient<K>,
        run: impl Fn(TypedClient<K>, Value) -> Called + Send + Sync + 'static,
    ) -> Self {
        Call { verb, run: Box::new(move |object| run(client.clone(), object)) }
    }
}

/// `create`
pub fn create<K: Kind + verbs::Create>(client: TypedClient<K>) -> Call {
    Call::new(Verb::Create, client, |client, object| {
        Box::pin(async move { Ok(written(&client.create(&read(&object), &PostParams::default()).await?)) })
    })
}

/// `update`
pub fn update<K: Kind + verbs::Update>(client: TypedClient<K>) -> Call {
    Call::new(Verb::Update, client, |client, object| {
        Box::pin(async move { Ok(written(&client.update(&read(&object), &PostParams::default()).await?)) })
    })
}

/// `update_status`
pub fn update_status<K: Kind + verbs::UpdateStatus>(client: TypedClient<K>) -> Call {
    Call::new(Verb::UpdateStatus, client, |client, object| {
        Box::pin(async move { Ok(written(&client.update_status(&read(&object), &PostParams::default()).await?)) })
    })
}

/// `delete`
pub fn delete<K: Kind + verbs::Delete>(client: TypedClient<K>) -> Call {
    Call::new(Verb::Delete, client, |client, object| {
        Box::pin(async move { Ok(written(&client.delete(name(&object), &DeleteParams::default()).await?)) })
    })
}

/// `delete_collection`, of all.
pub fn delete_collection<K: Kind + verbs::DeleteCollection>(client: TypedClient<K>) -> Call {
    Call::new(Verb::DeleteCollection, client, |client, _| {
        Box::pin(async move {
            Ok(written(&client.delete_collection(&DeleteParams::default(), &ListParams::default()).await?))
        })
    })
}

/// `get`
pub fn get<K: Kind + verbs::Get>(client: TypedClient<K>) -> Call {
    Call::new(Verb::Get, client, |client, object| {
        Box::pin(async move { Ok(written(&client.get(name(&object)).await?)) })
    })
}

/// `list`, of all.
pub fn list<K: Kind + verbs::List + Listed<List: Serialize + DeserializeOwned>>(client: TypedClient<K>) -> Call {
    Call::new(Verb::List, client, |client, _| {
        Box::pin(async move { Ok(written(&client.list(&ListParams::default()).await?)) })
    })
}

/// `watch`, from the version of the object on, to the first object that was added.
pub fn watch<K: Kind + verbs::Watch>(client: TypedClient<K>) -> Call {
    Call::new(Verb::Watch, client, |client, object| {
        Box::pin(async move {
            let version = object["metadata"]["resourceVersion"].as_str().expect("a version");
            let mut events = client.watch(&WatchParams::default(), version).await?;
            loop {
                match events.next().await.expect("the watch goes on") {
                    Ok(WatchEvent::Added(added)) => return Ok(written(&added)),
                    other => other.map(drop)?,
                }
            }
        })
    })
}

/// `patch`, a merge patch.
pub fn patch<K: Kind + verbs::Patch>(client: TypedClient<K>) -> Call {
    Call::new(Verb::Patch, client, |client, object| {
        Box::pin(async move {
            let name = name(&object).to_owned();
            Ok(written(&client.patch(&name, &Patch::Merge(object), &PatchParams::default()).await?))
        })
    })
}

/// `apply`, with this apply configuration.
pub fn apply<K: Kind + verbs::Apply, C>(client: TypedClient<K>) -> Call
where
    C: ApplyConfiguration<Kind = K> + Send + Sync,
{
    Call::new(Verb::Apply, client, |client, object| {
        Box::pin(async move { Ok(written(&client.apply(&read::<C>(&object), &FieldManager::new(MANAGER)).await?)) })
    })
}

/// `apply_status`, with this apply configuration.
pub fn apply_status<K: Kind + verbs::ApplyStatus, C>(client: TypedClient<K>) -> Call
where
    C: ApplyConfiguration<Kind = K> + Send + Sync,
{
    Call::new(Verb::ApplyStatus, client, |client, object| {
        Box::pin(
            async move { Ok(written(&client.apply_status(&read::<C>(&object), &FieldManager::new(MANAGER)).await?)) },
        )
    })
}

/// Read from text, as the client itself does.
fn read<T: DeserializeOwned>(json: &Value) -> T {
    serde_json::from_str(&json.to_string()).expect("it is of its type")
}

fn written(value: &impl Serialize) -> Value {
    let text = serde_json::to_vec(value).expect("it is JSON");
    serde_json::from_slice(&text).expect("it is JSON")
}

fn name(of: &Value) -> &str {
    of["metadata"]["name"].as_str().expect("a name")
}
