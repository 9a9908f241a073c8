//! `FieldsV1`, the JSON form of field sets: a tree of `f:<name>`, `k:<keys>`, `v:<value>` and `i:<index>`.

use serde_json::{Map, Value};

use super::{
    path::{ItemValue, PathElement},
    set::FieldSet,
};

/// The name under which a field with members inside it is a member itself.
const SELF: &str = ".";

/// Writes a set.
pub(crate) fn write(set: &FieldSet) -> Value {
    let mut tree: Map<String, Value> =
        set.members().map(|element| (name(element), Value::Object(Map::new()))).collect();
    for (element, child) in set.children() {
        let mut branch = write(child);
        if let (true, Value::Object(fields)) = (set.has_member(element), &mut branch) {
            fields.insert(SELF.to_owned(), Value::Object(Map::new()));
        }
        tree.insert(name(element), branch);
    }
    Value::Object(tree)
}

/// Reads a set; kinds of steps this server does not know are skipped, as they may come from a newer one.
pub(crate) fn read(tree: &Value) -> Result<FieldSet, String> {
    let fields = match tree {
        Value::Object(fields) => fields,
        Value::Null => return Ok(FieldSet::default()),
        other => return Err(format!("{other} in place of a tree of fields")),
    };
    let mut set = FieldSet::default();
    for (name, branch) in fields.iter().filter(|(name, _)| *name != SELF) {
        if let Some(element) = element(name)? {
            let below = read(branch)?;
            let is_member = below.is_empty() || branch.get(SELF).is_some();
            set.insert_branch(element, is_member, below);
        }
    }
    Ok(set)
}

fn name(element: &PathElement) -> String {
    match element {
        PathElement::Field(name) => format!("f:{name}"),
        PathElement::Key(keys) => {
            let keys: Vec<String> =
                keys.iter().map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), value.0)).collect();
            format!("k:{{{}}}", keys.join(","))
        }
        PathElement::Value(value) => format!("v:{}", value.0),
        PathElement::Index(index) => format!("i:{index}"),
    }
}

/// Reads a step, or nothing if it is of an unknown kind.
fn element(name: &str) -> Result<Option<PathElement>, String> {
    let (kind, content) = name.split_once(':').ok_or_else(|| format!("missing colon: {name}"))?;
    let broken = |error: &dyn std::fmt::Display| format!("{name}: {error}");
    let json = || serde_json::from_str::<Value>(content).map_err(|error| broken(&error));
    Ok(match kind {
        "f" => Some(PathElement::field(content)),
        "v" => Some(PathElement::Value(ItemValue(json()?))),
        "i" => Some(PathElement::Index(content.parse().map_err(|error| broken(&error))?)),
        "k" => {
            let Value::Object(keys) = json()? else {
                return Err(broken(&"keys are an object"));
            };
            let mut keys: Vec<_> = keys.into_iter().map(|(name, value)| (name, ItemValue(value))).collect();
            keys.sort();
            Some(PathElement::Key(keys))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::{super::set::tests::sets, *};

    proptest! {
        #[test]
        fn what_is_written_is_read(set in sets()) {
            prop_assert_eq!(read(&write(&set)), Ok(set));
        }
    }

    #[test]
    fn sets_are_written_as_the_real_server_writes_them() {
        let tree = json!({
            "f:spec": {
                ".": {},
                "f:a.b/c:d": {},
                "f:ports": { "k:{\"name\":\"http\",\"proto\":\"TCP\"}": { ".": {}, "f:name": {} } },
                "f:tags": { "v:\"x\"": {}, "v:1": {}, "i:0": {} },
            },
        });
        assert_eq!(write(&read(&tree).unwrap()), tree);
    }

    #[test]
    fn broken_trees_are_errors_and_unknown_steps_are_skipped() {
        assert_eq!(read(&json!({ "f:a": {}, "x:b": {} })), read(&json!({ "f:a": {} })));
        for broken in [json!({ "a": {} }), json!({ "k:1": {} }), json!({ "i:x": {} }), json!({ "v:": {} }), json!(1)] {
            assert!(read(&broken).is_err(), "{broken}");
        }
    }
}
