//! Random values of structural schemas.

use serde_json::{Map, Value, json};

/// The depth from which on optional fields are absent, and lists and maps are empty.
const MAX_DEPTH: usize = 12;

/// A generator of random values of the structural schema of a CustomResourceDefinition.
///
/// Types, enums, bounds, formats, required fields, keys of lists and the alternatives of Rust enums are respected;
/// patterns and CEL rules are not. The values are determined by the seed.
pub struct Generator {
    random: fastrand::Rng,
    depth: usize,
}

impl Generator {
    /// Creates a generator with a seed.
    pub fn new(seed: u64) -> Self {
        Generator { random: fastrand::Rng::with_seed(seed), depth: 0 }
    }

    /// Returns a random value of the schema.
    pub fn value(&mut self, schema: &Value) -> Value {
        if let Some(values) = schema["enum"].as_array().filter(|values| !values.is_empty()) {
            return values[self.random.usize(..values.len())].clone();
        }
        if schema["nullable"] == true && self.random.u8(..8) == 0 {
            return Value::Null;
        }
        self.depth += 1;
        let value = match schema["type"].as_str() {
            Some("object") => self.object(schema),
            Some("array") => self.list(schema),
            Some("string") => self.text(schema).into(),
            Some("integer") => self.integer(schema),
            Some("number") => self.number(schema),
            Some("boolean") => self.random.bool().into(),
            // A quantity: its integers are encoded as strings.
            _ if schema["x-kubernetes-int-or-string"] == true && schema["pattern"].is_string() => {
                self.text(schema).into()
            }
            _ if schema["x-kubernetes-int-or-string"] == true && self.random.bool() => self.random.i32(0..1000).into(),
            _ => self.word().into(),
        };
        self.depth -= 1;
        value
    }

