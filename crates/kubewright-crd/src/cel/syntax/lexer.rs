//! Splits source text into tokens.

use std::ops::Range;

use super::error::{CelError, MAX_ERRORS};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) text: String,
    /// The offset in characters from the start.
    pub(crate) offset: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// An operator, a bracket, or one of the keywords `in`, `true`, `false` and `null`.
    Symbol,
    Ident,
    /// An identifier in backticks (`ESC_IDENTIFIER` in the grammar).
    EscapedIdent,
    Int,
    Uint,
    Float,
    String,
    Bytes,
    Eof,
}

const SYMBOLS: [&str; 24] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*",
    "/", "%",
];

struct Lexer {
    text: Vec<char>,
    position: usize,
    tokens: Vec<Token>,
    unrecognized: Vec<Range<usize>>,
}

/// The tokens of a text, the last of which is [`TokenKind::Eof`].
pub(crate) struct Tokens {
    pub(crate) tokens: Vec<Token>,
    /// The offsets of characters that form no token.
    pub(crate) unrecognized: Vec<Range<usize>>,
    /// An error for each of them, up to the maximum.
    pub(crate) errors: Vec<CelError>,
}

/// Splits a text into tokens, and reports characters that form no token.
pub(crate) fn tokenize(text: &str) -> Tokens {
    let mut lexer = Lexer { text: text.chars().collect(), position: 0, tokens: Vec::new(), unrecognized: Vec::new() };
    while lexer.position < lexer.text.len() {
        lexer.advance();
    }
    lexer.push(TokenKind::Eof, 0);
    let unrecognized = lexer.unrecognized.iter().take(MAX_ERRORS + 1);
    let errors = unrecognized.map(|range| lexer.unrecognized_error(range)).collect();
    Tokens { tokens: lexer.tokens, unrecognized: lexer.unrecognized, errors }
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.position + ahead).copied()
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let text = match kind {
            TokenKind::Eof => "<EOF>".to_owned(),
            _ => self.text[self.position..self.position + length].iter().collect(),
        };
        self.tokens.push(Token { kind, text, offset: self.position });
        self.position += length;
    }

    /// Consumes whitespace, a comment or one token.
    fn advance(&mut self) {
        let Some(c) = self.peek(0) else { return };
        if matches!(c, ' ' | '\t' | '\r' | '\n' | '\u{c}') {
            self.position += 1;
        } else if c == '/' && self.peek(1) == Some('/') {
            self.position += self.count_while(0, |c| c != '\n');
        } else if let Some((kind, length)) = self.string_prefix() {
            self.string(kind, length);
        } else if c.is_ascii_digit() || c == '.' && self.peek(1).is_some_and(|c| c.is_ascii_digit()) {
            let (kind, length) = self.number();
            self.push(kind, length);
        } else if c.is_ascii_alphabetic() || c == '_' {
            self.identifier();
        } else if c == '`' {
            self.escaped_identifier();
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| self.starts_with(symbol)) {
            self.push(TokenKind::Symbol, symbol.len());
        } else {
            // The generated lexer of cel-go has already consumed the character after the start of an operator.
            let length = if matches!(c, '=' | '&' | '|') && self.peek(1).is_some() { 2 } else { 1 };
            self.report_unrecognized(length);
        }
    }

    fn starts_with(&self, symbol: &str) -> bool {
        symbol.chars().enumerate().all(|(ahead, c)| self.peek(ahead) == Some(c))
    }

    fn count_while(&self, from: usize, holds: impl Fn(char) -> bool) -> usize {
        self.text.iter().skip(self.position + from).take_while(|&&c| holds(c)).count()
    }

    /// Reports that the next `length` characters form no token, and skips them.
    fn report_unrecognized(&mut self, length: usize) {
        self.unrecognized.push(self.position..self.position + length);
        self.position += length;
    }

    fn unrecognized_error(&self, range: &Range<usize>) -> CelError {
        let text: String = self.text[range.clone()].iter().collect();
        CelError::at(range.start, format!("Syntax error: token recognition error at: '{text}'"))
    }

    fn identifier(&mut self) {
        let length = self.count_while(0, |c| c.is_ascii_alphanumeric() || c == '_');
        let name: String = self.text[self.position..self.position + length].iter().collect();
        let kind = match name.as_str() {
            "in" | "true" | "false" | "null" => TokenKind::Symbol,
            _ => TokenKind::Ident,
        };
        self.push(kind, length);
    }

    fn escaped_identifier(&mut self) {
        let inner = self.count_while(1, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ' '));
        if inner > 0 && self.peek(inner + 1) == Some('`') {
            self.push(TokenKind::EscapedIdent, inner + 2);
        } else {
            // As for operators, the character after the name is consumed.
            self.report_unrecognized((inner + 2).min(self.text.len() - self.position));
        }
    }

    fn number(&self) -> (TokenKind, usize) {
        if self.peek(0) == Some('0') && self.peek(1) == Some('x') {
            let digits = self.count_while(2, |c| c.is_ascii_hexdigit());
            if digits > 0 {
                return self.maybe_unsigned(digits + 2);
            }
        }
        let integer = self.count_while(0, |c| c.is_ascii_digit());
        let mut length = integer;
        if self.peek(length) == Some('.') {
            let fraction = self.count_while(length + 1, |c| c.is_ascii_digit());
            length += if fraction > 0 { fraction + 1 } else { 0 };
        }
        if matches!(self.peek(length), Some('e' | 'E')) {
            let sign = usize::from(matches!(self.peek(length + 1), Some('+' | '-')));
            let digits = self.count_while(length + 1 + sign, |c| c.is_ascii_digit());
            length += if digits > 0 { 1 + sign + digits } else { 0 };
        }
        if length > integer { (TokenKind::Float, length) } else { self.maybe_unsigned(length) }
    }

    fn maybe_unsigned(&self, length: usize) -> (TokenKind, usize) {
        match self.peek(length) {
            Some('u' | 'U') => (TokenKind::Uint, length + 1),
            _ => (TokenKind::Int, length),
        }
    }

    /// The kind of the string literal that starts here, and the length of its prefix (`b`, `r` or `br`).
    fn string_prefix(&self) -> Option<(TokenKind, usize)> {
        let is_quote = |ahead| matches!(self.peek(ahead), Some('"' | '\''));
        let kinds = [(TokenKind::Bytes, true), (TokenKind::String, false)];
        kinds.into_iter().find_map(|(kind, is_bytes)| {
            let mut prefix = 0;
            if is_bytes {
                matches!(self.peek(0), Some('b' | 'B')).then_some(())?;
                prefix = 1;
            }
            if matches!(self.peek(prefix), Some('r' | 'R')) {
                prefix += 1;
            }
            is_quote(prefix).then_some((kind, prefix))
        })
    }

    fn string(&mut self, kind: TokenKind, prefix: usize) {
        let Some(quote) = self.peek(prefix) else { return };
        let is_raw = prefix > 0 && matches!(self.peek(prefix - 1), Some('r' | 'R'));
        let is_triple = (1..3).all(|ahead| self.peek(prefix + ahead) == Some(quote));
        let width = if is_triple { 3 } else { 1 };
        let mut length = prefix + width;
        loop {
            match self.peek(length) {
                Some(c) if c == quote && (0..width).all(|ahead| self.peek(length + ahead) == Some(quote)) => {
                    return self.push(kind, length + width);
                }
                Some('\n' | '\r') if !is_triple => return self.unterminated_string(prefix, length + 1),
                Some('\\') if !is_raw => match escape_length(&self.text[self.position + length..]) {
                    Some(escape) => length += escape,
                    None => return self.unterminated_string(prefix, length + 2),
                },
                Some(_) => length += 1,
                None => return self.unterminated_string(prefix, length),
            }
        }
    }

    fn unterminated_string(&mut self, prefix: usize, length: usize) {
        // The first two quotes of an unterminated triple quote are an empty string.
        let quote = self.peek(prefix);
        if quote.is_some() && (1..3).all(|ahead| self.peek(prefix + ahead) == quote) {
            return self.push(TokenKind::String, prefix + 2);
        }
        // The prefix is a name, and the string starts after it.
        if prefix > 0 {
            return self.push(TokenKind::Ident, prefix);
        }
        self.report_unrecognized(length.min(self.text.len() - self.position));
    }
}

/// The length of the escape sequence at the start of a text; `None` if the escape is invalid.
fn escape_length(text: &[char]) -> Option<usize> {
    let is_hex = |count: usize| {
        text.get(2..2 + count).filter(|digits| digits.iter().all(char::is_ascii_hexdigit)).map(|_| 2 + count)
    };
    match text.get(1)? {
        'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '"' | '\'' | '\\' | '?' | '`' => Some(2),
        'x' | 'X' => is_hex(2),
        'u' => is_hex(4),
        'U' => is_hex(8),
        '0'..='3' => text.get(2..4).filter(|rest| rest.iter().all(|c| ('0'..='7').contains(c))).map(|_| 4),
        _ => None,
    }
}
