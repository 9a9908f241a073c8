//! The roles of an operator, of its users and of monitoring systems.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kubewright_core::description::{KindDescription, OperatorDescription, PermissionScope, Verb};
use serde_json::{Value, json};

use super::normalize;

/// The service account of the operator.
pub const SERVICE_ACCOUNT: &str = "controller-manager";
const RBAC_GROUP: &str = "rbac.authorization.k8s.io";

/// All verbs for users: names instead of a wildcard.
const ADMIN: [Verb; 8] =
    [Verb::Create, Verb::Delete, Verb::DeleteCollection, Verb::Get, Verb::List, Verb::Patch, Verb::Update, Verb::Watch];
const EDITOR: [Verb; 7] = [Verb::Create, Verb::Delete, Verb::Get, Verb::List, Verb::Patch, Verb::Update, Verb::Watch];

/// Returns the normalized rules of the permissions in these scopes.
#[must_use]
pub fn rules_of(description: &OperatorDescription, scopes: &[PermissionScope]) -> Vec<PolicyRule> {
    let permissions = description.permissions.iter().filter(|permission| scopes.contains(&permission.scope));
    normalize(permissions.map(|permission| permission.rule.clone()))
}

/// A role of an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorRole {
    /// The name, such as `manager-role`.
    pub name: &'static str,
    /// Whether it is a Role in the namespace of the operator; otherwise it is a ClusterRole.
    pub namespaced: bool,
    /// The normalized rules.
    pub rules: Vec<PolicyRule>,
}

/// The roles of an operator that manages the certificate of its webhooks itself.
pub const SELF_MANAGED_ROLES: [&str; 2] = ["webhook-cert-role", "ca-bundle-role"];

/// Returns the roles of an operator that have rules. One that watches only its own namespace is `namespaced`.
#[must_use]
pub fn operator_roles(description: &OperatorDescription, namespaced: bool) -> Vec<OperatorRole> {
    use PermissionScope::{CaBundles, Certificates, Cluster, Namespaced, OwnNamespace, Reviews};

    let role = |name, namespaced, scopes: &[PermissionScope]| {
        let rules = rules_of(description, scopes);
        OperatorRole { name, namespaced, rules }
    };
    let mut roles = match namespaced {
        true => vec![role("manager-role", true, &[Namespaced]), role("manager-cluster-role", false, &[Cluster])],
        false => vec![role("manager-role", false, &[Namespaced, Cluster])],
    };
    roles.push(role("leader-election-role", true, &[OwnNamespace]));
    roles.push(role("metrics-auth-role", false, &[Reviews]));
    let [certificate, bundles] = SELF_MANAGED_ROLES;
    roles.push(role(certificate, true, &[Certificates]));
    roles.push(role(bundles, false, &[CaBundles]));
    roles.retain(|role| !role.rules.is_empty());
    roles
}

/// Returns the roles of an operator, their bindings and its service account in this namespace, as objects for a test.
/// The rules are those of `config/rbac`. The user is `system:serviceaccount:<namespace>:controller-manager`.
#[must_use]
pub fn operator_objects(description: &OperatorDescription, namespaced: bool, namespace: &str) -> Vec<Value> {
    let account = json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": { "name": SERVICE_ACCOUNT, "namespace": namespace },
    });
    let roles = operator_roles(description, namespaced);
    let bound = roles.into_iter().flat_map(|OperatorRole { name, namespaced, rules }| {
        let metadata = |name: String| ObjectMeta {
            name: Some(name),
            namespace: namespaced.then(|| namespace.to_owned()),
            ..ObjectMeta::default()
        };
        let (role_metadata, binding_metadata) = (metadata(name.to_owned()), metadata(format!("{name}binding")));
        match namespaced {
            true => [json!(role(role_metadata, rules)), json!(role_binding(binding_metadata, name, namespace))],
            false => [
                json!(cluster_role(role_metadata, rules)),
                json!(cluster_role_binding(binding_metadata, name, namespace)),
            ],
        }
    });
    [account].into_iter().chain(bound).collect()
}

/// Returns a role of the cluster.
#[must_use]
pub fn cluster_role(metadata: ObjectMeta, rules: Vec<PolicyRule>) -> ClusterRole {
    ClusterRole { metadata, rules: Some(rules), aggregation_rule: None }
}

/// Returns a role of a namespace.
#[must_use]
pub fn role(metadata: ObjectMeta, rules: Vec<PolicyRule>) -> Role {
    Role { metadata, rules: Some(rules) }
}

/// Binds a ClusterRole to the service account of the operator in this namespace.
#[must_use]
pub fn cluster_role_binding(metadata: ObjectMeta, role: &str, namespace: &str) -> ClusterRoleBinding {
    ClusterRoleBinding {
        metadata,
        role_ref: reference("ClusterRole", role),
        subjects: Some(vec![service_account(namespace)]),
    }
}

/// Binds a Role to the service account of the operator in this namespace.
#[must_use]
pub fn role_binding(metadata: ObjectMeta, role: &str, namespace: &str) -> RoleBinding {
    RoleBinding { metadata, role_ref: reference("Role", role), subjects: Some(vec![service_account(namespace)]) }
}

fn reference(kind: &str, name: &str) -> RoleRef {
    RoleRef { api_group: Some(RBAC_GROUP.to_owned()), kind: kind.to_owned(), name: name.to_owned() }
}

fn service_account(namespace: &str) -> Subject {
    Subject {
        api_group: None,
        kind: "ServiceAccount".to_owned(),
        name: SERVICE_ACCOUNT.to_owned(),
        namespace: Some(namespace.to_owned()),
    }
}

/// Returns the role to read metrics, which is bound to the service account of a monitoring system.
#[must_use]
pub fn metrics_reader_role(metadata: ObjectMeta) -> ClusterRole {
    let rule = PolicyRule {
        non_resource_urls: Some(vec!["/metrics".to_owned()]),
        verbs: vec![Verb::Get.as_str().to_owned()],
        ..PolicyRule::default()
    };
    cluster_role(metadata, vec![rule])
}

/// Returns the role to manage the objects of a kind. It is part of the ClusterRole `admin`.
#[must_use]
pub fn admin_role(metadata: ObjectMeta, kind: &KindDescription) -> ClusterRole {
    user_role(metadata, kind, &ADMIN, "admin")
}

/// Returns the role to edit the objects of a kind. It is part of the ClusterRole `edit`, and so of `admin`.
#[must_use]
pub fn editor_role(metadata: ObjectMeta, kind: &KindDescription) -> ClusterRole {
    user_role(metadata, kind, &EDITOR, "edit")
}

/// Returns the role to view the objects of a kind. It is part of the ClusterRole `view`, and so of `edit` and `admin`.
#[must_use]
pub fn viewer_role(metadata: ObjectMeta, kind: &KindDescription) -> ClusterRole {
    user_role(metadata, kind, &Verb::READ, "view")
}

fn user_role(mut metadata: ObjectMeta, kind: &KindDescription, verbs: &[Verb], aggregate_to: &str) -> ClusterRole {
    let label = (format!("{RBAC_GROUP}/aggregate-to-{aggregate_to}"), "true".to_owned());
    metadata.labels.get_or_insert_with(BTreeMap::new).extend([label]);
    let permissions = [kind.permission(verbs.iter().copied()), kind.subresource_permission("status", [Verb::Get])];
    cluster_role(metadata, normalize(permissions.map(|permission| permission.rule)))
}
