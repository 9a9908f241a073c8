//! The table of built-in kinds

use std::sync::LazyLock;

use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet},
    batch::v1::{CronJob, Job},
    coordination::v1::Lease,
    core::v1::{ConfigMap, Event, PersistentVolumeClaim, Pod, Secret, Service, ServiceAccount},
    events,
    networking::v1::{Ingress, NetworkPolicy},
    policy::v1::PodDisruptionBudget,
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
};

use super::{BuiltIn, Fields, Form, Generation, Naming, fill_in};

const APPS: &str = "apps";
const BATCH: &str = "batch";
const CORE: &str = "";
const NETWORKING: &str = "networking.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";

const IMMUTABLE: &str = "field is immutable";
const SAME_ROLE: &str = "cannot change roleRef";

/// Every kind that is described by its row alone.
pub(crate) static ALL: [BuiltIn; 22] = [
    BuiltIn::new(CORE, "ConfigMap", "configmaps", Form::of::<ConfigMap>).short_names(&["cm"]),
    BuiltIn::new(CORE, "Event", "events", Form::of::<Event>).short_names(&["ev"]).made_by_updates().selectable(&[
        "involvedObject.apiVersion",
        "involvedObject.fieldPath",
        "involvedObject.kind",
        "involvedObject.name",
        "involvedObject.namespace",
        "involvedObject.resourceVersion",
        "involvedObject.uid",
        "reason",
        "reportingComponent",
        "type",
    ]),
    BuiltIn::new(CORE, "PersistentVolumeClaim", "persistentvolumeclaims", Form::of::<PersistentVolumeClaim>)
        .short_names(&["pvc"])
        .status()
        .returned_when_deleted(),
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
        .filled_in_by(&[fill_in::pod]),
    BuiltIn::new(CORE, "Secret", "secrets", Form::of::<Secret>)
        .selectable(&["type"])
        .immutable(&[("type", IMMUTABLE)])
        .filled_in_by(&[fill_in::secret]),
    BuiltIn::new(CORE, "Service", "services", Form::of::<Service>)
        .short_names(&["svc"])
        .in_all()
        .status()
        .naming(Naming::Label)
        .made_by_updates()
        .returned_when_deleted()
        .selectable(&["spec.clusterIP", "spec.type"])
        .filled_in_by(&[fill_in::service]),
    BuiltIn::new(CORE, "ServiceAccount", "serviceaccounts", Form::of::<ServiceAccount>)
        .short_names(&["sa"])
        .returned_when_deleted(),
    BuiltIn::new(APPS, "DaemonSet", "daemonsets", Form::of::<DaemonSet>)
        .short_names(&["ds"])
        .in_all()
        .status()
        .generation(Generation::OfContent)
        .immutable(&[("spec.selector", IMMUTABLE)])
        .selects_its_template()
        .filled_in_by(&[fill_in::pod_template, fill_in::update_strategy]),
    BuiltIn::new(APPS, "Deployment", "deployments", Form::of::<Deployment>)
        .short_names(&["deploy"])
        .in_all()
        .status()
        .kept_by_status(&[&["metadata", "labels"]])
        .scale()
        .generation(Generation::OfContentAndAnnotations)
        .immutable(&[("spec.selector", IMMUTABLE)])
        .selects_its_template()
        .filled_in_by(&[fill_in::pod_template, fill_in::strategy]),
    BuiltIn::new(APPS, "ReplicaSet", "replicasets", Form::of::<ReplicaSet>)
        .short_names(&["rs"])
        .in_all()
        .status()
        .scale()
        .generation(Generation::OfContent)
        .immutable(&[("spec.selector", IMMUTABLE)])
        .selects_its_template()
        .filled_in_by(&[fill_in::pod_template]),
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
        .filled_in_by(&[fill_in::pod_template, fill_in::update_strategy]),
    BuiltIn::new(BATCH, "CronJob", "cronjobs", Form::of::<CronJob>)
        .short_names(&["cj"])
        .in_all()
        .status()
        .generation(Generation::OfContent)
        .filled_in_by(&[fill_in::cron_job]),
    BuiltIn::new(BATCH, "Job", "jobs", Form::of::<Job>)
        .in_all()
        .status()
        .generation(Generation::OfContent)
        .selectable(&["status.successful"])
        .immutable(&[("spec.selector", IMMUTABLE), ("spec.template", IMMUTABLE)])
        .filled_in_by(&[fill_in::pod_template, fill_in::job]),
    BuiltIn::new("coordination.k8s.io", "Lease", "leases", Form::of::<Lease>)
        .made_by_updates()
        .updates_name_a_version(),
    BuiltIn::new("events.k8s.io", "Event", "events", Form::of::<events::v1::Event>)
        .short_names(&["ev"])
        .made_by_updates()
        .selectable(&[
            "reason",
            "regarding.apiVersion",
            "regarding.fieldPath",
            "regarding.kind",
            "regarding.name",
            "regarding.namespace",
            "regarding.resourceVersion",
            "regarding.uid",
            "reportingController",
            "type",
        ]),
    BuiltIn::new(NETWORKING, "Ingress", "ingresses", Form::of::<Ingress>)
        .short_names(&["ing"])
        .status()
        .generation(Generation::OfContent),
    BuiltIn::new(NETWORKING, "NetworkPolicy", "networkpolicies", Form::of::<NetworkPolicy>)
        .short_names(&["netpol"])
        .generation(Generation::OfContent)
        .filled_in_by(&[fill_in::network_policy]),
    BuiltIn::new("policy", "PodDisruptionBudget", "poddisruptionbudgets", Form::of::<PodDisruptionBudget>)
        .short_names(&["pdb"])
        .status()
        .generation(Generation::OfContent)
        .updates_name_a_version(),
    BuiltIn::new(RBAC, "ClusterRole", "clusterroles", Form::of::<ClusterRole>)
        .cluster()
        .naming(Naming::PathSegment)
        .made_by_updates(),
    BuiltIn::new(RBAC, "ClusterRoleBinding", "clusterrolebindings", Form::of::<ClusterRoleBinding>)
        .cluster()
        .naming(Naming::PathSegment)
        .made_by_updates()
        .immutable(&[("roleRef", SAME_ROLE)])
        .filled_in_by(&[fill_in::subjects]),
    BuiltIn::new(RBAC, "Role", "roles", Form::of::<Role>).naming(Naming::PathSegment).made_by_updates(),
    BuiltIn::new(RBAC, "RoleBinding", "rolebindings", Form::of::<RoleBinding>)
        .naming(Naming::PathSegment)
        .made_by_updates()
        .immutable(&[("roleRef", SAME_ROLE)])
        .filled_in_by(&[fill_in::subjects]),
];

