//! Alternatives, made one node that declares what any of them may carry, and branches that only restrict it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::branch::{RESTRICTIONS, with_junctors};
use super::exclude::exclude;
use super::gather::Said;
use super::label::{has_one_type, label, no_one_type};
use super::meet::plain;
use super::place::{FIELD, OWNER, Place};
use super::{INT_OR_STRING, Node, PRESERVE, Pass, RULES, Via, cel, strings};

/// Alternatives as they were given.
#[derive(Clone, Debug)]
pub(super) struct Union {
    /// Whether exactly one must hold; else at least one.
    exactly_one: bool,
    alternatives: Vec<Value>,
}

impl Union {
    pub(super) fn new(key: &str, alternatives: &[&Value]) -> Self {
        Union { exactly_one: key == "oneOf", alternatives: alternatives.iter().map(|one| (*one).clone()).collect() }
    }
}

/// One node, and what each alternative says beyond it.
type Combined = Result<(Said, Vec<Node>), String>;

impl Pass<'_> {
    /// Makes the alternatives of a node part of it.
    pub(super) fn unite(&mut self, said: &mut Said, at: &Place) {
        let via = self.via(said);
        self.unite_by(said, at, via);
    }

    fn unite_by(&mut self, said: &mut Said, at: &Place, via: Via) {
        for union in std::mem::take(&mut said.unions) {
            if let Err(message) = self.unite_one(said, union, at, via) {
                said.problem(message);
            }
        }
    }

    fn unite_one(&mut self, said: &mut Said, union: Union, at: &Place, via: Via) -> Result<(), String> {
        let below = Place { level: at.level + 1, ..at.clone() };
        let all = union.alternatives.iter().map(|one| self.gather(one, &below));
        let (anything, all): (Vec<Said>, Vec<Said>) = all.partition(is_anything);
        said.null |= all.iter().any(|one| one.null);
        let (mut outer, mut branches) = self.combine(all, &below)?;
        if !anything.is_empty() && !is_object(&outer) {
            said.meet(PRESERVE, json!(true));
            return Ok(());
        }
        if !anything.is_empty() {
            require_in_each(&mut outer, &mut branches);
        }
        let own: Vec<String> = properties(&outer).map(|(name, _)| name.clone()).collect();
        outer.node.retain(|key, _| !["description", "title"].contains(&key.as_str()) || !said.node.contains_key(key));
        said.meet_all(outer.node);
        said.problems.extend(outer.problems);
        said.junctors.extend(outer.junctors);
        let absent = (!anything.is_empty()).then_some(own);
        exclude(said, branches, union.exactly_one, absent, via)
    }

    fn via(&self, said: &Said) -> Via {
        match said.marks.get("x-logger-via").and_then(Value::as_str) {
            Some("cel") => Via::Cel,
            Some(_) => Via::Schema,
            None => self.options.via,
        }
    }

    /// One node for all alternatives.
    fn combine(&mut self, mut all: Vec<Said>, at: &Place) -> Combined {
        for said in &mut all {
            if !self.has_room(at) {
                return Err("it has too many alternatives within alternatives; make the enum smaller".to_owned());
            }
            self.unite_by(said, at, Via::Schema);
            if let Some(problem) = said.problems.first() {
                return Err(problem.clone());
            }
        }
        let kinds: BTreeSet<&str> = all.iter().map(kind).collect();
        match kinds.into_iter().collect::<Vec<_>>().as_slice() {
            ["object"] => self.objects(all, at),
            ["array"] => arrays(&all),
            ["any"] => Ok((said_any(), vec![Node::new(); all.len()])),
            [kind @ ("boolean" | "integer" | "number" | "string")] => scalars(&all, kind),
            ["integer", "number"] => scalars(&all, "number"),
            ["integer", "string"] | ["int-or-string", ..] | ["integer", "int-or-string", ..] => int_or_string(&all),
            _ => Err(no_one_type(&all)),
        }
    }

    /// Objects: every field of each, required where it is required in all.
    fn objects(&mut self, all: Vec<Said>, at: &Place) -> Combined {
        let mut outer = Said::default();
        let mut branches = vec![Node::new(); all.len()];
        outer.meet("type", json!("object"));
        shared(&all, &mut outer, &mut branches)?;
        rules(&all, &mut outer)?;
        let mut holders: BTreeMap<String, Vec<(usize, Value)>> = BTreeMap::new();
        for (i, said) in all.iter().enumerate() {
            for (name, schema) in properties(said) {
                holders.entry(name.clone()).or_default().push((i, with_docs_of(said, name, schema)));
            }
        }
        let mut declared = Node::new();
        for (name, holders) in holders {
            let in_all = holders.len() == all.len();
            let (mut schema, restrictions) =
                self.field(&holders, &all, at).map_err(|message| format!("the field `{name}` {message}"))?;
            // The server would fill in the default of one variant in all others.
            if let (false, Value::Object(schema)) = (in_all, &mut schema) {
                schema.remove("default");
            }
            for ((i, _), restriction) in holders.iter().zip(restrictions).filter(|(_, one)| !one.is_empty()) {
                if let Value::Object(fields) = branches[*i].entry("properties").or_insert_with(|| json!({})) {
                    fields.insert(name.clone(), Value::Object(restriction));
                }
            }
            declared.insert(name, schema);
        }
        if !declared.is_empty() {
            outer.meet("properties", Value::Object(declared));
        }
        required(&all, &mut outer, &mut branches);
        for (branch, said) in branches.iter_mut().zip(&all) {
            with_junctors(branch, said.junctors.clone());
        }
        Ok((outer, branches))
    }

    /// One field of several alternatives.
    fn field(
        &mut self,
        holders: &[(usize, Value)],
        variants: &[Said],
        at: &Place,
    ) -> Result<(Value, Vec<Node>), String> {
        let (_, first) = &holders[0];
        let docs = joined(holders.iter().filter_map(|(_, schema)| schema.get("description")?.as_str()));
        let (mut schema, restrictions) = if holders.iter().all(|(_, schema)| plain(schema) == plain(first)) {
            (first.clone(), Vec::new())
        } else {
            let below = Place { level: at.level + 1, ..at.clone() };
            let all: Vec<Said> = holders.iter().map(|(_, schema)| self.gather(schema, &below)).collect();
            let labels: Vec<String> = holders.iter().map(|(i, _)| label(variants, *i)).collect();
            has_one_type(&all, &labels)?;
            let differs = |message| format!("is not the same in {}: {message}", labels.join(" and "));
            let (outer, restrictions) = self.combine(all, &below).map_err(differs)?;
            (raw(outer, first), restrictions)
        };
        if let (false, Value::Object(schema)) = (docs.is_empty(), &mut schema) {
            schema.insert("description".to_owned(), json!(docs));
        }
        Ok((schema, restrictions))
    }
}

