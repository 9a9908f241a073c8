//! The limits of JSON values that other parsers accept.

use memchr::memchr;

use crate::record::Parts;

/// The maximum depth of a value: common parsers accept 128 or more, and a record adds one.
pub const MAX_DEPTH: usize = 100;

/// Returns whether other parsers accept a value with a valid syntax: it is not deeper than [`MAX_DEPTH`], and its
/// escapes are Unicode.
#[must_use]
pub fn is_portable(json: &str) -> bool {
    let mut depth = 0_usize;
    Parts(json).all(|(structure, string)| {
        let is_flat = structure.bytes().all(|byte| {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth <= MAX_DEPTH
        });
        is_flat && has_unicode_escapes(string.as_bytes())
    })
}

/// Returns whether a string has no surrogate without its pair.
fn has_unicode_escapes(mut string: &[u8]) -> bool {
    while let Some(at) = memchr(b'\\', string) {
        let rest = match string.get(at + 1..) {
            Some([b'u', digits @ ..]) => after_escape(digits),
            Some([_, rest @ ..]) => Some(rest),
            _ => None,
        };
        let Some(rest) = rest else { return false };
        string = rest;
    }
    true
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
