//! Base64 with the standard alphabet and padding, as Go's `base64.StdEncoding` decodes it.

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
