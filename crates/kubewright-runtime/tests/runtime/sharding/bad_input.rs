//! Bad input: other fleets with the same name, invalid Leases, missing permissions and invalid options.

use std::time::Duration;

use k8s_openapi::api::core::v1::Node;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kubewright_apiserver::{ApiServer, Fault, Requests};
use kubewright_runtime::{
    CancellationToken, Controller, InformerFactory, LeaderElectionConfig, ObjectKey, ReconcileError, Sharding,
    controller::RunError,
    sharding::{ShardingError, SlotSet},
};
use serde_json::json;
use tokio::time::sleep;

use super::fixture::{
    FLEET, Maps, Options, Record, Replica, SECOND, config, leases, wait_until, wait_until_even, wait_until_owned,
};

/// Starts a replica that shares all slots of one program, and one of another program.
async fn two_programs(server: &ApiServer, record: &Record, other: &Options) -> (Vec<Replica>, Replica, Maps) {
    let maps = Maps::create(server.client(), 20).await;
    let replicas = vec![Replica::start(server, "first", record)];
    wait_until_owned(&replicas).await;
    wait_until("all objects are reconciled", || maps.are_reconciled(record, "0")).await;
    let other = Replica::start_with(server, "other", record, other);
    sleep(60 * SECOND).await;
    assert_eq!((replicas[0].slots(), other.slots()), (SlotSet::ALL, SlotSet::EMPTY));
    maps.set_all("1").await;
    wait_until("changes are reconciled", || maps.are_reconciled(record, "1")).await;
    assert_eq!(record.replicas().into_keys().collect::<Vec<_>>(), ["first"]);
    (replicas, other, maps)
}

