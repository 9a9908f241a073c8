//! What operations are made of: the kinds and pieces of `menu.yaml`

use serde::Deserialize;
use serde_json::Value;

/// All of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Menu {
    /// Pieces for every kind.
    pub(crate) metadata: Vec<Value>,
    pub(crate) kinds: Vec<Kind>,
}

/// A kind, and what its objects may have.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kind {
    /// Of the collection, with `$ns` for the namespace.
    pub(crate) path: String,
    /// The version and the kind.
    pub(crate) head: Value,
    /// What no object can do without.
    pub(crate) base: Value,
    #[serde(default)]
    pub(crate) subresources: Vec<String>,
    pub(crate) pieces: Vec<Value>,
    /// Pieces that only a strategic merge patch understands.
    #[serde(default)]
    pub(crate) directives: Vec<Value>,
    /// Pieces of what is written at `/status`.
    #[serde(default)]
    pub(crate) status: Vec<Value>,
}

impl Menu {
    /// Reads the file.
    pub(crate) fn read() -> Self {
        serde_saphyr::from_str(include_str!("menu.yaml")).unwrap()
    }
}

/// Puts a piece into a body: objects are merged, all else is replaced.
pub(crate) fn put_in(body: &mut Value, piece: &Value) {
    let (Value::Object(fields), Value::Object(pieces)) = (&mut *body, piece) else {
        *body = piece.clone();
        return;
    };
    for (name, piece) in pieces {
        put_in(fields.entry(name).or_insert(Value::Null), piece);
    }
}
