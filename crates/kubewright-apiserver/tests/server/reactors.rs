//! The guarantees of `Reactors` and `Actions`: rules F1 and F2 of client-go's fakes. The clock is paused.

use std::time::Duration;

use futures::{StreamExt, stream::BoxStream};
use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Namespace, Secret},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
};
use kubewright_apiserver::{ApiServer, Fault, Faults, PatchType, Reaction, Reactors, Requests, Verb};
use serde_json::json;
use tokio::time::{Instant, timeout};

const TIMEOUT: Duration = Duration::from_secs(10);

struct Fixture {
    server: ApiServer,
    reactors: Reactors,
    maps: Api<ConfigMap>,
}

fn fixture() -> Fixture {
    let (server, reactors) = (ApiServer::new(), Reactors::new());
    let maps = Api::namespaced(server.client_with(reactors.layer()), "default");
    Fixture { server, reactors, maps }
}

fn map(name: &str, value: &str) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() };
    ConfigMap { metadata, data: Some([("key".into(), value.into())].into()), ..ConfigMap::default() }
}

fn value(map: &ConfigMap) -> &str {
    &map.data.as_ref().unwrap()["key"]
}

impl Fixture {
    async fn create(&self, name: &str) -> kube::Result<ConfigMap> {
        self.maps.create(&PostParams::default(), &map(name, "sent")).await
    }

    /// Returns a client without reactors.
    fn direct(&self) -> Api<ConfigMap> {
        Api::namespaced(self.server.client(), "default")
    }
}

fn set_to(value: &'static str) -> impl Fn(&kubewright_apiserver::Action) -> Reaction {
    move |action| {
        let mut map: ConfigMap = action.object().unwrap();
        let before = map.data.get_or_insert_default().get("key").cloned().unwrap_or_default();
        map.data.get_or_insert_default().insert("key".into(), format!("{before} {value}"));
        Reaction::change(&map)
    }
}

#[tokio::test(start_paused = true)]
async fn f01_prepended_reactors_run_first_and_appended_ones_last() {
    let fixture = fixture();
    fixture.reactors.append(Verb::Create, set_to("third"));
    fixture.reactors.prepend(Verb::Create, set_to("second"));
    fixture.reactors.prepend(Verb::Create, set_to("first"));
    fixture.reactors.append(Verb::Create, set_to("fourth"));
    let created = fixture.create("a").await.unwrap();
    assert_eq!(value(&created), "sent first second third fourth");
}