    /// Returns a random number below the limit.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.random.usize(..limit.max(1))
    }

    /// Returns true once in so many calls.
    pub(super) fn one_in(&mut self, calls: u32) -> bool {
        self.random.u32(..calls.max(1)) == 0
    }

    fn object(&mut self, schema: &Value) -> Value {
        let mut object = Map::new();
        let mut required: Vec<&str> = names(&schema["required"]).collect();
        let mut excluded = Vec::new();
        let mut constants = Map::new();
        for alternatives in alternatives(schema) {
            let chosen = &alternatives[self.below(alternatives.len())];
            required.extend(names(&chosen["required"]));
            let others = alternatives.iter().flat_map(|other| names(&other["required"]));
            excluded.extend(others.filter(|name| !names(&chosen["required"]).any(|required| required == *name)));
            constants.extend(self.constants(chosen));
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let is_required = required.contains(&name.as_str());
            let is_optional = !excluded.contains(&name.as_str()) && self.depth < MAX_DEPTH && !self.one_in(3);
            if let Some(constant) = constants.remove(name) {
                object.insert(name.clone(), constant);
            } else if is_required || is_optional {
                object.insert(name.clone(), self.value(property));
            }
        }
        self.add_entries(schema, &mut object);
        Value::Object(object)
    }

    /// Adds the entries of a map, or unknown fields where they are preserved.
    fn add_entries(&mut self, schema: &Value, object: &mut Map<String, Value>) {
        let entries = &schema["additionalProperties"];
        let is_map = entries.is_object() || *entries == true;
        if !is_map && schema["x-kubernetes-preserve-unknown-fields"] != true || self.depth >= MAX_DEPTH {
            return;
        }
        for _ in 0..self.below(3) {
            let value = if entries.is_object() { self.value(entries) } else { json!({"unknown": self.word()}) };
            object.insert(self.word(), value);
        }
    }

    /// Returns the fields that an alternative sets to one of several values, such as the tag of a variant.
    fn constants(&mut self, alternative: &Value) -> Map<String, Value> {
        let properties = alternative["properties"].as_object().into_iter().flatten();
        let with_values = properties.filter_map(|(name, property)| Some((name.clone(), property["enum"].as_array()?)));
        with_values.map(|(name, values)| (name, values[self.below(values.len())].clone())).collect()
    }

    fn list(&mut self, schema: &Value) -> Value {
        let min = schema["minItems"].as_u64().unwrap_or(0);
        let max = schema["maxItems"].as_u64().unwrap_or(min + 3).min(min + 3);
        let max = if self.depth < MAX_DEPTH { max } else { min };
        let len = self.random.u64(min..=max.max(min));
        let mut items: Vec<Value> = (0..len).map(|_| self.value(&schema["items"])).collect();
        let keys: Vec<&str> = names(&schema["x-kubernetes-list-map-keys"]).collect();
        let is_set = schema["x-kubernetes-list-type"] == "set";
        let mut seen = Vec::new();
        items.retain(|item| {
            let identity = match (keys.is_empty(), is_set) {
                (false, _) => Value::Array(keys.iter().map(|key| item[key].clone()).collect()),
                (true, true) => item.clone(),
                (true, false) => return true,
            };
            let is_new = !seen.contains(&identity);
            seen.push(identity);
            is_new
        });
        Value::Array(items)
    }

    fn text(&mut self, schema: &Value) -> String {
        let mut text = match schema["format"].as_str() {
            Some("date-time") => format!("2026-0{}-1{}T10:00:0{}Z", self.digit(), self.below(10), self.below(10)),
            Some("date") => format!("2026-0{}-1{}", self.digit(), self.below(10)),
            Some("duration") => format!("{}m{}s", self.digit(), self.digit()),
            Some("byte") => ["", "YQ==", "YWI=", "YWJj"][self.below(4)].to_owned(),
            Some("uuid") => format!("2f0b5a5e-7c30-4d0a-a2f5-5c6c2c2a7d1{}", self.below(10)),
            _ => self.word(),
        };
        let min = schema["minLength"].as_u64().unwrap_or(0);
        while (text.len() as u64) < min {
            text.push('x');
        }
        match schema["maxLength"].as_u64().and_then(|max| usize::try_from(max).ok()) {
            Some(max) => text.chars().take(max).collect(),
            None => text,
        }
    }

    fn digit(&mut self) -> usize {
        1 + self.below(9)
    }

    fn word(&mut self) -> String {
        const WORDS: [&str; 12] =
            ["a", "b", "10s", "1m", "90s", "5", "100m", "1Gi", "info", "on-disk", "a/b.c", "grüße {\"x\": \\\\}"];
        match self.below(4) {
            0 => (0..self.below(8)).map(|_| self.random.alphanumeric()).collect(),
            _ => WORDS[self.below(WORDS.len())].to_owned(),
        }
    }

    fn integer(&mut self, schema: &Value) -> Value {
        let (lowest, highest) = match schema["format"].as_str() {
            Some("int32") => (i64::from(i32::MIN), i64::from(i32::MAX)),
            _ => (i64::MIN, i64::MAX),
        };
        let exclusive = |key: &str| i64::from(schema[key] == true);
        let min = bound(&schema["minimum"]).map_or(lowest, |min| min.saturating_add(exclusive("exclusiveMinimum")));
        let max = bound(&schema["maximum"]).map_or(highest, |max| max.saturating_sub(exclusive("exclusiveMaximum")));
        let (min, max) = (min.max(lowest), max.min(highest));
        if min >= max {
            return min.into();
        }
        match self.below(4) {
            0 => self.random.i64(min..=max).into(),
            1 => [min, max][self.below(2)].into(),
            _ => self.random.i64(min.max(-100).min(max)..=max.min(100).max(min)).into(),
        }
    }

    fn number(&mut self, schema: &Value) -> Value {
        let min = schema["minimum"].as_f64().unwrap_or(-1000.0);
        let max = schema["maximum"].as_f64().unwrap_or(min.max(0.0) + 1000.0);
        // Binary fractions are exact in every encoding.
        let quarters = ((max - min) * 4.0 * self.random.f64()).floor();
        (min + quarters / 4.0).into()
    }
}

fn bound(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_f64().map(|value| value as i64))
}

/// Returns the strings of a list.
fn names(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the lists of alternatives, of each of which one applies. Those with `not` stand for none of the others.
fn alternatives(schema: &Value) -> Vec<&Vec<Value>> {
    let nested = schema["allOf"].as_array().into_iter().flatten();
    let lists = std::iter::once(schema).chain(nested).flat_map(|part| [&part["oneOf"], &part["anyOf"]]);
    lists.filter_map(Value::as_array).filter(|list| !list.is_empty()).collect()
}
