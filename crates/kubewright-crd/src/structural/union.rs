//! Merges alternatives into one node with the fields of all of them, and a branch of value validations for each.

use std::collections::{BTreeMap, BTreeSet};

use kubewright_names::extension::Extension;
use serde_json::{Value, json};

use super::{
    Converter, INT_OR_STRING, Node, PRESERVE, RULES, UnionValidation, cel_rule,
    flatten::flatten,
    flattened::{Flattened, Union},
    location::Location,
    merge::without_annotations,
    strings,
    union_validation::add_union_validation,
    value_validation::{VALUE_VALIDATIONS, add_junctors},
    variant::{different_types, validate_same_type, variant_name},
};

/// The merged node, and the value validations of each alternative.
type Merged = Result<(Flattened, Vec<Node>), String>;

/// Merges the alternatives of a node into it.
pub(super) fn merge_unions(converter: &mut Converter<'_>, flattened: &mut Flattened, at: &Location) {
    let validation = union_validation(converter, flattened);
    merge_unions_with(converter, flattened, at, validation);
}

fn merge_unions_with(
    converter: &mut Converter<'_>,
    flattened: &mut Flattened,
    at: &Location,
    validation: UnionValidation,
) {
    for union in std::mem::take(&mut flattened.unions) {
        if let Err(message) = merge_union(converter, flattened, union, at, validation) {
            flattened.push_error(message);
        }
    }
}

fn merge_union(
    converter: &mut Converter<'_>,
    flattened: &mut Flattened,
    union: Union,
    at: &Location,
    validation: UnionValidation,
) -> Result<(), String> {
    let nested = at.nested();
    let (absent, alternatives): (Vec<Value>, Vec<Value>) = union.alternatives.into_iter().partition(is_absent);
    let all = flatten_alternatives(converter, alternatives.iter(), &nested);
    flattened.accepts_null |= all.iter().any(|alternative| alternative.accepts_null);
    if all.iter().any(accepts_any_value) {
        flattened.merge(PRESERVE, json!(true));
        return Ok(());
    }
    let (mut merged, mut branches) = combine(converter, all, &nested)?;
    if !absent.is_empty() && !merged.is_object() {
        flattened.merge(PRESERVE, json!(true));
        return Ok(());
    }
    if !absent.is_empty() {
        move_required_to_branches(&mut merged, &mut branches);
    }
    let own_fields: Vec<String> = merged.properties().map(|(name, _)| name.clone()).collect();
    merged.node.retain(|key, _| !["description", "title"].contains(&key.as_str()) || !flattened.node.contains_key(key));
    flattened.merge_all(merged.node);
    flattened.errors.extend(merged.errors);
    flattened.junctors.extend(merged.junctors);
    let absent = (!absent.is_empty()).then_some(own_fields);
    add_union_validation(flattened, branches, union.exactly_one, absent, validation)
}

/// Merges the conjuncts of each alternative. The definitions that one refers to are not open for the others.
fn flatten_alternatives<'b>(
    converter: &mut Converter<'_>,
    alternatives: impl Iterator<Item = &'b Value>,
    at: &Location,
) -> Vec<Flattened> {
    let enclosing = converter.open_references.len();
    let mut opened: Vec<String> = Vec::new();
    let mut all = Vec::new();
    for alternative in alternatives {
        all.push(flatten(converter, alternative, at));
        let references = converter.open_references.split_off(enclosing);
        for (i, name) in references.iter().enumerate() {
            let count = |names: &[String]| names.iter().filter(|other| *other == name).count();
            if count(&opened) < count(&references[..=i]) {
                opened.push(name.clone());
            }
        }
    }
    // The children of all of them are within these definitions.
    converter.open_references.extend(opened);
    all
}

fn union_validation(converter: &Converter<'_>, flattened: &Flattened) -> UnionValidation {
    match flattened.extensions.get(&Extension::Via).and_then(Value::as_str) {
        Some("cel") => UnionValidation::Cel,
        Some(_) => UnionValidation::Schema,
        None => converter.options.union_validation,
    }
}

/// Merges all alternatives into one node.
fn combine(converter: &mut Converter<'_>, mut all: Vec<Flattened>, at: &Location) -> Merged {
    for flattened in &mut all {
        if !converter.count_node(at) {
            return Err("too many nested alternatives; make the enum smaller".to_owned());
        }
        merge_unions_with(converter, flattened, at, UnionValidation::Schema);
        if let Some(error) = flattened.errors.first() {
            return Err(error.clone());
        }
    }
    let types: BTreeSet<&str> = all.iter().map(Flattened::json_type).collect();
    match types.into_iter().collect::<Vec<_>>().as_slice() {
        ["object"] => objects(converter, all, at),
        ["array"] => arrays(&all),
        ["any"] => Ok((any_value(), vec![Node::new(); all.len()])),
        [name @ ("boolean" | "integer" | "number" | "string")] => scalars(&all, name),
        ["integer", "number"] => scalars(&all, "number"),
        ["integer", "string"] | ["int-or-string", ..] | ["integer", "int-or-string", ..] => int_or_string(&all),
        _ => Err(different_types(&all)),
    }
}

