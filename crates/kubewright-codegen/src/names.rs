//! Names of generated modules, types and methods, derived from groups and kinds.

pub(crate) use kubewright_names::case::{camel_case, has_snake_case_words, pascal_case, snake_case};
use proc_macro2::Ident;
use quote::format_ident;

/// Returns the name as an identifier. A keyword becomes a raw identifier, and a leading digit is preceded by `_`.
pub(crate) fn ident(name: &str) -> Ident {
    match syn::parse_str::<Ident>(name) {
        Ok(ident) => ident,
        Err(_) if name.starts_with(|c: char| c.is_ascii_digit()) => format_ident!("_{name}"),
        // These keywords cannot be raw identifiers.
        Err(_) if ["_", "Self", "crate", "self", "super"].contains(&name) => format_ident!("{name}_"),
        Err(_) => format_ident!("r#{name}"),
    }
}

/// Returns the key of `#[schema(..)]` or `#[serde(..)]` that sets a keyword.
pub(crate) fn schema_key(keyword: &str) -> &str {
    match keyword {
        "minimum" => "min",
        "maximum" => "max",
        "minLength" | "maxLength" => "length",
        "minItems" | "maxItems" => "items",
        "minProperties" | "maxProperties" => "properties",
        "multipleOf" => "multiple_of",
        "exclusiveMinimum" => "exclusive_min",
        "exclusiveMaximum" => "exclusive_max",
        "enum" => "values",
        "x-kubernetes-list-type" => "list_type",
        "x-kubernetes-list-map-keys" => "list_map_keys",
        "x-kubernetes-map-type" => "map_type",
        "x-kubernetes-embedded-resource" => "embedded_resource",
        "x-kubernetes-preserve-unknown-fields" => "preserve_unknown_fields",
        keyword => keyword,
    }
}

/// Returns the first label of a group in snake case: `example` for `example.com`, `core` for the core group.
pub(crate) fn short_group(group: &str) -> String {
    snake_group(group.split('.').next().unwrap_or_default())
}

/// Returns a dotted group in snake case: `example_com` for `example.com`.
pub(crate) fn snake_group(group: &str) -> String {
    match group.chars().next() {
        None => "core".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("group_{}", group.replace(['.', '-'], "_")),
        Some(_) => group.replace(['.', '-'], "_"),
    }
}

/// Returns a version as part of an identifier: `v1_alpha` for `v1-alpha`.
pub(crate) fn snake_version(version: &str) -> String {
    version.replace('-', "_")
}

/// Returns the plural of a kind in snake case: `network_policies` for `NetworkPolicy` and its resource
/// `networkpolicies`.
pub(crate) fn snake_plural(kind: &str, plural: &str) -> String {
    let singular = kind.to_lowercase();
    let common = singular.chars().zip(plural.chars()).take_while(|(a, b)| a == b).count();
    // The plural is an unrelated word, so its word boundaries are unknown.
    if common + 2 < singular.chars().count() {
        return plural.replace('-', "_");
    }
    let mut letters = 0;
    let stem: String = snake_case(kind)
        .chars()
        .take_while(|c| {
            letters += usize::from(*c != '_');
            letters <= common
        })
        .collect();
    let ending: String = plural.chars().skip(common).collect();
    format!("{}{}", stem, ending.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_keep_the_word_boundaries_of_the_kind() {
        for (kind, plural, expected) in [
            ("Logger", "loggers", "loggers"),
            ("NetworkPolicy", "networkpolicies", "network_policies"),
            ("HTTPIngress", "httpingresses", "http_ingresses"),
            ("WildLife", "wildlives", "wild_lives"),
            ("Person", "people", "people"),
        ] {
            assert_eq!(snake_plural(kind, plural), expected);
        }
    }

    #[test]
    fn keywords_become_raw_identifiers() {
        assert_eq!(ident("type").to_string(), "r#type");
        assert_eq!(ident("self").to_string(), "self_");
        assert_eq!(ident("loggers").to_string(), "loggers");
    }

    #[test]
    fn groups_become_module_names() {
        assert_eq!(short_group("example.com"), "example");
        assert_eq!(snake_group("my-group.example.com"), "my_group_example_com");
        assert_eq!(pascal_case("my_group_v1"), "MyGroupV1");
        assert_eq!(short_group("3scale.example.com"), "group_3scale");
    }
}
