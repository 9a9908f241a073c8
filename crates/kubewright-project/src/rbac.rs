//! Rules as controller-gen 0.21 normalizes them, and the roles of an operator.
//!
//! Guarantees:
//! - rules are split, merged and sorted in the order of controller-gen, so that equal permissions are equal files;
//! - no permission is lost: controller-gen drops one of two rules that become equal except for their verbs when groups
//!   are merged, and here their verbs are merged;
//! - a role contains what the description declares, and no wildcard.

mod normalize;
mod roles;

pub use normalize::normalize;
pub use roles::{
    OperatorRole, SELF_MANAGED_ROLES, SERVICE_ACCOUNT, admin_role, cluster_role, cluster_role_binding, editor_role,
    metrics_reader_role, operator_objects, operator_roles, role, role_binding, rules_of, viewer_role,
};
