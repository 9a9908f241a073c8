//! Authorization by roles (RBAC), as plain data: users, attributes of requests, rules and decisions.
//!
//! The rules are those of `plugin/pkg/auth/authorizer/rbac` and `pkg/registry/rbac` of Kubernetes 1.36.

pub(crate) mod attributes;
pub(crate) mod escalation;
pub(crate) mod impersonation;
pub(crate) mod rbac;
pub(crate) mod recorder;
pub(crate) mod rules;
pub(crate) mod user;

/// The API group of roles and bindings.
pub(crate) const GROUP: &str = "rbac.authorization.k8s.io";
/// The resource of cluster roles.
pub(crate) const CLUSTER_ROLES: &str = "clusterroles.rbac.authorization.k8s.io";
/// The resource of the bindings of the cluster.
pub(crate) const CLUSTER_ROLE_BINDINGS: &str = "clusterrolebindings.rbac.authorization.k8s.io";
