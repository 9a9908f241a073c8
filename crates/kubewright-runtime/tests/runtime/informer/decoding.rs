//! Objects that cannot be decoded are skipped and reported, or fail the list.

use std::{borrow::Cow, time::Duration};

use k8s_openapi::{NamespaceResourceScope, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{Api, Resource};
use kubewright_apiserver::{Fault, Verb};
use kubewright_runtime::{
    SharedInformer,
    error::ObjectError,
    informer::Config,
    reflector::{DecodeErrorPolicy, ExponentialBackoff},
};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use tokio_util::sync::CancellationToken;

use super::{
    MEMORY,
    fixture::{Fixture, TIMEOUT, run_until_idle},
};

/// A ConfigMap whose state is a number. Decoding the state `panic` panics.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Counter {
    metadata: ObjectMeta,
    data: Data,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Data {
    #[serde(deserialize_with = "number")]
    state: i32,
}

fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
    let text = String::deserialize(deserializer)?;
    assert_ne!(text, "panic");
    text.parse().map_err(D::Error::custom)
}

impl Resource for Counter {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind(_: &()) -> Cow<'_, str> {
        "ConfigMap".into()
    }

    fn group(_: &()) -> Cow<'_, str> {
        "".into()
    }

    fn version(_: &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural(_: &()) -> Cow<'_, str> {
        "configmaps".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

fn informer(fixture: &Fixture, config: Config<Counter>) -> SharedInformer<Counter> {
    let apis = [Api::namespaced(fixture.client(), "default")];
    let informer = SharedInformer::with_config(apis, config.memory(MEMORY));
    let running = informer.clone();
    tokio::spawn(async move { running.run(CancellationToken::new()).await.unwrap() });
    informer
}

async fn synced(fixture: &Fixture) -> SharedInformer<Counter> {
    let informer = informer(fixture, Config::default());
    informer.wait_for_sync_within(TIMEOUT).await.unwrap();
    run_until_idle().await;
    informer
}

/// Returns the stored objects as `name=state`.
fn stored(informer: &SharedInformer<Counter>) -> Vec<String> {
    let describe = |counter: &Counter| format!("{}={}", counter.metadata.name.as_deref().unwrap(), counter.data.state);
    let mut all: Vec<_> = informer.store().list().iter().map(|counter| describe(counter)).collect();
    all.sort();
    all
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_decoded_is_skipped_and_named_until_it_can() {
    let fixture = Fixture::new();
    fixture.set("good", "1").await;
    fixture.set("bad", "one").await;
    fixture.set("worse", "panic").await;
    let informer = synced(&fixture).await;
    assert_eq!(stored(&informer), ["good=1"]);
    let error = informer.last_error().unwrap();
    for part in ["skipped objects of configmaps", "cannot decode `default/bad` at `data", "invalid digit"] {
        assert!(error.contains(part), "{error}");
    }
    assert!(error.contains("`Deserialize` panicked for `default/worse`"), "{error}");
    let errors = informer.skipped_objects();
    assert!(matches!(&errors[0], ObjectError::Decode { object, .. } if object.as_str() == "default/bad"), "{errors:?}");
    fixture.set("good", "2").await;
    run_until_idle().await;
    assert_eq!(stored(&informer), ["good=2"], "other objects are not affected");
    assert_eq!(informer.last_error(), Some(error), "an event of another object does not hide it");
    fixture.set("bad", "3").await;
    fixture.delete("worse").await;
    run_until_idle().await;
    assert_eq!((stored(&informer), informer.last_error()), (vec!["bad=3".to_owned(), "good=2".to_owned()], None));
}

#[tokio::test(start_paused = true)]
async fn a_skipped_object_keeps_its_last_known_state_until_it_is_deleted() {
    let fixture = Fixture::new();
    fixture.set("a", "1").await;
    let informer = synced(&fixture).await;
    fixture.faults.wait_for(|faults| faults.open(Verb::Watch) == 1).await;
    fixture.set("a", "x").await;
    run_until_idle().await;
    assert_eq!(stored(&informer), ["a=1"]);
    assert!(informer.last_error().unwrap().contains("default/a"));
    fixture.faults.once(Verb::Watch, Fault::expired());
    fixture.faults.end(Verb::Watch);
    fixture.faults.until(Verb::List, 2).await;
    run_until_idle().await;
    assert_eq!(stored(&informer), ["a=1"], "a relist does not delete it");
    assert!(informer.last_error().unwrap().contains("default/a"));
    fixture.delete("a").await;
    run_until_idle().await;
    assert_eq!((stored(&informer), informer.last_error()), (vec![], None));
}

#[tokio::test(start_paused = true)]
async fn the_fail_policy_fails_the_list_and_names_the_object_and_not_the_kubeconfig() {
    let fixture = Fixture::new();
    fixture.set("good", "1").await;
    fixture.set("bad", "one").await;
    let backoff = ExponentialBackoff::new(Duration::from_secs(1), Duration::from_secs(1));
    let config = Config::default()
        .reflector(|reflector| reflector.decode_error_policy(DecodeErrorPolicy::Fail).backoff(backoff));
    let informer = informer(&fixture, config);
    let error = informer.wait_for_sync_within(Duration::from_secs(10)).await.unwrap_err().to_string();
    assert!(error.contains("cannot list configmaps: cannot decode `default/bad` at `data"), "{error}");
    assert!(!error.contains("kubeconfig"), "{error}");
    fixture.set("bad", "2").await;
    informer.wait_for_sync_within(TIMEOUT).await.unwrap();
    assert_eq!((stored(&informer).len(), informer.last_error()), (2, None));
}
