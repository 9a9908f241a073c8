//! The kinds of policies and of their bindings.

/// The kind of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyKind {
    /// ValidatingAdmissionPolicy.
    Validating,
    /// MutatingAdmissionPolicy.
    Mutating,
}

impl PolicyKind {
    /// Returns the kind.
    pub const fn name(self) -> &'static str {
        match self {
            PolicyKind::Validating => "ValidatingAdmissionPolicy",
            PolicyKind::Mutating => "MutatingAdmissionPolicy",
        }
    }

    /// Returns the kind of its bindings.
    pub const fn binding_name(self) -> &'static str {
        match self {
            PolicyKind::Validating => "ValidatingAdmissionPolicyBinding",
            PolicyKind::Mutating => "MutatingAdmissionPolicyBinding",
        }
    }
}
