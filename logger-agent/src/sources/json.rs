//! The limits of JSON values that other parsers accept.

/// The maximum depth of a value: common parsers accept 128 or more, and a record adds one.
pub const MAX_DEPTH: usize = 100;

/// Returns whether other parsers accept a value with a valid syntax: it is not deeper than [`MAX_DEPTH`], and its escapes
/// are Unicode.
#[must_use]
pub fn is_portable(json: &str) -> bool {
    let (mut bytes, mut depth) = (json.as_bytes(), 0_usize);
    while let Some((first, rest)) = bytes.split_first() {
        bytes = match first {
            b'"' => match after_string(rest) {
                Some(rest) => rest,
                None => return false,
            },
            _ => rest,
        };
        match first {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return false;
        }
    }
    true
}

/// Returns what follows a string without its first quote; `None` if it has a surrogate without its pair.
fn after_string(mut bytes: &[u8]) -> Option<&[u8]> {
    loop {
        let end = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        let (special, rest) = bytes.get(end..)?.split_first()?;
        bytes = match (special, rest) {
            (b'"', rest) => return Some(rest),
            (_, [b'u', digits @ ..]) => after_escape(digits)?,
            (_, [_, rest @ ..]) => rest,
            (_, []) => return None,
        };
    }
}

/// Returns what follows the digits of an escape, and the second escape of a pair.
fn after_escape(digits: &[u8]) -> Option<&[u8]> {
    match code(digits)? {
        (0xd800..=0xdbff, [b'\\', b'u', second @ ..]) => match code(second)? {
            (0xdc00..=0xdfff, rest) => Some(rest),
            _ => None,
        },
        (0xd800..=0xdfff, _) => None,
        (_, rest) => Some(rest),
    }
}

fn code(digits: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = digits.split_at_checked(4)?;
    Some((u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_values_are_not_portable() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(is_portable(&nested(MAX_DEPTH)) && !is_portable(&nested(MAX_DEPTH + 1)));
        let strings = format!("{{\"a\\\"\":\"{}\",\"b\\\\\":[]}}", nested(MAX_DEPTH));
        assert!(is_portable(&strings), "brackets in a string");
        assert!(is_portable(&"[],".repeat(1000)), "values beside each other");
    }

    #[test]
    fn surrogates_without_a_pair_are_not_portable() {
        for portable in [r#""\ud83d\ude00 \u003c\n""#, r#""\\ud83d""#, r#""\\""#] {
            assert!(is_portable(portable), "{portable}");
        }
        for other in [r#""\ud83d""#, r#""\ude00""#, r#""\ud83d\u0041""#, r#""\ud83dx""#, r#"{"\ud83d\n":1}"#] {
            assert!(!is_portable(other), "{other}");
        }
    }
}
