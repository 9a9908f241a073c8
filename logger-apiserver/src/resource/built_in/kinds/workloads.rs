//! What runs: pods, and what makes, counts and keeps them

use k8s_openapi::api::{
    apps::v1::{ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet},
    autoscaling::v2::HorizontalPodAutoscaler,
    batch::v1::{CronJob, Job},
    core::v1::Pod,
    policy::v1::PodDisruptionBudget,
};

use super::{CORE, IMMUTABLE};
use crate::resource::built_in::{BuiltIn, Form, Generation, Naming, fill_in, rules};

const APPS: &str = "apps";
const BATCH: &str = "batch";

pub(super) static ALL: [BuiltIn; 10] = [
    BuiltIn::new(CORE, "Pod", "pods", Form::of::<Pod>)
        .short_names(&["po"])
        .in_all()
        .status()
        .kept_by_status(&[&["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]])
        .generation(Generation::OfContent)
        .returned_when_deleted()
        .selectable(&[
            "spec.hostNetwork",
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.nominatedNodeName",
            "status.phase",
            "status.podIP",
        ])
        .filled_in_by(&[fill_in::pod])
        .new_is_filled_in_by(&[fill_in::new_pod])
        .changes_are_followed_by(&[fill_in::pod_changed])
        .obeys(&[rules::pod]),
    BuiltIn::new(APPS, "ControllerRevision", "controllerrevisions", Form::of::<ControllerRevision>)
        .immutable(&[("data", IMMUTABLE)]),
    BuiltIn::new(APPS, "DaemonSet", "daemonsets", Form::of::<DaemonSet>)
        .short_names(&["ds"])
        .in_all()
        .status()
        .generation(Generation::OfContent)
        .immutable(&[("spec.selector", IMMUTABLE)])
        .selects_its_template()
        .new_is_filled_in_by(&[fill_in::new_daemon_set])
        .changes_are_followed_by(&[fill_in::daemon_set_changed])
        .filled_in_by(&[fill_in::pod_template, fill_in::update_strategy])
        .obeys(&[rules::daemon_set]),
    BuiltIn::new(APPS, "Deployment", "deployments", Form::of::<Deployment>)
        .short_names(&["deploy"])
        .in_all()
        .status()
        .kept_by_status(&[&["metadata", "labels"]])
        .scale()
        .generation(Generation::OfContentAndAnnotations)
        .immutable(&[("spec.selector", IMMUTABLE)])
        .selects_its_template()
        .filled_in_by(&[fill_in::pod_template, fill_in::strategy])
        .obeys(&[rules::deployment]),
    BuiltIn::new(APPS, "ReplicaSet", "replicasets", Form::of::<ReplicaSet>)
        .short_names(&["rs"])
        .in_all()
        .status()
        .scale()
        .generation(Generation::OfContent)
        .immutable(&[("spec.selector", IMMUTABLE)])
        .selects_its_template()
        .filled_in_by(&[fill_in::pod_template])
        .obeys(&[rules::replica_set]),
    BuiltIn::new(APPS, "StatefulSet", "statefulsets", Form::of::<StatefulSet>)
        .short_names(&["sts"])
        .in_all()
        .status()
        .scale()
        .naming(Naming::Label)
        .generation(Generation::OfContent)
        .updatable(&[
            "replicas",
            "ordinals",
            "template",
            "updateStrategy",
            "revisionHistoryLimit",
            "persistentVolumeClaimRetentionPolicy",
            "minReadySeconds",
        ])
        .selects_its_template()
        .filled_in_by(&[fill_in::pod_template, fill_in::update_strategy, fill_in::claim_templates])
        .obeys(&[rules::stateful_set]),
    BuiltIn::new(
        "autoscaling",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        Form::of::<HorizontalPodAutoscaler>,
    )
    .version("v2")
    .short_names(&["hpa"])
    .in_all()
    .status()
    .filled_in_by(&[fill_in::autoscaler])
    .obeys(&[rules::autoscaler]),
    BuiltIn::new(BATCH, "CronJob", "cronjobs", Form::of::<CronJob>)
        .short_names(&["cj"])
        .in_all()
        .status()
        .generation(Generation::OfContent)
        .filled_in_by(&[fill_in::cron_job])
        .obeys(&[rules::cron_job]),
    BuiltIn::new(BATCH, "Job", "jobs", Form::of::<Job>)
        .in_all()
        .status()
        .generation(Generation::OfContent)
        .selectable(&["status.successful"])
        .immutable(&[("spec.selector", IMMUTABLE), ("spec.template", IMMUTABLE)])
        .filled_in_by(&[fill_in::pod_template, fill_in::job])
        .new_is_filled_in_by(&[fill_in::new_job])
        .obeys(&[rules::job]),
    BuiltIn::new("policy", "PodDisruptionBudget", "poddisruptionbudgets", Form::of::<PodDisruptionBudget>)
        .short_names(&["pdb"])
        .naming(Naming::PathSegment)
        .status()
        .generation(Generation::OfContent)
        .updates_name_a_version()
        .obeys(&[rules::budget]),
];
