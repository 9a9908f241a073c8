//! Runs the rules of a schema on objects.

use serde_json::Value as Json;

use super::{
    compilation::CompilationResult,
    node_validator::{CompiledRule, NodeValidator},
    rule_error::RuleError,
    rules::{self, is_correlatable},
    violation::{Violation, ViolationReason},
};
use crate::{
    cel::{
        interpreter::{EvalError, EvalResult, Value, evaluate},
        schema::{ListType, SchemaType, Structural, ValidationRule},
        types::DeclType,
    },
    field::append,
    go,
};

/// The maximum actual cost of all rules for one object (`RuntimeCELCostBudget` of the API server).
const RUNTIME_COST_BUDGET: u64 = 10_000_000;
/// The size of violations from which on no further ones are recorded, in bytes.
const MAX_VIOLATIONS_SIZE: usize = 1 << 20;
/// The maximum length of the message of a `messageExpression` in bytes.
const MAX_MESSAGE_LENGTH: usize = 5 * 1024;

/// The compiled rules of a schema.
#[derive(Debug)]
pub struct Program {
    root: Option<NodeValidator>,
}

impl Program {
    /// Compiles the rules of a schema (the `openAPIV3Schema` of a version, which must be structural).
    ///
    /// # Errors
    ///
    /// The errors that [`check_schema`](super::check_schema) reports: the server would reject these rules.
    pub fn compile(schema: &Json) -> Result<Self, Vec<RuleError>> {
        let errors = rules::check_schema(schema);
        if errors.is_empty() { Ok(Self::compile_unchecked(schema)) } else { Err(errors) }
    }

    /// Compiles the rules of a schema. All values violate a rule that does not compile, as on the server.
    pub fn compile_unchecked(schema: &Json) -> Self {
        Self::compile_subschema(schema, true)
    }

    /// As [`compile_unchecked`](Self::compile_unchecked), for a schema that is below the root unless `is_root` is set.
    pub(crate) fn compile_subschema(schema: &Json, is_root: bool) -> Self {
        let schema = Structural::decode(schema);
        if !schema.has_rules() {
            return Program { root: None };
        }
        let declared = DeclType::from_schema(&schema, is_root);
        Program { root: NodeValidator::new(&schema, declared.as_ref(), is_root) }
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// Runs the rules on an object after defaulting; `old` is the object that an update replaces.
    ///
    /// As on the server, an update may keep a value that violates a rule, unless the rule reads `oldSelf` (ratcheting).
    pub fn validate(&self, new: &Json, old: Option<&Json>) -> Vec<Violation> {
        let mut run = Run { violations: Vec::new(), size: 0, cost: 0, stopped: false };
        if let Some(root) = &self.root {
            let ratcheting = Ratcheting { is_unchanged: old.map(|old| old == new), is_parent_unchanged: false };
            run.validate(root, "", new, old, ratcheting);
        }
        run.violations
    }
}

/// Whether a value is unchanged by an update, so that it may still violate rules.
#[derive(Clone, Copy)]
struct Ratcheting {
    /// Whether the value equals its old value; `None` if it cannot be correlated with one.
    is_unchanged: Option<bool>,
    /// Whether the nearest correlatable ancestor is unchanged.
    is_parent_unchanged: bool,
}

impl Ratcheting {
    fn applies(self) -> bool {
        self.is_unchanged.unwrap_or(self.is_parent_unchanged)
    }

    fn child(self, new: &Json, old: Option<&Json>) -> Self {
        let is_parent_unchanged = self.applies();
        let old = old.filter(|_| self.is_unchanged.is_some());
        Ratcheting { is_unchanged: old.map(|old| is_parent_unchanged || old == new), is_parent_unchanged }
    }
}

/// A validation run, which shares one cost budget.
struct Run {
    violations: Vec<Violation>,
    /// The size of the violations, which is limited: each has the path and can have the value of its field.
    size: usize,
    cost: u64,
    /// Whether the budget is exhausted.
    stopped: bool,
}

impl Run {
    fn validate(
        &mut self,
        validator: &NodeValidator,
        path: &str,
        new: &Json,
        old: Option<&Json>,
        ratcheting: Ratcheting,
    ) {
        if new.is_null() || self.stopped {
            return;
        }
        let old = old.filter(|old| !old.is_null());
        self.validate_rules(validator, path, new, old, ratcheting);
        match new {
            Json::Array(items) => self.validate_items(validator, path, items, old, ratcheting),
            Json::Object(fields) => self.validate_fields(validator, path, fields, old, ratcheting),
            _ => {}
        }
    }

