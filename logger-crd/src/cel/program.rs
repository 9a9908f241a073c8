//! A schema's rules, compiled once, run on values as the server runs them.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{
    compile::{Compiled, Scope},
    declared::{Declared, Shape, declare},
    escape::escape,
    eval, field_path,
    finding::RuleFinding,
    rules::{self, is_correlatable},
    schema::{Kind, ListType, Node, Rule},
    value::{Failure, Outcome, Value},
    violation::{Violation, ViolationReason},
};

/// The most all rules may cost for one object.
const BUDGET: u64 = 10_000_000;
/// The longest message an expression may make, in bytes.
const MAX_MESSAGE: usize = 5 * 1024;

/// The rules of a version's schema, ready to run on objects.
#[derive(Debug)]
pub struct Program {
    root: Option<Validator>,
}

/// The rules of a node, and those below it.
#[derive(Debug)]
struct Validator {
    node: Node,
    rules: Vec<(Rule, Compiled, String)>,
    items: Option<Box<Validator>>,
    properties: BTreeMap<String, Validator>,
    additional: Option<Box<Validator>>,
}

impl Program {
    /// Compiles the rules of a version's schema (its `openAPIV3Schema`, structural).
    ///
    /// # Errors
    ///
    /// What [`check_schema`](super::check_schema) finds, if it finds anything: the server would not take such rules.
    pub fn compile(schema: &Json) -> Result<Self, Vec<RuleFinding>> {
        let findings = rules::check_schema(schema);
        if findings.is_empty() { Ok(Self::compile_unchecked(schema)) } else { Err(findings) }
    }

    /// Compiles what compiles, and leaves out the rest.
    #[must_use]
    pub fn compile_unchecked(schema: &Json) -> Self {
        Self::of_part(schema, true)
    }

    /// As [`compile_unchecked`](Self::compile_unchecked), of a schema below the root unless `is_root`.
    #[must_use]
    pub(crate) fn of_part(schema: &Json, is_root: bool) -> Self {
        let node = Node::of(schema);
        let root = node.has_rules().then(|| validator(&node, declare(&node, is_root).as_ref(), is_root)).flatten();
        Program { root }
    }

    /// Whether there are no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// Runs the rules on an object with its defaults filled in; `old` is what it replaces. As on the server, rules on what
    /// did not change are not held against an update, unless they compare with the old value.
    #[must_use]
    pub fn validate(&self, new: &Json, old: Option<&Json>) -> Vec<Violation> {
        let mut run = Run { violations: Vec::new(), spent: 0, stopped: false };
        if let Some(root) = &self.root {
            let unchanged = Unchanged { here: old.map(|old| old == new), above: false };
            run.node(root, "", new, old, unchanged);
        }
        run.violations
    }
}

fn validator(node: &Node, declared: Option<&Declared>, is_resource: bool) -> Option<Validator> {
    let shape = declared.map(|declared| &declared.shape);
    let element = match shape {
        Some(Shape::List(inner) | Shape::Map(inner)) => Some(&**inner),
        _ => None,
    };
    let below = |node: &Node| validator(node, element, node.is_embedded).map(Box::new);
    let items = node.items.as_deref().and_then(below);
    let additional = node.additional.as_deref().and_then(below);
    let mut properties = BTreeMap::new();
    for (name, property) in node.properties.iter().flatten() {
        let declared = match (escape(name), shape) {
            (Some(escaped), Some(Shape::Object(fields))) => fields.get(&escaped).map(|field| Declared::clone(field)),
            (Some(_), _) => None,
            (None, _) => declare(property, property.is_embedded),
        };
        // What rules cannot see is left out with all below it.
        let Some(declared) = declared else { continue };
        if let Some(validator) = validator(property, Some(&declared), property.is_embedded) {
            properties.insert(name.clone(), validator);
        }
    }
    let rules = declared.map(|declared| compiled(node, declared)).unwrap_or_default();
    if rules.is_empty() && items.is_none() && additional.is_none() && properties.is_empty() {
        return None;
    }
    let node = as_read(node, is_resource);
    Some(Validator { node, rules, items, properties, additional })
}

