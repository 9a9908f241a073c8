//! Names of modules, types and methods, made from groups and kinds.

use proc_macro2::Ident;
use quote::format_ident;

/// An identifier; a keyword becomes a raw one.
pub(crate) fn ident(name: &str) -> Ident {
    match syn::parse_str::<Ident>(name) {
        Ok(ident) => ident,
        Err(_) if name.starts_with(|c: char| c.is_ascii_digit()) => format_ident!("_{name}"),
        Err(_) => format_ident!("r#{name}"),
    }
}

/// The first part of a group as words: `example` of `example.com`, `core` of the empty group.
pub(crate) fn short_group(group: &str) -> String {
    snake_of_dotted(group.split('.').next().unwrap_or_default())
}

/// A whole group as words: `example_com`.
pub(crate) fn snake_of_dotted(group: &str) -> String {
    match group.chars().next() {
        None => "core".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("group_{}", group.replace(['.', '-'], "_")),
        Some(_) => group.replace(['.', '-'], "_"),
    }
}

/// `ExampleV1` of `example_v1`.
pub(crate) fn pascal(snake: &str) -> String {
    snake.split('_').map(capitalized).collect()
}

fn capitalized(word: &str) -> String {
    let (head, tail) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
    head.to_uppercase() + tail
}

/// `network_policy` of `NetworkPolicy`; a run of capitals is one word, `http_route` of `HTTPRoute`, and so is one in the
/// plural, `cluster_ips` of `clusterIPs`.
pub(crate) fn snake(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let is_upper = |i: usize| chars.get(i).is_some_and(|c| c.is_uppercase());
    let is_lower = |i: usize| chars.get(i).is_some_and(|c| c.is_lowercase());
    let ends_plural = |i: usize| chars.get(i) == Some(&'s') && !is_lower(i + 1);
    let mut words = String::new();
    for (i, &c) in chars.iter().enumerate() {
        let after_other = i > 0 && !is_upper(i - 1);
        let begins_word = i > 0 && is_lower(i + 1) && !ends_plural(i + 1);
        if is_upper(i) && (after_other || begins_word) {
            words.push('_');
        }
        words.extend(c.to_lowercase());
    }
    words
}

/// `networkPolicy` of `network_policy`, as serde's `rename_all = "camelCase"` makes it.
pub(crate) fn camel_case(snake: &str) -> String {
    let mut words = snake.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &capitalized(word))
}

/// The plural of a kind in words: `network_policies` of `NetworkPolicy` and its resource `networkpolicies`.
pub(crate) fn snake_plural(kind: &str, plural: &str) -> String {
    let singular = kind.to_lowercase();
    let common = singular.chars().zip(plural.chars()).take_while(|(a, b)| a == b).count();
    // Another word altogether: nothing tells where its words end.
    if common + 1 < singular.chars().count() {
        return plural.replace('-', "_");
    }
    let mut letters = 0;
    let stem: String = snake(kind)
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
    fn kinds_become_words() {
        for (kind, expected) in [
            ("Logger", "logger"),
            ("NetworkPolicy", "network_policy"),
            ("HTTPRoute", "http_route"),
            ("clusterIPs", "cluster_ips"),
            ("nonResourceURLs", "non_resource_urls"),
            ("hostIPC", "host_ipc"),
        ] {
            assert_eq!(snake(kind), expected);
        }
    }

    #[test]
    fn plurals_keep_the_words_of_the_kind() {
        for (kind, plural, expected) in [
            ("Logger", "loggers", "loggers"),
            ("NetworkPolicy", "networkpolicies", "network_policies"),
            ("HTTPIngress", "httpingresses", "http_ingresses"),
            ("Person", "people", "people"),
        ] {
            assert_eq!(snake_plural(kind, plural), expected);
        }
    }

    #[test]
    fn keywords_become_raw_identifiers() {
        assert_eq!(ident("type").to_string(), "r#type");
        assert_eq!(ident("loggers").to_string(), "loggers");
    }

    #[test]
    fn groups_become_modules() {
        assert_eq!(short_group("example.com"), "example");
        assert_eq!(snake_of_dotted("my-group.example.com"), "my_group_example_com");
        assert_eq!(pascal("my_group_v1"), "MyGroupV1");
        assert_eq!(short_group("3scale.example.com"), "group_3scale");
    }
}
