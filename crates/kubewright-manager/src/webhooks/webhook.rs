//! One admission webhook: its reviewer, and the options of its configuration.

use std::{fmt, sync::Arc};

use k8s_openapi::{api::admissionregistration::v1::MatchCondition, apimachinery::pkg::apis::meta::v1::LabelSelector};
use kubewright_core::description::{
    AdmissionType, AdmissionWebhookDescription, FailurePolicy, MatchPolicy, Operation, ReinvocationPolicy, SideEffects,
};
use kubewright_runtime::{ApiObject, object::describe_kind};

use super::admission::{Defaulter, Defaulting, Reviewer, Validating, Validator};

/// A defaulter or a validator with the options of its configuration, which are those of the API server and kubebuilder
/// by default: creations and updates, path and name by convention, a timeout of 10 s, and requests fail if the webhook
/// does not answer.
#[derive(Clone)]
#[must_use = "a webhook is served by the `Webhooks` that it is added to"]
pub struct Webhook {
    pub(super) description: AdmissionWebhookDescription,
    pub(super) reviewer: Arc<dyn Reviewer>,
}

impl Webhook {
    /// Creates the mutating webhook of a defaulter.
    pub fn defaulting<K: ApiObject>(defaulter: impl Defaulter<K>) -> Self {
        Self::new::<K>(AdmissionType::Mutating, Defaulting::<K, _>::new(defaulter))
    }

    /// Creates the validating webhook of a validator.
    pub fn validating<K: ApiObject>(validator: impl Validator<K>) -> Self {
        Self::new::<K>(AdmissionType::Validating, Validating::<K, _>::new(validator))
    }

    fn new<K: ApiObject>(admission: AdmissionType, reviewer: impl Reviewer) -> Self {
        let description = AdmissionWebhookDescription::new(admission, describe_kind::<K>());
        Webhook { description, reviewer: Arc::new(reviewer) }
    }

    /// Returns the description of the webhook, which its configuration is rendered from.
    #[must_use]
    pub fn description(&self) -> &AdmissionWebhookDescription {
        &self.description
    }

    /// Sets the name, which occurs in rejections: a DNS subdomain with at least three labels, such as
    /// `quota.widgets.example.com`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.description.name = name.into();
        self
    }

    /// Sets the path.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.description.path = path.into();
        self
    }

    /// Sets the operations; creations and updates by default. [`Validator::validate_delete`] needs
    /// [`Operation::Delete`].
    pub fn operations(mut self, operations: impl IntoIterator<Item = Operation>) -> Self {
        self.description.operations = operations.into_iter().collect();
        self
    }

    /// Adds a subresource, such as `status`, whose requests are sent besides those of the object itself.
    pub fn subresource(mut self, name: impl Into<String>) -> Self {
        self.description.subresources.push(name.into());
        self
    }

    /// Sets what happens to requests if the webhook cannot be called; they fail by default.
    pub fn failure_policy(mut self, policy: FailurePolicy) -> Self {
        self.description.failure_policy = policy;
        self
    }

    /// Sets whether requests of other versions are converted and sent, as by default.
    pub fn match_policy(mut self, policy: MatchPolicy) -> Self {
        self.description.match_policy = policy;
        self
    }

    /// Sets whether a call changes anything besides the object; by default it does not. A webhook with side effects
    /// must check [`AdmissionRequest::dry_run`](super::AdmissionRequest::dry_run).
    pub fn side_effects(mut self, side_effects: SideEffects) -> Self {
        self.description.side_effects = side_effects;
        self
    }

    /// Sets how long the API server waits for the response, from 1 to 30 seconds; 10 by default.
    pub fn timeout_seconds(mut self, seconds: i32) -> Self {
        self.description.timeout_seconds = seconds;
        self
    }

    /// Sets whether a defaulter is called again if a later webhook changes the object; by default it is not.
    pub fn reinvocation_policy(mut self, policy: ReinvocationPolicy) -> Self {
        self.description.reinvocation_policy = policy;
        self
    }

    /// Adds a condition in CEL: requests for which it is false are not sent.
    pub fn match_condition(mut self, name: impl Into<String>, expression: impl Into<String>) -> Self {
        let condition = MatchCondition { name: name.into(), expression: expression.into() };
        self.description.match_conditions.push(condition);
        self
    }

    /// Restricts the webhook to namespaces with these labels.
    pub fn namespace_selector(mut self, selector: LabelSelector) -> Self {
        self.description.namespace_selector = Some(selector);
        self
    }

    /// Restricts the webhook to objects with these labels. Users can remove labels, so that this must not be a matter
    /// of security.
    pub fn object_selector(mut self, selector: LabelSelector) -> Self {
        self.description.object_selector = Some(selector);
        self
    }
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("description", &self.description).finish_non_exhaustive()
    }
}