fn compiled(node: &Node, declared: &Declared) -> Vec<(Rule, Compiled, String)> {
    if node.rules.is_empty() {
        return Vec::new();
    }
    let scope = Scope::new(declared);
    let compile = |rule: &Rule| {
        let path = if rule.field_path.is_empty() { None } else { field_path::normalize(&rule.field_path, node) };
        (rule.clone(), scope.compile(rule), path.unwrap_or_default())
    };
    node.rules.iter().map(compile).collect()
}

/// The node as values are read with it: resources have their metadata, embedded ones at any depth.
fn as_read(node: &Node, is_resource: bool) -> Node {
    let mut node = if is_resource { node.as_resource() } else { node.clone() };
    embed(&mut node);
    node
}

fn embed(node: &mut Node) {
    for below in node.items.iter_mut().chain(&mut node.additional).map(|node| &mut **node) {
        embed_one(below);
    }
    for property in node.properties.iter_mut().flat_map(BTreeMap::values_mut) {
        embed_one(property);
    }
}

fn embed_one(node: &mut Node) {
    if node.is_embedded {
        *node = node.as_resource();
    }
    embed(node);
}

/// Whether a value is what it was.
#[derive(Clone, Copy)]
struct Unchanged {
    /// Of the value itself; `None` if it has no old value.
    here: Option<bool>,
    /// Of the nearest value above that has one.
    above: bool,
}

impl Unchanged {
    fn holds(self) -> bool {
        self.here.unwrap_or(self.above)
    }

    fn below(self, new: &Json, old: Option<&Json>) -> Self {
        let above = self.holds();
        Unchanged { here: old.filter(|_| self.here.is_some()).map(|old| above || old == new), above }
    }
}

struct Run {
    violations: Vec<Violation>,
    spent: u64,
    stopped: bool,
}

impl Run {
    fn node(&mut self, validator: &Validator, path: &str, new: &Json, old: Option<&Json>, unchanged: Unchanged) {
        if new.is_null() || self.stopped {
            return;
        }
        let old = old.filter(|old| !old.is_null());
        self.rules(validator, path, new, old, unchanged);
        match new {
            Json::Array(items) => self.items(validator, path, items, old, unchanged),
            Json::Object(fields) => self.fields(validator, path, fields, old, unchanged),
            _ => {}
        }
    }

    fn items(&mut self, validator: &Validator, path: &str, new: &[Json], old: Option<&Json>, unchanged: Unchanged) {
        let Some(items) = &validator.items else { return };
        let old = old.and_then(Json::as_array).filter(|_| validator.node.list_type == ListType::Map);
        let keys = &validator.node.list_map_keys;
        let same = |one: &Json, two: &Json| keys.iter().all(|key| one.get(key) == two.get(key));
        for (index, item) in new.iter().enumerate() {
            let old = old.and_then(|old| old.iter().find(|candidate| same(candidate, item)));
            self.node(items, &format!("{path}[{index}]"), item, old, unchanged.below(item, old));
        }
    }

    fn fields(
        &mut self,
        validator: &Validator,
        path: &str,
        new: &serde_json::Map<String, Json>,
        old: Option<&Json>,
        unchanged: Unchanged,
    ) {
        let old = old.filter(|_| is_correlatable(&validator.node));
        for (name, value) in new {
            let old = old.and_then(|old| old.get(name));
            let unchanged = unchanged.below(value, old);
            if let Some(additional) = &validator.additional {
                self.node(additional, &format!("{path}[{name}]"), value, old, unchanged);
            }
            if let Some(property) = validator.properties.get(name) {
                self.node(property, &child(path, name), value, old, unchanged);
            }
        }
    }

