//! Checks of values against a schema, in the order and with the texts of the real server's validator.
//!
//! After `k8s.io/kube-openapi/pkg/validation/validate` and `apiextensions-apiserver/pkg/apiserver/validation` of 1.36.

use serde_json::{Map, Value};

use super::{
    child,
    correlation::Old,
    format,
    number::{self, Bounds},
    outcome::Outcome,
};
use crate::{
    finding::Finding,
    go, pattern,
    schema::{Additional, Schema},
};

/// Checks an object without its `apiVersion`, `kind` and `metadata`.
pub(super) fn object(fields: &Map<String, Value>, schema: Schema<'_>, old: Option<Old<'_>>) -> Vec<Finding> {
    let validator = Validator { base: "", of_default: false, is_root: true };
    validator.node(&Value::Object(fields.clone()), schema, "", old).into_findings()
}

/// Checks a default that stands at `base`. The server reads its schema in another way than that of objects: unknown
/// formats are left in, and what may be an integer or a string is of any type.
pub(crate) fn validate_default(value: &Value, schema: Schema<'_>, base: &str) -> Vec<Finding> {
    let validator = Validator { base, of_default: true, is_root: false };
    validator.node(value, schema, "", None).into_findings()
}

struct Validator<'a> {
    /// The path of the value as a whole.
    base: &'a str,
    of_default: bool,
    /// The value is an object whose `apiVersion`, `kind` and `metadata` are taken off.
    is_root: bool,
}

/// What a schema says of the type of a value.
pub(super) struct Typed<'a> {
    pub(super) types: Vec<&'a str>,
    /// Empty if there is none that counts.
    pub(super) format: &'a str,
}

impl<'a> Typed<'a> {
    fn has(&self, name: &str) -> bool {
        self.types.contains(&name)
    }

    fn has_number(&self) -> bool {
        self.has("number") || self.has("integer")
    }

    fn of(schema: Schema<'a>, of_default: bool) -> Self {
        let type_ = schema.text("type");
        let format = schema.text("format");
        if of_default {
            return Self { types: Some(type_).filter(|type_| !type_.is_empty()).into_iter().collect(), format };
        }
        let types = match type_ {
            _ if schema.is_int_or_string() => vec!["integer", "string"],
            "" => Vec::new(),
            type_ => vec![type_],
        };
        let format = if format::is_known(type_of_format(&types), format) { format } else { "" };
        Self { types, format }
    }
}

/// Formats count only where the type is one.
fn type_of_format<'a>(types: &[&'a str]) -> &'a str {
    match types {
        [one] => one,
        _ => "",
    }
}