    fn validate_items(
        &mut self,
        validator: &NodeValidator,
        path: &str,
        new: &[Json],
        old: Option<&Json>,
        ratcheting: Ratcheting,
    ) {
        let Some(items) = &validator.items else { return };
        let old = old.and_then(Json::as_array).filter(|_| validator.schema.list_type == ListType::Map);
        let keys = &validator.schema.list_map_keys;
        let same_keys = |left: &Json, right: &Json| keys.iter().all(|key| left.get(key) == right.get(key));
        for (index, item) in new.iter().enumerate() {
            let old = old.and_then(|old| old.iter().find(|candidate| same_keys(candidate, item)));
            self.validate(items, &append(path, format_args!("[{index}]")), item, old, ratcheting.child(item, old));
        }
    }

    fn validate_fields(
        &mut self,
        validator: &NodeValidator,
        path: &str,
        new: &serde_json::Map<String, Json>,
        old: Option<&Json>,
        ratcheting: Ratcheting,
    ) {
        let old = old.filter(|_| is_correlatable(&validator.schema));
        for (name, value) in new {
            let old = old.and_then(|old| old.get(name));
            let ratcheting = ratcheting.child(value, old);
            if let Some(values) = &validator.additional_properties {
                self.validate(values, &append(path, format_args!("[{name}]")), value, old, ratcheting);
            }
            if let Some(property) = validator.properties.get(name) {
                self.validate(property, &child(path, name), value, old, ratcheting);
            }
        }
    }

    fn validate_rules(
        &mut self,
        validator: &NodeValidator,
        path: &str,
        new: &Json,
        old: Option<&Json>,
        ratcheting: Ratcheting,
    ) {
        for CompiledRule { rule, compiled, field_path } in &validator.rules {
            if let Some(error) = compiled.rule_error.as_ref().filter(|_| !self.stopped) {
                self.record(error_violation(validator, path, format!("rule compile error: {}", error.detail)));
            }
            let Some(checked) = &compiled.rule else { continue };
            let is_optional = rule.optional_old_self == Some(true);
            if self.stopped || compiled.uses_old_self() && old.is_none() && !is_optional {
                continue;
            }
            let (result, cost) = match self_and_old_self(&validator.schema, new, old, is_optional) {
                Err(error) => (Err(error), 0),
                Ok((new, old)) => evaluate(checked, &[("self", new), ("oldSelf", old)]),
            };
            if !self.charge(validator, path, cost) {
                return;
            }
            match result {
                Ok(Value::Bool(true)) => {}
                Err(error) => self.report_eval_error(validator, path, rule, &error),
                Ok(_) if !compiled.uses_old_self() && ratcheting.applies() => {}
                Ok(_) => {
                    let message = self.evaluate_message(validator, compiled, new, old, is_optional);
                    let message = message.unwrap_or_else(|| static_message(rule));
                    let path = if field_path.is_empty() { path.to_owned() } else { child(path, field_path) };
                    self.record(violation(validator, path, new, message, rule.reason.as_deref()));
                }
            }
        }
    }

    fn record(&mut self, violation: Violation) {
        if self.size < MAX_VIOLATIONS_SIZE {
            self.size += violation.path.len() + violation.detail.len();
            self.size += violation.value.as_ref().map_or(0, go::json_size);
            self.violations.push(violation);
        }
    }

    /// Adds to the actual cost. Returns false, and reports it, if the budget is exhausted.
    fn charge(&mut self, validator: &NodeValidator, path: &str, cost: u64) -> bool {
        self.cost = self.cost.saturating_add(cost);
        if self.cost <= RUNTIME_COST_BUDGET {
            return true;
        }
        let detail = "validation failed due to running out of cost budget, no further validation rules will be run";
        self.record(error_violation(validator, path, detail.to_owned()));
        self.stopped = true;
        false
    }

    /// Reports a rule whose evaluation results in an error.
    fn report_eval_error(
        &mut self,
        validator: &NodeValidator,
        path: &str,
        rule: &ValidationRule,
        EvalError(error): &EvalError,
    ) {
        let name = if rule.message.is_empty() { rule.rule.trim() } else { rule.message.trim() };
        let detail = if error.starts_with("no such overload") {
            format!(
                "'{error}': call arguments did not match a supported operator, function or macro signature for rule: \
                 {name}"
            )
        } else if error.starts_with("operation cancelled: actual cost limit exceeded") {
            self.stopped = true;
            format!(
                "'{error}': no further validation rules will be run due to call cost exceeds limit for rule: {name}"
            )
        } else {
            format!("{error} evaluating rule: {name}")
        };
        self.record(error_violation(validator, path, detail));
    }

