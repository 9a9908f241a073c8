//! The attribute grammar: every key with its section, syntax, Go tags and description, for error messages and the
//! attribute reference.

pub(crate) mod convert;
pub(crate) mod fields;
pub(crate) mod genclient;
pub(crate) mod k8s;
pub(crate) mod macros;
pub(crate) mod policy;
mod schema;
pub(crate) mod serde;
#[cfg(test)]
mod tests;
pub(crate) mod verbs;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

pub(crate) use k8s::{COLUMN, COLUMN_TYPES};
pub(crate) use schema::{SCHEMA_EACH, SCHEMA_FIELD, SCHEMA_TYPE};

/// A place where keys are accepted.
pub(crate) struct Section {
    /// The attribute or macro; for a nested list its key.
    pub(crate) name: &'static str,
    /// Whether the keys are in the nested list of another key.
    pub(crate) nested: bool,
    /// The syntax of the attribute and the item it applies to.
    pub(crate) title: &'static str,
    /// The derives and macros whose documentation has the section.
    pub(crate) accepted_by: &'static [&'static str],
    /// The keys that are accepted there.
    pub(crate) keys: &'static [AttributeKey],
}

/// A key of an attribute or macro.
#[derive(Clone, Copy)]
pub(crate) struct AttributeKey {
    pub(crate) key: &'static str,
    /// The key with its value.
    pub(crate) syntax: &'static str,
    /// The accepted values, if they are a fixed set.
    pub(crate) values: fn() -> Vec<&'static str>,
    /// The equivalent tags and markers of the Go tools.
    pub(crate) go_tags: &'static [&'static str],
    pub(crate) description: &'static str,
    /// Its default, and the keys it requires and excludes; empty if there are none.
    pub(crate) constraints: &'static str,
    /// A complete attribute or macro call that uses the key.
    pub(crate) example: &'static str,
    /// Whether the list in parentheses must have the key.
    pub(crate) required: bool,
    /// Whether the attribute can have the key several times.
    pub(crate) repeated: bool,
}

/// The default of the optional columns of the table.
const EMPTY: AttributeKey = AttributeKey {
    key: "",
    syntax: "",
    values: Vec::new,
    go_tags: &[],
    description: "",
    constraints: "",
    example: "",
    required: false,
    repeated: false,
};

/// The key `crate = path`, which is the same everywhere except for its example.
const fn crate_key(example: &'static str) -> AttributeKey {
    AttributeKey {
        key: "crate",
        syntax: "crate = path",
        description: "The path of `kubewright::core`, if the manifest of this crate does not depend on `kubewright`.",
        example,
        ..EMPTY
    }
}

/// All sections, in the order of the attribute reference.
pub(crate) const SECTIONS: [&Section; 42] = [
    &macros::DERIVES,
    &macros::ATTRIBUTES,
    &macros::MACROS,
    &genclient::GENCLIENT,
    &genclient::METHOD,
    &genclient::INDEX,
    &k8s::K8S,
    &k8s::SUBRESOURCE,
    &k8s::SCALE,
    &k8s::METADATA,
    &k8s::CONVERSION,
    &k8s::ALLOW,
    &k8s::LIFECYCLE,
    &COLUMN,
    &k8s::LIST,
    &policy::POLICY,
    &policy::PARAMS,
    &schema::SCHEMA_TYPE,
    &schema::SCHEMA_FIELD,
    &schema::SCHEMA_EACH,
    &schema::KEYS,
    &schema::RULE,
    &schema::FIELD_COLUMN,
    &schema::EXTERNAL,
    &fields::SERDE_ROOT,
    &fields::SERDE_FIELD,
    &macros::DEFAULTS,
    &fields::DEFAULT,
    &fields::DEEP_COPY,
    &fields::DEEP_COPY_FIELD,
    &fields::APPLY,
    &fields::APPLY_FIELD,
    &fields::SERDE_APPLIED,
    &fields::SERDE_APPLIED_FIELD,
    &convert::CONVERT,
    &convert::CONVERT_FIELD,
    &convert::CONVERT_VARIANT,
    &convert::SERDE_CONVERTED,
    &convert::SERDE_CONVERTED_FIELD,
    &macros::GROUP_VERSION,
    &macros::ADOPT,
    &macros::ADOPTED,
];

/// Returns the keys that the parser of a section accepts. Checks report those of other sections of its attribute, with
/// their place.
pub(crate) fn parsed_keys(section: &Section) -> impl Iterator<Item = &AttributeKey> {
    let others: &[&'static Section] = match section.name {
        "schema" | "each" => &[&SCHEMA_TYPE, &SCHEMA_FIELD],
        "custom_resources" => &[&genclient::GENCLIENT],
        _ => &[],
    };
    let keys = section.keys.iter();
    let is_other = |key: &&AttributeKey| section.keys.iter().all(|known| known.key != key.key);
    keys.chain(others.iter().flat_map(|other| other.keys).filter(is_other))
}

/// Returns the section of the keys in the parentheses after a key.
pub(crate) fn nested(key: &AttributeKey) -> Option<&'static Section> {
    // The methods of columns are not in parentheses.
    let is_nested = |section: &&Section| section.nested && section.name == key.key && section.name != COLUMN.name;
    SECTIONS.into_iter().find(is_nested)
}

/// Returns the message for a missing key, with its syntax. `within` is the key whose nested list it belongs to.
pub(crate) fn missing(within: Option<&str>, key: &str) -> String {
    format!("missing `{}`", syntax(within, key).unwrap_or(key))
}

/// Returns the message for a key with a wrong value, likewise.
pub(crate) fn expected(within: Option<&str>, key: &str) -> String {
    match syntax(within, key) {
        Some(syntax) if syntax == key => format!("expected `{syntax}`: the key takes no value"),
        Some(syntax) => format!("expected `{syntax}`"),
        None => "expected a key, not a literal".to_owned(),
    }
}

fn syntax(within: Option<&str>, key: &str) -> Option<&'static str> {
    let accepts = |section: &&&Section| within.map_or(!section.nested, |name| section.nested && section.name == name);
    let of_key = |section: &&'static Section| section.keys.iter().find(|known| known.key == key);
    SECTIONS.iter().filter(accepts).find_map(of_key).map(|known| known.syntax)
}

/// Expands to the complete table, as data of `kubewright_core::grammar`.
pub(crate) fn expand() -> TokenStream {
    let sections = SECTIONS;
    quote!(&[#(#sections),*])
}

impl ToTokens for Section {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Section { name, nested: _, title, accepted_by, keys } = self;
        tokens.extend(quote! {
            ::kubewright_core::grammar::Section {
                name: #name,
                title: #title,
                accepted_by: &[#(#accepted_by),*],
                keys: &[#(#keys),*],
            }
        });
    }
}

impl ToTokens for AttributeKey {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let AttributeKey { key, syntax, values, go_tags, description, constraints, example, .. } = self;
        let values = values();
        tokens.extend(quote! {
            ::kubewright_core::grammar::AttributeKey {
                key: #key,
                syntax: #syntax,
                values: &[#(#values),*],
                go_tags: &[#(#go_tags),*],
                description: #description,
                constraints: #constraints,
                example: #example,
            }
        });
    }
}
