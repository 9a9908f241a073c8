//! Paths of fields: by name, and in lists by the keys, the value or the index of an item.

use std::{cmp::Ordering, fmt};

use serde_json::Value;

/// The path of a field from the root of the object.
pub(crate) type Path = Vec<PathElement>;

/// An element of a path. The order is that of conflicts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PathElement {
    /// A field of a map.
    Field(String),
    /// The list item with these key fields and values.
    Key(Vec<(String, ItemValue)>),
    /// The set item with this value.
    Value(ItemValue),
    /// The list item at this index.
    Index(usize),
}

impl PathElement {
    pub(crate) fn field(name: &str) -> Self {
        Self::Field(name.to_owned())
    }
}

impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(keys) => {
                let keys: Vec<String> = keys.iter().map(|(name, value)| format!("{name}={}", value.0)).collect();
                write!(f, "[{}]", keys.join(","))
            }
            Self::Value(value) => write!(f, "[={}]", value.0),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// Returns the path of nested fields.
pub(crate) fn fields(names: &[&str]) -> Path {
    names.iter().map(|name| PathElement::field(name)).collect()
}

/// A JSON value with a total order, so that it can be a key. Integers and floats are ordered by value.
#[derive(Debug, Clone)]
pub(crate) struct ItemValue(pub(crate) Value);

impl Ord for ItemValue {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(&self.0, &other.0)
    }
}

impl PartialOrd for ItemValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ItemValue {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ItemValue {}

fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => left.as_f64().unwrap_or_default().total_cmp(&right.as_f64().unwrap_or_default()),
        },
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Array(left), Value::Array(right)) => {
            let items = left.iter().zip(right).map(|(left, right)| compare(left, right));
            items.fold(Ordering::Equal, Ordering::then).then(left.len().cmp(&right.len()))
        }
        (Value::Object(left), Value::Object(right)) => {
            let fields = left.iter().zip(right).map(|(left, right)| left.0.cmp(right.0).then(compare(left.1, right.1)));
            fields.fold(Ordering::Equal, Ordering::then).then(left.len().cmp(&right.len()))
        }
        _ => rank(left).cmp(&rank(right)),
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_have_the_format_of_the_real_server() {
        let key =
            PathElement::Key(vec![("name".into(), ItemValue(json!("http"))), ("port".into(), ItemValue(json!(80)))]);
        let path = [PathElement::field("spec"), key, PathElement::Value(ItemValue(json!("a"))), PathElement::Index(2)];
        let text: String = path.iter().map(ToString::to_string).collect();
        assert_eq!(text, r#".spec[name="http",port=80][="a"][2]"#);
    }

    #[test]
    fn numbers_are_compared_by_value() {
        assert_eq!(ItemValue(json!(1)), ItemValue(json!(1.0)));
        assert!(ItemValue(json!(9)) < ItemValue(json!(10)));
        assert!(ItemValue(json!(10)) < ItemValue(json!("1")));
    }
}
