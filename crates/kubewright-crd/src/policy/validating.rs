//! Evaluates a ValidatingAdmissionPolicy.

use serde_json::Value;

use super::{
    compiler::{BUDGET, Base, Compiled, Compiler, ExpressionError, evaluate},
    definition::check_policy,
    denial_reason::DenialReason,
    fields::{field, items, optional_text, text},
    kind::PolicyKind,
    request::Request,
};
use crate::{
    cel::{
        self,
        policy::{Evaluation, ExpressionKind, ObjectTypes, OutOfBudget},
    },
    field::FieldError,
};

/// The maximum length of the message of a `messageExpression` in bytes.
const MAX_MESSAGE_LENGTH: usize = 5 * 1024;

/// A ValidatingAdmissionPolicy with compiled expressions.
#[derive(Debug)]
pub struct ValidatingPolicy {
    base: Base,
    validations: Vec<Validation>,
    audit_annotations: Vec<AuditAnnotation>,
}

#[derive(Debug)]
struct Validation {
    expression: Compiled,
    source: String,
    message: String,
    message_expression: Option<Compiled>,
    reason: DenialReason,
}

#[derive(Debug)]
struct AuditAnnotation {
    key: String,
    expression: Compiled,
    source: String,
}

/// The decisions of a policy on a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The validations that the request fails, which the binding denies, warns about or records.
    pub denials: Vec<Denial>,
    /// The audit annotations, without the name of the policy.
    pub audit_annotations: Vec<(String, String)>,
    /// The audit annotations whose evaluation fails. The request is denied, whatever the actions of the binding are.
    pub audit_errors: Vec<String>,
}

/// A validation that a request fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The index of the validation; 0 for a failure of the complete policy.
    pub index: usize,
    /// The message.
    pub message: String,
    /// The reason in the `Status`.
    pub reason: DenialReason,
}

impl ValidatingPolicy {
    /// Compiles a policy.
    ///
    /// # Errors
    /// Returns the errors of the API server, if it would reject the policy.
    pub fn new(policy: &Value) -> Result<Self, Vec<FieldError>> {
        let errors = Self::errors(policy);
        if errors.is_empty() { Ok(Self::from_accepted(policy)) } else { Err(errors) }
    }

    /// Returns the errors of the API server, if it would reject the policy.
    pub(super) fn errors(policy: &Value) -> Vec<FieldError> {
        check_policy(PolicyKind::Validating, policy, |policy| Self::compile(policy, ObjectTypes::DYNAMIC).1)
    }

    /// Compiles a policy that a server has accepted. The evaluation of an expression that does not compile fails.
    pub fn from_accepted(policy: &Value) -> Self {
        Self::compile(policy, ObjectTypes::DYNAMIC).0
    }

    /// Compiles a policy, and returns the errors of its expressions.
    pub(super) fn compile(policy: &Value, types: ObjectTypes) -> (Self, Vec<ExpressionError>) {
        let spec = field(policy, "spec");
        let mut compiler = Compiler::new(spec, types);
        let base = Base::compile(spec, &mut compiler);
        let validations = items(spec, "validations").iter().enumerate();
        let validations =
            validations.map(|(index, validation)| Validation::compile(index, validation, &mut compiler)).collect();
        let mut audit_annotations = Vec::new();
        for (index, annotation) in items(spec, "auditAnnotations").iter().enumerate() {
            let source = text(annotation, "valueExpression").trim();
            let field = format!("spec.auditAnnotations[{index}].valueExpression");
            let expression = compiler.compile(field, source, ExpressionKind::AuditAnnotation);
            let key = text(annotation, "key").to_owned();
            audit_annotations.push(AuditAnnotation { key, expression, source: source.to_owned() });
        }
        (ValidatingPolicy { base, validations, audit_annotations }, compiler.errors)
    }

    /// Validates a request that the policy applies to.
    pub fn validate(&self, request: &Request<'_>) -> Outcome {
        match self.base.matches(request) {
            Err(error) => return self.failed(error),
            Ok(false) => return Outcome::default(),
            Ok(true) => {}
        }
        let mut outcome = Outcome::default();
        match self.denials(request) {
            Ok(denials) => outcome.denials = denials,
            Err(OutOfBudget) => return self.failed(OutOfBudget::MESSAGE.to_owned()),
        }
        if self.annotate(request, &mut outcome) == Err(OutOfBudget) {
            return self.failed(OutOfBudget::MESSAGE.to_owned());
        }
        outcome
    }

