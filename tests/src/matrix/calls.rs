//! The verbs of a typed client as calls from JSON to JSON, so that their verification is compiled once for all kinds.

use futures::{StreamExt, future::BoxFuture};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kubewright_core::{Kind, Listed, apply::ApplyConfiguration, meta::ClientVerb, verbs};
use kubewright_runtime::{Error, FieldManager, TypedClient};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// The field manager of applies.
pub const MANAGER: &str = "matrix";

/// The outcome of a call.
pub type Outcome = BoxFuture<'static, Result<Value, Error>>;

/// A call of a client's verb.
pub struct Call {
    /// The verb.
    pub verb: ClientVerb,
    /// Calls the method with an object, or with the object's name if the method takes a name.
    pub run: Box<dyn Fn(Value) -> Outcome + Send + Sync>,
}

impl Call {
    fn new<K: Kind>(
        verb: ClientVerb,
        client: TypedClient<K>,
        run: impl Fn(TypedClient<K>, Value) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        Call { verb, run: Box::new(move |object| run(client.clone(), object)) }
    }
}

/// Returns the call of `create`.
pub fn create<K: Kind + verbs::Create>(client: TypedClient<K>) -> Call {
    Call::new(ClientVerb::Create, client, |client, object| {
        Box::pin(async move { Ok(encode(&client.create(&decode(&object), &PostParams::default()).await?)) })
    })
}

/// Returns the call of `update`.
pub fn update<K: Kind + verbs::Update>(client: TypedClient<K>) -> Call {
    Call::new(ClientVerb::Update, client, |client, object| {
        Box::pin(async move { Ok(encode(&client.update(&decode(&object), &PostParams::default()).await?)) })
    })
}

/// Returns the call of `update_status`.
pub fn update_status<K: Kind + verbs::UpdateStatus>(client: TypedClient<K>) -> Call {
    Call::new(ClientVerb::UpdateStatus, client, |client, object| {
        Box::pin(async move { Ok(encode(&client.update_status(&decode(&object), &PostParams::default()).await?)) })
    })
}

/// Returns the call of `delete`.
pub fn delete<K: Kind + verbs::Delete>(client: TypedClient<K>) -> Call {
    Call::new(ClientVerb::Delete, client, |client, object| {
        Box::pin(async move { Ok(encode(&client.delete(name(&object), &DeleteParams::default()).await?)) })
    })
}

/// Returns the call of `delete_collection`, without a selector.
pub fn delete_collection<K: Kind + verbs::DeleteCollection>(client: TypedClient<K>) -> Call {
    Call::new(ClientVerb::DeleteCollection, client, |client, _| {
        Box::pin(async move {
            Ok(encode(&client.delete_collection(&DeleteParams::default(), &ListParams::default()).await?))
        })
    })
}

/// Returns the call of `get`.
pub fn get<K: Kind + verbs::Get>(client: TypedClient<K>) -> Call {
    Call::new(ClientVerb::Get, client, |client, object| {
        Box::pin(async move { Ok(encode(&client.get(name(&object)).await?)) })
    })
}

/// Returns the call of `list`, without a selector.
pub fn list<K: Kind + verbs::List + Listed<List: Serialize + DeserializeOwned>>(client: TypedClient<K>) -> Call {
    Call::new(ClientVerb::List, client, |client, _| {
        Box::pin(async move { Ok(encode(&client.list(&ListParams::default()).await?)) })
    })
}

/// Returns the call of `watch`. It starts at the resource version of the object and returns the first added object.
pub fn watch<K: Kind + verbs::Watch>(client: TypedClient<K>) -> Call {
    Call::new(ClientVerb::Watch, client, |client, object| {
        Box::pin(async move {
            let version = object["metadata"]["resourceVersion"].as_str().expect("a version");
            let mut events = client.watch(&WatchParams::default(), version).await?;
            loop {
                match events.next().await.expect("the watch continues") {
                    Ok(WatchEvent::Added(added)) => return Ok(encode(&added)),
                    other => other.map(drop)?,
                }
            }
        })
    })
}

/// Returns the call of `patch`, with a merge patch.
pub fn patch<K: Kind + verbs::Patch>(client: TypedClient<K>) -> Call {
    Call::new(ClientVerb::Patch, client, |client, object| {
        Box::pin(async move {
            let name = name(&object).to_owned();
            Ok(encode(&client.patch(&name, &Patch::Merge(object), &PatchParams::default()).await?))
        })
    })
}

/// Returns the call of `apply`, with the apply configuration `C`.
pub fn apply<K: Kind + verbs::Apply, C>(client: TypedClient<K>) -> Call
where
    C: ApplyConfiguration<Kind = K> + Send + Sync,
{
    Call::new(ClientVerb::Apply, client, |client, object| {
        Box::pin(async move { Ok(encode(&client.apply(&decode::<C>(&object), &FieldManager::new(MANAGER)).await?)) })
    })
}

/// Returns the call of `apply_status`, with the apply configuration `C`.
pub fn apply_status<K: Kind + verbs::ApplyStatus, C>(client: TypedClient<K>) -> Call
where
    C: ApplyConfiguration<Kind = K> + Send + Sync,
{
    Call::new(ClientVerb::ApplyStatus, client, |client, object| {
        Box::pin(
            async move { Ok(encode(&client.apply_status(&decode::<C>(&object), &FieldManager::new(MANAGER)).await?)) },
        )
    })
}

/// Decodes from text, as the client does.
fn decode<T: DeserializeOwned>(json: &Value) -> T {
    serde_json::from_str(&json.to_string()).expect("the object is of the type")
}

fn encode(value: &impl Serialize) -> Value {
    let text = serde_json::to_vec(value).expect("the value is JSON");
    serde_json::from_slice(&text).expect("the value is JSON")
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().expect("a name")
}