/// Merges objects: the result has all fields, and requires those that are required in all.
fn objects(converter: &mut Converter<'_>, all: Vec<Flattened>, at: &Location) -> Merged {
    let mut merged = Flattened::default();
    let mut branches = vec![Node::new(); all.len()];
    merged.merge("type", json!("object"));
    merge_keywords(&all, &mut merged, &mut branches)?;
    merge_rules(&all, &mut merged)?;
    let mut holders: BTreeMap<String, Vec<(usize, Value)>> = BTreeMap::new();
    for (i, flattened) in all.iter().enumerate() {
        for (name, schema) in flattened.properties() {
            holders.entry(name.clone()).or_default().push((i, with_documentation_of(flattened, name, schema)));
        }
    }
    let mut declared = Node::new();
    for (name, holders) in holders {
        let in_all = holders.len() == all.len();
        let (mut schema, validations) =
            merge_field(converter, &holders, &all, at).map_err(|message| format!("the field `{name}` {message}"))?;
        // The server would set the default of one variant in objects of all others.
        if let (false, Value::Object(schema)) = (in_all, &mut schema) {
            schema.remove("default");
        }
        for ((i, _), validation) in holders.iter().zip(validations).filter(|(_, validation)| !validation.is_empty()) {
            if let Value::Object(fields) = branches[*i].entry("properties").or_insert_with(|| json!({})) {
                fields.insert(name.clone(), Value::Object(validation));
            }
        }
        declared.insert(name, schema);
    }
    if !declared.is_empty() {
        merged.merge("properties", Value::Object(declared));
    }
    merge_required(&all, &mut merged, &mut branches);
    for (branch, flattened) in branches.iter_mut().zip(&all) {
        add_junctors(branch, flattened.junctors.clone());
    }
    Ok((merged, branches))
}

/// Merges a field of several alternatives.
fn merge_field(
    converter: &mut Converter<'_>,
    holders: &[(usize, Value)],
    variants: &[Flattened],
    at: &Location,
) -> Result<(Value, Vec<Node>), String> {
    let (_, first) = &holders[0];
    let documentation = join_descriptions(holders.iter().filter_map(|(_, schema)| schema.get("description")?.as_str()));
    let (mut schema, validations) =
        if holders.iter().all(|(_, schema)| without_annotations(schema) == without_annotations(first)) {
            (first.clone(), Vec::new())
        } else {
            let nested = at.nested();
            let all = flatten_alternatives(converter, holders.iter().map(|(_, schema)| schema), &nested);
            let names: Vec<String> = holders.iter().map(|(i, _)| variant_name(variants, *i)).collect();
            validate_same_type(&all, &names)?;
            let conflict = |message| format!("differs between {}: {message}", names.join(" and "));
            let (merged, validations) = combine(converter, all, &nested).map_err(conflict)?;
            (to_schema(merged, first), validations)
        };
    if let (false, Value::Object(schema)) = (documentation.is_empty(), &mut schema) {
        schema.insert("description".to_owned(), json!(documentation));
    }
    Ok((schema, validations))
}

/// Whether an alternative is that of an absent value, which schemars adds for a flattened `Option`.
fn is_absent(alternative: &Value) -> bool {
    alternative.as_object().is_some_and(Node::is_empty)
}

fn accepts_any_value(flattened: &Flattened) -> bool {
    let is_unconstrained = flattened.node.keys().all(|key| ["description", "title"].contains(&key.as_str()));
    is_unconstrained && flattened.unions.is_empty() && flattened.junctors.is_empty() && flattened.errors.is_empty()
}

fn any_value() -> Flattened {
    let mut flattened = Flattened::default();
    flattened.merge(PRESERVE, json!(true));
    flattened
}

