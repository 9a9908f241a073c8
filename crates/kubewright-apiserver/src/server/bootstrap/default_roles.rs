//! The default cluster roles and bindings that users and operators meet, as kube-apiserver 1.36 creates them.
//!
//! The source is `plugin/pkg/auth/authorizer/rbac/bootstrappolicy` of Kubernetes, with the default feature gates. The
//! roles of the components of the control plane and of nodes are not created.

use serde_json::{Value, json};

use super::create_object;
use crate::{
    authorization::{CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, GROUP, rules::ALL},
    storage::state::State,
};

/// A default cluster role.
struct Role {
    name: &'static str,
    /// The role that it is aggregated to.
    aggregated_to: Option<&'static str>,
    rules: Rules,
}

/// The rules of a default role.
enum Rules {
    /// Those of the roles that are aggregated to the role of this name.
    Aggregated(&'static str),
    Fixed(&'static [Rule]),
}

/// A rule: verbs of resources of groups, or of paths.
enum Rule {
    Resources(&'static [&'static str], &'static [&'static str], &'static [&'static str]),
    Paths(&'static [&'static str], &'static [&'static str]),
}

const READ: &[&str] = &["get", "list", "watch"];
const WRITE: &[&str] = &["create", "delete", "deletecollection", "patch", "update"];
const READ_WRITE: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const CORE: &[&str] = &[""];
const EVENTS: &[&str] = &["", "events.k8s.io"];

const ROLES: [Role; 13] = [
    fixed("cluster-admin", &[Rule::Resources(&[ALL], &[ALL], &[ALL]), Rule::Paths(&[ALL], &[ALL])]),
    aggregated("admin", None),
    aggregated("edit", Some("admin")),
    aggregated("view", Some("edit")),
    part_of("system:aggregate-to-admin", "admin", ADMIN),
    part_of("system:aggregate-to-edit", "edit", EDIT),
    part_of("system:aggregate-to-view", "view", VIEW),
    fixed("system:discovery", &[Rule::Paths(&["get"], DISCOVERY_PATHS)]),
    fixed("system:basic-user", BASIC_USER),
    fixed(
        "system:public-info-viewer",
        &[Rule::Paths(&["get"], &["/healthz", "/livez", "/readyz", "/version", "/version/"])],
    ),
    fixed(
        "system:monitoring",
        &[Rule::Paths(&["get"], MONITORING_PATHS), Rule::Resources(&["get"], CORE, &["nodes/metrics"])],
    ),
    fixed("system:auth-delegator", AUTH_DELEGATOR),
    fixed("system:service-account-issuer-discovery", &[Rule::Paths(&["get"], ISSUER_PATHS)]),
];

/// The bindings of default roles to groups. A binding has the name of its role.
const BINDINGS: [(&str, &[&str]); 6] = [
    ("cluster-admin", &["system:masters"]),
    ("system:basic-user", &["system:authenticated"]),
    ("system:discovery", &["system:authenticated"]),
    ("system:monitoring", &["system:monitoring"]),
    ("system:public-info-viewer", &["system:authenticated", "system:unauthenticated"]),
    ("system:service-account-issuer-discovery", &["system:serviceaccounts"]),
];

const DISCOVERY_PATHS: &[&str] = &[
    "/api",
    "/api/*",
    "/apis",
    "/apis/*",
    "/healthz",
    "/livez",
    "/openapi",
    "/openapi/*",
    "/readyz",
    "/version",
    "/version/",
];

const MONITORING_PATHS: &[&str] = &[
    "/flagz",
    "/healthz",
    "/healthz/*",
    "/livez",
    "/livez/*",
    "/metrics",
    "/metrics/slis",
    "/readyz",
    "/readyz/*",
    "/statusz",
];

const ISSUER_PATHS: &[&str] =
    &["/.well-known/openid-configuration", "/.well-known/openid-configuration/", "/openid/v1/jwks", "/openid/v1/jwks/"];

const BASIC_USER: &[Rule] = &[
    Rule::Resources(&["create"], &["authorization.k8s.io"], &["selfsubjectaccessreviews", "selfsubjectrulesreviews"]),
    Rule::Resources(&["create"], &["authentication.k8s.io"], &["selfsubjectreviews"]),
];

const AUTH_DELEGATOR: &[Rule] = &[
    Rule::Resources(&["create"], &["authentication.k8s.io"], &["tokenreviews"]),
    Rule::Resources(&["create"], &["authorization.k8s.io"], &["subjectaccessreviews"]),
];

const ADMIN: &[Rule] = &[
    Rule::Resources(&["create"], &["authorization.k8s.io"], &["localsubjectaccessreviews"]),
    Rule::Resources(READ_WRITE, &[GROUP], &["rolebindings", "roles"]),
];

#[rustfmt::skip]
const EDIT: &[Rule] = &[
    Rule::Resources(READ, CORE, &[
        "pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "secrets", "services/proxy",
    ]),
    Rule::Resources(&["impersonate"], CORE, &["serviceaccounts"]),
    Rule::Resources(WRITE, CORE, &["pods", "pods/attach", "pods/exec", "pods/portforward", "pods/proxy"]),
    Rule::Resources(&["create"], CORE, &["pods/eviction"]),
    Rule::Resources(WRITE, CORE, &[
        "configmaps", "persistentvolumeclaims", "replicationcontrollers", "replicationcontrollers/scale", "secrets",
        "serviceaccounts", "services", "services/proxy",
    ]),
    Rule::Resources(&["create"], CORE, &["serviceaccounts/token"]),
    Rule::Resources(WRITE, EVENTS, &["events"]),
    Rule::Resources(WRITE, &["apps"], &[
        "daemonsets", "deployments", "deployments/rollback", "deployments/scale", "replicasets", "replicasets/scale",
        "statefulsets", "statefulsets/scale",
    ]),
    Rule::Resources(WRITE, &["autoscaling"], &["horizontalpodautoscalers"]),
    Rule::Resources(WRITE, &["batch"], &["cronjobs", "jobs"]),
    Rule::Resources(WRITE, &["extensions"], &[
        "daemonsets", "deployments", "deployments/rollback", "deployments/scale", "ingresses", "networkpolicies",
        "replicasets", "replicasets/scale", "replicationcontrollers/scale",
    ]),
    Rule::Resources(WRITE, &["policy"], &["poddisruptionbudgets"]),
    Rule::Resources(WRITE, &["networking.k8s.io"], &["ingresses", "networkpolicies"]),
    Rule::Resources(READ_WRITE, &["coordination.k8s.io"], &["leases"]),
    Rule::Resources(WRITE, &["resource.k8s.io"], &["resourceclaims", "resourceclaimtemplates"]),
];

