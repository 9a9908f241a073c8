//! The description of an operator: what it needs from a cluster, as plain data. The program describes itself, and its
//! manifests are rendered from the description.
//!
//! - every permission of a description is one rule for one kind, and renderers merge them;
//! - a description is the same whenever it is serialized and deserialized.

mod webhook_names;
mod webhooks;

use k8s_openapi::api::rbac::v1::PolicyRule;
use serde::{Deserialize, Serialize};

pub use kubewright_names::verb::Verb;
pub use webhook_names::WebhookNames;
pub use webhooks::{
    AdmissionType, AdmissionWebhookDescription, ConversionWebhookDescription, FailurePolicy, MatchPolicy, Operation,
    ReinvocationPolicy, SideEffects,
};

/// What an operator needs from a cluster. Runnables of a manager return their part of it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OperatorDescription {
    /// The informers: which objects are cached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub informers: Vec<InformerDescription>,
    /// The controllers: which objects are reconciled, and which kinds these own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controllers: Vec<ControllerDescription>,
    /// The HTTP servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerDescription>,
    /// The admission webhooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub admission_webhooks: Vec<AdmissionWebhookDescription>,
    /// The conversion webhooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conversion_webhooks: Vec<ConversionWebhookDescription>,
    /// The name of the Lease; `None` without leader election.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
    /// The name of the sharding; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharding: Option<String>,
    /// How long the process can take to stop, in seconds; `None` without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graceful_shutdown_seconds: Option<u64>,
    /// What the operator is permitted to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<Permission>,
}

impl OperatorDescription {
    /// Adds the informers, controllers, servers, webhooks and permissions of a runnable.
    pub fn merge(&mut self, other: OperatorDescription) {
        self.informers.extend(other.informers);
        self.controllers.extend(other.controllers);
        self.servers.extend(other.servers);
        self.admission_webhooks.extend(other.admission_webhooks);
        self.conversion_webhooks.extend(other.conversion_webhooks);
        self.permissions.extend(other.permissions);
        self.lease = self.lease.take().or(other.lease);
        self.sharding = self.sharding.take().or(other.sharding);
        self.graceful_shutdown_seconds = self.graceful_shutdown_seconds.or(other.graceful_shutdown_seconds);
    }

    /// Returns whether several replicas can run: they elect a leader, or share the objects.
    #[must_use]
    pub fn allows_replicas(&self) -> bool {
        self.lease.is_some() || self.sharding.is_some()
    }

    /// Returns the description of permissions only.
    #[must_use]
    pub fn from_permissions(permissions: impl IntoIterator<Item = Permission>) -> Self {
        OperatorDescription { permissions: permissions.into_iter().collect(), ..OperatorDescription::default() }
    }
}

/// A kind, and the resource that serves its objects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KindDescription {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind, such as `Widget`.
    pub kind: String,
    /// The resource, such as `widgets`.
    pub plural: String,
    /// Whether its objects are namespaced.
    pub namespaced: bool,
}

impl KindDescription {
    /// Returns the permission of these verbs on the objects.
    #[must_use]
    pub fn permission(&self, verbs: impl IntoIterator<Item = Verb>) -> Permission {
        self.permission_on(&self.plural, verbs)
    }

    /// Returns the permission of these verbs on a subresource of the objects, such as `status`.
    #[must_use]
    pub fn subresource_permission(&self, subresource: &str, verbs: impl IntoIterator<Item = Verb>) -> Permission {
        self.permission_on(&format!("{}/{subresource}", self.plural), verbs)
    }

    fn permission_on(&self, resource: &str, verbs: impl IntoIterator<Item = Verb>) -> Permission {
        let scope = if self.namespaced { PermissionScope::Namespaced } else { PermissionScope::Cluster };
        Permission::new(scope, &self.group, resource, verbs)
    }
}

/// An informer: the objects that are listed and watched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InformerDescription {
    /// The kind of the objects.
    pub kind: KindDescription,
    /// The namespaces; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    /// The label selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<String>,
    /// The field selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field_selector: Option<String>,
}

/// A controller: the objects that it reconciles, and those that it watches.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ControllerDescription {
    /// The name.
    pub name: String,
    /// The kind of the reconciled objects.
    pub reconciles: KindDescription,
    /// The kinds of the objects that reconciled objects own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owns: Vec<KindDescription>,
    /// The other watched kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watches: Vec<KindDescription>,
}

impl ControllerDescription {
    /// Returns the permissions that follow from the kinds: all watched kinds are read, and owned objects are applied
    /// and deleted.
    ///
    /// A server-side apply that creates an object needs `create` besides `patch`. An owner reference that blocks the
    /// deletion of the owner needs `update` on the `finalizers` of the owner.
    #[must_use]
    pub fn permissions(&self) -> Vec<Permission> {
        let watched = [&self.reconciles].into_iter().chain(&self.owns).chain(&self.watches);
        let mut permissions: Vec<_> = watched.map(|kind| kind.permission(Verb::READ)).collect();
        permissions.extend(self.owns.iter().map(|kind| kind.permission([Verb::Create, Verb::Patch, Verb::Delete])));
        if !self.owns.is_empty() {
            permissions.push(self.reconciles.subresource_permission("finalizers", [Verb::Update]));
        }
        permissions
    }
}

/// An HTTP server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServerDescription {
    /// The name.
    pub name: String,
    /// The port.
    pub port: u16,
    /// Whether it serves HTTPS.
    pub https: bool,
    /// Whether the API server authenticates and authorizes requests.
    pub authenticated: bool,
    /// The paths.
    pub paths: Vec<String>,
}

/// A permission: a rule of RBAC, and where it applies.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Permission {
    /// Where it applies.
    pub scope: PermissionScope,
    /// The rule.
    pub rule: PolicyRule,
}

