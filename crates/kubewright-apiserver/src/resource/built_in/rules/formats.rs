//! Formats of strings: port names, config keys, environment variables and percentages.

const PORTS: std::ops::RangeInclusive<i64> = 1..=65535;
pub(super) const PORT_RANGE: &str = "must be between 1 and 65535, inclusive";

/// The error for a percentage above 100.
pub(super) const ABOVE_100_PERCENT: &str = "must not be greater than 100%";

/// Returns whether a number is a valid port.
pub(super) fn is_port(number: i64) -> bool {
    PORTS.contains(&number)
}

/// Returns the errors of a port name (RFC 6335).
pub(super) fn port_name(name: &str) -> Vec<String> {
    const MAX_LENGTH: usize = 15;
    let has_valid_characters = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let rules = [
        (name.len() > MAX_LENGTH, "must be no more than 15 characters"),
        (!has_valid_characters, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"),
        (!name.contains(|c: char| c.is_ascii_lowercase()), "must contain at least one letter (a-z)"),
        (name.contains("--"), "must not contain consecutive hyphens"),
        (name.starts_with('-') || name.ends_with('-'), "must not begin or end with a hyphen"),
    ];
    errors_of(&rules)
}

/// Returns the errors of a key of a `ConfigMap` or a `Secret`.
pub(super) fn config_key(key: &str) -> Vec<String> {
    const MAX_LENGTH: usize = 253;
    let has_valid_characters = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let rules = [
        (key.len() > MAX_LENGTH, "must be no more than 253 characters"),
        (
            !has_valid_characters,
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or \
             'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
        ),
        (key == ".", "must not be '.'"),
        (key == "..", "must not be '..'"),
        (key.len() > 2 && key.starts_with(".."), "must not start with '..'"),
    ];
    errors_of(&rules)
}

/// Returns the errors of the name of an environment variable.
pub(super) fn env_var_name(name: &str) -> Vec<String> {
    let is_valid = name.chars().all(|c| c != '=' && (' '..='~').contains(&c));
    errors_of(&[(
        !is_valid,
        "a valid environment variable name must consist only of printable ASCII characters other than '='",
    )])
}

/// Returns the errors of a percentage: `50%`.
pub(super) fn percent(text: &str) -> Vec<String> {
    let digits = text.strip_suffix('%').unwrap_or_default();
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        let message = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for \
            validation is '[0-9]+%')";
        return vec![message.to_owned()];
    }
    errors_of(&[(digits.parse::<u64>().map_or(true, |percent| percent > 100), ABOVE_100_PERCENT)])
}

fn errors_of(rules: &[(bool, &str)]) -> Vec<String> {
    rules.iter().filter(|(is_violated, _)| *is_violated).map(|(_, message)| (*message).to_owned()).collect()
}
