//! Webhooks of the stored configurations, and the requests that they match.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use k8s_openapi::{
    api::admissionregistration::v1::{MutatingWebhook, RuleWithOperations, ValidatingWebhook, WebhookClientConfig},
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};
use serde::de::DeserializeOwned;

use super::{Phase, attributes::Attributes};
use crate::{
    api::{
        error::{ApiError, Result},
        object::{Object, Stored},
        webhook::ClientConfig,
    },
    resource::{registry::Resource, selector},
    storage::state::State,
};

const GROUP: &str = "admissionregistration.k8s.io";
/// The timeout of the API server.
const TIMEOUT_SECONDS: i32 = 10;

/// The resources of the group whose requests call no webhooks, so that a wrong configuration can be removed.
const EXEMPT: [&str; 6] = [
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "mutatingwebhookconfigurations",
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "validatingwebhookconfigurations",
];

/// A webhook of a configuration.
#[derive(Debug, Clone)]
pub(super) struct Hook {
    pub(super) name: String,
    pub(super) client: ClientConfig,
    pub(super) timeout: Duration,
    /// Requests are admitted if the webhook cannot be called.
    pub(super) ignores_failures: bool,
    /// The webhook changes nothing besides the object, at least in a dry run.
    pub(super) supports_dry_run: bool,
    /// The webhook can be called again if a later one changes the object.
    pub(super) is_reinvoked: bool,
    matches_equivalent: bool,
    rules: Vec<RuleWithOperations>,
    namespace_selector: LabelSelector,
    object_selector: LabelSelector,
    has_conditions: bool,
}

/// A webhook that matches a request, and the kind that it expects.
#[derive(Debug)]
pub(super) struct Match {
    pub(super) hook: Hook,
    pub(super) kind: Arc<Resource>,
}

/// Returns the webhooks of a phase that match a request, in the order of their configurations' names.
///
/// # Errors
/// A webhook does not support dry runs, or has conditions, which this server does not evaluate.
pub(super) fn matching(state: &State, phase: Phase, attributes: &Attributes) -> Result<Vec<Match>> {
    if attributes.kind.group == GROUP && EXEMPT.contains(&attributes.kind.plural.as_str()) {
        return Ok(Vec::new());
    }
    let hooks = match phase {
        Phase::Mutating => configured::<MutatingWebhook>(state, "mutatingwebhookconfigurations"),
        Phase::Validating => configured::<ValidatingWebhook>(state, "validatingwebhookconfigurations"),
    };
    let mut matching = Vec::new();
    for hook in hooks {
        let Some(kind) = hook.kind(state, attributes) else { continue };
        if !hook.selects_namespace(state, attributes)? {
            continue;
        }
        if hook.has_conditions {
            let message = format!("this server does not evaluate the matchConditions of the webhook {:?}", hook.name);
            return Err(ApiError::internal_error(&message));
        }
        if attributes.dry_run && !hook.supports_dry_run {
            let message = format!("admission webhook {:?} does not support dry run", hook.name);
            return Err(ApiError::bad_request(message));
        }
        matching.push(Match { hook, kind });
    }
    Ok(matching)
}

/// Returns the webhooks of all configurations of a resource.
fn configured<W: DeserializeOwned + Into<Hook>>(state: &State, plural: &str) -> Vec<Hook> {
    let mut configurations = state.store.list(&format!("{plural}.{GROUP}"), None);
    configurations.sort_by(|left, right| left.name().cmp(right.name()));
    let webhooks = |configuration: &Stored| {
        let webhooks = configuration.body.get("webhooks").cloned().unwrap_or_default();
        serde_json::from_value::<Vec<W>>(webhooks).unwrap_or_default()
    };
    configurations.iter().flat_map(webhooks).map(Into::into).collect()
}

impl Hook {
    /// Returns the kind that a rule matches: that of the request, or else one of another version.
    fn kind(&self, state: &State, attributes: &Attributes) -> Option<Arc<Resource>> {
        let kind = &attributes.kind;
        let is_matched = |kind: &Arc<Resource>| self.rules.iter().any(|rule| matches(rule, kind, attributes));
        if is_matched(kind) {
            return Some(Arc::clone(kind));
        }
        let is_equivalent = |other: &&Arc<Resource>| other.group == kind.group && other.plural == kind.plural;
        let mut others = state.registry.iter().filter(is_equivalent).filter(|_| self.matches_equivalent);
        others.find(|other| is_matched(other)).map(|other| other.bound_as(kind))
    }