/// Where a permission applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionScope {
    /// In the watched namespaces.
    Namespaced,
    /// In the cluster: objects without a namespace.
    Cluster,
    /// In the namespace of the operator: its Leases.
    OwnNamespace,
    /// In the cluster: reviews of tokens and accesses, to authenticate clients of the operator.
    Reviews,
    /// In the namespace of the operator: the Secret of the certificates that it manages itself.
    Certificates,
    /// In the cluster: the CA bundles of the certificates that it manages itself.
    CaBundles,
}

impl Permission {
    /// Creates a permission for one resource of an API group.
    #[must_use]
    pub fn new(scope: PermissionScope, group: &str, resource: &str, verbs: impl IntoIterator<Item = Verb>) -> Self {
        let rule = PolicyRule {
            api_groups: Some(vec![group.to_owned()]),
            resources: Some(vec![resource.to_owned()]),
            verbs: verbs.into_iter().map(|verb| verb.as_str().to_owned()).collect(),
            ..PolicyRule::default()
        };
        Permission { scope, rule }
    }

    /// Restricts the permission to the object of this name.
    ///
    /// Rules with names never match `deletecollection`, and `create` only for a server-side apply: other requests have
    /// no name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.rule.resource_names.get_or_insert_default().push(name.to_owned());
        self
    }

    /// Returns the permissions to record events.
    #[must_use]
    pub fn events() -> Vec<Self> {
        let verbs = [Verb::Create, Verb::Patch];
        vec![Permission::new(PermissionScope::Namespaced, "events.k8s.io", "events", verbs)]
    }

    /// Returns the permissions of leader election by this Lease.
    #[must_use]
    pub fn leader_election(lease: &str) -> Vec<Self> {
        vec![Self::on_leases(&[Verb::Create]), Self::on_leases(&[Verb::Get, Verb::Update]).named(lease)]
    }

    /// Returns the permissions of sharding by these Leases. They are listed together, which names cannot restrict.
    #[must_use]
    pub fn sharding(leases: &[String]) -> Vec<Self> {
        let mut update = Self::on_leases(&[Verb::Update]);
        update.rule.resource_names = Some(leases.to_vec());
        vec![Self::on_leases(&[Verb::Create, Verb::List]), update]
    }

    /// Returns the permission of these verbs on Leases in the namespace of the operator.
    fn on_leases(verbs: &[Verb]) -> Self {
        Permission::new(PermissionScope::OwnNamespace, "coordination.k8s.io", "leases", verbs.iter().copied())
    }

    /// Returns the permissions to authenticate and authorize clients of the operator.
    #[must_use]
    pub fn reviews() -> Vec<Self> {
        let create = |group, resource| Permission::new(PermissionScope::Reviews, group, resource, [Verb::Create]);
        vec![create("authentication.k8s.io", "tokenreviews"), create("authorization.k8s.io", "subjectaccessreviews")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(plural: &str, namespaced: bool) -> KindDescription {
        let (group, version, kind) = ("example.com".to_owned(), "v1".to_owned(), plural.to_owned());
        KindDescription { group, version, kind, plural: plural.to_owned(), namespaced }
    }

    fn rules(permissions: &[Permission]) -> Vec<String> {
        let rule = |permission: &Permission| {
            let resources = permission.rule.resources.clone().unwrap_or_default().join(",");
            format!("{resources}: {}", permission.rule.verbs.join(","))
        };
        permissions.iter().map(rule).collect()
    }

    #[test]
    fn a_controller_reads_what_it_watches_and_writes_what_it_owns() {
        let controller = ControllerDescription {
            name: "widgets".to_owned(),
            reconciles: kind("widgets", true),
            owns: vec![kind("parts", true)],
            watches: vec![kind("nodes", false)],
        };
        let permissions = controller.permissions();
        let expected = [
            "widgets: get,list,watch",
            "parts: get,list,watch",
            "nodes: get,list,watch",
            "parts: create,patch,delete",
            "widgets/finalizers: update",
        ];
        assert_eq!(rules(&permissions), expected);
        assert_eq!(permissions[2].scope, PermissionScope::Cluster);
        assert_eq!(permissions[3].scope, PermissionScope::Namespaced);
    }

    #[test]
    fn only_the_creation_of_the_lease_has_no_name() {
        let names: Vec<_> =
            Permission::leader_election("mine").into_iter().map(|permission| permission.rule.resource_names).collect();
        assert_eq!(names, [None, Some(vec!["mine".to_owned()])]);
    }

    #[test]
    fn only_the_list_and_the_creation_of_leases_of_a_sharding_have_no_names() {
        let permissions = Permission::sharding(&["web-slots".to_owned(), "web-member-00".to_owned()]);
        assert_eq!(rules(&permissions), ["leases: create,list", "leases: update"]);
        let names: Vec<_> = permissions
            .into_iter()
            .map(|permission| permission.rule.resource_names.unwrap_or_default().len())
            .collect();
        assert_eq!(names, [0, 2]);
    }

    #[test]
    fn a_description_is_the_same_after_serialization() {
        let mut description = OperatorDescription::from_permissions(Permission::reviews());
        description.merge(OperatorDescription {
            informers: vec![InformerDescription {
                kind: kind("parts", true),
                namespaces: vec!["a".to_owned()],
                label_selector: Some("app=web".to_owned()),
                field_selector: None,
            }],
            lease: Some("mine".to_owned()),
            sharding: Some("fleet".to_owned()),
            graceful_shutdown_seconds: Some(30),
            ..OperatorDescription::from_permissions(Permission::leader_election("mine"))
        });
        let json = serde_json::to_string(&description).unwrap();
        assert_eq!(serde_json::from_str::<OperatorDescription>(&json).unwrap(), description);
    }
}