/// How values of an alternative are told apart.
pub(super) fn kind(said: &Said) -> &str {
    match said.get("type").and_then(Value::as_str) {
        Some(kind) => kind,
        None if said.get(INT_OR_STRING).is_some() => "int-or-string",
        None if is_object(said) => "object",
        None if said.get("items").is_some() => "array",
        None => "any",
    }
}

fn is_object(said: &Said) -> bool {
    said.get("type") == Some(&json!("object"))
        || ["properties", "additionalProperties"].iter().any(|key| said.get(key).is_some())
}

fn is_anything(said: &Said) -> bool {
    let silent = said.node.keys().all(|key| ["description", "title"].contains(&key.as_str()));
    silent && said.unions.is_empty() && said.junctors.is_empty() && said.problems.is_empty()
}

fn said_any() -> Said {
    let mut said = Said::default();
    said.meet(PRESERVE, json!(true));
    said
}

pub(super) fn properties(said: &Said) -> impl Iterator<Item = (&String, &Value)> {
    said.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// What the alternatives have in common besides their fields; restrictions in which they differ go into the branches.
fn shared(all: &[Said], outer: &mut Said, branches: &mut [Node]) -> Result<(), String> {
    let keys: BTreeSet<&String> = all.iter().flat_map(|said| said.node.keys()).collect();
    let docs = joined(all.iter().filter_map(|said| said.get("description")?.as_str()));
    let sole = all.iter().all(|said| properties(said).count() == 1);
    if !docs.is_empty() && !sole {
        outer.meet("description", json!(docs));
    }
    for key in keys {
        let equal = all.iter().all(|said| said.get(key) == all[0].get(key));
        match (key.as_str(), all[0].get(key)) {
            ("type" | "properties" | "required" | "description" | "title" | "example" | "externalDocs" | RULES, _) => {}
            (PRESERVE | "nullable", _) => outer.meet(key, json!(true)),
            (_, Some(value)) if equal => outer.meet(key, value.clone()),
            // In a branch, where there is no type, the server knows no format of numbers.
            ("format", Some(format)) if ["int32", "int64", "float", "double"].iter().any(|one| format == one) => {}
            (key, _) if RESTRICTIONS.contains(&key) => {
                for (branch, said) in branches.iter_mut().zip(all) {
                    branch.extend(said.get(key).map(|value| (key.to_owned(), value.clone())));
                }
            }
            ("additionalProperties", _) => {
                return Err("one variant is a map and another is not; give the map a field of its own".to_owned());
            }
            (key, _) => return Err(format!("`{key}` is not the same for all variants; make it so")),
        }
    }
    Ok(())
}

/// Rules of one variant count where its tag says so.
fn rules(all: &[Said], outer: &mut Said) -> Result<(), String> {
    if all.iter().all(|said| said.get(RULES) == all[0].get(RULES)) {
        if let Some(rules) = all[0].get(RULES) {
            outer.meet(RULES, rules.clone());
        }
        return Ok(());
    }
    let tag = properties(&all[0]).map(|(name, _)| name).find(|name| all.iter().all(|said| word(said, name).is_some()));
    let Some(tag) = tag else {
        return Err(
            "a rule on one variant has no tag to tell when it counts; put it on a struct that the variant holds"
                .to_owned(),
        );
    };
    for said in all {
        let guard = crate::cel::escape(tag).zip(word(said, tag).and_then(cel::scalar));
        for rule in said.get(RULES).and_then(Value::as_array).into_iter().flatten() {
            let text = rule.get("rule").and_then(Value::as_str);
            let (Some((name, word)), Some(text)) = (&guard, text) else { continue };
            let mut rule = rule.clone();
            rule["rule"] = json!(format!("self.{name} != {word} || ({text})"));
            outer.meet(RULES, json!([rule]));
        }
    }
    Ok(())
}

/// The one word a required field of an alternative may be: its tag.
pub(super) fn word<'a>(said: &'a Said, name: &str) -> Option<&'a Value> {
    let schema = said.get("properties")?.get(name)?;
    let is_required = strings(said.get("required")).any(|required| required == name);
    let word = schema.get("const").or_else(|| match schema.get("enum")?.as_array()?.as_slice() {
        [only] => Some(only),
        _ => None,
    });
    word.filter(|_| is_required)
}