    fn rules(&mut self, validator: &Validator, path: &str, new: &Json, old: Option<&Json>, unchanged: Unchanged) {
        for (rule, compiled, field_path) in &validator.rules {
            let Some(checked) = &compiled.rule else { continue };
            let is_optional = rule.optional_old_self == Some(true);
            if self.stopped || compiled.uses_old_self() && old.is_none() && !is_optional {
                continue;
            }
            let old_value = match old {
                Some(old) if is_optional => Value::read(old, &validator.node).map(Value::some),
                Some(old) => Value::read(old, &validator.node),
                None => Ok(Value::Optional(None)),
            };
            let values = Value::read(new, &validator.node).and_then(|new| Ok((new, old_value?)));
            let (outcome, cost) = match values {
                Err(failure) => (Err(failure), 0),
                Ok((new, old)) => eval::run(checked, &[("self", new), ("oldSelf", old)]),
            };
            if !self.afford(validator, path, cost) {
                return;
            }
            let place = if field_path.is_empty() { path.to_owned() } else { child(path, field_path) };
            match outcome {
                Ok(Value::Bool(true)) => {}
                Err(failure) => self.failed(validator, path, rule, &failure),
                Ok(_) if !compiled.uses_old_self() && unchanged.holds() => {}
                Ok(_) => {
                    let message =
                        self.message(validator, compiled, new, old, is_optional).unwrap_or_else(|| default(rule));
                    self.violations.push(violation(validator, place, new, message, rule.reason.as_deref()));
                }
            }
        }
    }

    fn afford(&mut self, validator: &Validator, path: &str, cost: u64) -> bool {
        self.spent = self.spent.saturating_add(cost);
        if self.spent <= BUDGET {
            return true;
        }
        let detail = "validation failed due to running out of cost budget, no further validation rules will be run";
        self.violations.push(broken(validator, path, detail.to_owned()));
        self.stopped = true;
        false
    }

    /// A rule that has no value, told as the server tells it.
    fn failed(&mut self, validator: &Validator, path: &str, rule: &Rule, Failure(error): &Failure) {
        let name = if rule.message.is_empty() { rule.rule.trim() } else { rule.message.trim() };
        let detail = if error.starts_with("no such overload") {
            format!(
                "'{error}': call arguments did not match a supported operator, function or macro signature for rule: {name}"
            )
        } else if error.starts_with("operation cancelled: actual cost limit exceeded") {
            self.stopped = true;
            format!(
                "'{error}': no further validation rules will be run due to call cost exceeds limit for rule: {name}"
            )
        } else {
            format!("{error} evaluating rule: {name}")
        };
        self.violations.push(broken(validator, path, detail));
    }

    /// The message an expression makes, if there is one and it makes a good one.
    fn message(
        &mut self,
        validator: &Validator,
        compiled: &Compiled,
        new: &Json,
        old: Option<&Json>,
        is_optional: bool,
    ) -> Option<String> {
        let expression = compiled.message.as_ref()?;
        let read = |json| -> Outcome<Value<'_>> { Value::read(json, &validator.node) };
        let old = match old.map(read).transpose().ok()? {
            Some(old) if is_optional => Value::some(old),
            Some(old) => old,
            None => Value::Optional(None),
        };
        let (outcome, cost) = eval::run(expression, &[("self", read(new).ok()?), ("oldSelf", old)]);
        self.spent = self.spent.saturating_add(cost);
        let Ok(Value::String(message)) = outcome else { return None };
        let message = message.trim();
        let good = !message.is_empty() && message.len() <= MAX_MESSAGE && !message.contains('\n');
        good.then(|| message.to_owned())
    }
}

fn child(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn default(rule: &Rule) -> String {
    if rule.message.is_empty() { format!("failed rule: {}", rule.rule.trim()) } else { rule.message.trim().to_owned() }
}

fn violation(validator: &Validator, path: String, new: &Json, detail: String, reason: Option<&str>) -> Violation {
    let reason = match reason {
        Some("FieldValueForbidden") => ViolationReason::Forbidden,
        Some("FieldValueRequired") => ViolationReason::Required,
        Some("FieldValueDuplicate") => ViolationReason::Duplicate,
        _ => ViolationReason::Invalid,
    };
    let is_shown = !matches!(validator.node.kind, Kind::Object | Kind::Array);
    Violation { path, reason, value: is_shown.then(|| new.clone()), detail }
}

/// A rule that could not be run: the server names the type of the node in place of the value.
fn broken(validator: &Validator, path: &str, detail: String) -> Violation {
    let value = Some(Json::from(validator.node.kind.name()));
    Violation { path: path.to_owned(), reason: ViolationReason::Invalid, value, detail }
}
