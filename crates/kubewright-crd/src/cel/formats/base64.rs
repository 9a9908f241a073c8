//! Base64 with the standard alphabet and padding, as Go's `base64.StdEncoding` encodes and decodes it.

/// Decodes a text; line breaks are ignored. Returns `None` for invalid base64.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let symbols: Vec<u8> = text.bytes().filter(|c| !matches!(c, b'\r' | b'\n')).collect();
    if !symbols.len().is_multiple_of(4) {
        return None;
    }
    let padding = symbols.iter().rev().take_while(|c| **c == b'=').count();
    let digits = symbols[..symbols.len() - padding].iter().map(|c| digit(*c)).collect::<Option<Vec<u32>>>()?;
    if padding > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for chunk in digits.chunks(4) {
        let bits = chunk.iter().enumerate().fold(0, |bits, (at, digit)| bits | digit << (18 - 6 * at));
        let [_, first, second, third] = bits.to_be_bytes();
        bytes.extend_from_slice(&[first, second, third][..chunk.len() - 1]);
    }
    Some(bytes)
}

/// Encodes bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().enumerate().fold(0, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            let index = (bits >> (18 - 6 * at)) as usize & 63;
            text.push(if at <= chunk.len() { char::from(ALPHABET[index]) } else { '=' });
        }
    }
    text
}

fn digit(symbol: u8) -> Option<u32> {
    Some(u32::from(match symbol {
        b'A'..=b'Z' => symbol - b'A',
        b'a'..=b'z' => symbol - b'a' + 26,
        b'0'..=b'9' => symbol - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_encoded_with_padding() {
        for (text, encoded) in [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj"), ("a\u{ff}", "YcO/")] {
            assert_eq!(encode(text.as_bytes()), encoded);
        }
    }

    #[test]
    fn padded_text_is_decoded() {
        for (text, bytes) in [
            ("", Some("")),
            ("YQ==", Some("a")),
            ("YWI=", Some("ab")),
            ("YWJj", Some("abc")),
            ("YQ", None),
            ("Y===", None),
            ("====", None),
            ("Y!==", None),
        ] {
            assert_eq!(decode(text).as_deref(), bytes.map(str::as_bytes), "{text}");
        }
    }
}
