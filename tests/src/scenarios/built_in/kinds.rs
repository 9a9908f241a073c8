//! Every built-in kind, with a minimal object and the object that every server stores for it.

use serde_json::{Value, json};

pub(super) struct Kind {
    pub(super) group: &'static str,
    pub(super) kind: &'static str,
    pub(super) plural: &'static str,
    pub(super) short_names: &'static [&'static str],
    pub(super) categories: &'static [&'static str],
    pub(super) cluster: bool,
    pub(super) status: bool,
    pub(super) scale: bool,
    pub(super) generation: Option<i64>,
    pub(super) unversioned_updates: bool,
    pub(super) created_by_updates: bool,
    pub(super) returned_when_deleted: bool,
    /// The minimal object, without metadata.
    pub(super) minimal: fn() -> Value,
    /// The object that is stored for it, without metadata.
    pub(super) stored: fn() -> Value,
    /// JSON pointers to fields that only the real server sets, for example by its admission plugins.
    ignored: &'static [&'static str],
}

impl Kind {
    /// Returns an object without the ignored fields.
    pub(super) fn without_ignored(&self, object: &Value) -> Value {
        let mut object = object.clone();
        for path in self.ignored {
            let (parent, name) = path.rsplit_once('/').expect("a pointer");
            if let Some(fields) = object.pointer_mut(parent).and_then(Value::as_object_mut) {
                fields.remove(name);
            }
        }
        object
    }
}

const PLAIN: Kind = Kind {
    group: "",
    kind: "",
    plural: "",
    short_names: &[],
    categories: &[],
    cluster: false,
    status: false,
    scale: false,
    generation: None,
    unversioned_updates: true,
    created_by_updates: false,
    returned_when_deleted: false,
    minimal: || json!({}),
    stored: || json!({}),
    ignored: &[],
};

const WORKLOAD: Kind = Kind { group: "apps", categories: &["all"], status: true, generation: Some(1), ..PLAIN };

const ROLES: Kind = Kind { group: "rbac.authorization.k8s.io", created_by_updates: true, ..PLAIN };

fn selector() -> Value {
    json!({"matchLabels": {"a": "b"}})
}

fn template() -> Value {
    json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
}