#[tokio::test(start_paused = true)]
async fn f01_a_reactor_that_handles_the_request_ends_the_chain() {
    let fixture = fixture();
    fixture.reactors.append(Verb::Create, |_| panic!("the reactor is called"));
    fixture.reactors.prepend(Verb::Create, |_| Reaction::reject(403, "Forbidden", "no more maps"));
    let error = fixture.create("a").await.unwrap_err();
    assert!(
        matches!(&error, kube::Error::Api(status) if status.code == 403 && status.message == "no more maps"),
        "{error}"
    );
    assert_eq!(fixture.direct().get_opt("a").await.unwrap(), None);

    fixture.reactors.prepend(Verb::Get, |_| Reaction::answer(&map("a", "made up")));
    assert_eq!(value(&fixture.maps.get("a").await.unwrap()), "made up");
    fixture.reactors.clear();
    assert_eq!(fixture.maps.get_opt("a").await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn f01_a_change_by_a_reactor_that_does_not_handle_the_request_is_stored() {
    let fixture = fixture();
    fixture.reactors.prepend(Requests::to("configmaps").verb(Verb::Create), set_to("changed"));
    fixture.reactors.append(Verb::Create, |_| Reaction::pass());
    fixture.create("a").await.unwrap();
    assert_eq!(value(&fixture.direct().get("a").await.unwrap()), "sent changed");
}

#[tokio::test(start_paused = true)]
async fn f01_every_action_is_recorded_with_the_object_as_it_was_sent() {
    let fixture = fixture();
    fixture.reactors.prepend(Verb::Create, set_to("changed"));
    fixture.reactors.append(Requests::to("configmaps").name("b"), |_| Reaction::reject(500, "InternalError", "no"));
    let sent = map("a", "sent");
    fixture.maps.create(&PostParams::default(), &sent).await.unwrap();
    fixture.maps.delete("b", &DeleteParams::default()).await.unwrap_err();
    let actions = fixture.reactors.actions();
    assert_eq!(actions.creates::<ConfigMap>().unwrap(), [sent]);
    assert_eq!(actions.deletes::<ConfigMap>(), ["b"], "handled or not");
    assert_eq!(actions.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn f01_reactors_match_a_verb_a_resource_and_a_subresource() {
    let fixture = fixture();
    let client = fixture.server.client_with(fixture.reactors.layer());
    let reject =
        |message: &'static str| move |_: &kubewright_apiserver::Action| Reaction::reject(418, "Teapot", message);
    fixture.reactors.append(Requests::to("deployments").subresource("scale"), reject("scale"));
    fixture
        .reactors
        .append(Requests::to("deployments").subresource("status").verb(Verb::Patch), reject("patch of status"));
    fixture.reactors.append(Requests::to("deployments").subresource(""), reject("itself"));
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), "default");
    let patch = Patch::Merge(json!({}));
    let message = |error: kube::Error| match error {
        kube::Error::Api(status) => status.message,
        other => panic!("{other}"),
    };
    let params = PatchParams::default();
    assert_eq!(message(deployments.get_scale("web").await.unwrap_err()), "scale");
    assert_eq!(message(deployments.patch_status("web", &params, &patch).await.unwrap_err()), "patch of status");
    assert_eq!(message(deployments.patch("web", &params, &patch).await.unwrap_err()), "itself");
    assert!(message(deployments.get_status("web").await.unwrap_err()).contains("not found"), "the server's answer");
    let secrets: Api<Secret> = Api::namespaced(client, "default");
    assert_eq!(secrets.get_opt("web").await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn f01_actions_are_decoded_by_type() {
    let fixture = fixture();
    let client = fixture.server.client_with(fixture.reactors.layer());
    let secrets: Api<Secret> = Api::namespaced(client, "default");
    let mut created = fixture.create("a").await.unwrap();
    created.data = None;
    fixture.maps.replace("a", &PostParams::default(), &created).await.unwrap();
    let merge = Patch::Merge(json!({"data": {"key": "merged"}}));
    fixture.maps.patch("a", &PatchParams::default(), &merge).await.unwrap();
    let apply = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"key": "merged"}});
    fixture.maps.patch("a", &PatchParams::apply("tester"), &Patch::Apply(&apply)).await.unwrap();
    fixture.maps.delete("a", &DeleteParams::default()).await.unwrap();
    fixture.maps.delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();
    secrets.list(&ListParams::default().labels("app=web")).await.unwrap();

    let actions = fixture.reactors.actions();
    assert_eq!(actions.creates::<ConfigMap>().unwrap(), [map("a", "sent")]);
    assert_eq!(actions.updates::<ConfigMap>().unwrap(), [created]);
    assert_eq!(actions.deletes::<ConfigMap>(), ["a"]);
    assert!(actions.creates::<Secret>().unwrap().is_empty());
    let patches = actions.patches::<ConfigMap>();
    let types: Vec<_> = patches.iter().map(|action| (action.patch_type().unwrap(), action.name())).collect();
    assert_eq!(types, [(PatchType::Merge, "a".into()), (PatchType::Apply, "a".into())]);
    assert_eq!(patches[0].json().unwrap(), json!({"data": {"key": "merged"}}));
    assert_eq!(patches[1].info.option("fieldManager"), Some("tester"));
    let writes: Vec<_> = actions.writes().iter().map(|action| format!("{} {}", action.verb(), action.name())).collect();
    assert_eq!(writes, ["create a", "update a", "patch a", "patch a", "delete a", "deletecollection "]);
    let lists = actions.matching(Requests::to("secrets").verb(Verb::List));
    assert_eq!(
        (lists.len(), lists[0].resource(), lists[0].info.option("labelSelector")),
        (1, "secrets", Some("app=web"))
    );
    assert!(actions.matching(Verb::Create)[0].object::<i32>().is_err());
    fixture.reactors.clear_actions();
    assert_eq!((fixture.reactors.actions().len(), fixture.reactors.forgotten()), (0, actions.len() as u64));
}

#[tokio::test(start_paused = true)]
async fn f01_a_reactor_can_be_any_fault_and_layers_can_be_nested() {
    let (server, reactors, faults) = (ApiServer::new(), Reactors::new(), Faults::new());
    let maps: Api<ConfigMap> = Api::namespaced(server.client_with((reactors.layer(), faults.layer())), "default");
    faults.once(Verb::List, Fault::status(500, "InternalError", "etcd is down"));
    reactors.prepend(Verb::Create, |_| Reaction::fault(Fault::lost_answer().delayed(TIMEOUT)));
    let start = Instant::now();
    maps.create(&PostParams::default(), &map("a", "sent")).await.unwrap_err();
    assert_eq!(start.elapsed(), TIMEOUT);
    maps.list(&ListParams::default()).await.unwrap_err();
    assert_eq!(maps.list(&ListParams::default()).await.unwrap().items.len(), 1, "only the response was lost");
    assert_eq!((reactors.actions().len(), faults.count(Requests::all())), (3, 3));
}

type Events = BoxStream<'static, kube::Result<WatchEvent<ConfigMap>>>;

async fn watch(maps: &Api<ConfigMap>) -> Events {
    maps.watch(&WatchParams::default().disable_bookmarks(), "0").await.unwrap().boxed()
}

async fn next(events: &mut Events) -> String {
    let name =
        |map: ConfigMap| format!("{}/{}", map.metadata.namespace.unwrap_or_default(), map.metadata.name.unwrap());
    match timeout(TIMEOUT, events.next()).await {
        Err(_) => "nothing".into(),
        Ok(None) => "end".into(),
        Ok(Some(Ok(WatchEvent::Added(map)))) => format!("added {}", name(map)),
        Ok(Some(Ok(WatchEvent::Modified(map)))) => format!("modified {}", name(map)),
        Ok(Some(Ok(WatchEvent::Deleted(map)))) => format!("deleted {}", name(map)),
        Ok(Some(Ok(WatchEvent::Error(status)))) => format!("error {}", status.code),
        Ok(Some(other)) => format!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn f02_watches_of_one_or_all_namespaces_each_receive_every_event() {
    let fixture = fixture();
    let client = fixture.server.client_with(fixture.reactors.layer());
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some("other".into());
    Api::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
    let other: Api<ConfigMap> = Api::namespaced(client.clone(), "other");
    let all: Api<ConfigMap> = Api::all(client);
    let mut of_default = [watch(&fixture.maps).await, watch(&fixture.maps).await];
    let mut of_other = watch(&other).await;
    let mut of_all = [watch(&all).await, watch(&all).await];
    fixture.create("a").await.unwrap();
    other.create(&PostParams::default(), &map("b", "sent")).await.unwrap();
    fixture.maps.delete("a", &DeleteParams::default()).await.unwrap();
    for events in &mut of_default {
        for event in ["added default/a", "deleted default/a", "nothing"] {
            assert_eq!(next(events).await, event);
        }
    }
    for event in ["added other/b", "nothing"] {
        assert_eq!(next(&mut of_other).await, event);
    }
    for events in &mut of_all {
        for event in ["added default/a", "added other/b", "deleted default/a", "nothing"] {
            assert_eq!(next(events).await, event);
        }
    }
    let watches = fixture.reactors.actions().matching(Verb::Watch);
    let namespaces: Vec<_> = watches.iter().map(|action| action.info.namespace.as_str()).collect();
    assert_eq!(namespaces, ["default", "default", "other", "", ""]);
}

#[tokio::test(start_paused = true)]
async fn f02_a_write_after_a_watch_was_dropped_is_harmless() {
    let fixture = fixture();
    let dropped = watch(&fixture.maps).await;
    let mut stays = watch(&fixture.maps).await;
    drop(dropped);
    fixture.create("a").await.unwrap();
    assert_eq!(next(&mut stays).await, "added default/a");
}
