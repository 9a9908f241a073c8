//! Conversions between the case conventions of Rust, JSON and Kubernetes.

/// Converts `time_interval` to `timeInterval`, by the rules of serde's `rename_all = "camelCase"`.
pub fn camel_case(snake: &str) -> String {
    let mut name = String::new();
    let mut after_underscore = false;
    for c in snake.chars() {
        match c {
            '_' => after_underscore = true,
            c if after_underscore && !name.is_empty() => name.push(c.to_ascii_uppercase()),
            c if name.is_empty() => name.push(c.to_ascii_lowercase()),
            c => name.push(c),
        }
        after_underscore &= c == '_';
    }
    name
}

/// Converts `example_v1` to `ExampleV1`.
pub fn pascal_case(snake: &str) -> String {
    snake.split('_').map(capitalize).collect()
}

fn capitalize(word: &str) -> String {
    let (head, tail) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
    head.to_uppercase() + tail
}

/// Converts `NetworkPolicy` to `network_policy`. An acronym is one word, as in `http_route` for `HTTPRoute`, also in
/// the plural, as in `cluster_ips` for `clusterIPs`.
pub fn snake_case(name: &str) -> String {
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

/// Whether the name is an identifier in snake case.
pub fn is_snake_case(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Whether the JSON name consists of several words in snake case, as that of a field without `rename_all` does.
pub fn has_snake_case_words(json_name: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    json_name.trim_start_matches('_').contains('_') && json_name.trim_matches('_').split('_').all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn camel_case_matches_serde() {
        for (field, expected) in [
            ("time_interval", "timeInterval"),
            ("_reserved", "reserved"),
            ("a__b", "aB"),
            ("x_1", "x1"),
            ("ends_", "ends"),
        ] {
            assert_eq!(camel_case(field), expected);
        }
    }

    #[test]
    fn acronyms_are_words_in_snake_case() {
        for (name, expected) in [
            ("Logger", "logger"),
            ("MyShape", "my_shape"),
            ("NetworkPolicy", "network_policy"),
            ("HTTPRoute", "http_route"),
            ("clusterIPs", "cluster_ips"),
            ("nonResourceURLs", "non_resource_urls"),
            ("hostIPC", "host_ipc"),
        ] {
            assert_eq!(snake_case(name), expected);
        }
    }

    #[test]
    fn words_are_capitalized_in_pascal_case() {
        assert_eq!(pascal_case("my_group_v1"), "MyGroupV1");
    }

    #[test]
    fn snake_case_is_detected() {
        assert!(is_snake_case("by_state") && !is_snake_case("byState") && !is_snake_case("2d"));
        assert!(has_snake_case_words("time_interval") && has_snake_case_words("x_1"));
        assert!(!["time", "timeInterval", "x-y", "_private", "TIME_INTERVAL"].into_iter().any(has_snake_case_words));
    }
}
