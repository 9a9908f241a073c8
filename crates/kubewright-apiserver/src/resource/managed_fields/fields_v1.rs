//! `FieldsV1`, the JSON encoding of field sets: a tree of `f:<name>`, `k:<keys>`, `v:<value>` and `i:<index>`.

use serde_json::{Map, Value};

use super::{
    path::{ItemValue, PathElement},
    set::FieldSet,
};

/// The key that marks a field with children as a member.
const SELF: &str = ".";

/// Encodes a set.
pub(crate) fn encode(set: &FieldSet) -> Value {
    let mut tree: Map<String, Value> =
        set.members().map(|element| (name(element), Value::Object(Map::new()))).collect();
    for (element, child) in set.children() {
        let mut branch = encode(child);
        if let (true, Value::Object(fields)) = (set.has_member(element), &mut branch) {
            fields.insert(SELF.to_owned(), Value::Object(Map::new()));
        }
        tree.insert(name(element), branch);
    }
    Value::Object(tree)
}

/// Decodes a set. Unknown types of path elements are skipped: a newer server can have written them.
pub(crate) fn decode(tree: &Value) -> Result<FieldSet, String> {
    let fields = match tree {
        Value::Object(fields) => fields,
        Value::Null => return Ok(FieldSet::default()),
        other => return Err(format!("expected an object, got {other}")),
    };
    let mut set = FieldSet::default();
    for (name, branch) in fields.iter().filter(|(name, _)| *name != SELF) {
        if let Some(element) = element(name)? {
            let children = decode(branch)?;
            let is_member = children.is_empty() || branch.get(SELF).is_some();
            set.insert_branch(element, is_member, children);
        }
    }
    Ok(set)
}

fn name(element: &PathElement) -> String {
    match element {
        PathElement::Field(name) => ["f:", name.as_str()].concat(),
        PathElement::Key(keys) => {
            let keys: Vec<String> =
                keys.iter().map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), value.0)).collect();
            format!("k:{{{}}}", keys.join(","))
        }
        PathElement::Value(value) => format!("v:{}", value.0),
        PathElement::Index(index) => format!("i:{index}"),
    }
}

/// Decodes a path element. Returns `None` for an unknown type.
fn element(name: &str) -> Result<Option<PathElement>, String> {
    let (kind, content) = name.split_once(':').ok_or_else(|| format!("missing colon: {name}"))?;
    let invalid = |error: &dyn std::fmt::Display| format!("{name}: {error}");
    let json = || serde_json::from_str::<Value>(content).map_err(|error| invalid(&error));
    Ok(match kind {
        "f" => Some(PathElement::field(content)),
        "v" => Some(PathElement::Value(ItemValue(json()?))),
        "i" => Some(PathElement::Index(content.parse().map_err(|error| invalid(&error))?)),
        "k" => {
            let Value::Object(keys) = json()? else {
                return Err(invalid(&"expected an object of keys"));
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
        fn encoded_sets_are_decoded(set in sets()) {
            prop_assert_eq!(decode(&encode(&set)), Ok(set));
        }
    }

    #[test]
    fn sets_have_the_encoding_of_the_real_server() {
        let tree = json!({
            "f:spec": {
                ".": {},
                "f:a.b/c:d": {},
                "f:ports": { "k:{\"name\":\"http\",\"proto\":\"TCP\"}": { ".": {}, "f:name": {} } },
                "f:tags": { "v:\"x\"": {}, "v:1": {}, "i:0": {} },
            },
        });
        assert_eq!(encode(&decode(&tree).unwrap()), tree);
    }

    #[test]
    fn invalid_trees_are_errors_and_unknown_elements_are_skipped() {
        assert_eq!(decode(&json!({ "f:a": {}, "x:b": {} })), decode(&json!({ "f:a": {} })));
        for broken in [json!({ "a": {} }), json!({ "k:1": {} }), json!({ "i:x": {} }), json!({ "v:": {} }), json!(1)] {
            assert!(decode(&broken).is_err(), "{broken}");
        }
    }
}