/// The docs of a variant are those of the field it is.
fn with_docs_of(said: &Said, name: &str, schema: &Value) -> Value {
    let sole = properties(said).count() == 1 && strings(said.get("required")).any(|required| required == name);
    let mut schema = schema.clone();
    if let (true, Some(docs)) = (sole && word(said, name).is_none(), said.get("description")) {
        match &mut schema {
            Value::Object(schema) => drop(schema.entry("description").or_insert_with(|| docs.clone())),
            Value::Bool(true) => schema = json!({"description": docs}),
            _ => {}
        }
    }
    schema
}

/// What may be left out as a whole requires nothing by itself.
fn require_in_each(outer: &mut Said, branches: &mut [Node]) {
    let Some(Value::Array(required)) = outer.node.remove("required") else { return };
    for branch in branches {
        let is_choice = branch.get("oneOf").is_some_and(Value::is_array);
        let all: Vec<&mut Node> = if is_choice {
            branch.values_mut().filter_map(Value::as_array_mut).flatten().filter_map(Value::as_object_mut).collect()
        } else {
            vec![branch]
        };
        for branch in all {
            if let Value::Array(own) = branch.entry("required").or_insert_with(|| json!([])) {
                own.splice(0..0, required.iter().cloned());
            }
        }
    }
}

fn required(all: &[Said], outer: &mut Said, branches: &mut [Node]) {
    let of = |said: &Said| strings(said.get("required")).map(str::to_owned).collect::<Vec<String>>();
    let in_all: Vec<String> =
        of(&all[0]).into_iter().filter(|name| all.iter().all(|said| of(said).contains(name))).collect();
    for (branch, said) in branches.iter_mut().zip(all) {
        let more: Vec<String> = of(said).into_iter().filter(|name| !in_all.contains(name)).collect();
        if !more.is_empty() {
            branch.insert("required".to_owned(), json!(more));
        }
    }
    if !in_all.is_empty() {
        outer.meet("required", json!(in_all));
    }
}

