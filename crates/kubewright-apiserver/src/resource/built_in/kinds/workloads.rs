//! Pods, workloads, autoscalers and disruption budgets.

use k8s_openapi::api::{
    apps::v1::{ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet},
    autoscaling::v2::HorizontalPodAutoscaler,
    batch::v1::{CronJob, Job},
    core::v1::{Pod, PodTemplate, ReplicationController},
    policy::v1::PodDisruptionBudget,
};

use super::{CORE, IMMUTABLE};
use crate::{
    api::{endpoint::PodSubresource, error::Result, kind::Kind, object::Object},
    resource::{
        built_in::{BuiltIn, TypeInfo, defaults, rules},
        limit_range, priority_class,
        strategy::{Generation, Naming, Objects},
        topology,
    },
};

const APPS: &str = "apps";
const BATCH: &str = "batch";

pub(super) static ALL: [BuiltIn; 12] = [
    BuiltIn::new(CORE, "Pod", "pods", TypeInfo::new::<Pod>)
        .pod_subresources(&PodSubresource::ALL)
        .grace_period()
        .revalidates_metadata()
        .admit(admit_pod)
        .short_names(&["po"])
        .in_all()
        .status()
        .status_reset_fields(&[&["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]])
        .generation(Generation::Content)
        .returns_deleted_object()
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
        .defaults(&[defaults::pod])
        .prepare_for_create(defaults::new_pod)
        .propagate(defaults::pod_changed)
        .rules(&[rules::pod]),
    BuiltIn::new(CORE, "PodTemplate", "podtemplates", TypeInfo::new::<PodTemplate>)
        .generation(Generation::Content)
        .returns_deleted_object()
        .defaults(&[defaults::template_of_pods])
        .rules(&[rules::pod_template]),
    BuiltIn::new(CORE, "ReplicationController", "replicationcontrollers", TypeInfo::new::<ReplicationController>)
        .short_names(&["rc"])
        .in_all()
        .status()
        .scale()
        .generation(Generation::Content)
        .orphans_dependents()
        .selectable(&["status.replicas"])
        .defaults(&[defaults::pod_template])
        .default_object(defaults::replication_controller)
        .rules(&[rules::replication_controller]),
    BuiltIn::new(APPS, "ControllerRevision", "controllerrevisions", TypeInfo::new::<ControllerRevision>)
        .immutable(&[("data", IMMUTABLE)]),
    BuiltIn::new(APPS, "DaemonSet", "daemonsets", TypeInfo::new::<DaemonSet>)
        .short_names(&["ds"])
        .in_all()
        .status()
        .generation(Generation::Content)
        .immutable(&[("spec.selector", IMMUTABLE)])
        .selects_its_template()
        .prepare_for_create(defaults::new_daemon_set)
        .propagate(defaults::daemon_set_changed)
        .defaults(&[defaults::pod_template, defaults::daemon_set_strategy])
        .rules(&[rules::daemon_set]),
    BuiltIn::new(APPS, "Deployment", "deployments", TypeInfo::new::<Deployment>)
        .short_names(&["deploy"])
        .in_all()
        .status()
        .status_reset_fields(&[&["metadata", "labels"]])
        .scale()
        .generation(Generation::ContentAndAnnotations)
        .immutable(&[("spec.selector", IMMUTABLE)])
        .selects_its_template()
        .defaults(&[defaults::pod_template, defaults::strategy])
        .rules(&[rules::deployment]),
    BuiltIn::new(APPS, "ReplicaSet", "replicasets", TypeInfo::new::<ReplicaSet>)
        .short_names(&["rs"])
        .in_all()
        .status()
        .scale()
        .generation(Generation::Content)
        .immutable(&[("spec.selector", IMMUTABLE)])
        .selects_its_template()
        .defaults(&[defaults::pod_template])
        .rules(&[rules::replica_set]),
    BuiltIn::new(APPS, "StatefulSet", "statefulsets", TypeInfo::new::<StatefulSet>)
        .short_names(&["sts"])
        .in_all()
        .status()
        .scale()
        .naming(Naming::Label)
        .generation(Generation::Content)
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
        .defaults(&[defaults::pod_template, defaults::stateful_set_strategy, defaults::claim_templates])
        .rules(&[rules::stateful_set]),
    BuiltIn::new(
        "autoscaling",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
        TypeInfo::new::<HorizontalPodAutoscaler>,
    )
    .version("v2")
    .short_names(&["hpa"])
    .in_all()
    .status()
    .defaults(&[defaults::autoscaler])
    .rules(&[rules::autoscaler]),
    BuiltIn::new(BATCH, "CronJob", "cronjobs", TypeInfo::new::<CronJob>)
        .short_names(&["cj"])
        .in_all()
        .status()
        .generation(Generation::Content)
        .defaults(&[defaults::cron_job])
        .rules(&[rules::cron_job]),
    BuiltIn::new(BATCH, "Job", "jobs", TypeInfo::new::<Job>)
        .orphans_dependents()
        .names_kind_in_field_errors()
        .in_all()
        .status()
        .generation(Generation::Content)
        .selectable(&["status.successful"])
        .immutable(&[("spec.selector", IMMUTABLE), ("spec.template", IMMUTABLE)])
        .defaults(&[defaults::pod_template, defaults::job])
        .prepare_for_create(defaults::new_job)
        .rules(&[rules::job]),
    BuiltIn::new("policy", "PodDisruptionBudget", "poddisruptionbudgets", TypeInfo::new::<PodDisruptionBudget>)
        .short_names(&["pdb"])
        .naming(Naming::PathSegment)
        .status()
        .generation(Generation::Content)
        .requires_resource_version()
        .rules(&[rules::budget]),
];

fn admit_pod(objects: &dyn Objects, kind: &Kind, pod: &mut Object) -> Result<()> {
    limit_range::default_pod(objects, pod);
    topology::admit(objects, pod);
    priority_class::admit(objects, kind, pod)
}
