//! The aggregation of cluster roles, a controller of kube-controller-manager: a role with an aggregation rule has the
//! rules of all roles that it selects by label.

use std::sync::Arc;

use k8s_openapi::api::rbac::v1::PolicyRule;
use serde_json::{Value, json};

use crate::{
    api::{
        endpoint::Endpoint,
        error::{ApiError, Result},
        object::{Object, Stored},
    },
    authorization::{CLUSTER_ROLES, rbac::field},
    resource::{
        managed_fields::{self, Author},
        selector,
    },
    storage::{state::State, store::Event},
};

/// The manager of the aggregated rules.
const MANAGER: &str = "clusterrole-aggregation-controller";

/// Returns whether aggregated roles can differ after these changes.
pub(crate) fn is_affected(changes: &[Arc<Event>]) -> bool {
    changes.iter().any(|event| &*event.resource == CLUSTER_ROLES)
}

/// Sets the rules of all aggregated roles. A role that selects an aggregated role needs another round, so that as many
/// rounds as roles are enough. Roles that select each other can change forever; they remain as after the last round.
pub(crate) fn aggregate(state: &mut State) {
    let is_aggregated = |role: &&Stored| role.body.get("aggregationRule").is_some_and(|rule| !rule.is_null());
    let roles = state.store.list(CLUSTER_ROLES, None);
    let aggregated: Vec<String> = roles.iter().filter(is_aggregated).map(|role| role.name().to_owned()).collect();
    for _ in 0..aggregated.len() {
        let mut is_changed = false;
        for name in &aggregated {
            is_changed |= aggregate_role(state, name);
        }
        if !is_changed {
            return;
        }
    }
}

/// Sets the rules of one role, and returns whether they changed.
fn aggregate_role(state: &mut State, name: &str) -> bool {
    let Some(role) = state.store.get(CLUSTER_ROLES, "", name) else {
        return false;
    };
    let rules = selected_rules(&state.store.list(CLUSTER_ROLES, None), &role);
    // A role that cannot be written, such as one with invalid metadata, remains as it is.
    rules != field::<Vec<PolicyRule>>(&role, "rules") && apply(state, &role, &rules).is_ok()
}

/// Returns the rules of the roles that a role selects, without duplicates.
fn selected_rules(roles: &[Stored], aggregated: &Object) -> Vec<PolicyRule> {
    let selectors = aggregated.field("aggregationRule.clusterRoleSelectors").and_then(Value::as_array);
    let mut rules: Vec<PolicyRule> = Vec::new();
    for selector in selectors.into_iter().flatten() {
        let selected = roles.iter().filter(|role| role.name() != aggregated.name() && selects(selector, role));
        for rule in selected.flat_map(|role| field::<Vec<PolicyRule>>(role, "rules")) {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    rules
}

/// Returns whether a selector matches the labels of a role. An empty one matches every role.
fn selects(selector: &Value, role: &Object) -> bool {
    selector::to_text(selector).is_empty() || selector::selects(selector, &json!(role.metadata.labels))
}

/// Applies the rules as the controller does.
fn apply(state: &mut State, role: &Object, rules: &[PolicyRule]) -> Result<()> {
    let kind = state.registry.of_resource(CLUSTER_ROLES).ok_or_else(ApiError::unknown_resource)?;
    let mut fields =
        json!({ "apiVersion": kind.api_version(), "kind": kind.kind, "metadata": { "name": role.name() } });
    if !rules.is_empty() {
        fields["rules"] = json!(rules);
    }
    let author = Author { manager: MANAGER, kind: &kind, endpoint: &Endpoint::Main };
    let applied = managed_fields::apply(author, Some(role), &fields, true)?;
    let Some(Value::Object(outcome)) = applied.outcome else { return Ok(()) };
    let mut updated = Object::from_json(outcome).map_err(|error| ApiError::internal(error.to_string()))?;
    updated.metadata.managed_fields = applied.entries;
    kind.write(&mut updated)?;
    state.store.put(CLUSTER_ROLES, updated);
    Ok(())
}