    /// The outcome of a failure of the complete policy.
    fn failed(&self, message: String) -> Outcome {
        Outcome { denials: self.failure(0, message).into_iter().collect(), ..Outcome::default() }
    }

    /// The denial for a failed evaluation, unless failures are ignored.
    fn failure(&self, index: usize, message: String) -> Option<Denial> {
        (!self.base.ignores_failures).then_some(Denial { index, message, reason: DenialReason::Invalid })
    }

    fn denials(&self, request: &Request<'_>) -> Result<Vec<Denial>, OutOfBudget> {
        let mut evaluation = Evaluation::new(request.inputs(), &self.base.variables, BUDGET);
        let mut denials = Vec::new();
        let mut denied = Vec::new();
        for (index, validation) in self.validations.iter().enumerate() {
            match evaluate(&mut evaluation, &validation.expression)? {
                Ok(cel::Value::Bool(true)) => {}
                Ok(_) => denied.push((index, validation)),
                Err(error) => denials.extend(self.failure(index, error)),
            }
        }
        // Message expressions have no authorizer, and the budget that the validations leave.
        let inputs = Request { authorizer: None, ..*request }.inputs();
        let mut evaluation = Evaluation::new(inputs, &self.base.variables, evaluation.remaining_budget());
        for (index, validation) in denied {
            match validation.message(&mut evaluation) {
                Ok(message) => denials.push(Denial { index, message, reason: validation.reason }),
                Err(OutOfBudget) => {
                    let message = format!("failed messageExpression: {}", OutOfBudget::MESSAGE);
                    denials.extend(self.failure(index, message));
                }
            }
        }
        denials.sort_by_key(|denial| denial.index);
        Ok(denials)
    }

    /// Evaluates the audit annotations.
    fn annotate(&self, request: &Request<'_>, outcome: &mut Outcome) -> Result<(), OutOfBudget> {
        let inputs = Request { authorizer: None, ..*request }.inputs();
        let mut evaluation = Evaluation::new(inputs, &self.base.variables, BUDGET);
        for AuditAnnotation { key, expression, source } in &self.audit_annotations {
            match evaluate(&mut evaluation, expression)? {
                Ok(cel::Value::String(value)) if value.trim().is_empty() => {}
                Ok(cel::Value::String(value)) => {
                    outcome.audit_annotations.push((key.clone(), value.trim().to_owned()));
                }
                Ok(cel::Value::Null) => {}
                Ok(other) => outcome.audit_errors.push(format!(
                    "valueExpression '{source}' resulted in unsupported return type: {}. Return type must be either \
                     string or null.",
                    other.type_name()
                )),
                Err(_) if self.base.ignores_failures => {}
                Err(error) => outcome.audit_errors.push(error),
            }
        }
        Ok(())
    }
}

impl Validation {
    fn compile(index: usize, validation: &Value, compiler: &mut Compiler) -> Self {
        let source = text(validation, "expression");
        let at = |name: &str| format!("spec.validations[{index}].{name}");
        let expression = compiler.compile(at("expression"), source, ExpressionKind::Condition);
        let message_expression = optional_text(validation, "messageExpression").filter(|source| !source.is_empty());
        let message_expression =
            message_expression.map(|source| compiler.compile(at("messageExpression"), source, ExpressionKind::Message));
        Validation {
            expression,
            source: source.to_owned(),
            message: text(validation, "message").trim().to_owned(),
            message_expression,
            reason: DenialReason::from_name(text(validation, "reason")).unwrap_or_default(),
        }
    }

    /// The result of the `messageExpression` if that is a valid message, or else the `message`, or else the expression.
    fn message(&self, evaluation: &mut Evaluation<'_>) -> Result<String, OutOfBudget> {
        if let Some(expression) = &self.message_expression
            && let Ok(cel::Value::String(message)) = evaluate(evaluation, expression)?
        {
            let message = message.trim();
            if !message.is_empty() && message.len() <= MAX_MESSAGE_LENGTH && !message.contains('\n') {
                return Ok(message.to_owned());
            }
        }
        if self.message.is_empty() {
            return Ok(format!("failed expression: {}", self.source.trim()));
        }
        Ok(self.message.clone())
    }
}
