//! The conditions of definitions.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinitionCondition, CustomResourceDefinitionStatus,
};

use crate::api::object::now;

pub(crate) const NAMES_ACCEPTED: &str = "NamesAccepted";
pub(crate) const ESTABLISHED: &str = "Established";
pub(crate) const TERMINATING: &str = "Terminating";
const CONFORMANT: &str = "KubernetesAPIApprovalPolicyConformant";

/// A condition without its transition time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Condition {
    type_: &'static str,
    is_true: bool,
    reason: &'static str,
    message: String,
}

impl Condition {
    pub(crate) fn names_accepted() -> Self {
        Self::new(NAMES_ACCEPTED, true, "NoConflicts", "no conflicts found")
    }

    pub(crate) fn names_taken(reason: &'static str, message: &str) -> Self {
        Self::new(NAMES_ACCEPTED, false, reason, message)
    }

    pub(crate) fn not_accepted() -> Self {
        Self::new(ESTABLISHED, false, "NotAccepted", "not all names are accepted")
    }

    pub(crate) fn installing() -> Self {
        Self::new(ESTABLISHED, false, "Installing", "the initial names have been accepted")
    }

    pub(crate) fn established() -> Self {
        Self::new(ESTABLISHED, true, "InitialNamesAccepted", "the initial names have been accepted")
    }

    pub(crate) fn deletion_pending() -> Self {
        let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
        Self::new(TERMINATING, true, "InstanceDeletionPending", message)
    }

    pub(crate) fn deletion_in_progress() -> Self {
        Self::new(TERMINATING, true, "InstanceDeletionInProgress", "CustomResource deletion is in progress")
    }

    pub(crate) fn deletion_completed() -> Self {
        Self::new(TERMINATING, false, "InstanceDeletionCompleted", "removed all instances")
    }

    pub(crate) fn never_established() -> Self {
        Self::new(TERMINATING, false, "NeverEstablished", "resource was never established")
    }

    /// Returns the condition for the value of the annotation `api-approved.kubernetes.io`: a URL, or `unapproved` with
    /// a reason.
    pub(crate) fn approval(text: &str) -> Self {
        if text.starts_with("unapproved") {
            return Self::new(CONFORMANT, false, "UnapprovedAnnotation", &format!("not approved: {text:?}"));
        }
        Self::new(CONFORMANT, true, "ApprovedAnnotation", &format!("approved in {text}"))
    }

    fn new(type_: &'static str, is_true: bool, reason: &'static str, message: &str) -> Self {
        Self { type_, is_true, reason, message: message.to_owned() }
    }

    /// Sets the condition. The transition time changes with the status only.
    pub(crate) fn put(self, status: &mut CustomResourceDefinitionStatus) {
        let flag = if self.is_true { "True" } else { "False" };
        let mut condition = CustomResourceDefinitionCondition {
            last_transition_time: Some(now()),
            message: Some(self.message),
            observed_generation: None,
            reason: Some(self.reason.to_owned()),
            status: flag.to_owned(),
            type_: self.type_.to_owned(),
        };
        let conditions = status.conditions.get_or_insert_default();
        match conditions.iter_mut().find(|existing| existing.type_ == condition.type_) {
            Some(existing) => {
                if existing.status == condition.status && existing.last_transition_time.is_some() {
                    condition.last_transition_time.clone_from(&existing.last_transition_time);
                }
                *existing = condition;
            }
            None => conditions.push(condition),
        }
    }
}

/// Returns whether the condition of this type is true.
pub(crate) fn is_true(status: &CustomResourceDefinitionStatus, type_: &str) -> bool {
    status.conditions.iter().flatten().any(|condition| condition.type_ == type_ && condition.status == "True")
}

/// Returns whether the status has a condition of this type, true or false.
pub(crate) fn has(status: &CustomResourceDefinitionStatus, type_: &str) -> bool {
    status.conditions.iter().flatten().any(|condition| condition.type_ == type_)
}
