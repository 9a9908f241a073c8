//! Privilege escalation: rejects roles and bindings that grant more than their author may do, as `pkg/registry/rbac`.

use k8s_openapi::api::rbac::v1::{AggregationRule, PolicyRule, RoleRef};

use crate::{
    api::{
        error::{ApiError, Result},
        object::Object,
    },
    authorization::{
        GROUP,
        attributes::Attributes,
        escalation::confirm,
        rbac::{RoleBindings, field},
        rules::ALL,
        user::User,
    },
    handlers::request::ResourceRequest,
    storage::state::State,
};

/// Checks a new role or binding, or one in place of `old`. A user may grant the permissions that it has, and others
/// with the verbs `escalate` and `bind`. Other kinds are not checked.
pub(crate) fn check(state: &mut State, request: &ResourceRequest, new: &Object, old: Option<&Object>) -> Result<()> {
    let is_exempt = !state.rbac || request.kind.group != GROUP || request.user.is_privileged();
    if is_exempt || old.is_some_and(|old| changes_only_garbage_collection(new, old)) {
        return Ok(());
    }
    match request.kind.plural.as_str() {
        "roles" | "clusterroles" => check_role(state, request, new, old),
        "rolebindings" | "clusterrolebindings" => check_binding(state, request, new),
        _ => Ok(()),
    }
}

/// Returns whether an update changes only the fields that the garbage collector writes.
fn changes_only_garbage_collection(new: &Object, old: &Object) -> bool {
    let mut metadata = new.metadata.clone();
    metadata.owner_references.clone_from(&old.metadata.owner_references);
    metadata.finalizers.clone_from(&old.metadata.finalizers);
    metadata.managed_fields.clone_from(&old.metadata.managed_fields);
    metadata == old.metadata && new.body == old.body
}

fn check_role(state: &mut State, request: &ResourceRequest, new: &Object, old: Option<&Object>) -> Result<()> {
    if is_granted(state, request, "escalate", &request.kind.plural, request.name()) {
        return Ok(());
    }
    let bindings = state.store.bindings();
    let rules: Vec<PolicyRule> = field(new, "rules");
    check_rules(bindings, request, new, &rules)?;
    let aggregates = |object: &Object| {
        let rule: AggregationRule = field(object, "aggregationRule");
        rule.cluster_role_selectors.is_some_and(|selectors| !selectors.is_empty())
    };
    // Aggregation can gather any permission.
    if aggregates(new) || old.is_some_and(aggregates) {
        confirm(bindings, &request.user, (&request.kind.plural, ""), &full_authority()).map_err(|_| {
            ApiError::forbidden(
                &request.kind,
                new.name(),
                "must have cluster-admin privileges to use the aggregationRule",
            )
        })?;
    }
    Ok(())
}

fn check_binding(state: &mut State, request: &ResourceRequest, new: &Object) -> Result<()> {
    let role: RoleRef = field(new, "roleRef");
    let plural = if role.kind == "Role" { "roles" } else { "clusterroles" };
    if is_granted(state, request, "bind", plural, &role.name) {
        return Ok(());
    }
    let bindings = state.store.bindings();
    let namespace = request.namespace.as_deref().unwrap_or_default();
    match bindings.rules_of(&role, namespace) {
        Ok(rules) => check_rules(bindings, request, new, rules),
        // The registry of roles names the resource of the request (`qualifiedResourceFromContext`).
        Err(_) => Err(ApiError::not_found(&request.kind, &role.name)),
    }
}

/// Returns whether the user has a verb for a role. A permission that it uses is recorded.
fn is_granted(state: &mut State, request: &ResourceRequest, verb: &str, plural: &str, name: &str) -> bool {
    let attributes = Attributes {
        verb: verb.to_owned(),
        group: GROUP.to_owned(),
        resource: plural.to_owned(),
        namespace: request.namespace.clone().unwrap_or_default(),
        name: name.to_owned(),
        ..Attributes::default()
    };
    // Without the verb the user can still have the permissions, so that a denial is not an attempt.
    let user: &User = &request.user;
    state.decide(user, &attributes).allowed && state.authorize(user, &attributes).allowed
}

fn check_rules(bindings: &RoleBindings, request: &ResourceRequest, new: &Object, rules: &[PolicyRule]) -> Result<()> {
    let namespace = request.namespace.as_deref().unwrap_or_default();
    let confirmed = confirm(bindings, &request.user, (&request.kind.plural, namespace), rules);
    confirmed.map_err(|detail| ApiError::forbidden(&request.kind, new.name(), &detail))
}

/// Returns the rules of `cluster-admin`.
fn full_authority() -> [PolicyRule; 2] {
    let all = || vec![ALL.to_owned()];
    [
        PolicyRule { api_groups: Some(all()), resources: Some(all()), verbs: all(), ..PolicyRule::default() },
        PolicyRule { non_resource_urls: Some(all()), verbs: all(), ..PolicyRule::default() },
    ]
}
