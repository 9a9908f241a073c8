//! Checks the rules of a schema as the API server does before it accepts a CRD.

use serde_json::Value;

use super::{
    compilation::{CompilationError, CompilationResult, RuleEnvironment},
    rule_error::{RuleError, RuleErrorReason, RuleField, Segment},
};
use crate::cel::{
    cost,
    schema::{ListType, SchemaType, Structural, ValidationRule, field_path},
    syntax::escape,
    types::{DeclKind, DeclType},
};

/// The maximum estimated cost of one rule.
const RULE_COST_LIMIT: u64 = 10_000_000;
/// The maximum estimated cost of all rules of a schema together.
const SCHEMA_COST_LIMIT: u64 = 100_000_000;
/// The number of rules that are reported as most expensive if all rules together exceed the limit.
const MAX_EXPENSIVE_RULES: usize = 4;

const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Checks all `x-kubernetes-validations` rules of a schema (the `openAPIV3Schema` of a version, which must be
/// structural).
///
/// Like the API server (`k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation`), it reports:
/// - expressions that do not compile or have the wrong type;
/// - `oldSelf` where there is no old value to compare with;
/// - an estimated cost of more than 10,000,000 for a rule or 100,000,000 for all rules.
///
/// Rules are compiled only if the rules of their schema and of all schemas below have no other errors, as on the
/// server.
pub fn check_schema(schema: &Value) -> Vec<RuleError> {
    let root = Structural::decode(schema);
    let mut checker = RuleChecker { errors: Vec::new(), total_cost: 0, most_expensive: Vec::new() };
    checker.check(&root, &SchemaContext::root());
    checker.check_total_cost();
    checker.errors
}

/// The [report](RuleError::report) of the rule error at a [path](RuleError::schema_path) in a schema; `None` if there
/// is no error in an expression.
pub fn report_at(schema: &Value, schema_path: &[String]) -> Option<String> {
    let errors = check_schema(schema).into_iter().filter(|error| error.schema_path() == schema_path);
    errors.filter_map(|error| error.report()).next()
}

/// The position of a schema (`CELSchemaContext` of the API server).
struct SchemaContext<'a> {
    path: Vec<Segment>,
    is_root: bool,
    /// The type of the parent, if the parent or one of its ancestors has rules.
    parent: Option<&'a TypeInfo>,
    /// The maximum number of values of the schema in an object; `None` if it is not limited.
    max_cardinality: Option<u64>,
    /// The topmost ancestor whose elements cannot be correlated with their old values.
    uncorrelatable_path: Option<Vec<Segment>>,
}

/// The declared type of a schema, or the error if it has none (`CELTypeInfo` of the API server).
type TypeInfo = Result<DeclType, &'static str>;

/// The error of a schema whose type cannot be declared, and of all schemas below.
const NOT_DECLARABLE: &str = "internal error: failed to construct type information for x-kubernetes-validations rules: \
                              unable to convert structural schema to CEL declarations";
/// The error of `items` or `additionalProperties` below a type without elements, such as an int-or-string.
const NO_ELEMENT_TYPE: &str = "failed to convert to declType for CEL validation rules";

impl<'a> SchemaContext<'a> {
    fn root() -> Self {
        SchemaContext {
            path: Vec::new(),
            is_root: true,
            parent: None,
            max_cardinality: Some(1),
            uncorrelatable_path: None,
        }
    }