#[rustfmt::skip]
const VIEW: &[Rule] = &[
    Rule::Resources(READ, CORE, &[
        "configmaps", "endpoints", "persistentvolumeclaims", "persistentvolumeclaims/status", "pods",
        "replicationcontrollers", "replicationcontrollers/scale", "serviceaccounts", "services", "services/status",
    ]),
    Rule::Resources(READ, CORE, &[
        "bindings", "limitranges", "namespaces/status", "pods/log", "pods/status", "replicationcontrollers/status",
        "resourcequotas", "resourcequotas/status",
    ]),
    Rule::Resources(READ, CORE, &["namespaces"]),
    Rule::Resources(READ, EVENTS, &["events"]),
    Rule::Resources(READ, &["discovery.k8s.io"], &["endpointslices"]),
    Rule::Resources(READ, &["apps"], &[
        "controllerrevisions", "daemonsets", "daemonsets/status", "deployments", "deployments/scale",
        "deployments/status", "replicasets", "replicasets/scale", "replicasets/status", "statefulsets",
        "statefulsets/scale", "statefulsets/status",
    ]),
    Rule::Resources(READ, &["autoscaling"], &["horizontalpodautoscalers", "horizontalpodautoscalers/status"]),
    Rule::Resources(READ, &["batch"], &["cronjobs", "cronjobs/status", "jobs", "jobs/status"]),
    Rule::Resources(READ, &["extensions"], &[
        "daemonsets", "daemonsets/status", "deployments", "deployments/scale", "deployments/status", "ingresses",
        "ingresses/status", "networkpolicies", "replicasets", "replicasets/scale", "replicasets/status",
        "replicationcontrollers/scale",
    ]),
    Rule::Resources(READ, &["policy"], &["poddisruptionbudgets", "poddisruptionbudgets/status"]),
    Rule::Resources(READ, &["networking.k8s.io"], &["ingresses", "ingresses/status", "networkpolicies"]),
    Rule::Resources(READ, &["resource.k8s.io"], &["resourceclaims", "resourceclaims/status", "resourceclaimtemplates"]),
];

const fn fixed(name: &'static str, rules: &'static [Rule]) -> Role {
    Role { name, aggregated_to: None, rules: Rules::Fixed(rules) }
}

const fn part_of(name: &'static str, role: &'static str, rules: &'static [Rule]) -> Role {
    Role { name, aggregated_to: Some(role), rules: Rules::Fixed(rules) }
}

const fn aggregated(name: &'static str, aggregated_to: Option<&'static str>) -> Role {
    Role { name, aggregated_to, rules: Rules::Aggregated(name) }
}

/// Creates the default cluster roles and bindings that do not exist.
pub(crate) fn create(state: &mut State) {
    for role in &ROLES {
        create_object(state, CLUSTER_ROLES, &role.to_json());
    }
    for (name, groups) in BINDINGS {
        let subject = |group: &&str| json!({ "apiGroup": GROUP, "kind": "Group", "name": group });
        let subjects: Vec<Value> = groups.iter().map(subject).collect();
        let role = json!({ "apiGroup": GROUP, "kind": "ClusterRole", "name": name });
        let binding = json!({ "metadata": metadata_of(name, None), "roleRef": role, "subjects": subjects });
        create_object(state, CLUSTER_ROLE_BINDINGS, &binding);
    }
}

impl Role {
    fn to_json(&self) -> Value {
        let mut role = json!({ "metadata": metadata_of(self.name, self.aggregated_to) });
        match self.rules {
            Rules::Aggregated(name) => {
                let selector = json!({ "matchLabels": { aggregation_label(name): "true" } });
                role["aggregationRule"] = json!({ "clusterRoleSelectors": [selector] });
                role["rules"] = Value::Null;
            }
            Rules::Fixed(rules) => role["rules"] = rules.iter().map(Rule::to_json).collect(),
        }
        role
    }
}

impl Rule {
    fn to_json(&self) -> Value {
        match self {
            Self::Resources(verbs, groups, resources) => {
                json!({ "apiGroups": groups, "resources": resources, "verbs": verbs })
            }
            Self::Paths(verbs, paths) => json!({ "nonResourceURLs": paths, "verbs": verbs }),
        }
    }
}

fn metadata_of(name: &str, aggregated_to: Option<&str>) -> Value {
    let mut labels = json!({ "kubernetes.io/bootstrapping": "rbac-defaults" });
    if let Some(role) = aggregated_to {
        labels[aggregation_label(role)] = json!("true");
    }
    let annotations = json!({ "rbac.authorization.kubernetes.io/autoupdate": "true" });
    json!({ "name": name, "labels": labels, "annotations": annotations })
}

fn aggregation_label(role: &str) -> String {
    format!("rbac.authorization.k8s.io/aggregate-to-{role}")
}
