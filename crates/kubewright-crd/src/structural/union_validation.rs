//! Specifies that one of the branches of a node matches: in the schema, or with a CEL rule.

use serde_json::{Value, json};

use super::{Node, UnionValidation, cel_rule, flattened::Flattened, strings};

/// Adds a validation to the node that one of the branches matches. If `absent` is set, an object without any of these
/// fields is valid, too.
pub(super) fn add_union_validation(
    flattened: &mut Flattened,
    branches: Vec<Node>,
    exactly_one: bool,
    absent: Option<Vec<String>>,
    validation: UnionValidation,
) -> Result<(), String> {
    if let ([branch], Some(_)) = (branches.as_slice(), &absent)
        && let (Some(Value::Array(inner)), 1) = (branch.get("oneOf"), branch.len())
    {
        let inner = inner.iter().filter_map(Value::as_object).cloned().collect();
        return add_union_validation(flattened, inner, true, absent, validation);
    }
    if branches.iter().any(Node::is_empty) {
        return Ok(());
    }
    match validation {
        UnionValidation::Cel => add_cel_validation(flattened, &branches, exactly_one, absent.is_some()),
        UnionValidation::Schema => {
            add_schema_validation(flattened, branches, exactly_one, absent);
            Ok(())
        }
    }
}

fn add_schema_validation(
    flattened: &mut Flattened,
    branches: Vec<Node>,
    exactly_one: bool,
    absent: Option<Vec<String>>,
) {
    let mut all: Vec<Value> = Vec::new();
    for branch in branches {
        if exactly_one || !all.contains(&json!(branch)) {
            all.push(Value::Object(branch));
        }
    }
    if let Some(names) = absent {
        let present: Value = names.iter().map(|name| json!({"required": [name]})).collect();
        all.push(json!({"not": {"anyOf": present}}));
    }
    let key = if exactly_one { "oneOf" } else { "anyOf" };
    match (all.len(), all.pop()) {
        (1, Some(Value::Object(only))) => {
            flattened.junctors.extend(only.into_iter().map(|(k, v)| Node::from_iter([(k, v)])))
        }
        (_, last) => {
            all.extend(last);
            flattened.junctors.push(Node::from_iter([(key.to_owned(), Value::Array(all))]));
        }
    }
}

fn add_cel_validation(
    flattened: &mut Flattened,
    branches: &[Node],
    exactly_one: bool,
    may_be_absent: bool,
) -> Result<(), String> {
    let rules: Option<Vec<String>> = branches.iter().map(|branch| branch_condition(branch, "self")).collect();
    let Some(rules) = rules else {
        return Err(
            "the differences between its variants cannot be expressed as a CEL rule; use `via = \"schema\"`, or a \
             struct"
                .to_owned(),
        );
    };
    let names: Vec<String> = branches.iter().map(describe).collect();
    let (count, names) = (count_expression(&rules), names.join("; "));
    match (exactly_one, may_be_absent) {
        (_, true) => {
            cel_rule::add(&mut flattened.node, &format!("{count} <= 1"), &format!("at most one may be set: {names}"))
        }
        (true, false) => {
            cel_rule::add(&mut flattened.node, &format!("{count} == 1"), &format!("exactly one must be set: {names}"))
        }
        (false, false) => {
            let any: Vec<String> = rules.iter().map(|rule| format!("({rule})")).collect();
            cel_rule::add(&mut flattened.node, &any.join(" || "), &format!("one must be set: {names}"));
        }
    }
    Ok(())
}

/// Returns a CEL expression that is true if a branch matches.
fn branch_condition(branch: &Node, this: &str) -> Option<String> {
    let mut all = Vec::new();
    for name in strings(branch.get("required")) {
        all.push(format!("has({this}.{})", crate::cel::escape(name)?));
    }
    for (name, schema) in branch.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let field = format!("{this}.{}", crate::cel::escape(name)?);
        let schema = schema.as_object()?;
        match schema.get("enum").and_then(Value::as_array) {
            Some(values) if schema.len() == 1 => {
                let values: Option<Vec<String>> = values.iter().map(cel_rule::scalar).collect();
                all.push(format!("{field} in [{}]", values?.join(", ")));
            }
            Some(_) => return None,
            None => all.push(format!("(!has({field}) || ({}))", branch_condition(schema, &field)?)),
        }
    }
    let known = branch.keys().all(|key| ["required", "properties", "oneOf"].contains(&key.as_str()));
    if let Some(Value::Array(inner)) = branch.get("oneOf") {
        let inner: Option<Vec<String>> =
            inner.iter().map(|branch| branch_condition(branch.as_object()?, this)).collect();
        all.push(format!("{} == 1", count_expression(&inner?)));
    }
    (known && !all.is_empty()).then(|| all.join(" && "))
}

/// Returns the description of a branch for messages.
fn describe(branch: &Node) -> String {
    let values = branch.get("properties").and_then(Value::as_object).into_iter().flatten();
    let values = values.filter_map(|(name, schema)| Some(format!("{name} {}", schema.get("enum")?.get(0)?.as_str()?)));
    let inner = branch.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let inner = inner.filter_map(Value::as_object).map(describe);
    values.chain(strings(branch.get("required")).map(str::to_owned)).chain(inner).collect::<Vec<_>>().join(", ")
}

/// Returns a CEL expression that counts how many rules are true. The estimated cost of a macro over a list is more than
/// twice as high, which exceeds the limit in an unbounded list.
fn count_expression(rules: &[String]) -> String {
    let ones: Vec<String> = rules.iter().map(|rule| format!("({rule} ? 1 : 0)")).collect();
    ones.join(" + ")
}