fn scalars(all: &[Said], kind: &str) -> Combined {
    let mut outer = Said::default();
    let mut branches = vec![Node::new(); all.len()];
    outer.meet("type", json!(kind));
    shared(all, &mut outer, &mut branches)?;
    rules_are_equal(all, &mut outer)?;
    let words: Option<Vec<&Vec<Value>>> = all.iter().map(|said| said.get("enum")?.as_array()).collect();
    if let Some(words) = words {
        let mut all: Vec<Value> = Vec::new();
        words.into_iter().flatten().for_each(|word| {
            if !all.contains(word) {
                all.push(word.clone())
            }
        });
        outer.node.insert("enum".to_owned(), json!(all));
    }
    for (branch, said) in branches.iter_mut().zip(all) {
        with_junctors(branch, said.junctors.clone());
    }
    outer.marks = all.iter().flat_map(|said| said.marks.clone()).collect();
    Ok((outer, branches))
}

fn arrays(all: &[Said]) -> Combined {
    let items = all[0].get("items");
    if !all.iter().all(|said| said.get("items").map(plain) == items.map(plain) && said.unique == all[0].unique) {
        return Err(no_one_type(all));
    }
    let mut outer = Said { unique: all[0].unique, ..Said::default() };
    let mut branches = vec![Node::new(); all.len()];
    outer.meet("type", json!("array"));
    outer.node.extend(items.map(|items| ("items".to_owned(), items.clone())));
    let rest: Vec<Said> = all
        .iter()
        .cloned()
        .map(|mut said| {
            said.node.remove("items");
            said
        })
        .collect();
    shared(&rest, &mut outer, &mut branches)?;
    rules_are_equal(all, &mut outer)?;
    Ok((outer, branches))
}

/// An integer or a string: bounds count for the one, lengths and patterns for the other, so both may stand on one node.
fn int_or_string(all: &[Said]) -> Combined {
    let mut outer = Said::default();
    outer.meet(INT_OR_STRING, json!(true));
    for said in all {
        if !["integer", "string", "int-or-string"].contains(&kind(said)) || !said.junctors.is_empty() {
            return Err(no_one_type(all));
        }
        if said.get("enum").is_some() {
            return Err(
                "it is an integer or one of some words; list the words in the docs, or use a string for all".to_owned()
            );
        }
        let restricts = |key: &String| RESTRICTIONS.contains(&key.as_str()) && key != "format";
        outer.meet_all(
            said.node.iter().filter(|(key, _)| restricts(key)).map(|(k, v)| (k.clone(), v.clone())).collect(),
        );
    }
    rules_are_equal(all, &mut outer)?;
    Ok((outer, vec![Node::new(); all.len()]))
}

fn rules_are_equal(all: &[Said], outer: &mut Said) -> Result<(), String> {
    match all.iter().all(|said| said.get(RULES) == all[0].get(RULES)) {
        true => {
            outer.node.extend(all[0].get(RULES).map(|rules| (RULES.to_owned(), rules.clone())));
            Ok(())
        }
        false => {
            Err("a rule on one variant has no tag to tell when it counts; put it on the field of the enum".to_owned())
        }
    }
}

/// A node as schemars might have written it.
fn raw(said: Said, from: &Value) -> Value {
    let mut node = said.node;
    node.extend(said.marks);
    if said.unique {
        node.insert("uniqueItems".to_owned(), json!(true));
    }
    if !said.junctors.is_empty() {
        node.insert("allOf".to_owned(), said.junctors.into_iter().map(Value::Object).collect());
    }
    for key in [OWNER, FIELD] {
        node.extend(from.get(key).map(|value| (key.to_owned(), value.clone())));
    }
    Value::Object(node)
}

fn joined<'a>(docs: impl Iterator<Item = &'a str>) -> String {
    let mut all: Vec<&str> = Vec::new();
    for doc in docs {
        if !all.contains(&doc) {
            all.push(doc);
        }
    }
    all.join("\n")
}
