//! The kinds and fragments of `fragments.yaml`, from which operations are generated.

use serde::Deserialize;
use serde_json::Value;

/// The contents of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fragments {
    /// Fragments for every kind.
    pub(crate) metadata: Vec<Value>,
    pub(crate) kinds: Vec<Kind>,
}

/// A kind with the fragments of its objects.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kind {
    /// The path of the collection, with `$ns` for the namespace.
    pub(crate) path: String,
    /// The API version and the kind.
    pub(crate) type_meta: Value,
    /// The required fields of an object.
    pub(crate) base: Value,
    #[serde(default)]
    pub(crate) subresources: Vec<String>,
    pub(crate) fragments: Vec<Value>,
    /// Fragments with directives of strategic merge patches.
    #[serde(default)]
    pub(crate) directives: Vec<Value>,
    /// Fragments that are written at `/status`.
    #[serde(default)]
    pub(crate) status: Vec<Value>,
}

impl Fragments {
    /// Reads the file.
    pub(crate) fn read() -> Self {
        serde_saphyr::from_str(include_str!("fragments.yaml")).unwrap()
    }
}

/// Merges a fragment into a body: objects are merged, other values are replaced.
pub(crate) fn merge(body: &mut Value, fragment: &Value) {
    let (Value::Object(fields), Value::Object(fragments)) = (&mut *body, fragment) else {
        *body = fragment.clone();
        return;
    };
    for (name, fragment) in fragments {
        merge(fields.entry(name).or_insert(Value::Null), fragment);
    }
}