/// Merges the keywords of alternatives, except for their fields. Different value validations are added to the branches.
fn merge_keywords(all: &[Flattened], merged: &mut Flattened, branches: &mut [Node]) -> Result<(), String> {
    let keys: BTreeSet<&String> = all.iter().flat_map(|flattened| flattened.node.keys()).collect();
    let documentation = join_descriptions(all.iter().filter_map(|flattened| flattened.get("description")?.as_str()));
    let has_single_field = all.iter().all(|flattened| flattened.properties().count() == 1);
    if !documentation.is_empty() && !has_single_field {
        merged.merge("description", json!(documentation));
    }
    for key in keys {
        let equal = all.iter().all(|flattened| flattened.get(key) == all[0].get(key));
        match (key.as_str(), all[0].get(key)) {
            ("type" | "properties" | "required" | "description" | "title" | "example" | "externalDocs" | RULES, _) => {}
            (PRESERVE | "nullable", _) => merged.merge(key, json!(true)),
            (_, Some(value)) if equal => merged.merge(key, value.clone()),
            // A branch has no type, and without one the server does not support the formats of numbers.
            ("format", Some(format))
                if ["int32", "int64", "float", "double"].iter().any(|number_format| format == number_format) => {}
            (key, _) if VALUE_VALIDATIONS.contains(&key) => {
                for (branch, flattened) in branches.iter_mut().zip(all) {
                    branch.extend(flattened.get(key).map(|value| (key.to_owned(), value.clone())));
                }
            }
            ("additionalProperties", _) => {
                return Err("one variant is a map and another is not; use a separate field for the map".to_owned());
            }
            (key, _) => return Err(format!("`{key}` differs between variants; use the same value for all")),
        }
    }
    Ok(())
}

/// Merges rules. The rule of a single variant is evaluated only for objects with its tag.
fn merge_rules(all: &[Flattened], merged: &mut Flattened) -> Result<(), String> {
    if all.iter().all(|flattened| flattened.get(RULES) == all[0].get(RULES)) {
        if let Some(rules) = all[0].get(RULES) {
            merged.merge(RULES, rules.clone());
        }
        return Ok(());
    }
    let tag = all[0]
        .properties()
        .map(|(name, _)| name)
        .find(|name| all.iter().all(|flattened| flattened.tag_value(name).is_some()));
    let Some(tag) = tag else {
        return Err("a rule on a variant needs a tag as its condition; put it on the struct of the variant".to_owned());
    };
    for flattened in all {
        let guard = crate::cel::escape(tag).zip(flattened.tag_value(tag).and_then(cel_rule::scalar));
        for rule in flattened.get(RULES).and_then(Value::as_array).into_iter().flatten() {
            let text = rule.get("rule").and_then(Value::as_str);
            let (Some((name, tag_value)), Some(text)) = (&guard, text) else { continue };
            let mut rule = rule.clone();
            rule["rule"] = json!(format!("self.{name} != {tag_value} || ({text})"));
            merged.merge(RULES, json!([rule]));
        }
    }
    Ok(())
}

/// Adds the documentation of a variant to its only field.
fn with_documentation_of(flattened: &Flattened, name: &str, schema: &Value) -> Value {
    let has_single_field =
        flattened.properties().count() == 1 && strings(flattened.get("required")).any(|required| required == name);
    let mut schema = schema.clone();
    if let (true, Some(documentation)) =
        (has_single_field && flattened.tag_value(name).is_none(), flattened.get("description"))
    {
        match &mut schema {
            Value::Object(schema) => drop(schema.entry("description").or_insert_with(|| documentation.clone())),
            Value::Bool(true) => schema = json!({"description": documentation}),
            _ => {}
        }
    }
    schema
}

/// Moves the required fields of an optional union to its branches.
fn move_required_to_branches(merged: &mut Flattened, branches: &mut [Node]) {
    let Some(Value::Array(required)) = merged.node.remove("required") else { return };
    for branch in branches {
        let is_choice = branch.get("oneOf").is_some_and(Value::is_array);
        let all: Vec<&mut Node> = if is_choice {
            branch.values_mut().filter_map(Value::as_array_mut).flatten().filter_map(Value::as_object_mut).collect()
        } else {
            vec![branch]
        };
        for branch in all {
            if let Value::Array(fields) = branch.entry("required").or_insert_with(|| json!([])) {
                fields.splice(0..0, required.iter().cloned());
            }
        }
    }
}

fn merge_required(all: &[Flattened], merged: &mut Flattened, branches: &mut [Node]) {
    let required_fields =
        |flattened: &Flattened| strings(flattened.get("required")).map(str::to_owned).collect::<Vec<String>>();
    let in_all: Vec<String> = required_fields(&all[0])
        .into_iter()
        .filter(|name| all.iter().all(|flattened| required_fields(flattened).contains(name)))
        .collect();
    for (branch, flattened) in branches.iter_mut().zip(all) {
        let more: Vec<String> = required_fields(flattened).into_iter().filter(|name| !in_all.contains(name)).collect();
        if !more.is_empty() {
            branch.insert("required".to_owned(), json!(more));
        }
    }
    if !in_all.is_empty() {
        merged.merge("required", json!(in_all));
    }
}