/// A row says only what is unlike a plain namespaced kind.
impl BuiltIn {
    const fn new(group: &'static str, kind: &'static str, plural: &'static str, form: fn() -> Form) -> Self {
        Self {
            group,
            kind,
            plural,
            short_names: &[],
            categories: &[],
            namespaced: true,
            has_status: false,
            has_scale: false,
            generation: Generation::Uncounted,
            naming: Naming::Subdomain,
            is_made_by_updates: false,
            updates_name_a_version: false,
            is_returned_when_deleted: false,
            selectable: &[],
            kept_by_status: &[],
            immutable: &[],
            updatable: &[],
            selects_its_template: false,
            fill_in: &[],
            form: LazyLock::new(form),
        }
    }

    const fn short_names(mut self, names: &'static [&'static str]) -> Self {
        self.short_names = names;
        self
    }

    /// `kubectl get all` shows it.
    const fn in_all(mut self) -> Self {
        self.categories = &["all"];
        self
    }

    const fn cluster(mut self) -> Self {
        self.namespaced = false;
        self
    }

    const fn status(mut self) -> Self {
        self.has_status = true;
        self
    }

    const fn kept_by_status(mut self, paths: &'static [&'static [&'static str]]) -> Self {
        self.kept_by_status = paths;
        self
    }

    const fn scale(mut self) -> Self {
        self.has_scale = true;
        self
    }

    const fn generation(mut self, generation: Generation) -> Self {
        self.generation = generation;
        self
    }

    const fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    const fn made_by_updates(mut self) -> Self {
        self.is_made_by_updates = true;
        self
    }

    const fn updates_name_a_version(mut self) -> Self {
        self.updates_name_a_version = true;
        self
    }

    const fn returned_when_deleted(mut self) -> Self {
        self.is_returned_when_deleted = true;
        self
    }

    const fn selectable(mut self, fields: &'static [&'static str]) -> Self {
        self.selectable = fields;
        self
    }

    const fn immutable(mut self, fields: &'static [(&'static str, &'static str)]) -> Self {
        self.immutable = fields;
        self
    }

    const fn updatable(mut self, fields: &'static [&'static str]) -> Self {
        self.updatable = fields;
        self
    }

    const fn selects_its_template(mut self) -> Self {
        self.selects_its_template = true;
        self
    }

    const fn filled_in_by(mut self, rules: &'static [fn(&mut Fields)]) -> Self {
        self.fill_in = rules;
        self
    }
}
