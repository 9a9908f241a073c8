//! What is wrong with a word: names of ports, keys of configuration, variables.

const PORTS: std::ops::RangeInclusive<i64> = 1..=65535;
pub(super) const PORT_RANGE: &str = "must be between 1 and 65535, inclusive";

/// The error for a number that exceeds the total.
pub(super) const ABOVE_ALL: &str = "must not be greater than 100%";

/// Whether a number is that of a port.
pub(super) fn is_port(number: i64) -> bool {
    PORTS.contains(&number)
}

/// What is wrong with the name of a port, by RFC 6335.
pub(super) fn port_name(name: &str) -> Vec<String> {
    const LONGEST: usize = 15;
    let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let rules = [
        (name.len() > LONGEST, "must be no more than 15 characters"),
        (!is_plain, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"),
        (!name.contains(|c: char| c.is_ascii_lowercase()), "must contain at least one letter (a-z)"),
        (name.contains("--"), "must not contain consecutive hyphens"),
        (name.starts_with('-') || name.ends_with('-'), "must not begin or end with a hyphen"),
    ];
    broken(&rules)
}

/// What is wrong with a key of a `ConfigMap` or a `Secret`.
pub(super) fn config_key(key: &str) -> Vec<String> {
    const LONGEST: usize = 253;
    let is_plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let rules = [
        (key.len() > LONGEST, "must be no more than 253 characters"),
        (
            !is_plain,
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or \
             'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
        ),
        (key == ".", "must not be '.'"),
        (key == "..", "must not be '..'"),
        (key.len() > 2 && key.starts_with(".."), "must not start with '..'"),
    ];
    broken(&rules)
}

/// What is wrong with the name of a variable of an environment.
pub(super) fn variable(name: &str) -> Vec<String> {
    let fits = name.chars().all(|c| c != '=' && (' '..='~').contains(&c));
    broken(&[(
        !fits,
        "a valid environment variable name must consist only of printable ASCII characters other than '='",
    )])
}

/// What is wrong with a share of all: `50%`.
pub(super) fn percent(text: &str) -> Vec<String> {
    let digits = text.strip_suffix('%').unwrap_or_default();
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        let why = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for \
            validation is '[0-9]+%')";
        return vec![why.to_owned()];
    }
    broken(&[(digits.parse::<u64>().map_or(true, |share| share > 100), ABOVE_ALL)])
}

fn broken(rules: &[(bool, &str)]) -> Vec<String> {
    rules.iter().filter(|(is_broken, _)| *is_broken).map(|(_, why)| (*why).to_owned()).collect()
}
