//! Evaluates a MutatingAdmissionPolicy.

use serde_json::{Map, Value, json};

use super::{
    compiler::{BUDGET, Base, Compiled, Compiler, ExpressionError, evaluate},
    definition::check_policy,
    fields::{field, items, text},
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

/// A MutatingAdmissionPolicy with compiled expressions.
#[derive(Debug)]
pub struct MutatingPolicy {
    base: Base,
    mutations: Vec<Mutation>,
    is_reinvoked: bool,
}

#[derive(Debug)]
enum Mutation {
    JsonPatch(Compiled),
    ApplyConfiguration(Compiled),
}

/// The result of a mutation.
#[derive(Clone, Debug, PartialEq)]
pub enum Patch {
    /// The operations of a JSON patch (RFC 6902). If a `test` fails, the object is not changed.
    Json(Vec<Value>),
    /// The fields of an apply configuration, which are merged into the object.
    Apply(Map<String, Value>),
}

impl MutatingPolicy {
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
        check_policy(PolicyKind::Mutating, policy, |policy| Self::compile(policy, ObjectTypes::DYNAMIC).1)
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
        let mut mutations = Vec::new();
        for (index, mutation) in items(spec, "mutations").iter().enumerate() {
            let source = |name: &str| text(field(mutation, name), "expression");
            let at = |name: &str| format!("spec.mutations[{index}].{name}.expression");
            mutations.push(match text(mutation, "patchType") {
                "JSONPatch" => {
                    let kind = ExpressionKind::JsonPatch;
                    Mutation::JsonPatch(compiler.compile(at("jsonPatch"), source("jsonPatch"), kind))
                }
                _ => {
                    let (name, kind) = ("applyConfiguration", ExpressionKind::ApplyConfiguration);
                    Mutation::ApplyConfiguration(compiler.compile(at(name), source(name), kind))
                }
            });
        }
        let is_reinvoked = text(spec, "reinvocationPolicy") == "IfNeeded";
        (MutatingPolicy { base, mutations, is_reinvoked }, compiler.errors)
    }

    /// Whether a failed evaluation leaves the object unchanged (`failurePolicy: Ignore`), rather than denying the
    /// request.
    pub fn ignores_failures(&self) -> bool {
        self.base.ignores_failures
    }

    /// Whether the policy is evaluated once more if another one changes the object after it.
    pub fn is_reinvoked(&self) -> bool {
        self.is_reinvoked
    }

    /// Returns the number of mutations, which are evaluated in order, each on the result of the previous one.
    pub fn len(&self) -> usize {
        self.mutations.len()
    }

    /// Whether there are no mutations.
    pub fn is_empty(&self) -> bool {
        self.mutations.is_empty()
    }

    /// Returns whether the match conditions hold.
    ///
    /// # Errors
    /// The evaluation of a condition fails, and failures are not ignored.
    pub fn matches(&self, request: &Request<'_>) -> Result<bool, String> {
        self.base.matches(request)
    }

    /// Evaluates a mutation. One that does not exist changes nothing.
    ///
    /// # Errors
    /// The evaluation fails, or its result is not a valid patch.
    pub fn mutate(&self, index: usize, request: &Request<'_>) -> Result<Patch, String> {
        let Some(mutation) = self.mutations.get(index) else { return Ok(Patch::Json(Vec::new())) };
        let mut evaluation = Evaluation::new(request.inputs(), &self.base.variables, BUDGET);
        let (Mutation::JsonPatch(compiled) | Mutation::ApplyConfiguration(compiled)) = mutation;
        let value = match evaluate(&mut evaluation, compiled) {
            Ok(value) => value?,
            Err(OutOfBudget) => return Err(OutOfBudget::MESSAGE.to_owned()),
        };
        match mutation {
            Mutation::JsonPatch(_) => json_patch(&value).map(Patch::Json),
            Mutation::ApplyConfiguration(_) => apply_configuration(&value).map(Patch::Apply),
        }
    }
}

fn json_patch(value: &cel::Value<'_>) -> Result<Vec<Value>, String> {
    let mismatch =
        |what: &str| format!("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch: {what}");
    let cel::Value::List(list) = value else { return Err(mismatch(value.type_name())) };
    let operations = list.values().map_err(|error| mismatch(&error.0))?;
    operations
        .iter()
        .map(|operation| match operation {
            cel::Value::Message(message) => {
                let value = message.get("value");
                if let Some(cel::Value::Message(value)) = value {
                    cel::check_message_names(value).map_err(|error| format!("type mismatch: {error}"))?;
                }
                self::operation(message).map_err(|error| {
                    format!("JSONPath valueExpression evaluated to a type that could not marshal to JSON: {error}")
                })
            }
            other => Err(mismatch(other.type_name())),
        })
        .collect()
}

/// The JSON of an operation. An empty `from` is omitted.
fn operation(message: &cel::Message<'_>) -> Result<Value, String> {
    let text = |name: &str| match message.get(name) {
        Some(cel::Value::String(text)) => text.to_string(),
        _ => String::new(),
    };
    let mut operation = json!({ "op": text("op"), "path": text("path") });
    let from = text("from");
    if !from.is_empty() {
        operation["from"] = from.into();
    }
    if let Some(value) = message.get("value") {
        operation["value"] = cel::to_json(value).map_err(|error| error.0)?;
    }
    Ok(operation)
}

fn apply_configuration(value: &cel::Value<'_>) -> Result<Map<String, Value>, String> {
    let cel::Value::Message(message) = value else {
        return Err(format!("unsupported return type from ApplyConfiguration expression: {}", value.type_name()));
    };
    cel::check_message_names(message).map_err(|error| format!("type mismatch: {error}"))?;
    match cel::to_json(value).map_err(|error| error.0)? {
        Value::Object(fields) => Ok(fields),
        other => Err(format!("invalid return type: {other}")),
    }
}
