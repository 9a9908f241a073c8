//! The values of the variable `authorizer`, and the checks that expressions build from them.

use std::fmt;

use crate::cel::types::{AUTHORIZER, DECISION, GROUP_CHECK, PATH_CHECK, RESOURCE_CHECK};

/// Answers the authorization checks of expressions.
pub trait Authorizer: fmt::Debug {
    /// Decides whether a request is allowed.
    fn authorize(&self, request: &AccessRequest) -> AccessDecision;
}

/// A request that an expression checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRequest {
    /// Whose permissions are checked.
    pub subject: AccessSubject,
    /// The verb of the API or of HTTP.
    pub verb: String,
    /// What is accessed.
    pub target: AccessTarget,
}

/// Whose permissions are checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessSubject {
    /// The user of the admitted request.
    User,
    /// A service account.
    ServiceAccount {
        /// The namespace of the service account.
        namespace: String,
        /// The name of the service account.
        name: String,
    },
}

/// What a checked request accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessTarget {
    /// A path that belongs to no resource, such as `/healthz`.
    Path(String),
    /// A resource.
    Resource(ResourceTarget),
}

/// The resource that a checked request accesses. An empty field is not set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceTarget {
    /// The API group.
    pub group: String,
    /// The resource.
    pub resource: String,
    /// The subresource.
    pub subresource: String,
    /// The namespace; empty for cluster scope.
    pub namespace: String,
    /// The name of the object.
    pub name: String,
    /// The field selector.
    pub field_selector: String,
    /// The label selector.
    pub label_selector: String,
}

/// The answer to an authorization check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessDecision {
    /// Whether the request is allowed.
    pub allowed: bool,
    /// The reason of the decision.
    pub reason: String,
    /// The error of the check, if it failed.
    pub error: Option<String>,
}

/// The authorizer, or a check or decision of it.
#[derive(Clone, Debug)]
pub(crate) enum AccessValue<'a> {
    Authorizer(Principal<'a>),
    Path(Principal<'a>, String),
    Group(Principal<'a>, String),
    Resource(Principal<'a>, ResourceTarget),
    Decision(AccessDecision),
}

/// An authorizer with the subject that it checks.
#[derive(Clone, Debug)]
pub(crate) struct Principal<'a> {
    pub(crate) authorizer: &'a dyn Authorizer,
    pub(crate) subject: AccessSubject,
}

impl Principal<'_> {
    pub(crate) fn check(&self, verb: &str, target: AccessTarget) -> AccessDecision {
        self.authorizer.authorize(&AccessRequest { subject: self.subject.clone(), verb: verb.to_owned(), target })
    }
}

impl AccessValue<'_> {
    /// The name of the type at run time.
    pub(crate) fn type_name(&self) -> &'static str {
        let declared = match self {
            AccessValue::Authorizer(_) => AUTHORIZER,
            AccessValue::Path(..) => PATH_CHECK,
            AccessValue::Group(..) => GROUP_CHECK,
            AccessValue::Resource(..) => RESOURCE_CHECK,
            AccessValue::Decision(_) => DECISION,
        };
        declared.runtime_name().unwrap_or_default()
    }
}
