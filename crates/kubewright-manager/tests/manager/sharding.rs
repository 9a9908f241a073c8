//! Sharding: managers that share the keys of their controllers.

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_apiserver::{ApiServer, Fault, Faults, Requests};
use kubewright_core::description::PermissionScope;
use kubewright_manager::{
    LeaderElectionConfig, Manager, ManagerBuilder, ManagerError, Replicas, Sharding, manager::BuildError,
};
use kubewright_runtime::{Controller, InformerFactory, ObjectKey, ReconcileError, sharding::SlotSet};
use tokio::time::{Instant, sleep};

use crate::fixture::{Log, Running, SECOND, create_config_map};

/// A manager with a sharded controller, which records each reconciliation as `identity/name`.
fn builder(server: &ApiServer, faults: &Faults, identity: &str, log: &Log) -> (ManagerBuilder, Sharding) {
    let client = server.client_with(faults.layer());
    let sharding = Sharding::by_uid(LeaderElectionConfig::new("maps", identity));
    let shared = sharding.clone();
    let factory = InformerFactory::builder(client.clone())
        .defaults(move |config| config.reflector(|reflector| reflector.sharding(&shared)))
        .build();
    let (log, identity) = (log.clone(), identity.to_owned());
    let controller = Controller::new("maps", &factory.informer::<ConfigMap>()).build(move |key: ObjectKey| {
        log.push(format!("{identity}/{}", key.name()));
        async { Ok::<_, ReconcileError>(()) }
    });
    let builder = Manager::builder(client).sharding(&sharding).add(Replicas::All, "informers", factory).add(
        Replicas::All,
        "maps",
        controller,
    );
    (builder, sharding)
}

async fn replica(server: &ApiServer, identity: &str, log: &Log) -> (Running, Sharding) {
    let (builder, sharding) = builder(server, &Faults::new(), identity, log);
    (Running::ready(builder.build().unwrap()).await, sharding)
}

#[tokio::test(start_paused = true)]
async fn managers_share_the_keys_and_hand_them_over_on_a_stop() {
    let (server, log) = (ApiServer::new(), Log::default());
    let (first, first_slots) = replica(&server, "a", &log).await;
    first.wait_until(|_| first_slots.slots() == SlotSet::ALL).await;
    let (second, second_slots) = replica(&server, "b", &log).await;
    let is_even = || (first_slots.slots().len(), second_slots.slots().len()) == (32, 32);
    second.wait_until(|_| is_even()).await;
    for number in 0..40 {
        create_config_map(server.client(), &format!("map-{number}")).await;
    }
    let reconciled = |identity: &str| log.entries().iter().filter(|entry| entry.starts_with(identity)).count();
    second.wait_until(|_| reconciled("") == 40).await;
    assert!(reconciled("a/") > 5 && reconciled("b/") > 5, "{:?}", log.entries());
    assert_eq!((second.probe("/readyz").as_str(), second.probe("/livez").as_str()), ("ok", "ok"));
    let began = Instant::now();
    first.stop().await.unwrap();
    assert!(began.elapsed() < SECOND, "{:?}", began.elapsed());
    second.wait_until(|_| second_slots.slots() == SlotSet::ALL).await;
    assert!(began.elapsed() < 6 * SECOND, "the slots were released: {:?}", began.elapsed());
    second.wait_until(|_| (0..40).all(|number| log.contains(&format!("b/map-{number}")))).await;
    second.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_sharding_that_fails_stops_the_manager() {
    let (server, faults, log) = (ApiServer::new(), Faults::new(), Log::default());
    faults.always(Requests::to("leases"), Fault::status(403, "Forbidden", "leases are forbidden"));
    let (builder, _) = builder(&server, &faults, "a", &log);
    let error = Running::start(builder.build().unwrap()).result().await.unwrap_err();
    assert!(matches!(&error, ManagerError::Failed { name, .. } if name == "sharding"), "{error}");
    assert!(error.to_string().contains("sharding `default/maps` failed for 1"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_waits_is_ready_for_five_minutes() {
    let (server, log) = (ApiServer::new(), Log::default());
    let (first, first_slots) = replica(&server, "a", &log).await;
    first.wait_until(|_| first_slots.slots() == SlotSet::ALL).await;
    let other = Sharding::by_namespace(LeaderElectionConfig::new("maps", "b"));
    let second = Running::ready(Manager::builder(server.client()).sharding(&other).build().unwrap()).await;
    sleep(290 * SECOND).await;
    assert_eq!(second.probe("/readyz"), "ok");
    sleep(20 * SECOND).await;
    let probe = second.probe("/readyz");
    assert!(probe.contains("sharding"), "{probe}");
    assert_eq!((second.probe("/livez").as_str(), other.slots()), ("ok", SlotSet::EMPTY));
    second.stop().await.unwrap();
    first.stop().await.unwrap();
}

#[tokio::test]
async fn the_description_contains_the_leases() {
    let (builder, _) = builder(&ApiServer::new(), &Faults::new(), "a", &Log::default());
    let description = builder.describe().unwrap();
    assert_eq!((description.sharding.as_deref(), description.lease.as_deref()), (Some("maps"), None));
    assert!(description.allows_replicas());
    let leases = description.permissions.iter().filter(|permission| permission.scope == PermissionScope::OwnNamespace);
    let rules: Vec<_> =
        leases.map(|permission| (permission.rule.verbs.join(","), permission.rule.resource_names.clone())).collect();
    assert_eq!((rules.len(), rules[0].0.as_str(), &rules[0].1), (2, "create,list", &None));
    let names = rules[1].1.as_ref().unwrap();
    assert_eq!((rules[1].0.as_str(), names.len(), names[0].as_str()), ("update", 65, "maps-slots"));
}

#[tokio::test]
async fn invalid_options_are_errors_of_the_builder() {
    let sharding = Sharding::by_uid(LeaderElectionConfig::new("maps", ""));
    let error = Manager::builder(ApiServer::new().client()).sharding(&sharding).build().unwrap_err();
    assert!(matches!(error, BuildError::Sharding(_)), "{error}");
}
