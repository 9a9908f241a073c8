//! Compiles the expressions of a definition, and the parts that both kinds of policies have.

use std::fmt;

use serde_json::Value;

use super::{
    fields::{field, items, text},
    request::Request,
};
use crate::{
    cel::{
        self,
        policy::{Environment, Evaluation, Expression, ExpressionKind, ObjectTypes, OutOfBudget},
    },
    field::FieldError,
};

/// The maximum cost of the expressions of a policy for one request.
pub(super) const BUDGET: u64 = 10_000_000;
/// The maximum cost of the match conditions of a policy for one request.
const MATCH_CONDITION_BUDGET: u64 = 2_500_000;

/// An expression that does not compile, or has the wrong type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// The field of the expression, such as `spec.validations[0].expression`.
    pub field: String,
    /// The source text.
    pub expression: String,
    /// What is wrong, as the API server reports it.
    pub detail: String,
    /// The same for the author of the expression: on several lines, with suggestions.
    pub report: String,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.report)
    }
}

impl std::error::Error for ExpressionError {}

impl From<&ExpressionError> for FieldError {
    fn from(error: &ExpressionError) -> Self {
        FieldError::invalid(error.field.as_str(), error.expression.as_str(), error.detail.as_str())
    }
}

/// An expression, or why it does not compile.
pub(super) type Compiled = Result<Expression, String>;

/// Compiles the expressions of one definition.
pub(super) struct Compiler {
    environment: Environment,
    /// The environment of match conditions: without the variables of the policy, which the API server rejects there.
    conditions: Environment,
    pub(super) errors: Vec<ExpressionError>,
}

impl Compiler {
    /// Creates a compiler for a spec.
    pub(super) fn new(spec: &Value, types: ObjectTypes) -> Self {
        let environment = Environment::new(types, !field(spec, "paramKind").is_null());
        Compiler { conditions: environment.clone(), environment, errors: Vec::new() }
    }

    pub(super) fn compile(&mut self, field: String, source: &str, kind: ExpressionKind) -> Compiled {
        let compiled = self.environment.compile(source, kind);
        self.record(field, source, compiled)
    }

    fn record(&mut self, field: String, source: &str, compiled: Result<Expression, cel::CompilationError>) -> Compiled {
        compiled.map_err(|error| {
            let (detail, report) = (error.detail, error.report);
            let detail_of_evaluation = detail.clone();
            self.errors.push(ExpressionError { field, expression: source.to_owned(), detail, report });
            detail_of_evaluation
        })
    }
}

/// What validating and mutating policies share.
#[derive(Debug)]
pub(super) struct Base {
    /// Whether failures admit the request (`failurePolicy: Ignore`).
    pub(super) ignores_failures: bool,
    match_conditions: Vec<Compiled>,
    pub(super) variables: Vec<(String, Compiled)>,
}

impl Base {
    pub(super) fn compile(spec: &Value, compiler: &mut Compiler) -> Self {
        let mut match_conditions = Vec::new();
        for (index, condition) in items(spec, "matchConditions").iter().enumerate() {
            let field = format!("spec.matchConditions[{index}].expression");
            let source = text(condition, "expression").trim();
            let compiled = compiler.conditions.compile(source, ExpressionKind::Condition);
            match_conditions.push(compiler.record(field, source, compiled));
        }
        let mut variables = Vec::new();
        for (index, variable) in items(spec, "variables").iter().enumerate() {
            let field = format!("spec.variables[{index}].expression");
            let compiled = compiler.compile(field, text(variable, "expression"), ExpressionKind::Variable);
            let name = text(variable, "name");
            compiler.environment.declare(name, compiled.as_ref().ok());
            variables.push((name.to_owned(), compiled));
        }
        Base { ignores_failures: text(spec, "failurePolicy") == "Ignore", match_conditions, variables }
    }

    /// Returns whether the match conditions hold. They have no `namespaceObject`.
    ///
    /// # Errors
    /// The evaluation of a condition fails, and failures are not ignored.
    pub(super) fn matches(&self, request: &Request<'_>) -> Result<bool, String> {
        let request = Request { namespace: &Value::Null, ..*request };
        let mut evaluation = Evaluation::new(request.inputs(), &self.variables, MATCH_CONDITION_BUDGET);
        let mut errors = Vec::new();
        for condition in &self.match_conditions {
            match evaluate(&mut evaluation, condition) {
                Err(OutOfBudget) => return self.failed(OutOfBudget::MESSAGE.to_owned()),
                Ok(Err(error)) => errors.push(error),
                Ok(Ok(cel::Value::Bool(false))) => return Ok(false),
                Ok(Ok(_)) => {}
            }
        }
        match errors.len() {
            0 => Ok(true),
            1 => self.failed(errors.remove(0)),
            _ => self.failed(format!("[{}]", errors.join(", "))),
        }
    }

    fn failed(&self, error: String) -> Result<bool, String> {
        if self.ignores_failures { Ok(false) } else { Err(error) }
    }
}

/// Evaluates an expression. One that does not compile fails.
pub(super) fn evaluate<'a>(
    evaluation: &mut Evaluation<'a>,
    compiled: &Compiled,
) -> Result<Result<cel::Value<'a>, String>, OutOfBudget> {
    match compiled {
        Ok(expression) => evaluation.evaluate(expression),
        Err(error) => Ok(Err(format!("compilation error: {error}"))),
    }
}