/// Returns a pod template that runs to completion.
fn job_template() -> Value {
    json!({"spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}})
}

fn stored_pod(restart_policy: &str) -> Value {
    json!({
        "containers": [{
            "name": "c", "image": "i", "resources": {}, "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File", "imagePullPolicy": "Always",
        }],
        "restartPolicy": restart_policy, "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
        "securityContext": {}, "schedulerName": "default-scheduler",
    })
}

fn stored_template() -> Value {
    json!({"metadata": {"labels": {"a": "b"}}, "spec": stored_pod("Always")})
}

fn workload() -> Value {
    json!({"spec": {"selector": selector(), "template": template()}})
}

fn rules() -> Value {
    json!({"rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]})
}

fn binding() -> Value {
    json!({
        "roleRef": {"kind": "ClusterRole", "name": "x"},
        "subjects": [{"kind": "ServiceAccount", "name": "sa", "namespace": "default"}, {"kind": "User", "name": "u"}],
    })
}

fn stored_binding() -> Value {
    const GROUP: &str = "rbac.authorization.k8s.io";
    json!({
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": "x"},
        "subjects": [
            {"kind": "ServiceAccount", "name": "sa", "namespace": "default"},
            {"kind": "User", "apiGroup": GROUP, "name": "u"},
        ],
    })
}

pub(super) const KINDS: &[Kind] = &[
    Kind {
        kind: "ConfigMap",
        plural: "configmaps",
        short_names: &["cm"],
        minimal: || json!({"data": {"a": "1"}}),
        stored: || json!({"data": {"a": "1"}}),
        ..PLAIN
    },
    Kind {
        kind: "Secret",
        plural: "secrets",
        minimal: || json!({"stringData": {"a": "1"}}),
        stored: || json!({"data": {"a": "MQ=="}, "type": "Opaque"}),
        ..PLAIN
    },
    Kind {
        kind: "ServiceAccount",
        plural: "serviceaccounts",
        short_names: &["sa"],
        returned_when_deleted: true,
        ..PLAIN
    },
    Kind {
        kind: "Service",
        plural: "services",
        short_names: &["svc"],
        categories: &["all"],
        status: true,
        created_by_updates: true,
        returned_when_deleted: true,
        minimal: || json!({"spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]}}),
        stored: || {
            json!({
                "spec": {
                    "ports": [{"protocol": "TCP", "port": 80, "targetPort": 80}], "selector": {"a": "b"},
                    "type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster",
                },
                "status": {"loadBalancer": {}},
            })
        },
        ignored: &["/spec/clusterIP", "/spec/clusterIPs", "/spec/ipFamilies", "/spec/ipFamilyPolicy"],
        ..PLAIN
    },
    Kind {
        kind: "Pod",
        plural: "pods",
        short_names: &["po"],
        categories: &["all"],
        status: true,
        generation: Some(1),
        returned_when_deleted: true,
        minimal: || json!({"spec": {"containers": [{"name": "c", "image": "i"}]}}),
        stored: || {
            let mut spec = stored_pod("Always");
            spec["enableServiceLinks"] = json!(true);
            json!({"spec": spec, "status": {"phase": "Pending"}})
        },
        ignored: &["/spec/tolerations", "/spec/priority", "/spec/preemptionPolicy", "/status/qosClass"],
        ..PLAIN
    },
    Kind {
        kind: "PersistentVolumeClaim",
        plural: "persistentvolumeclaims",
        short_names: &["pvc"],
        status: true,
        returned_when_deleted: true,
        minimal: || json!({"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}),
        stored: || {
            let requests = json!({"requests": {"storage": "1Gi"}});
            let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": requests, "volumeMode": "Filesystem"});
            json!({"spec": spec, "status": {"phase": "Pending"}})
        },
        ..PLAIN
    },
    Kind {
        kind: "Event",
        plural: "events",
        short_names: &["ev"],
        created_by_updates: true,
        minimal: || json!({"involvedObject": {"kind": "Pod", "name": "x", "namespace": "built-in-kinds"}}),
        stored: || {
            json!({
                "involvedObject": {"kind": "Pod", "name": "x", "namespace": "built-in-kinds"}, "source": {},
                "firstTimestamp": null, "lastTimestamp": null, "eventTime": null,
                "reportingComponent": "", "reportingInstance": "",
            })
        },
        ..PLAIN
    },
    Kind {
        group: "events.k8s.io",
        kind: "Event",
        plural: "events",
        short_names: &["ev"],
        created_by_updates: true,
        minimal: || {
            json!({
                "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "a/b", "reportingInstance": "c",
                "action": "a", "reason": "r", "type": "Normal", "note": "n",
                "regarding": {"kind": "Pod", "name": "x", "namespace": "built-in-kinds"},
            })
        },
        stored: || {
            json!({
                "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "a/b", "reportingInstance": "c",
                "action": "a", "reason": "r", "type": "Normal", "note": "n",
                "regarding": {"kind": "Pod", "name": "x", "namespace": "built-in-kinds"},
                "deprecatedSource": {}, "deprecatedFirstTimestamp": null, "deprecatedLastTimestamp": null,
            })
        },
        ..PLAIN
    },
    Kind {
        kind: "Deployment",
        plural: "deployments",
        short_names: &["deploy"],
        scale: true,
        minimal: workload,
        stored: || {
            json!({
                "spec": {
                    "replicas": 1, "selector": selector(), "template": stored_template(),
                    "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
                    "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
                },
                "status": {},
            })
        },
        ..WORKLOAD
    },
    Kind {
        kind: "ReplicaSet",
        plural: "replicasets",
        short_names: &["rs"],
        scale: true,
        minimal: workload,
        stored: || {
            json!({
                "spec": {"replicas": 1, "selector": selector(), "template": stored_template()},
                "status": {"replicas": 0},
            })
        },
        ..WORKLOAD
    },
    Kind {
        kind: "StatefulSet",
        plural: "statefulsets",
        short_names: &["sts"],
        scale: true,
        minimal: || json!({"spec": {"selector": selector(), "serviceName": "s", "template": template()}}),
        stored: || {
            json!({
                "spec": {
                    "replicas": 1, "selector": selector(), "template": stored_template(), "serviceName": "s",
                    "podManagementPolicy": "OrderedReady", "revisionHistoryLimit": 10,
                    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
                    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
                },
                "status": {"replicas": 0, "availableReplicas": 0},
            })
        },
        ..WORKLOAD
    },
    Kind {
        kind: "DaemonSet",
        plural: "daemonsets",
        short_names: &["ds"],
        minimal: workload,
        stored: || {
            json!({
                "spec": {
                    "selector": selector(), "template": stored_template(), "revisionHistoryLimit": 10,
                    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
                },
                "status": {
                    "currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0, "numberReady": 0,
                },
            })
        },
        ..WORKLOAD
    },
    Kind {
        group: "batch",
        kind: "Job",
        plural: "jobs",
        // Without `manualSelector`, the template of a Job gets labels from its uid, which an update would have to
        // repeat.
        minimal: || {
            json!({"spec": {"manualSelector": true, "selector": selector(), "template": {
                "metadata": {"labels": {"a": "b"}}, "spec": job_template()["spec"],
            }}})
        },
        stored: || {
            json!({
                "spec": {
                    "parallelism": 1, "completions": 1, "backoffLimit": 6, "manualSelector": true, "selector": selector(),
                    "template": {"metadata": {"labels": {"a": "b"}}, "spec": stored_pod("Never")},
                    "completionMode": "NonIndexed", "suspend": false, "podReplacementPolicy": "TerminatingOrFailed",
                },
                "status": {},
            })
        },
        ..WORKLOAD
    },
    Kind {
        group: "batch",
        kind: "CronJob",
        plural: "cronjobs",
        short_names: &["cj"],
        minimal: || json!({"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": job_template()}}}}),
        stored: || {
            let template = json!({"metadata": {}, "spec": stored_pod("Never")});
            json!({
                "spec": {
                    "schedule": "* * * * *", "concurrencyPolicy": "Allow", "suspend": false,
                    "jobTemplate": {"metadata": {}, "spec": {"template": template}},
                    "successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1,
                },
                "status": {},
            })
        },
        ..WORKLOAD
    },
    Kind { kind: "Role", plural: "roles", minimal: rules, stored: rules, ..ROLES },
    Kind { kind: "RoleBinding", plural: "rolebindings", minimal: binding, stored: stored_binding, ..ROLES },
    Kind { kind: "ClusterRole", plural: "clusterroles", cluster: true, stored: || json!({"rules": null}), ..ROLES },
    Kind {
        kind: "ClusterRoleBinding",
        plural: "clusterrolebindings",
        cluster: true,
        minimal: binding,
        stored: stored_binding,
        ..ROLES
    },
    Kind {
        group: "coordination.k8s.io",
        kind: "Lease",
        plural: "leases",
        unversioned_updates: false,
        created_by_updates: true,
        minimal: || json!({"spec": {"holderIdentity": "h"}}),
        stored: || json!({"spec": {"holderIdentity": "h"}}),
        ..PLAIN
    },
    Kind {
        group: "policy",
        kind: "PodDisruptionBudget",
        plural: "poddisruptionbudgets",
        short_names: &["pdb"],
        status: true,
        generation: Some(1),
        unversioned_updates: false,
        minimal: || json!({"spec": {"minAvailable": 1, "selector": selector()}}),
        stored: || {
            json!({
                "spec": {"minAvailable": 1, "selector": selector()},
                "status": {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0},
            })
        },
        ..PLAIN
    },
    Kind {
        group: "networking.k8s.io",
        kind: "NetworkPolicy",
        plural: "networkpolicies",
        short_names: &["netpol"],
        generation: Some(1),
        minimal: || json!({"spec": {"podSelector": selector()}}),
        stored: || json!({"spec": {"podSelector": selector(), "policyTypes": ["Ingress"]}}),
        ..PLAIN
    },
    Kind {
        group: "networking.k8s.io",
        kind: "Ingress",
        plural: "ingresses",
        short_names: &["ing"],
        status: true,
        generation: Some(1),
        minimal: || json!({"spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}}),
        stored: || {
            let backend = json!({"service": {"name": "s", "port": {"number": 80}}});
            json!({"spec": {"defaultBackend": backend}, "status": {"loadBalancer": {}}})
        },
        ..PLAIN
    },
];
