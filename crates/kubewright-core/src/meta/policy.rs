//! Admission policies of a kind, as `#[policy(..)]` declares them.

/// One `#[policy(..)]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// A validation of a ValidatingAdmissionPolicy.
    Rule(PolicyRule),
    /// A mutation of a MutatingAdmissionPolicy.
    Default(PolicyDefault),
    /// A variable that the other expressions can read.
    Variable(PolicyVariable),
}

/// A validation: requests for which the expression is false are denied, warned about or recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyRule {
    /// The policy that it belongs to.
    pub policy: PolicySettings,
    /// The CEL expression.
    pub expression: &'static str,
    /// The message for a request that fails.
    pub message: Option<&'static str>,
    /// The expression of the message.
    pub message_expression: Option<&'static str>,
    /// The reason in the `Status`, such as `Forbidden`.
    pub reason: Option<&'static str>,
    /// The actions of the binding: `Deny`, `Warn`, `Audit`.
    pub actions: &'static [&'static str],
}

/// A mutation: a value for a field that is absent, or any patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyDefault {
    /// The policy that it belongs to.
    pub policy: PolicySettings,
    /// The CEL expression: of the value of the field, or of a patch if there is no field.
    pub expression: &'static str,
    /// The path of the field, such as `spec.replicas`.
    pub field: Option<&'static str>,
    /// Whether it is evaluated once more if other policies or webhooks change the object (`IfNeeded`).
    pub reinvoked: bool,
}

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyVariable {
    /// The name: expressions read `variables.name`.
    pub name: &'static str,
    /// The CEL expression.
    pub expression: &'static str,
}

/// The policy of a rule or a default. Those with equal names form one policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicySettings {
    /// The first part of the name of the policy, such as `validation`.
    pub name: &'static str,
    /// The operations that it applies to, such as `CREATE`.
    pub operations: &'static [&'static str],
    /// The CEL expression of the requests that it applies to, if it does not apply to all.
    pub condition: Option<&'static str>,
    /// Whether requests are admitted if the evaluation fails (`failurePolicy: Ignore`).
    pub ignores_failures: bool,
    /// Its parameters, if it has any.
    pub params: Option<PolicyParams>,
}

/// The objects that expressions read as `params`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyParams {
    /// Group and version, such as `v1` or `example.com/v1`.
    pub api_version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The name of the object; all objects of the kind apply without one.
    pub name: Option<&'static str>,
    /// The namespace of the object, if it is not that of the request.
    pub namespace: Option<&'static str>,
    /// Whether requests are denied if there is no such object.
    pub required: bool,
}