fn scalars(all: &[Flattened], type_name: &str) -> Merged {
    let mut merged = Flattened::default();
    let mut branches = vec![Node::new(); all.len()];
    merged.merge("type", json!(type_name));
    merge_keywords(all, &mut merged, &mut branches)?;
    merge_equal_rules(all, &mut merged)?;
    let enums: Option<Vec<&Vec<Value>>> = all.iter().map(|flattened| flattened.get("enum")?.as_array()).collect();
    if let Some(enums) = enums {
        let mut all: Vec<Value> = Vec::new();
        for value in enums.into_iter().flatten() {
            if !all.contains(value) {
                all.push(value.clone());
            }
        }
        merged.node.insert("enum".to_owned(), json!(all));
    }
    for (branch, flattened) in branches.iter_mut().zip(all) {
        add_junctors(branch, flattened.junctors.clone());
    }
    merged.extensions = all.iter().flat_map(|flattened| flattened.extensions.clone()).collect();
    Ok((merged, branches))
}

fn arrays(all: &[Flattened]) -> Merged {
    let items = all[0].get("items");
    if !all.iter().all(|flattened| {
        flattened.get("items").map(without_annotations) == items.map(without_annotations)
            && flattened.unique_items == all[0].unique_items
    }) {
        return Err(different_types(all));
    }
    let mut merged = Flattened { unique_items: all[0].unique_items, ..Flattened::default() };
    let mut branches = vec![Node::new(); all.len()];
    merged.merge("type", json!("array"));
    merged.node.extend(items.map(|items| ("items".to_owned(), items.clone())));
    let rest: Vec<Flattened> = all
        .iter()
        .cloned()
        .map(|mut flattened| {
            flattened.node.remove("items");
            flattened
        })
        .collect();
    merge_keywords(&rest, &mut merged, &mut branches)?;
    merge_equal_rules(all, &mut merged)?;
    Ok((merged, branches))
}

/// Merges an integer and a string. Bounds apply to integers, lengths and patterns to strings, so that the node can have
/// both.
fn int_or_string(all: &[Flattened]) -> Merged {
    let mut merged = Flattened::default();
    merged.merge(INT_OR_STRING, json!(true));
    for flattened in all {
        if !["integer", "string", "int-or-string"].contains(&flattened.json_type()) || !flattened.junctors.is_empty() {
            return Err(different_types(all));
        }
        if flattened.get("enum").is_some() {
            return Err(
                "an enum of integers and string values has no structural schema; document the strings, or use strings \
                 only"
                    .to_owned(),
            );
        }
        let is_validation = |key: &String| VALUE_VALIDATIONS.contains(&key.as_str()) && key != "format";
        merged.merge_all(
            flattened.node.iter().filter(|(key, _)| is_validation(key)).map(|(k, v)| (k.clone(), v.clone())).collect(),
        );
    }
    merge_equal_rules(all, &mut merged)?;
    Ok((merged, vec![Node::new(); all.len()]))
}

fn merge_equal_rules(all: &[Flattened], merged: &mut Flattened) -> Result<(), String> {
    match all.iter().all(|flattened| flattened.get(RULES) == all[0].get(RULES)) {
        true => {
            merged.node.extend(all[0].get(RULES).map(|rules| (RULES.to_owned(), rules.clone())));
            Ok(())
        }
        false => Err("a rule on a variant needs a tag as its condition; put it on the field with the enum".to_owned()),
    }
}

/// Converts a merged node back to a schema that can be flattened.
fn to_schema(flattened: Flattened, from: &Value) -> Value {
    let mut node = flattened.node;
    node.extend(flattened.extensions.into_iter().map(|(extension, value)| (extension.name().to_owned(), value)));
    if flattened.unique_items {
        node.insert("uniqueItems".to_owned(), json!(true));
    }
    if !flattened.junctors.is_empty() {
        node.insert("allOf".to_owned(), flattened.junctors.into_iter().map(Value::Object).collect());
    }
    for key in [Extension::RustOwner, Extension::RustField].map(Extension::name) {
        node.extend(from.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    Value::Object(node)
}

fn join_descriptions<'a>(documentation: impl Iterator<Item = &'a str>) -> String {
    let mut all: Vec<&str> = Vec::new();
    for doc in documentation {
        if !all.contains(&doc) {
            all.push(doc);
        }
    }
    all.join("\n")
}
