//! Reserved words of CEL, and the escaping of property names in CEL expressions.

/// The reserved words of the CEL language definition.
pub const RESERVED_WORDS: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Escapes the name of a property for an expression: `a-b` is `a__dash__b`, `namespace` is `__namespace__`. `None` for
/// a name without an escape, because it is empty, begins with a digit or contains an unsupported character.
pub fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if RESERVED_WORDS.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let mut escaped = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let (part, length) = match c {
            '_' if rest.starts_with("__") => ("__underscores__", 2),
            '.' => ("__dot__", 1),
            '-' => ("__dash__", 1),
            '/' => ("__slash__", 1),
            _ if c.is_ascii_alphanumeric() || c == '_' => (&rest[..1], 1),
            _ => return None,
        };
        escaped.push_str(part);
        rest = &rest[length..];
    }
    Some(escaped)
}

/// Returns the property name of an identifier in an expression; `None` if it contains an unknown escape.
pub fn unescape(escaped: &str) -> Option<String> {
    let mut name = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(start) = rest.find("__") {
        let inner = &rest[start + 2..];
        let length = inner.find('_').unwrap_or(inner.len());
        if length == 0 || !inner[length..].starts_with("__") {
            // Underscores without an escape: the first is a regular character.
            name.push_str(&rest[..=start]);
            rest = &rest[start + 1..];
            continue;
        }
        name.push_str(&rest[..start]);
        match &inner[..length] {
            "underscores" => name.push_str("__"),
            "dot" => name.push('.'),
            "dash" => name.push('-'),
            "slash" => name.push('/'),
            word if RESERVED_WORDS.contains(&word) && escaped.len() == length + 4 => name.push_str(word),
            _ => return None,
        }
        rest = &inner[length + 2..];
    }
    name.push_str(rest);
    Some(name)
}

/// Whether the word is reserved, and cannot be the name of a variable.
pub fn is_reserved(word: &str) -> bool {
    RESERVED_WORDS.contains(&word)
}

/// Whether the name can be that of a variable: an identifier that is not reserved.
pub fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !is_reserved(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_round_trip() {
        for (name, escaped) in [
            ("spec", "spec"),
            ("namespace", "__namespace__"),
            ("namespaces", "namespaces"),
            ("a-b.c/d", "a__dash__b__dot__c__slash__d"),
            ("a__b", "a__underscores__b"),
            ("_x", "_x"),
        ] {
            assert_eq!(escape(name).as_deref(), Some(escaped));
            assert_eq!(unescape(escaped).as_deref(), Some(name));
        }
    }

    #[test]
    fn variables_have_identifiers_that_are_not_reserved() {
        for (name, valid) in [("limit", true), ("_x1", true), ("", false), ("1x", false), ("a-b", false), ("in", false)]
        {
            assert_eq!(is_identifier(name), valid, "{name}");
        }
    }

    #[test]
    fn unsupported_names_have_no_escape() {
        for name in ["", "1a", "a b", "ä", "$ref"] {
            assert_eq!(escape(name), None, "{name}");
        }
        assert_eq!(unescape("__nonsense__"), None);
    }
}
