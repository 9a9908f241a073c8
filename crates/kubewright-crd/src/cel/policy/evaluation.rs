//! Evaluates the expressions of a policy with one cost budget.

use std::{collections::HashMap, rc::Rc};

use serde_json::Value as Json;

use super::expression::Expression;
use crate::cel::interpreter::{
    AccessSubject, AccessValue, Activation, Authorizer, EvalError, EvalResult, Principal, ResourceTarget, Value,
    evaluate_in,
};

/// The error of an evaluation that exhausts the budget of its policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfBudget;

impl OutOfBudget {
    /// The message of the API server.
    pub(crate) const MESSAGE: &str =
        "validation failed due to running out of cost budget, no further validation rules will be run";
}

/// The values of the variables of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inputs<'a> {
    /// `object`; null on DELETE.
    pub(crate) object: &'a Json,
    /// `oldObject`; null on CREATE.
    pub(crate) old_object: &'a Json,
    /// `request`.
    pub(crate) request: &'a Json,
    /// `params`; null without parameters.
    pub(crate) params: &'a Json,
    /// `namespaceObject`; null for cluster-scoped objects.
    pub(crate) namespace: &'a Json,
    /// `authorizer`; expressions that read it fail without one.
    pub(crate) authorizer: Option<&'a dyn Authorizer>,
}

/// The variables of a policy: their names, and their expressions or the errors of these, in declaration order.
pub(crate) type Variables = [(String, Result<Expression, String>)];

/// Evaluates expressions. A variable of the policy is evaluated once, when an expression that reads it is.
pub(crate) struct Evaluation<'a> {
    activation: Activation<'a>,
    variables: &'a Variables,
    values: HashMap<&'a str, EvalResult<Value<'a>>>,
    /// The cost that remains.
    budget: u64,
}

impl<'a> Evaluation<'a> {
    pub(crate) fn new(inputs: Inputs<'a>, variables: &'a Variables, budget: u64) -> Self {
        let known = variables.iter().map(|(name, _)| (Value::string(name), Value::Null)).collect();
        let mut values = vec![
            ("object", Value::from_dynamic(inputs.object)),
            ("oldObject", Value::from_dynamic(inputs.old_object)),
            ("request", Value::from_dynamic(inputs.request)),
            ("params", Value::from_dynamic(inputs.params)),
            ("namespaceObject", Value::from_dynamic(inputs.namespace)),
            ("variables", Value::map(known)),
        ];
        if let Some(authorizer) = inputs.authorizer {
            let principal = Principal { authorizer, subject: AccessSubject::User };
            let request = AccessValue::Resource(principal.clone(), request_target(inputs.request));
            values.push(("authorizer.requestResource", Value::Access(Rc::new(request))));
            values.push(("authorizer", Value::Access(Rc::new(AccessValue::Authorizer(principal)))));
        }
        let activation = values.into_iter().map(|(name, value)| (name.to_owned(), Ok(value))).collect();
        Evaluation { activation, variables, values: HashMap::new(), budget }
    }

    /// Evaluates an expression. The error of a failed evaluation has the message of the API server.
    ///
    /// # Errors
    /// The budget is exhausted.
    pub(crate) fn evaluate(&mut self, expression: &Expression) -> Result<Result<Value<'a>, String>, OutOfBudget> {
        let result = self.run(expression)?;
        let source = expression.source();
        Ok(result.map_err(|EvalError(error)| format!("expression '{source}' resulted in error: {error}")))
    }

    /// The cost that remains for further expressions.
    pub(crate) fn remaining_budget(&self) -> u64 {
        self.budget
    }

    /// Evaluates the variables that an expression reads, unless they have values, and then the expression.
    fn run(&mut self, expression: &Expression) -> Result<EvalResult<Value<'a>>, OutOfBudget> {
        for (name, compiled) in self.required(expression) {
            if self.values.contains_key(name) {
                continue;
            }
            let value = match compiled {
                Err(error) => Err(EvalError::new(format!("composited variable {name:?} fails to compile: {error}"))),
                Ok(variable) => self.run_with_values(variable)?.map_err(|EvalError(error)| {
                    EvalError::new(format!("composited variable {name:?} fails to evaluate: {error}"))
                }),
            };
            self.values.insert(name, value);
        }
        self.run_with_values(expression)
    }

    /// The variables that an expression reads, directly or through other variables, in declaration order. A variable
    /// reads only variables that are declared before it.
    fn required(&self, expression: &Expression) -> Vec<(&'a str, &'a Result<Expression, String>)> {
        let mut readers = vec![expression];
        let mut required = Vec::new();
        for (name, compiled) in self.variables.iter().rev() {
            let qualified = qualified(name);
            if readers.iter().any(|reader| reader.reads(&qualified)) {
                readers.extend(compiled);
                required.push((name.as_str(), compiled));
            }
        }
        required.reverse();
        required
    }

    fn run_with_values(&mut self, expression: &Expression) -> Result<EvalResult<Value<'a>>, OutOfBudget> {
        let mut activation = self.activation.clone();
        let read = self.values.iter().map(|(name, value)| (qualified(name), value));
        activation.extend(read.filter(|(name, _)| expression.reads(name)).map(|(name, value)| (name, value.clone())));
        let (result, cost) = evaluate_in(expression.checked(), activation);
        self.budget = self.budget.checked_sub(cost).ok_or(OutOfBudget)?;
        Ok(result)
    }
}

/// The name of a variable of the policy in expressions.
fn qualified(name: &str) -> String {
    format!("variables.{name}")
}

/// The resource of a request, which `authorizer.requestResource` checks.
fn request_target(request: &Json) -> ResourceTarget {
    let text = |value: &Json, field: &str| value.get(field).and_then(Json::as_str).unwrap_or_default().to_owned();
    let resource = request.get("requestResource").unwrap_or(&Json::Null);
    ResourceTarget {
        group: text(resource, "group"),
        resource: text(resource, "resource"),
        subresource: text(request, "requestSubResource"),
        namespace: text(request, "namespace"),
        name: text(request, "name"),
        ..ResourceTarget::default()
    }
}
