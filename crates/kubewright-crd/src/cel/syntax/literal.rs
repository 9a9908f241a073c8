//! Parses the tokens of literals.

use super::{
    ast::Literal,
    lexer::{Token, TokenKind},
};

/// Parses a number, whose sign is a separate token.
pub(crate) fn number(sign: &str, token: &Token) -> Result<Literal, &'static str> {
    let text = token.text.trim_end_matches(['u', 'U']);
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) if token.kind != TokenKind::Float => (digits, 16),
        _ => (text, 10),
    };
    match token.kind {
        TokenKind::Uint => u64::from_str_radix(digits, radix).map(Literal::Uint).map_err(|_| "invalid uint literal"),
        TokenKind::Int => {
            i64::from_str_radix(&format!("{sign}{digits}"), radix).map(Literal::Int).map_err(|_| "invalid int literal")
        }
        _ => match format!("{sign}{text}").parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Literal::Double(value)),
            _ => Err("invalid double literal"),
        },
    }
}

/// Parses a string or bytes literal.
pub(crate) fn string(token: &Token) -> Result<Literal, &'static str> {
    let is_bytes = token.kind == TokenKind::Bytes;
    let quoted = if is_bytes { &token.text[1..] } else { token.text.as_str() };
    let (is_raw, quoted) = match quoted.strip_prefix(['r', 'R']) {
        Some(rest) => (true, rest),
        None => (false, quoted),
    };
    let is_triple = quoted.len() >= 6 && (quoted.starts_with("\"\"\"") || quoted.starts_with("'''"));
    let width = if is_triple { 3 } else { 1 };
    let inner = quoted.get(width..quoted.len() - width).ok_or("unable to unescape string")?;
    let bytes = if is_raw { inner.as_bytes().to_vec() } else { unescape(inner, is_bytes)? };
    if is_bytes {
        return Ok(Literal::Bytes(bytes));
    }
    String::from_utf8(bytes).map(Literal::String).map_err(|_| "unable to unescape string")
}

fn unescape(text: &str, is_bytes: bool) -> Result<Vec<u8>, &'static str> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c != '\\' {
            bytes.extend_from_slice(&rest.as_bytes()[..c.len_utf8()]);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let escape = rest[1..].chars().next().ok_or("unable to unescape string, found '\\' as last character")?;
        let digits = match escape {
            'x' | 'X' => 2,
            'u' => 4,
            'U' => 8,
            '0'..='3' => 3,
            _ => 0,
        };
        if digits == 0 {
            bytes.push(unescape_char(escape)?);
            rest = &rest[2..];
            continue;
        }
        let octal = escape.is_ascii_digit();
        let start = if octal { 1 } else { 2 };
        let code = rest.get(start..start + digits).ok_or("unable to unescape string")?;
        let code = u32::from_str_radix(code, if octal { 8 } else { 16 }).map_err(|_| "unable to unescape string")?;
        if is_bytes {
            bytes.push(u8::try_from(code).map_err(|_| "unable to unescape string")?);
        } else {
            let c = char::from_u32(code).ok_or("invalid unicode code point")?;
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        rest = &rest[start + digits..];
    }
    Ok(bytes)
}

fn unescape_char(escape: char) -> Result<u8, &'static str> {
    Ok(match escape {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' | '\'' | '"' | '`' | '?' => escape as u8,
        _ => return Err("unable to unescape string"),
    })
}
