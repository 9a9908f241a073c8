//! Workloads: Deployments, StatefulSets, DaemonSets, Jobs and the endpoints of Services.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet},
    batch::v1::Job,
    core::v1::{Pod, Service},
    discovery::v1::EndpointSlice,
};
use kube::{ResourceExt, api::DeleteParams};
use kubewright_simulator::NodeConfig;
use serde_json::{Value, json};

use crate::fixture::{Fixture, deployment, is_ready, names, node, template, waiting_reason};

const REVISION: &str = "deployment.kubernetes.io/revision";

fn image(image: &str) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}})
}

fn has_image(pod: &Pod, image: &str) -> bool {
    pod.spec.as_ref().is_some_and(|spec| spec.containers[0].image.as_deref() == Some(image))
}

#[tokio::test(start_paused = true)]
async fn a_deployment_is_rolled_out() {
    let fixture = Fixture::two_zones().await;
    let pods = fixture.deploy("web", 3, json!({})).await;
    fixture.condition("web", "Progressing", "True", "NewReplicaSetAvailable").await;
    fixture.condition("web", "Available", "True", "MinimumReplicasAvailable").await;
    let sets = fixture.list::<ReplicaSet>().await;
    let (set, hash) = (sets[0].name_any(), sets[0].labels()["pod-template-hash"].clone());
    assert_eq!(
        (sets.len(), set.as_str(), &sets[0].annotations()[REVISION]),
        (1, &*format!("web-{hash}"), &"1".to_owned())
    );
    for pod in &pods {
        let suffix = pod.name_any().strip_prefix(&format!("{set}-")).map(str::len);
        assert_eq!((suffix, &pod.labels()["pod-template-hash"]), (Some(5), &hash));
        let owner = &pod.owner_references()[0];
        assert_eq!(
            (owner.kind.as_str(), owner.controller, owner.block_owner_deletion),
            ("ReplicaSet", Some(true), Some(true))
        );
    }
    fixture.event("web", "ScalingReplicaSet").await;
    fixture.event(&set, "SuccessfulCreate").await;
    fixture.event(&pods[0].name_any(), "Scheduled").await;
    fixture.event(&pods[0].name_any(), "Started").await;
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_deployment_is_scaled_and_deleted() {
    let fixture = Fixture::two_zones().await;
    fixture.deploy("web", 2, json!({})).await;
    fixture.patch::<Deployment>("web", json!({"spec": {"replicas": 5}})).await;
    fixture.ready_pods("web", 5).await;
    fixture.patch::<Deployment>("web", json!({"spec": {"replicas": 1}})).await;
    fixture.ready_pods("web", 1).await;
    assert_eq!(fixture.list::<ReplicaSet>().await.len(), 1, "scaling is no rollout");
    fixture.api::<Deployment>().delete("web", &DeleteParams::background()).await.unwrap();
    fixture.wait_for::<Pod>("no pods", <[Arc<Pod>]>::is_empty).await;
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_rolling_update_keeps_the_available_pods() {
    let fixture = Fixture::two_zones().await;
    let slow = json!({"metadata": {"annotations": {"simulator/ready-after": "20s"}}});
    let rolling = json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}});
    let more = json!({"spec": {"strategy": rolling, "minReadySeconds": 5, "template": slow}});
    fixture.deploy("web", 4, more).await;
    fixture.condition("web", "Progressing", "True", "NewReplicaSetAvailable").await;
    fixture.patch::<Deployment>("web", image("web:2")).await;
    let (mut least, mut most) = (usize::MAX, 0);
    fixture
        .wait_for::<Pod>("all pods are updated", |pods| {
            let active = pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()).count();
            (least, most) = (least.min(pods.iter().filter(|pod| is_ready(pod)).count()), most.max(active));
            pods.len() == 4 && pods.iter().all(|pod| is_ready(pod) && has_image(pod, "web:2"))
        })
        .await;
    assert!(least >= 3 && most <= 5, "{least} ready, {most} active");
    let sets = fixture
        .wait_for::<ReplicaSet>("the old set is empty", |sets| {
            sets.len() == 2 && sets.iter().filter(|set| set.spec.as_ref().unwrap().replicas == Some(0)).count() == 1
        })
        .await;
    let mut revisions: Vec<_> = sets.iter().map(|set| set.annotations()[REVISION].clone()).collect();
    revisions.sort();
    assert_eq!(revisions, ["1", "2"]);
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_missing_image_stalls_the_rollout_and_keeps_the_old_pods() {
    let fixture = Fixture::two_zones().await;
    fixture.deploy("web", 3, json!({"spec": {"progressDeadlineSeconds": 60}})).await;
    fixture.condition("web", "Progressing", "True", "NewReplicaSetAvailable").await;
    let broken = json!({"spec": {"template": {"metadata": {"annotations": {"simulator/missing-image": "true"}}}}});
    fixture.patch::<Deployment>("web", broken).await;
    let pods = fixture.wait_for::<Pod>("a pod waits for its image", |pods| {
        pods.iter().any(|pod| waiting_reason(pod).as_deref() == Some("ImagePullBackOff"))
    });
    assert_eq!(pods.await.iter().filter(|pod| is_ready(pod)).count(), 3);
    fixture.condition("web", "Progressing", "False", "ProgressDeadlineExceeded").await;
    fixture.condition("web", "Available", "True", "MinimumReplicasAvailable").await;
    let fixed = json!({"spec": {"template": {"metadata": {"annotations": null}}}});
    fixture.patch::<Deployment>("web", fixed).await;
    fixture.ready_pods("web", 3).await;
    fixture.condition("web", "Progressing", "True", "NewReplicaSetAvailable").await;
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn recreate_ends_all_old_pods_first() {
    let fixture = Fixture::two_zones().await;
    fixture.deploy("web", 2, json!({"spec": {"strategy": {"type": "Recreate"}}})).await;
    fixture.patch::<Deployment>("web", image("web:2")).await;
    fixture
        .wait_for::<Pod>("all pods are updated", |pods| {
            let runs =
                |pod: &&Arc<Pod>| pod.status.as_ref().is_some_and(|status| status.phase.as_deref() == Some("Running"));
            let old = pods.iter().filter(runs).filter(|pod| !has_image(pod, "web:2")).count();
            let new = pods.iter().filter(|pod| has_image(pod, "web:2")).count();
            assert!(new == 0 || old == 0, "{old} old and {new} new pods at the same time");
            new == 2 && pods.len() == 2 && pods.iter().all(|pod| is_ready(pod))
        })
        .await;
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_rollout_long_after_the_last_one_does_not_time_out_at_once() {
    let fixture = Fixture::two_zones().await;
    let slow = json!({"metadata": {"annotations": {"simulator/ends-after": "5s"}}});
    let recreate = json!({"type": "Recreate"});
    let more = json!({"spec": {"strategy": recreate, "progressDeadlineSeconds": 60, "template": slow}});
    fixture.deploy("web", 2, more).await;
    fixture.condition("web", "Progressing", "True", "NewReplicaSetAvailable").await;
    tokio::time::sleep(Duration::from_secs(120)).await;
    let generation = fixture.patch::<Deployment>("web", image("web:2")).await.metadata.generation;
    fixture
        .wait_for::<Deployment>("the update is rolled out", |deployments| {
            let status = deployments[0].status.clone().unwrap_or_default();
            let mut progress = status.conditions.iter().flatten().filter(|condition| condition.type_ == "Progressing");
            let reason = progress.next().and_then(|condition| condition.reason.as_deref());
            assert_ne!(reason, Some("ProgressDeadlineExceeded"));
            let is_updated = status.observed_generation == generation && status.updated_replicas == Some(2);
            is_updated && reason == Some("NewReplicaSetAvailable")
        })
        .await;
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn old_sets_without_replicas_are_not_written() {
    let fixture = Fixture::two_zones().await;
    let before = fixture.deploy("web", 2, json!({})).await;
    let old = before[0].owner_references()[0].name.clone();
    fixture.patch::<Deployment>("web", image("web:2")).await;
    fixture
        .wait_for::<Pod>("all pods are updated", |pods| {
            pods.len() == 2 && pods.iter().all(|pod| is_ready(pod) && has_image(pod, "web:2"))
        })
        .await;
    fixture.patch::<Deployment>("web", json!({"spec": {"replicas": 4}})).await;
    fixture.ready_pods("web", 4).await;
    let is_complete = |deployments: &[Arc<Deployment>]| {
        deployments[0].status.as_ref().is_some_and(|status| status.available_replicas == Some(4))
    };
    fixture.wait_for::<Deployment>("all replicas are available", is_complete).await;
    let set = fixture.api::<ReplicaSet>().get(&old).await.unwrap();
    assert_eq!(set.annotations()["deployment.kubernetes.io/desired-replicas"], "2");
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_crashing_container_is_restarted_with_a_back_off() {
    let fixture = Fixture::two_zones().await;
    let crash = json!({"simulator/exit-after": "1s", "simulator/exit-code": "3"});
    let more = json!({"spec": {"template": {"metadata": {"annotations": crash}}}});
    fixture.create::<Deployment>(deployment("web", 1, more)).await;
    let pods = fixture.wait_for::<Pod>("a back-off", |pods| {
        pods.iter().any(|pod| waiting_reason(pod).as_deref() == Some("CrashLoopBackOff"))
    });
    let pods = pods.await;
    let status = &pods[0].status.as_ref().unwrap().container_statuses.as_ref().unwrap()[0];
    let last = status.last_state.as_ref().and_then(|state| state.terminated.as_ref()).unwrap();
    assert_eq!((last.exit_code, last.reason.as_deref()), (3, Some("Error")));
    fixture.event(&pods[0].name_any(), "BackOff").await;
    fixture.stop().await;
}

fn stateful_set() -> Value {
    let mut template = template("db");
    template["metadata"]["annotations"] = json!({"simulator/ready-after": "5s"});
    json!({
        "metadata": {"name": "db"},
        "spec": {
            "replicas": 3, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}, "template": template,
        },
    })
}

#[tokio::test(start_paused = true)]
async fn a_stateful_set_creates_and_updates_in_order() {
    let fixture = Fixture::two_zones().await;
    fixture.create::<StatefulSet>(stateful_set()).await;
    let pods = fixture.wait_for::<Pod>("three ready pods", |pods| {
        // Each pod is created when the ones before it are ready.
        let before_last = pods.len().saturating_sub(1);
        assert!(pods.iter().take(before_last).all(|pod| is_ready(pod)), "{:?}", names(pods));
        pods.len() == 3 && pods.iter().all(|pod| is_ready(pod))
    });
    assert_eq!(names(&pods.await), ["db-0", "db-1", "db-2"]);
    fixture.patch::<StatefulSet>("db", image("db:2")).await;
    fixture
        .wait_for::<Pod>("all pods are updated", |pods| {
            let updated: Vec<bool> = ["db-0", "db-1", "db-2"]
                .map(|name| pods.iter().any(|pod| pod.name_any() == name && has_image(pod, "db:2")))
                .to_vec();
            assert!(updated.is_sorted(), "the last pod is updated first: {updated:?}");
            updated == [true; 3] && pods.iter().all(|pod| is_ready(pod))
        })
        .await;
    fixture.patch::<StatefulSet>("db", json!({"spec": {"replicas": 1}})).await;
    let pods = fixture.wait_for::<Pod>("one pod", |pods| pods.len() == 1).await;
    assert_eq!(names(&pods), ["db-0"]);
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_partition_counts_from_the_first_ordinal() {
    let fixture = Fixture::two_zones().await;
    let mut set = stateful_set();
    set["spec"]["ordinals"] = json!({"start": 10});
    set["spec"]["updateStrategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}});
    fixture.create::<StatefulSet>(set).await;
    fixture.ready_pods("db", 3).await;
    fixture.patch::<StatefulSet>("db", image("db:2")).await;
    let updated = |pods: &[Arc<Pod>]| {
        let updated: Vec<_> = pods.iter().filter(|pod| has_image(pod, "db:2")).cloned().collect();
        names(&updated)
    };
    fixture
        .wait_for::<Pod>("the last pod is updated", |pods| {
            pods.len() == 3 && pods.iter().all(|pod| is_ready(pod)) && !updated(pods).is_empty()
        })
        .await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(updated(&fixture.ready_pods("db", 3).await), ["db-12"]);
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_pod_above_the_partition_is_updated() {
    let fixture = Fixture::two_zones().await;
    fixture.create::<StatefulSet>(stateful_set()).await;
    let first = fixture.ready_pods("db", 3).await[0].uid();
    let mut broken = image("db:2");
    broken["spec"]["template"]["metadata"] = json!({"annotations": {"simulator/never-ready": "true"}});
    fixture.patch::<StatefulSet>("db", broken).await;
    let is_last_updated = |pods: &[Arc<Pod>]| pods.len() == 3 && has_image(&pods[2], "db:2");
    fixture.wait_for::<Pod>("the last pod is updated", is_last_updated).await;
    fixture.api::<Pod>().delete("db-0", &DeleteParams::default()).await.unwrap();
    let is_recreated = |pods: &[Arc<Pod>]| pods.len() == 3 && pods[0].uid() != first;
    let pods = fixture.wait_for::<Pod>("the first pod is recreated", is_recreated).await;
    assert_eq!([0, 1, 2].map(|index: usize| has_image(&pods[index], "db:2")), [true, false, true]);
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_daemon_set_runs_on_each_node_and_on_new_ones() {
    let fixture = Fixture::two_zones().await;
    let set = json!({
        "metadata": {"name": "agent"},
        "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": template("agent")},
    });
    fixture.create::<DaemonSet>(set).await;
    let nodes = |pods: &[Arc<Pod>]| {
        let mut nodes: Vec<_> = pods.iter().map(|pod| node(pod)).collect();
        nodes.sort();
        nodes
    };
    assert_eq!(nodes(&fixture.ready_pods("agent", 3).await), ["a-1", "a-2", "b-1"]);
    fixture.cluster.add_node(NodeConfig::new("b-2").zone("b")).await.unwrap();
    fixture.cluster.cordon("b-2").await.unwrap();
    assert_eq!(nodes(&fixture.ready_pods("agent", 4).await), ["a-1", "a-2", "b-1", "b-2"]);
    fixture.patch::<DaemonSet>("agent", image("agent:2")).await;
    fixture
        .wait_for::<Pod>("all pods are updated", |pods| {
            assert!(pods.iter().filter(|pod| is_ready(pod)).count() >= 3, "one pod at a time");
            pods.len() == 4 && pods.iter().all(|pod| is_ready(pod) && has_image(pod, "agent:2"))
        })
        .await;
    fixture.stop().await;
}

fn job(spec: Value, annotations: Value) -> Value {
    let mut template = template("task");
    template["metadata"]["annotations"] = annotations;
    template["spec"]["restartPolicy"] = json!("Never");
    let mut job = json!({"metadata": {"name": "task"}, "spec": spec});
    job["spec"]["template"] = template;
    job
}

#[tokio::test(start_paused = true)]
async fn a_job_runs_until_its_completions() {
    let fixture = Fixture::two_zones().await;
    let spec = json!({"completions": 5, "parallelism": 2, "completionMode": "Indexed"});
    fixture.create::<Job>(job(spec, json!({"simulator/exit-after": "10s"}))).await;
    let jobs = fixture.wait_for::<Job>("the job is complete", |jobs| {
        let active = jobs.first().and_then(|job| job.status.as_ref()?.active).unwrap_or_default();
        assert!(active <= 2, "{active} active pods");
        jobs.first().is_some_and(|job| has_condition(job, "Complete"))
    });
    let status = jobs.await[0].status.clone().unwrap();
    assert_eq!((status.succeeded, status.completed_indexes.as_deref()), (Some(5), Some("0-4")));
    assert!(status.completion_time.is_some() && status.active.unwrap_or_default() == 0);
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_job_fails_at_its_backoff_limit() {
    let fixture = Fixture::two_zones().await;
    let failing = json!({"simulator/exit-after": "1s", "simulator/exit-code": "1"});
    fixture.create::<Job>(job(json!({"backoffLimit": 2}), failing)).await;
    let failed = |jobs: &[Arc<Job>]| jobs.first().is_some_and(|job| has_condition(job, "Failed"));
    let jobs = fixture.wait_for::<Job>("the job has failed", failed).await;
    assert_eq!(jobs[0].status.as_ref().unwrap().failed, Some(3));
    fixture.event("task", "BackoffLimitExceeded").await;
    fixture.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_job_ends_after_its_terminating_pods() {
    let fixture = Fixture::two_zones().await;
    let spec = json!({"activeDeadlineSeconds": 5});
    fixture.create::<Job>(job(spec, json!({"simulator/ends-after": "20s"}))).await;
    let terminating = |jobs: &[Arc<Job>]| jobs.first().and_then(|job| job.status.as_ref()?.terminating);
    let jobs = fixture.wait_for::<Job>("the pod is terminating", |jobs| terminating(jobs) == Some(1)).await;
    assert!(has_condition(&jobs[0], "FailureTarget") && !has_condition(&jobs[0], "Failed"));
    let failed = |jobs: &[Arc<Job>]| jobs.first().is_some_and(|job| has_condition(job, "Failed"));
    let jobs = fixture.wait_for::<Job>("the job has failed", failed).await;
    assert_eq!(terminating(&jobs), Some(0));
    fixture.stop().await;
}

fn has_condition(job: &Job, type_: &str) -> bool {
    let conditions = job.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().any(|condition| condition.type_ == type_ && condition.status == "True")
}

#[tokio::test(start_paused = true)]
async fn endpoints_follow_the_readiness_of_pods() {
    let fixture = Fixture::two_zones().await;
    let service = json!({
        "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]},
    });
    fixture.create::<Service>(service).await;
    let pods = fixture.deploy("web", 2, json!({})).await;
    let ready_addresses = |slices: &[Arc<EndpointSlice>]| {
        // The service of the API server has endpoints, too.
        let slices = slices.iter().filter(|slice| slice.name_any().starts_with("web-"));
        let endpoints = slices.flat_map(|slice| slice.endpoints.iter().flatten());
        let ready = endpoints
            .filter(|endpoint| endpoint.conditions.as_ref().is_some_and(|conditions| conditions.ready == Some(true)));
        let mut addresses: Vec<_> = ready.flat_map(|endpoint| endpoint.addresses.clone()).collect();
        addresses.sort();
        addresses
    };
    let mut expected: Vec<_> = pods.iter().map(|pod| pod.status.as_ref().unwrap().pod_ip.clone().unwrap()).collect();
    expected.sort();
    fixture.wait_for::<EndpointSlice>("both endpoints", |slices| ready_addresses(slices) == expected).await;
    fixture.patch::<Deployment>("web", json!({"spec": {"replicas": 0}})).await;
    fixture.wait_for::<EndpointSlice>("no endpoints", |slices| ready_addresses(slices).is_empty()).await;
    fixture.stop().await;
}