    /// The context of a child of `schema`.
    fn child(&self, segment: Segment, schema: &Structural, declared: Option<&'a TypeInfo>) -> SchemaContext<'a> {
        let is_uncorrelatable = match segment {
            Segment::Items => schema.list_type != ListType::Map,
            Segment::Property(_) => !is_correlatable(schema),
            Segment::AdditionalProperties => false,
        };
        let uncorrelatable_path = self.uncorrelatable_path.clone();
        let mut path = self.path.clone();
        path.push(segment);
        SchemaContext {
            path,
            is_root: false,
            parent: declared,
            max_cardinality: self
                .max_cardinality
                .zip(max_elements(schema))
                .map(|(parents, elements)| parents.saturating_mul(elements)),
            uncorrelatable_path: uncorrelatable_path.or_else(|| is_uncorrelatable.then(|| self.path.clone())),
        }
    }

    /// Declares the type of the schema: the one that the parent declares for it, or else that of the schema itself.
    fn type_info(&self, schema: &Structural) -> TypeInfo {
        let parent = match self.parent {
            Some(Err(error)) => return Err(error),
            Some(Ok(declared)) => Some(&declared.kind),
            None => None,
        };
        let declared_by_parent = match (self.path.last(), parent) {
            (Some(Segment::Property(name)), Some(DeclKind::Object(fields))) => {
                escape(name).and_then(|escaped| fields.get(&escaped))
            }
            (
                Some(Segment::Items | Segment::AdditionalProperties),
                Some(DeclKind::List(element) | DeclKind::Map(element)),
            ) => Some(element),
            (Some(Segment::Items | Segment::AdditionalProperties), Some(_)) => return Err(NO_ELEMENT_TYPE),
            _ => None,
        };
        declared_by_parent
            .map(|declared| DeclType::clone(declared))
            .or_else(|| DeclType::from_schema(schema, self.is_root || schema.is_embedded_resource))
            .ok_or(NOT_DECLARABLE)
    }
}

/// Whether the fields of an object can be correlated with their old values.
pub(super) fn is_correlatable(schema: &Structural) -> bool {
    matches!(schema.map_type.as_deref(), None | Some("granular" | "atomic"))
}

/// The maximum number of elements of a value; `None` if it is not limited.
fn max_elements(schema: &Structural) -> Option<u64> {
    let max = match schema.schema_type {
        SchemaType::Array => schema.max_items,
        SchemaType::Object if schema.additional_properties.is_some() || schema.allows_additional_properties => {
            schema.max_properties
        }
        _ => Some(1),
    };
    max.map(|max| u64::try_from(max).unwrap_or(0))
}

struct RuleChecker {
    errors: Vec<RuleError>,
    total_cost: u64,
    /// The most expensive rules and their cost, in descending order.
    most_expensive: Vec<(u64, RuleError)>,
}

impl RuleChecker {
    /// Checks the rules of a schema and of all schemas below. Returns whether their fields are valid, so that rules
    /// above can be compiled.
    fn check(&mut self, schema: &Structural, context: &SchemaContext<'_>) -> bool {
        let needs_type = !schema.rules.is_empty() || context.parent.is_some();
        let declared = needs_type.then(|| context.type_info(schema));
        let mut valid = true;
        if let Some(values) = &schema.additional_properties {
            let context = context.child(Segment::AdditionalProperties, schema, declared.as_ref());
            valid &= self.check(values, &context);
        }
        for (name, property) in schema.properties.iter().flatten() {
            let context = context.child(Segment::Property(name.clone()), schema, declared.as_ref());
            valid &= self.check(property, &context);
        }
        if let Some(items) = &schema.items {
            let context = context.child(Segment::Items, schema, declared.as_ref());
            valid &= self.check(items, &context);
        }
        for (index, rule) in schema.rules.iter().enumerate() {
            valid &= self.check_fields(schema, rule, &context.path, index);
        }
        if valid && !schema.rules.is_empty() {
            self.compile(schema, context, &declared.unwrap_or(Err(NOT_DECLARABLE)));
        }
        valid
    }

    fn report(
        &mut self,
        path: &[Segment],
        index: usize,
        rule_field: RuleField,
        reason: RuleErrorReason,
        value: Option<String>,
        detail: impl Into<String>,
    ) {
        self.errors.push(rule_error(path, index, rule_field, reason, value, detail));
    }

    /// Checks the fields of a rule without compiling it. Returns whether they are valid.
    fn check_fields(&mut self, schema: &Structural, rule: &ValidationRule, path: &[Segment], index: usize) -> bool {
        use RuleErrorReason::{NotSupported, Required};
        let errors = self.errors.len();
        self.check_rule_and_message(rule, path, index);
        if !rule.message_expression.is_empty() && rule.message_expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            self.report(path, index, RuleField::MessageExpression, Required, None, detail);
        }
        if let Some(reason) = rule.reason.as_ref().filter(|reason| !REASONS.contains(&reason.as_str())) {
            let supported: Vec<String> = REASONS.iter().map(|reason| format!("{reason:?}")).collect();
            let detail = format!("supported values: {}", supported.join(", "));
            self.report(path, index, RuleField::Reason, NotSupported, Some(quoted(reason)), detail);
        }
        self.check_field_path(schema, rule, path, index);
        self.errors.len() == errors
    }

