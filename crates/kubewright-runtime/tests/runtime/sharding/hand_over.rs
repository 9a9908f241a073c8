//! Hand-over: replicas that start, stop and crash, and what they cache and reconcile.

use std::{collections::BTreeSet, time::Duration};

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::ListParams;
use kubewright_apiserver::{ApiServer, Fault, Requests, Verb};
use kubewright_runtime::{Sharding, sharding::SlotSet};
use tokio::time::{Instant, sleep};

use super::fixture::{
    FLEET, Maps, Options, Record, Replica, SECOND, leases, wait_until, wait_until_even, wait_until_owned,
};

/// Starts replicas that share the slots, and objects that they have reconciled.
async fn fleet(server: &ApiServer, record: &Record, count: usize, options: &Options) -> (Vec<Replica>, Maps) {
    let maps = Maps::create(server.client(), 200).await;
    let identities = (0..count).map(|number| format!("replica-{number}"));
    let replicas: Vec<_> = identities.map(|identity| Replica::start_with(server, &identity, record, options)).collect();
    wait_until_even(&replicas).await;
    wait_until("all objects are reconciled", || maps.are_reconciled(record, "0")).await;
    (replicas, maps)
}

async fn stop(replicas: Vec<Replica>) {
    for replica in replicas {
        replica.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn replicas_share_the_objects_evenly_and_cache_only_theirs() {
    let (server, record) = (ApiServer::new(), Record::default());
    let (replicas, maps) = fleet(&server, &record, 3, &Options::default()).await;
    wait_until("caches of the slots", || {
        replicas.iter().map(|replica| replica.lister.list().len()).sum::<usize>() == maps.names.len()
    })
    .await;
    record.clear();
    maps.set_all("1").await;
    wait_until("changes are reconciled", || maps.are_reconciled(&record, "1")).await;
    let (counts, overlaps) = (record.replicas(), record.overlaps());
    assert!(counts.len() == 3 && counts.values().all(|count| *count > 30), "{counts:?}");
    assert!(overlaps.is_empty(), "{overlaps:?}");
    for replica in &replicas {
        let cached = replica.lister.list().len();
        assert_eq!(Some(&cached), counts.get(&replica.identity), "{}", replica.identity);
    }
    stop(replicas).await;
}

#[tokio::test(start_paused = true)]
async fn a_cache_of_all_objects_can_be_shared_by_the_filter_of_the_client_alone() {
    let (server, record) = (ApiServer::new(), Record::default());
    let options = Options { is_cache_sharded: false, ..Options::default() };
    let (replicas, maps) = fleet(&server, &record, 3, &options).await;
    assert!(replicas.iter().all(|replica| replica.lister.list().len() == maps.names.len()));
    assert_eq!(record.replicas().len(), 3);
    maps.set_all("1").await;
    wait_until("changes are reconciled", || maps.are_reconciled(&record, "1")).await;
    assert!(record.overlaps().is_empty(), "{:?}", record.overlaps());
    stop(replicas).await;
}

#[tokio::test(start_paused = true)]
async fn by_namespace_all_objects_of_a_namespace_have_one_owner() {
    let (server, record) = (ApiServer::new(), Record::default());
    let options = Options { sharding: Sharding::by_namespace, ..Options::default() };
    let (replicas, maps) = fleet(&server, &record, 3, &options).await;
    let first: BTreeSet<_> = record.replicas().into_keys().collect();
    assert_eq!(first.len(), 1, "{first:?}");
    let owner = first.into_iter().next().unwrap();
    let (killed, replicas): (Vec<_>, Vec<_>) = replicas.into_iter().partition(|replica| replica.identity == owner);
    killed.into_iter().for_each(Replica::kill);
    maps.set_all("1").await;
    wait_until("changes are reconciled by another replica", || maps.are_reconciled(&record, "1")).await;
    assert_eq!(record.replicas().len(), 1);
    assert!(!record.replicas().contains_key(&owner));
    stop(replicas).await;
}

#[tokio::test(start_paused = true)]
async fn no_key_is_without_an_owner_longer_than_the_duration_and_one_retry() {
    let (server, record) = (ApiServer::new(), Record::default());
    let (mut replicas, maps) = fleet(&server, &record, 5, &Options::default()).await;
    replicas.pop().unwrap().kill();
    let waited = wait_until_owned(&replicas).await;
    assert!(waited <= 15 * SECOND + 2 * SECOND + SECOND, "{waited:?}");
    assert!(waited >= 10 * SECOND, "the Lease is respected: {waited:?}");
    maps.set_all("1").await;
    wait_until("changes are reconciled", || maps.are_reconciled(&record, "1")).await;
    assert!(record.overlaps().is_empty(), "{:?}", record.overlaps());
    stop(replicas).await;
}

#[tokio::test(start_paused = true)]
async fn a_slot_is_released_when_its_running_reconciliations_have_ended() {
    let (server, record) = (ApiServer::new(), Record::default());
    let options = Options { duration: 8 * SECOND, ..Options::default() };
    let (mut replicas, maps) = fleet(&server, &record, 2, &options).await;
    maps.set_all("1").await;
    wait_until("a reconciliation", || record.is_running("map-0")).await;
    let leaving = replicas.pop().unwrap();
    let slots = leaving.slots();
    let (stopped, began) = (tokio::spawn(leaving.stop()), Instant::now());
    sleep(4 * SECOND).await;
    let moved = replicas[0].slots().len();
    assert!(moved < SlotSet::ALL.len(), "slots of running keys are not handed over");
    stopped.await.unwrap();
    wait_until_owned(&replicas).await;
    assert!(began.elapsed() <= 8 * SECOND + 5 * SECOND && !slots.is_empty(), "{:?}", began.elapsed());
    wait_until("changes are reconciled", || maps.are_reconciled(&record, "1")).await;
    assert!(record.overlaps().is_empty(), "{:?}", record.overlaps());
    stop(replicas).await;
}

#[tokio::test(start_paused = true)]
async fn each_change_during_a_hand_over_is_reconciled() {
    let (server, record) = (ApiServer::new(), Record::default());
    let (mut replicas, maps) = fleet(&server, &record, 2, &Options::default()).await;
    for round in 1..=10 {
        let text = round.to_string();
        let replica = Replica::start(&server, &format!("joining-{round}"), &record);
        sleep(Duration::from_millis(137 * round)).await;
        maps.set_all(&text).await;
        replicas.push(replica);
        replicas.remove(0).stop().await;
        wait_until("changes are reconciled", || maps.are_reconciled(&record, &text)).await;
    }
    assert!(record.overlaps().is_empty(), "{:?}", record.overlaps());
    stop(replicas).await;
}

#[tokio::test(start_paused = true)]
async fn a_replica_joins_when_its_objects_are_cached() {
    let (server, record) = (ApiServer::new(), Record::default());
    let (mut replicas, maps) = fleet(&server, &record, 1, &Options::default()).await;
    let joining = Replica::start(&server, "joining", &record);
    joining.faults.always(Requests::to("configmaps").verb(Verb::List), Fault::late(20 * SECOND));
    replicas.push(joining);
    sleep(15 * SECOND).await;
    assert_eq!(replicas[0].slots(), SlotSet::ALL, "the other one waits for its cache");
    wait_until_even(&replicas).await;
    assert!(record.overlaps().is_empty() && maps.are_reconciled(&record, "0"));
    stop(replicas).await;
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_the_server_moves_no_slots() {
    let (server, record) = (ApiServer::new(), Record::default());
    let (replicas, maps) = fleet(&server, &record, 3, &Options::default()).await;
    let before: Vec<_> = replicas.iter().map(Replica::slots).collect();
    replicas.iter().for_each(|replica| drop(replica.faults.always(Requests::all(), Fault::connection_refused())));
    sleep(60 * SECOND).await;
    maps.set_all("1").await;
    record.clear();
    sleep(SECOND).await;
    assert!(record.replicas().is_empty(), "no key is processed without a renewed Lease");
    replicas.iter().for_each(|replica| replica.faults.heal());
    wait_until("changes are reconciled", || maps.are_reconciled(&record, "1")).await;
    let after: Vec<_> = replicas.iter().map(Replica::slots).collect();
    assert_eq!(after, before);
    stop(replicas).await;
}

#[tokio::test(start_paused = true)]
async fn a_partitioned_replica_stops_before_others_take_over_and_rejoins() {
    let (server, record) = (ApiServer::new(), Record::default());
    let options = Options { duration: 3 * SECOND, ..Options::default() };
    let (replicas, maps) = fleet(&server, &record, 3, &options).await;
    replicas[0].faults.always(Requests::all(), Fault::hang());
    // Its watch is still open, but its Lease is not renewed.
    sleep(11 * SECOND).await;
    maps.set_all("1").await;
    wait_until("changes are reconciled by the others", || maps.are_reconciled(&record, "1")).await;
    replicas[0].faults.heal();
    wait_until_even(&replicas).await;
    maps.set_all("2").await;
    wait_until("changes are reconciled", || maps.are_reconciled(&record, "2")).await;
    assert_eq!(record.replicas().len(), 3);
    assert!(record.overlaps().is_empty(), "{:?}", record.overlaps());
    stop(replicas).await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_object_is_reconciled_by_its_owner() {
    let (server, record) = (ApiServer::new(), Record::default());
    let (replicas, maps) = fleet(&server, &record, 3, &Options::default()).await;
    let owner = record.replica("map-7").unwrap();
    maps.delete("map-7").await;
    wait_until("the deletion is reconciled", || record.text("map-7").is_none()).await;
    assert_eq!(record.replica("map-7"), Some(owner));
    stop(replicas).await;
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_deleted_during_its_reconciliation_is_reconciled_again_by_its_owner() {
    let (server, record) = (ApiServer::new(), Record::default());
    let options = Options { duration: 3 * SECOND, ..Options::default() };
    let (replicas, maps) = fleet(&server, &record, 3, &options).await;
    let owner = record.replica("map-7").unwrap();
    maps.set("map-7", "1").await;
    wait_until("the change is being reconciled", || record.is_running("map-7")).await;
    maps.delete("map-7").await;
    wait_until("its reconciliation is completed", || record.text("map-7").is_none()).await;
    record.clear();
    wait_until("the deletion is reconciled", || record.replica("map-7").is_some()).await;
    assert_eq!(record.replica("map-7"), Some(owner));
    stop(replicas).await;
}

#[tokio::test(start_paused = true)]
async fn the_leases_are_free_after_a_clean_stop_and_bounded() {
    let (server, record) = (ApiServer::new(), Record::default());
    for _ in 0..5 {
        let identities = (0..4).map(|number| format!("replica-{number}"));
        let replicas: Vec<_> = identities.map(|identity| Replica::start(&server, &identity, &record)).collect();
        wait_until_even(&replicas).await;
        stop(replicas).await;
    }
    let all = leases(&server).list(&ListParams::default()).await.unwrap().items;
    let name = |lease: &Lease| lease.metadata.name.clone().unwrap();
    assert!(all.len() <= 5, "{:?}", all.iter().map(name).collect::<Vec<_>>());
    let mut holders = all.iter().filter_map(|lease| lease.spec.as_ref()?.holder_identity.clone());
    assert!(holders.all(|holder| holder.is_empty()));
    let table = all.iter().find(|lease| name(lease) == format!("{FLEET}-slots")).unwrap();
    let annotation = table.metadata.annotations.as_ref().unwrap().values().next().unwrap();
    assert!(annotation.contains(r#""holders":{}"#), "{annotation}");
}
