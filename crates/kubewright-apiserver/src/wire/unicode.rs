//! Invalid Unicode in JSON: replaced by U+FFFD, as Go's decoder does.

use std::{borrow::Cow, str};

/// U+FFFD in UTF-8.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();
/// U+FFFD in the hexadecimal digits of an escape sequence.
const ESCAPED_REPLACEMENT: &[u8; 4] = b"fffd";
/// The length of `\uXXXX`.
const ESCAPE_LENGTH: usize = 6;

/// Replaces each byte that is not part of valid UTF-8, and each escaped surrogate without its counterpart.
pub(crate) fn repair(text: &[u8]) -> Cow<'_, [u8]> {
    replace_lone_surrogates(replace_invalid_bytes(text))
}

fn replace_invalid_bytes(text: &[u8]) -> Cow<'_, [u8]> {
    let mut rest = text;
    let mut repaired = Vec::new();
    while let Err(error) = str::from_utf8(rest) {
        let (valid, invalid) = rest.split_at(error.valid_up_to());
        let count = error.error_len().unwrap_or(invalid.len());
        repaired.extend_from_slice(valid);
        (0..count).for_each(|_| repaired.extend_from_slice(REPLACEMENT));
        rest = &invalid[count..];
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    repaired.extend_from_slice(rest);
    Cow::Owned(repaired)
}

/// Replaces the digits of lone surrogates. Escape sequences occur in strings only, so others are not distinguished.
fn replace_lone_surrogates(mut text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let mut position = 0;
    while let Some(offset) = text[position..].iter().position(|byte| *byte == b'\\') {
        position += offset;
        let next = position + ESCAPE_LENGTH;
        position = match (escaped(&text, position), escaped(&text, next)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => next + ESCAPE_LENGTH,
            (Some(0xd800..=0xdfff), _) => {
                text.to_mut()[position + 2..next].copy_from_slice(ESCAPED_REPLACEMENT);
                next
            }
            (Some(_), _) => next,
            // The escape sequence of another character.
            (None, _) => (position + 2).min(text.len()),
        };
    }
    text
}

/// Returns the code unit of the escape sequence `\uXXXX` at a position, if there is one.
fn escaped(text: &[u8], position: usize) -> Option<u16> {
    let digits = text.get(position..position + ESCAPE_LENGTH)?.strip_prefix(b"\\u")?;
    let digits = digits.iter().all(u8::is_ascii_hexdigit).then(|| str::from_utf8(digits).ok())??;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_invalid_byte_is_replaced() {
        let cases: [(&[u8], &str); 6] = [
            (b"valid \xc3\xa9", "valid é"),
            (b"a\xffb", "a\u{fffd}b"),
            (b"a\xe2\x82b", "a\u{fffd}\u{fffd}b"),
            (b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{fffd}"),
            (b"end\xf0\x9f\x98", "end\u{fffd}\u{fffd}\u{fffd}"),
            (b"\xf0\x9f\x98\x80", "\u{1f600}"),
        ];
        for (text, expected) in cases {
            assert_eq!(str::from_utf8(&repair(text)), Ok(expected), "{text:?}");
        }
        assert!(matches!(repair(b"{}"), Cow::Borrowed(_)));
    }

    #[test]
    fn lone_surrogates_are_replaced() {
        let cases = [
            (r#""\ud83d\ude00""#, "\u{1f600}"),
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\n\ude00""#, "\u{fffd}\n\u{fffd}"),
            (r#""\\ud83d""#, "\\ud83d"),
            (r#""\u00e9\\""#, "é\\"),
        ];
        for (text, expected) in cases {
            let decoded: String = serde_json::from_slice(&repair(text.as_bytes())).unwrap();
            assert_eq!(decoded, expected, "{text}");
        }
        for unfinished in [r#""\ud8"#, "\\", r"\u", r#""\udzzz""#] {
            assert_eq!(&*repair(unfinished.as_bytes()), unfinished.as_bytes());
        }
    }
}