    fn check_rule_and_message(&mut self, rule: &ValidationRule, path: &[Segment], index: usize) {
        use RuleErrorReason::{Invalid, Required};
        let has_line_breaks = |text: &str| text.contains(['\n', '\r']);
        let message = rule.message.trim();
        let value = || Some(quoted(&rule.message));
        if rule.rule.trim().is_empty() {
            self.report(path, index, RuleField::Rule, Required, None, "rule is not specified");
        } else if !rule.message.is_empty() && message.is_empty() {
            self.report(path, index, RuleField::Message, Invalid, value(), "must be non-empty if specified");
        } else if has_line_breaks(message) {
            self.report(path, index, RuleField::Message, Invalid, value(), "must not contain line breaks");
        } else if has_line_breaks(rule.rule.trim()) && message.is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            self.report(path, index, RuleField::Message, Required, None, detail);
        }
    }

    fn check_field_path(&mut self, schema: &Structural, rule: &ValidationRule, path: &[Segment], index: usize) {
        if rule.field_path.is_empty() {
            return;
        }
        let mut report = |detail: &str| {
            let value = Some(quoted(&rule.field_path));
            self.report(path, index, RuleField::FieldPath, RuleErrorReason::Invalid, value, detail);
        };
        if rule.field_path.trim().is_empty() {
            report("must be non-empty if specified");
        }
        if rule.field_path.contains(['\n', '\r']) {
            report("must not contain line breaks");
        }
        if field_path::normalize(&rule.field_path, schema).is_none() {
            report("must be a valid path");
        }
    }

    fn compile(&mut self, schema: &Structural, context: &SchemaContext<'_>, declared: &TypeInfo) {
        let declared = match declared {
            Ok(declared) => declared,
            Err(detail) => {
                self.errors.push(schema_error(&context.path, RuleErrorReason::Internal, (*detail).to_owned()));
                return;
            }
        };
        let environment = RuleEnvironment::new(declared);
        let max_cardinality = context.max_cardinality.unwrap_or_else(|| declared.max_cardinality());
        for (index, rule) in schema.rules.iter().enumerate() {
            let compiled = environment.compile(rule);
            self.check_compiled(rule, &compiled, context, index, max_cardinality);
        }
    }

    fn check_compiled(
        &mut self,
        rule: &ValidationRule,
        compiled: &CompilationResult,
        context: &SchemaContext<'_>,
        index: usize,
        max_cardinality: u64,
    ) {
        let path = &context.path;
        let max_cost = compiled.max_cost.saturating_mul(max_cardinality);
        self.check_cost(path, index, RuleField::Rule, "estimated rule cost", max_cost);
        if let Some(error) = &compiled.rule_error {
            self.report_compilation_error(path, index, RuleField::Rule, rule, error);
        }
        if let Some(error) = &compiled.message_error {
            self.report_compilation_error(path, index, RuleField::MessageExpression, rule, error);
        } else if compiled.message_expression.is_some() {
            let what = "estimated messageExpression cost";
            self.check_cost(path, index, RuleField::MessageExpression, what, compiled.max_message_cost);
        }
        self.check_old_self(rule, compiled, context, index);
    }

    fn report_compilation_error(
        &mut self,
        path: &[Segment],
        index: usize,
        rule_field: RuleField,
        rule: &ValidationRule,
        CompilationError { detail, report }: &CompilationError,
    ) {
        let value = Some(rule.to_go_json());
        let error = rule_error(path, index, rule_field, RuleErrorReason::Invalid, value, detail.clone());
        self.errors.push(RuleError { report: Some(report.clone()), ..error });
    }

    fn check_old_self(
        &mut self,
        rule: &ValidationRule,
        compiled: &CompilationResult,
        context: &SchemaContext<'_>,
        index: usize,
    ) {
        use RuleErrorReason::Invalid;
        let path = &context.path;
        if compiled.uses_old_self() {
            if let Some(uncorrelatable) = &context.uncorrelatable_path {
                let detail = "oldSelf cannot be used on the uncorrelatable portion of the schema";
                let error = rule_error(path, index, RuleField::Rule, Invalid, Some(quoted(&rule.rule)), detail);
                self.errors.push(RuleError { uncorrelatable_path: Some(uncorrelatable.clone()), ..error });
            }
        } else if let Some(optional) = rule.optional_old_self {
            let detail = "may not be set if oldSelf is not used in rule";
            self.report(path, index, RuleField::OptionalOldSelf, Invalid, Some(optional.to_string()), detail);
        }
    }

    /// Reports a cost that exceeds the limit of a rule, and adds it to the total.
    fn check_cost(&mut self, path: &[Segment], index: usize, rule_field: RuleField, what: &str, cost: u64) {
        if cost > RULE_COST_LIMIT {
            let detail = cost::budget_exceeded(what, cost, RULE_COST_LIMIT);
            self.report(path, index, rule_field, RuleErrorReason::Forbidden, None, detail);
        }
        self.total_cost = self.total_cost.saturating_add(cost);
        if cost >= SCHEMA_COST_LIMIT / 100 {
            let detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
            let error = rule_error(path, index, rule_field, RuleErrorReason::Forbidden, None, detail);
            self.most_expensive.push((cost, error));
            self.most_expensive.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
            self.most_expensive.truncate(MAX_EXPENSIVE_RULES);
        }
    }

    fn check_total_cost(&mut self) {
        if self.total_cost <= SCHEMA_COST_LIMIT {
            return;
        }
        self.errors.extend(self.most_expensive.drain(..).map(|(_, error)| error));
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        let detail = cost::budget_exceeded(what, self.total_cost, SCHEMA_COST_LIMIT);
        self.errors.push(schema_error(&[], RuleErrorReason::Forbidden, detail));
    }
}

/// Quotes a text as Go does.
fn quoted(text: &str) -> String {
    format!("{text:?}")
}

fn rule_error(
    path: &[Segment],
    index: usize,
    rule_field: RuleField,
    reason: RuleErrorReason,
    value: Option<String>,
    detail: impl Into<String>,
) -> RuleError {
    let error = schema_error(path, reason, detail.into());
    RuleError { index: Some(index), rule_field: Some(rule_field), value, ..error }
}

/// An error of all rules of a schema.
fn schema_error(path: &[Segment], reason: RuleErrorReason, detail: String) -> RuleError {
    RuleError {
        path: path.to_vec(),
        index: None,
        rule_field: None,
        reason,
        value: None,
        detail,
        uncorrelatable_path: None,
        report: None,
    }
}