    /// The message of the `messageExpression`; `None` if the rule has none, or its result is not a valid message.
    fn evaluate_message(
        &mut self,
        validator: &NodeValidator,
        compiled: &CompilationResult,
        new: &Json,
        old: Option<&Json>,
        is_optional: bool,
    ) -> Option<String> {
        let expression = compiled.message_expression.as_ref()?;
        let (new, old) = self_and_old_self(&validator.schema, new, old, is_optional).ok()?;
        let (result, cost) = evaluate(expression, &[("self", new), ("oldSelf", old)]);
        self.cost = self.cost.saturating_add(cost);
        let Ok(Value::String(message)) = result else { return None };
        let message = message.trim();
        let is_valid = !message.is_empty() && message.len() <= MAX_MESSAGE_LENGTH && !message.contains('\n');
        is_valid.then(|| message.to_owned())
    }
}

/// The values of `self` and `oldSelf`. Without an old object, `oldSelf` is an empty optional.
fn self_and_old_self<'a>(
    schema: &'a Structural,
    new: &'a Json,
    old: Option<&'a Json>,
    is_optional: bool,
) -> EvalResult<(Value<'a>, Value<'a>)> {
    let new = Value::from_unstructured(new, schema)?;
    let old = match old.map(|old| Value::from_unstructured(old, schema)).transpose()? {
        Some(old) if is_optional => Value::some(old),
        Some(old) => old,
        None => Value::Optional(None),
    };
    Ok((new, old))
}

fn child(path: &str, name: &str) -> String {
    if path.is_empty() { append("", format_args!("{name}")) } else { append(path, format_args!(".{name}")) }
}

/// The `message` of a rule, or the server's default message.
fn static_message(rule: &ValidationRule) -> String {
    if rule.message.is_empty() { format!("failed rule: {}", rule.rule.trim()) } else { rule.message.trim().to_owned() }
}

fn violation(validator: &NodeValidator, path: String, new: &Json, detail: String, reason: Option<&str>) -> Violation {
    let reason = match reason {
        Some("FieldValueForbidden") => ViolationReason::Forbidden,
        Some("FieldValueRequired") => ViolationReason::Required,
        Some("FieldValueDuplicate") => ViolationReason::Duplicate,
        _ => ViolationReason::Invalid,
    };
    let shows_value = !matches!(validator.schema.schema_type, SchemaType::Object | SchemaType::Array);
    Violation { path, reason, value: shows_value.then(|| new.clone()), detail }
}

/// The violation for a rule that cannot be evaluated. The server shows the type of the schema in place of the value.
fn error_violation(validator: &NodeValidator, path: &str, detail: String) -> Violation {
    let value = Some(Json::from(validator.schema.schema_type.name()));
    Violation { path: path.to_owned(), reason: ViolationReason::Invalid, value, detail }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_that_cost_too_much_to_read_are_errors() {
        let doubled = |step: &str| format!(".map(x, {step})").repeat(30);
        let rules = [
            "self.a.replace('a', self.a).size() > 0".to_owned(),
            format!("[[1]]{}[0].size() > 0", doubled("x + x")),
            format!("'%s'.format([self.a]{}).size() > 0", doubled("[x, x]")),
            format!("[1]{}.flatten(40).size() > 0", doubled("[x, x]")),
        ];
        for rule in rules {
            let schema = json!({
                "type": "object",
                "properties": { "a": { "type": "string" } },
                "x-kubernetes-validations": [{ "rule": rule }],
            });
            let violations = Program::compile_unchecked(&schema).validate(&json!({ "a": "a".repeat(10_000) }), None);
            let details: Vec<&str> = violations.iter().map(|violation| violation.detail.as_str()).collect();
            let expected = "'operation cancelled: actual cost limit exceeded'";
            assert!(matches!(details.as_slice(), [detail] if detail.starts_with(expected)), "{rule}: {details:?}");
        }
    }

    #[test]
    fn violations_of_many_fields_below_a_long_name_are_limited() {
        let items = json!({ "type": "integer", "x-kubernetes-validations": [{ "rule": "self > 1" }] });
        let lists = json!({ "type": "object", "additionalProperties": { "type": "array", "items": items } });
        let schema = json!({ "type": "object", "properties": { "lists": lists } });
        let object = json!({ "lists": { "x".repeat(1 << 20): vec![0; 10_000] } });
        let violations = Program::compile_unchecked(&schema).validate(&object, None);
        let size: usize = violations.iter().map(|violation| violation.path.len()).sum();
        assert!(!violations.is_empty() && size <= 2 * MAX_VIOLATIONS_SIZE, "{size}");
    }
}