    /// Returns whether the labels of the object's namespace match. Other cluster-scoped objects match any selector.
    fn selects_namespace(&self, state: &State, attributes: &Attributes) -> Result<bool> {
        let selector = &self.namespace_selector;
        // The labels of a written namespace are checked with those of the object.
        let is_unconditional = *selector == LabelSelector::default() || attributes.has_labels_of_namespace();
        if is_unconditional || attributes.namespace.is_empty() {
            return Ok(true);
        }
        let namespace = state.store.get("namespaces", "", &attributes.namespace);
        let namespace = namespace.ok_or_else(|| ApiError::namespace_not_found(&attributes.namespace))?;
        Ok(selects(selector, &namespace))
    }

    /// Returns whether the labels of the new or the old object match. A written namespace must also match the selector
    /// of namespaces.
    pub(super) fn selects_object(&self, attributes: &Attributes, object: Option<&Object>) -> bool {
        let is_outside = |object| !selects(&self.namespace_selector, object);
        if attributes.has_labels_of_namespace() && object.is_some_and(is_outside) {
            return false;
        }
        let mut objects = object.into_iter().chain(attributes.old.as_deref());
        self.object_selector == LabelSelector::default() || objects.any(|object| selects(&self.object_selector, object))
    }
}

fn selects(selector: &LabelSelector, object: &Object) -> bool {
    let none = BTreeMap::new();
    selector::matches(selector, object.metadata.labels.as_ref().unwrap_or(&none))
}

/// Returns whether a rule matches a request for a kind.
fn matches(rule: &RuleWithOperations, kind: &Resource, attributes: &Attributes) -> bool {
    let contains = |list: &Option<Vec<String>>, value: &str| {
        list.as_deref().unwrap_or_default().iter().any(|each| each == "*" || each == value)
    };
    let is_in_scope = match rule.scope.as_deref() {
        Some("Namespaced") => kind.namespaced,
        Some("Cluster") => !kind.namespaced,
        _ => true,
    };
    let is_resource = rule.resources.as_deref().unwrap_or_default().iter().any(|pattern| {
        let (resource, subresource) = pattern.split_once('/').unwrap_or((pattern, ""));
        (resource == "*" || resource == kind.plural) && (subresource == "*" || subresource == attributes.subresource)
    });
    is_in_scope
        && is_resource
        && contains(&rule.operations, attributes.operation)
        && contains(&rule.api_groups, &kind.group)
        && contains(&rule.api_versions, &kind.version)
}

/// Returns the client of a webhook.
fn client_of(config: WebhookClientConfig) -> ClientConfig {
    let ca_bundle = config.ca_bundle.map(|bundle| bundle.0);
    match (config.url, config.service) {
        (Some(url), _) => ClientConfig::from_url(&url, ca_bundle),
        (None, Some(service)) => {
            let key = (service.namespace.as_str(), service.name.as_str());
            ClientConfig::from_service(key, service.port, service.path.as_deref(), ca_bundle)
        }
        (None, None) => ClientConfig::default(),
    }
}

fn timeout(seconds: Option<i32>) -> Duration {
    Duration::from_secs(u64::try_from(seconds.unwrap_or(TIMEOUT_SECONDS)).unwrap_or_default())
}

macro_rules! hook {
    ($webhook:ident, $is_reinvoked:expr) => {
        Hook {
            client: client_of($webhook.client_config),
            timeout: timeout($webhook.timeout_seconds),
            ignores_failures: $webhook.failure_policy.as_deref() == Some("Ignore"),
            supports_dry_run: matches!($webhook.side_effects.as_str(), "None" | "NoneOnDryRun"),
            is_reinvoked: $is_reinvoked,
            matches_equivalent: $webhook.match_policy.as_deref() != Some("Exact"),
            rules: $webhook.rules.unwrap_or_default(),
            namespace_selector: $webhook.namespace_selector.unwrap_or_default(),
            object_selector: $webhook.object_selector.unwrap_or_default(),
            has_conditions: $webhook.match_conditions.is_some_and(|conditions| !conditions.is_empty()),
            name: $webhook.name,
        }
    };
}

impl From<MutatingWebhook> for Hook {
    fn from(webhook: MutatingWebhook) -> Self {
        let is_reinvoked = webhook.reinvocation_policy.as_deref() == Some("IfNeeded");
        hook!(webhook, is_reinvoked)
    }
}

impl From<ValidatingWebhook> for Hook {
    fn from(webhook: ValidatingWebhook) -> Self {
        hook!(webhook, false)
    }
}
