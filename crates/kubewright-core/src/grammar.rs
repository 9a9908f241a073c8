//! The attribute reference as plain data: every key that the derives and macros accept.

/// A place where keys are accepted.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// The attribute or macro, such as `genclient`; for a nested list its key, such as `method`.
    pub name: &'static str,
    /// The syntax of the attribute and the item it applies to, such as `#[genclient(..)] on a kind`.
    pub title: &'static str,
    /// The derives and macros whose documentation has the section, such as `Object`.
    pub accepted_by: &'static [&'static str],
    /// The keys that are accepted there.
    pub keys: &'static [AttributeKey],
}

/// A key of an attribute or macro.
#[derive(Clone, Copy, Debug)]
pub struct AttributeKey {
    /// The key, such as `only_verbs`.
    pub key: &'static str,
    /// The key with its value, such as `only_verbs = [get, list]`.
    pub syntax: &'static str,
    /// The accepted values, if they are a fixed set.
    pub values: &'static [&'static str],
    /// The equivalent tags and markers of the Go tools, such as `+genclient:onlyVerbs=`.
    pub go_tags: &'static [&'static str],
    /// The effect of the key, in a sentence or two.
    pub description: &'static str,
    /// Its default, and the keys it requires and excludes; empty if there are none.
    pub constraints: &'static str,
    /// A complete attribute or macro call that uses the key.
    pub example: &'static str,
}
