//! How a node says that one of its branches holds: in the schema, or as a rule.

use serde_json::{Value, json};

use super::gather::Said;
use super::{Node, Via, cel, strings};

/// Says on the node that one of the branches holds; that none may be there, if `absent` names what it would be.
pub(super) fn exclude(
    said: &mut Said,
    branches: Vec<Node>,
    exactly_one: bool,
    absent: Option<Vec<String>>,
    via: Via,
) -> Result<(), String> {
    if let ([branch], Some(_)) = (branches.as_slice(), &absent)
        && let (Some(Value::Array(inner)), 1) = (branch.get("oneOf"), branch.len())
    {
        let inner = inner.iter().filter_map(Value::as_object).cloned().collect();
        return exclude(said, inner, true, absent, via);
    }
    if branches.iter().any(Node::is_empty) {
        return Ok(());
    }
    match via {
        Via::Cel => exclude_in_cel(said, &branches, exactly_one, absent.is_some()),
        Via::Schema => {
            exclude_in_schema(said, branches, exactly_one, absent);
            Ok(())
        }
    }
}

fn exclude_in_schema(said: &mut Said, branches: Vec<Node>, exactly_one: bool, absent: Option<Vec<String>>) {
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
            said.junctors.extend(only.into_iter().map(|(k, v)| Node::from_iter([(k, v)])))
        }
        (_, last) => {
            all.extend(last);
            said.junctors.push(Node::from_iter([(key.to_owned(), Value::Array(all))]));
        }
    }
}

fn exclude_in_cel(said: &mut Said, branches: &[Node], exactly_one: bool, may_be_absent: bool) -> Result<(), String> {
    let rules: Option<Vec<String>> = branches.iter().map(|branch| holds(branch, "self")).collect();
    let Some(rules) = rules else {
        return Err(
            "its variants differ in more than a rule of this tool says; use `via = \"schema\"`, or a struct".to_owned()
        );
    };
    let names: Vec<String> = branches.iter().map(described).collect();
    let (count, names) = (count(&rules), names.join("; "));
    match (exactly_one, may_be_absent) {
        (_, true) => cel::add(&mut said.node, &format!("{count} <= 1"), &format!("at most one may be set: {names}")),
        (true, false) => {
            cel::add(&mut said.node, &format!("{count} == 1"), &format!("exactly one must be set: {names}"))
        }
        (false, false) => {
            let any: Vec<String> = rules.iter().map(|rule| format!("({rule})")).collect();
            cel::add(&mut said.node, &any.join(" || "), &format!("one must be set: {names}"));
        }
    }
    Ok(())
}

/// That a branch holds, in CEL.
fn holds(branch: &Node, this: &str) -> Option<String> {
    let mut all = Vec::new();
    for name in strings(branch.get("required")) {
        all.push(format!("has({this}.{})", crate::cel::escape(name)?));
    }
    for (name, schema) in branch.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let field = format!("{this}.{}", crate::cel::escape(name)?);
        let schema = schema.as_object()?;
        match schema.get("enum").and_then(Value::as_array) {
            Some(words) if schema.len() == 1 => {
                let words: Option<Vec<String>> = words.iter().map(cel::scalar).collect();
                all.push(format!("{field} in [{}]", words?.join(", ")));
            }
            Some(_) => return None,
            None => all.push(format!("(!has({field}) || ({}))", holds(schema, &field)?)),
        }
    }
    let known = branch.keys().all(|key| ["required", "properties", "oneOf"].contains(&key.as_str()));
    if let Some(Value::Array(inner)) = branch.get("oneOf") {
        let inner: Option<Vec<String>> = inner.iter().map(|one| holds(one.as_object()?, this)).collect();
        all.push(format!("{} == 1", count(&inner?)));
    }
    (known && !all.is_empty()).then(|| all.join(" && "))
}

/// A branch in words.
fn described(branch: &Node) -> String {
    let words = branch.get("properties").and_then(Value::as_object).into_iter().flatten();
    let words = words.filter_map(|(name, schema)| Some(format!("{name} {}", schema.get("enum")?.get(0)?.as_str()?)));
    let inner = branch.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let inner = inner.filter_map(Value::as_object).map(described);
    words.chain(strings(branch.get("required")).map(str::to_owned)).chain(inner).collect::<Vec<_>>().join(", ")
}

/// How many of these hold. A macro over a list costs more than twice as much, which is too much in a list
/// without a bound.
fn count(rules: &[String]) -> String {
    let ones: Vec<String> = rules.iter().map(|rule| format!("({rule} ? 1 : 0)")).collect();
    ones.join(" + ")
}