impl Validator<'_> {
    /// The path that is reported for a path inside the value.
    fn field(&self, path: &str) -> String {
        let inside = if path == "." { "" } else { path.strip_prefix('.').unwrap_or(path) };
        match (self.base, inside) {
            ("", "") => "<nil>".to_owned(),
            ("", inside) => inside.to_owned(),
            (base, "") => base.to_owned(),
            (base, inside) => format!("{base}.{inside}"),
        }
    }

    /// What breaks a rule of the whole value.
    fn whole(&self, text: String) -> (String, Finding) {
        let finding = Finding::invalid(self.field(""), "", text.clone());
        (text, finding)
    }

    fn invalid(&self, path: &str, value: impl Into<Value>, text: String) -> (String, Finding) {
        let finding = Finding::invalid(self.field(path), value, text.clone());
        (text, finding)
    }

    fn wrong_type(&self, path: &str, expected: &str, found: &str) -> (String, Finding) {
        let text = format!("{path} in body must be of type {expected}: {}", go::quoted(found));
        let finding = Finding::type_invalid(self.field(path), found, text.clone());
        (text, finding)
    }

    fn node(&self, value: &Value, schema: Schema<'_>, path: &str, old: Option<Old<'_>>) -> Outcome {
        let outcome = self.checks(value, schema, path, old);
        let unchanged = || old.is_some_and(|old| old.equals(value, schema));
        if !outcome.is_valid() && unchanged() { outcome.forgiven() } else { outcome }
    }

    fn checks(&self, value: &Value, schema: Schema<'_>, path: &str, old: Option<Old<'_>>) -> Outcome {
        let typed = Typed::of(schema, self.of_default);
        let mut outcome = Outcome::default();
        if value.is_null() {
            outcome.merge(self.type_(value, schema, &typed, path));
            outcome.merge(self.enumeration(value, schema, path));
            return outcome;
        }
        let mut put = |result: Outcome| {
            outcome.merge(result);
            outcome.count();
        };
        if !typed.types.is_empty() || !typed.format.is_empty() {
            put(self.type_(value, schema, &typed, path));
        }
        put(self.junctors(value, schema, path));
        match value {
            Value::String(text) => {
                put(self.text(text, schema, path));
                if format::is_registered(typed.format) {
                    put(self.format(text, typed.format, path));
                }
            }
            Value::Number(number) => {
                let bounds = Bounds { schema, typed: &typed, path };
                let mut result = Outcome::default();
                for (of_value, text, value) in bounds.broken(number) {
                    let (text, finding) = if of_value { self.invalid(path, value, text) } else { self.whole(text) };
                    result.add(text, finding);
                }
                result.count();
                put(result);
            }
            Value::Array(items) => put(self.items(items, schema, path, old)),
            _ => {}
        }
        put(self.enumeration(value, schema, path));
        if let Value::Object(fields) = value {
            put(self.fields(fields, schema, path, old));
        }
        outcome.count();
        outcome
    }

    fn type_(&self, value: &Value, schema: Schema<'_>, typed: &Typed<'_>, path: &str) -> Outcome {
        let passed = Outcome::passed;
        let refused = |(text, finding)| Outcome::of(text, finding);
        let found = type_name(value);
        let expected = typed.types.join(",");
        if value.is_null() {
            let fits = typed.types.is_empty() || schema.is_nullable();
            return if fits { passed() } else { refused(self.wrong_type(path, &expected, found)) };
        }
        let is_whole = matches!(value, Value::Number(number) if go::float(number).is_some_and(number::is_whole));
        let fits = typed.has(found)
            || found == "number" && is_whole && typed.has("integer")
            || found == "integer" && typed.has("number");
        let is_text = value.is_string() || value.is_array();
        let own_format = match found {
            "integer" => "int64",
            "number" => "float64",
            _ => "",
        };
        if !is_text && !typed.format.is_empty() && !fits && own_format != typed.format {
            return refused(self.wrong_type(path, typed.format, own_format));
        }
        // A format that is known is enough to go by, whatever the type.
        if fits || is_text && !typed.format.is_empty() && !typed.has_number() {
            return passed();
        }
        refused(self.wrong_type(path, &expected, found))
    }

    fn text(&self, text: &str, schema: Schema<'_>, path: &str) -> Outcome {
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if let Some(most) = schema.integer("maxLength").filter(|most| length > *most) {
            let reads = format!("{path} in body should be at most {most} chars long");
            return Outcome::of(reads, Finding::too_long(self.field(path), most));
        }
        let broken = if let Some(least) = schema.integer("minLength").filter(|least| length < *least) {
            format!("{path} in body should be at least {least} chars long")
        } else {
            let pattern = schema.text("pattern");
            match pattern::compiled(pattern) {
                Ok(compiled) if pattern.is_empty() || compiled.is_match(text) => return Outcome::default(),
                Ok(_) => format!("{path} in body should match '{pattern}'"),
                Err(error) => format!("{path} in body should match '{pattern}, but pattern is invalid: {error}'"),
            }
        };
        let (reads, finding) = self.invalid(path, text, broken);
        Outcome::of(reads, finding)
    }

    fn format(&self, text: &str, format: &str, path: &str) -> Outcome {
        if format::is_of(format, text) {
            return Outcome::default();
        }
        let (reads, finding) = self.wrong_type(path, format, text);
        Outcome::of(reads, finding)
    }

    fn enumeration(&self, value: &Value, schema: Schema<'_>, path: &str) -> Outcome {
        let words = schema.values("enum");
        if words.is_empty() || words.iter().any(|word| is_word(value, word)) {
            return Outcome::default();
        }
        let shown: Vec<String> =
            words.iter().map(|word| word.as_str().map_or_else(|| go::json(word), str::to_owned)).collect();
        let text = format!("{path} in body should be one of {shown:?}");
        let finding = Finding::not_supported(self.field(path), value.clone(), shown.iter().map(String::as_str));
        Outcome::of(text, finding)
    }

    fn items(&self, items: &[Value], schema: Schema<'_>, path: &str, old: Option<Old<'_>>) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(of_item) = schema.items() {
            for (index, item) in items.iter().enumerate() {
                let old = old.and_then(|old| old.item(item, schema));
                outcome.merge(self.node(item, of_item, &format!("{path}[{index}]"), old));
            }
        }
        self.size(items.len(), schema, ["minItems", "maxItems", "items"], path, &mut outcome);
        let is_repeated = |(index, item): (usize, &Value)| items[..index].contains(item);
        if schema.flag("uniqueItems") && items.iter().enumerate().any(is_repeated) {
            let (text, finding) = self.invalid(path, "", format!("{path} in body shouldn't contain duplicates"));
            outcome.add(text, finding);
        }
        outcome.count();
        outcome
    }

    fn size(&self, size: usize, schema: Schema<'_>, words: [&str; 3], path: &str, outcome: &mut Outcome) {
        let [least, most, of] = words;
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        if let Some(least) = schema.integer(least).filter(|least| size < *least) {
            let (text, finding) = self.invalid(path, size, format!("{path} in body should have at least {least} {of}"));
            outcome.add(text, finding);
        }
        if let Some(most) = schema.integer(most).filter(|most| size > *most) {
            let text = format!("{path} in body should have at most {most} {of}");
            outcome.add(text, Finding::too_many(self.field(path), size, most));
        }
    }

    fn fields(&self, fields: &Map<String, Value>, schema: Schema<'_>, path: &str, old: Option<Old<'_>>) -> Outcome {
        let mut outcome = Outcome::default();
        self.size(fields.len(), schema, ["minProperties", "maxProperties", "properties"], path, &mut outcome);
        // These are taken off before an object gets here, and the server has looked at them.
        let is_given =
            |name: &str| self.is_root && path.is_empty() && ["apiVersion", "kind", "metadata"].contains(&name);
        for name in schema.texts("required").filter(|name| !is_given(name) && !fields.contains_key(*name)) {
            let path = format!("{path}.{name}");
            outcome.add(format!("{path} in body is required"), Finding::required(self.field(&path), ""));
        }
        let others = || fields.iter().filter(|(name, _)| schema.property(name).is_none());
        let old_of = |name: &str| old.and_then(|old| old.field(name));
        match schema.additional() {
            Some(Additional::Allowed(false)) => {
                for (name, _) in others() {
                    let text = format!("{path}.{name} in body is a forbidden property");
                    let (text, finding) = self.invalid(path, name.as_str(), text);
                    outcome.add(text, finding);
                }
            }
            Some(Additional::Schema(of_value)) => {
                for (name, value) in others() {
                    outcome.merge(self.node(value, of_value, &format!("{path}.{name}"), old_of(name)));
                }
            }
            Some(Additional::Allowed(true)) | None => {}
        }
        for (name, of_value) in schema.map("properties") {
            if let Some(value) = fields.get(name) {
                outcome.merge(self.node(value, of_value, &child(path, name), old_of(name)));
            }
        }
        outcome
    }

    fn junctors(&self, value: &Value, schema: Schema<'_>, path: &str) -> Outcome {
        let mut outcome = Outcome::default();
        let of = |keyword| schema.list(keyword).map(|schema| self.node(value, schema, path, None));
        let shown = go::quoted(path);
        if schema.list("anyOf").len() > 0 {
            self.any_of(of("anyOf"), &shown, &mut outcome);
        }
        if schema.list("oneOf").len() > 0 {
            self.one_of(of("oneOf").collect(), &shown, &mut outcome);
        }
        if schema.list("allOf").len() > 0 {
            self.all_of(of("allOf").collect(), &shown, &mut outcome);
        }
        if schema.child("not").is_some_and(|schema| self.node(value, schema, path, None).is_valid()) {
            let (text, finding) = self.whole(format!("{shown} must not validate the schema (not)"));
            outcome.add(text, finding);
        }
        outcome.count();
        outcome
    }

    fn any_of(&self, results: impl Iterator<Item = Outcome>, shown: &str, outcome: &mut Outcome) {
        let mut best: Option<Outcome> = None;
        for result in results {
            if result.is_valid() {
                return outcome.merge(result);
            }
            if best.as_ref().is_none_or(|best| result.passed > best.passed) {
                best = Some(result);
            }
        }
        let (text, finding) = self.whole(format!("{shown} must validate at least one schema (anyOf)"));
        outcome.add(text, finding);
        outcome.merge(best.unwrap_or_default());
    }

    fn one_of(&self, results: Vec<Outcome>, shown: &str, outcome: &mut Outcome) {
        let valid = results.iter().filter(|result| result.is_valid()).count();
        if valid == 1 {
            let result = results.into_iter().find(Outcome::is_valid);
            return outcome.merge(result.unwrap_or_default());
        }
        let found =
            if valid == 0 { "Found none valid".to_owned() } else { format!("Found {valid} valid alternatives") };
        let (text, finding) = self.whole(format!("{shown} must validate one and only one schema (oneOf). {found}"));
        outcome.add(text, finding);
        // Of alternatives that follow one that fits, none is the best that fails.
        if valid == 0 {
            let best = results.into_iter().reduce(|best, next| if next.passed > best.passed { next } else { best });
            outcome.merge(best.unwrap_or_default());
        }
    }

    fn all_of(&self, results: Vec<Outcome>, shown: &str, outcome: &mut Outcome) {
        let all = results.len();
        let valid = results.iter().filter(|result| result.is_valid()).count();
        results.into_iter().for_each(|result| outcome.merge(result));
        if valid < all {
            let none = if valid == 0 { ". None validated" } else { "" };
            let (text, finding) = self.whole(format!("{shown} must validate all the schemas (allOf){none}"));
            outcome.add(text, finding);
        }
    }
}

/// Whether a value is this word of an enum. Go converts the value to the type of the word, which cuts fractions off; no
/// null is a word, not even one that is listed.
fn is_word(value: &Value, word: &Value) -> bool {
    match (value, word) {
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Number(value), Value::Number(word)) => match (go::float(value), word.as_i64()) {
            (Some(value), Some(word)) => number::truncated(value) == word,
            _ => value.as_f64() == word.as_f64(),
        },
        (Value::Number(code), Value::String(word)) if code.is_i64() => {
            let c = code.as_i64().and_then(|code| u32::try_from(code).ok()).and_then(char::from_u32);
            *word == c.unwrap_or(char::REPLACEMENT_CHARACTER).to_string()
        }
        _ => value == word,
    }
}

/// A value's type as the validator names it.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if go::float(number).is_some() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
