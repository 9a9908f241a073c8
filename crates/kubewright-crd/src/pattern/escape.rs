//! Escape sequences of single characters.

use super::error::Error;

pub(super) const BAD_ESCAPE: &str = "invalid escape sequence";

/// Parses the escape sequence of a character. Returns its code point and the rest of the text.
pub(super) fn escape(text: &str) -> Result<(u32, &str), Error> {
    let mut chars = text[1..].chars();
    let Some(c) = chars.next() else {
        return Err(Error::new("trailing backslash at end of expression", ""));
    };
    let rest = chars.as_str();
    let is_octal = |text: &str| text.starts_with(|c: char| c.is_digit(8));
    let parsed = match c {
        '1'..='7' if !is_octal(rest) => None,
        '0'..='7' => Some(octal(c, rest)),
        'x' => return hexadecimal(text, rest),
        'a' => Some((7, rest)),
        'f' => Some((12, rest)),
        'n' => Some((10, rest)),
        'r' => Some((13, rest)),
        't' => Some((9, rest)),
        'v' => Some((11, rest)),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some((c.into(), rest)),
        _ => None,
    };
    parsed.ok_or_else(|| Error::new(BAD_ESCAPE, &text[..text.len() - rest.len()]))
}

/// Parses up to three octal digits.
fn octal(first: char, rest: &str) -> (u32, &str) {
    let more = rest.chars().take(2).take_while(|c| c.is_digit(8)).count();
    let (digits, rest) = rest.split_at(more);
    let value = |c: char| c.to_digit(8).unwrap_or_default();
    (digits.chars().fold(value(first), |code, c| code * 8 + value(c)), rest)
}

/// Parses `\x41` or `\x{1F600}`.
fn hexadecimal<'a>(text: &'a str, rest: &'a str) -> Result<(u32, &'a str), Error> {
    let mut chars = rest.chars();
    let bad = |chars: &std::str::Chars<'_>| Err(Error::new(BAD_ESCAPE, &text[..text.len() - chars.as_str().len()]));
    let first = chars.next();
    if first != Some('{') {
        let second = first.and_then(|_| chars.next());
        let digit = |c: Option<char>| c.and_then(|c| c.to_digit(16));
        return match (digit(first), digit(second)) {
            (Some(high), Some(low)) => Ok((high * 16 + low, chars.as_str())),
            _ => bad(&chars),
        };
    }
    let mut code: Option<u32> = None;
    while let Some(c) = chars.next() {
        match (c, c.to_digit(16), code) {
            ('}', _, Some(code)) => return Ok((code, chars.as_str())),
            (_, Some(digit), prefix) => match prefix.unwrap_or_default() * 16 + digit {
                next if next <= 0x10_FFFF => code = Some(next),
                _ => break,
            },
            _ => break,
        }
    }
    bad(&chars)
}