#[tokio::test(start_paused = true)]
async fn another_program_with_the_same_name_waits_and_is_reported() {
    let (server, record) = (ApiServer::new(), Record::default());
    let options = Options { controller: "others", ..Options::default() };
    let (mut replicas, other, maps) = two_programs(&server, &record, &options).await;
    let reason = other.sharding.why_waiting(30 * SECOND).unwrap();
    let expected = "other replicas share 64 slots by uid of the controllers `config-maps`: this one starts when they have \
                    ended; two programs need different names";
    assert!(reason.starts_with("sharding `maps` waits for ") && reason.ends_with(expected), "{reason}");
    assert_eq!(replicas[0].sharding.why_waiting(SECOND), None);
    replicas.remove(0).stop().await;
    let others = [other];
    wait_until_owned(&others).await;
    wait_until("the other program reconciles", || record.replicas().contains_key("other")).await;
    assert!(record.overlaps().is_empty() && maps.are_reconciled(&record, "1"));
    for replica in others {
        replica.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_of_the_field_on_a_running_fleet_waits_for_the_end_of_the_old_replicas() {
    let (server, record) = (ApiServer::new(), Record::default());
    let options = Options { sharding: Sharding::by_namespace, ..Options::default() };
    let (mut replicas, other, _maps) = two_programs(&server, &record, &options).await;
    let reason = other.sharding.why_waiting(SECOND).unwrap();
    assert!(reason.contains("other replicas share 64 slots by uid"), "{reason}");
    // A crash instead of a stop: the Lease must expire.
    replicas.remove(0).kill();
    let others = [other];
    let waited = wait_until_owned(&others).await;
    assert!(waited >= 10 * SECOND && waited <= 25 * SECOND, "{waited:?}");
    assert!(record.overlaps().is_empty(), "{:?}", record.overlaps());
}

/// Replaces the annotation of the Lease of the slots.
async fn annotate(server: &ApiServer, text: &str) {
    let patch = Patch::Merge(json!({"metadata": {"annotations": {"kubewright-runtime/slots": text}}}));
    leases(server).patch(&format!("{FLEET}-slots"), &PatchParams::default(), &patch).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_change_of_the_number_of_slots_on_a_running_fleet_is_reported() {
    let (server, record) = (ApiServer::new(), Record::default());
    let replicas = vec![Replica::start(&server, "first", &record)];
    wait_until_owned(&replicas).await;
    annotate(&server, r#"{"by":"uid","slots":128,"controllers":["config-maps"],"holders":{"newer":"0-127"}}"#).await;
    wait_until("the replica releases its slots", || replicas[0].slots().is_empty()).await;
    let reason = || replicas[0].sharding.why_waiting(SECOND).unwrap_or_default();
    wait_until("the reason", || reason().contains("other replicas share 128 slots by uid")).await;
    // The holder never had a Lease.
    let waited = wait_until_owned(&replicas).await;
    assert!(waited <= 20 * SECOND, "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn an_invalid_table_of_slots_is_reported_until_it_is_deleted() {
    let (server, record) = (ApiServer::new(), Record::default());
    let replicas = vec![Replica::start(&server, "first", &record)];
    wait_until_owned(&replicas).await;
    annotate(&server, r#"{"by":"uid","slots":64,"controllers":["config-maps"],"holders":{"first":"0-99"}}"#).await;
    wait_until("the replica releases its slots", || replicas[0].slots().is_empty()).await;
    sleep(60 * SECOND).await;
    let reason = replicas[0].sharding.why_waiting(30 * SECOND).unwrap();
    let expected = "invalid annotation `kubewright-runtime/slots`: holder `first`: invalid slots `0-99`: expected ranges of 0 \
                    to 63, such as `0-12,14`; delete the Lease when no replica runs";
    assert!(reason.ends_with(expected), "{reason}");
    leases(&server).delete(&format!("{FLEET}-slots"), &DeleteParams::default()).await.unwrap();
    wait_until_owned(&replicas).await;
}

#[tokio::test(start_paused = true)]
async fn deleted_leases_are_created_again_when_the_work_of_their_holders_has_ended() {
    let (server, record) = (ApiServer::new(), Record::default());
    let maps = Maps::create(server.client(), 100).await;
    let options = Options { duration: 2 * SECOND, ..Options::default() };
    let identities = ["a", "b", "c"];
    let replicas: Vec<_> =
        identities.iter().map(|identity| Replica::start_with(&server, identity, &record, &options)).collect();
    wait_until_even(&replicas).await;
    for round in ["1", "2"] {
        maps.set_all(round).await;
        leases(&server).delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();
        sleep(5 * SECOND).await;
        wait_until_even(&replicas).await;
        wait_until("changes are reconciled", || maps.are_reconciled(&record, round)).await;
    }
    assert!(record.overlaps().is_empty(), "{:?}", record.overlaps());
}

#[tokio::test(start_paused = true)]
async fn a_missing_permission_ends_the_runner_with_the_request() {
    let (server, record) = (ApiServer::new(), Record::default());
    let replica = Replica::start(&server, "first", &record);
    let forbidden = Fault::status(403, "Forbidden", "leases.coordination.k8s.io is forbidden");
    replica.faults.always(Requests::to("leases"), forbidden);
    let error = replica.runner_ended().await.unwrap_err();
    assert!(matches!(error, ShardingError::Rejected { .. }), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("sharding `default/maps` failed for 1"), "{text}");
    assert!(text.contains("kubectl auth can-i list leases.coordination.k8s.io"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn invalid_options_are_errors_that_name_the_option() {
    let client = ApiServer::new().client();
    let error = |config: LeaderElectionConfig| Sharding::by_uid(config).runner(client.clone()).unwrap_err().to_string();
    let zero = error(config("a").retry_period(Duration::ZERO));
    assert_eq!(zero, "sharding `maps`: invalid leader election: `retry_period` is zero");
    let name = error(LeaderElectionConfig::new("My Fleet", "a"));
    assert!(name.starts_with("invalid sharding name `My Fleet`: a lowercase RFC 1123 subdomain"), "{name}");
    let long = error(LeaderElectionConfig::new("a".repeat(64), "a"));
    assert!(long.contains("must be no more than 63"), "{long}");
    let namespace = error(config("a").namespace(""));
    assert!(namespace.contains("the namespace of the lease is empty"), "{namespace}");
}

#[tokio::test(start_paused = true)]
async fn a_sharding_runs_once() {
    let (client, sharding) = (ApiServer::new().client(), Sharding::by_uid(config("a")));
    let stop = CancellationToken::new();
    let first = tokio::spawn(sharding.runner(client.clone()).unwrap().run(stop.clone(), stop.clone()));
    sleep(SECOND).await;
    let second = sharding.runner(client).unwrap().run(stop.clone(), stop.clone()).await;
    assert_eq!(second.unwrap_err().to_string(), "sharding `maps` was already started; create a new one");
    stop.cancel();
    first.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_controller_whose_kind_has_no_namespace_is_not_sharded_by_namespace() {
    let sharding = Sharding::by_namespace(config("a"));
    let factory = InformerFactory::new(ApiServer::new().client());
    let controller = Controller::new("nodes", &factory.informer::<Node>())
        .sharding(&sharding)
        .build(|_: ObjectKey| async { Ok::<_, ReconcileError>(()) });
    let error = controller.run(CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, RunError::Invalid { .. }), "{error}");
    let expected = "controller `nodes` cannot start: `nodes` have no namespace, so one replica would have all; shard them \
                    by UID";
    assert_eq!(error.to_string(), expected);
}
