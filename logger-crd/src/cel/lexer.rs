//! The text of an expression as tokens.

use super::syntax::Mistake;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) text: String,
    /// In characters from the start.
    pub(super) offset: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// An operator or bracket, or one of the words `in`, `true`, `false` and `null`.
    Symbol,
    Ident,
    /// A name in backticks.
    Quoted,
    Int,
    Uint,
    Float,
    String,
    Bytes,
    End,
}

const SYMBOLS: [&str; 24] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*",
    "/", "%",
];

struct Lexer {
    text: Vec<char>,
    at: usize,
    tokens: Vec<Token>,
    mistakes: Vec<Mistake>,
}

/// The tokens of a text, with an end token, and what is no token.
pub(super) fn tokens(text: &str) -> (Vec<Token>, Vec<Mistake>) {
    let mut lexer = Lexer { text: text.chars().collect(), at: 0, tokens: Vec::new(), mistakes: Vec::new() };
    while lexer.at < lexer.text.len() {
        lexer.next();
    }
    lexer.push(TokenKind::End, 0);
    (lexer.tokens, lexer.mistakes)
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let text = match kind {
            TokenKind::End => "<EOF>".to_owned(),
            _ => self.text[self.at..self.at + length].iter().collect(),
        };
        self.tokens.push(Token { kind, text, offset: self.at });
        self.at += length;
    }

    fn next(&mut self) {
        let Some(c) = self.peek(0) else { return };
        if matches!(c, ' ' | '\t' | '\r' | '\n' | '\u{c}') {
            self.at += 1;
        } else if c == '/' && self.peek(1) == Some('/') {
            self.at += self.count_while(0, |c| c != '\n');
        } else if let Some((kind, length)) = self.string_length() {
            self.string(kind, length);
        } else if c.is_ascii_digit() || c == '.' && self.peek(1).is_some_and(|c| c.is_ascii_digit()) {
            let (kind, length) = self.number();
            self.push(kind, length);
        } else if c.is_ascii_alphabetic() || c == '_' {
            self.word();
        } else if c == '`' {
            self.quoted();
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| self.starts_with(symbol)) {
            self.push(TokenKind::Symbol, symbol.len());
        } else {
            // What begins an operator takes the character with it that makes it none.
            let length = if matches!(c, '=' | '&' | '|') && self.peek(1).is_some() { 2 } else { 1 };
            self.unknown(length);
        }
    }

    fn starts_with(&self, symbol: &str) -> bool {
        symbol.chars().enumerate().all(|(ahead, c)| self.peek(ahead) == Some(c))
    }

    fn count_while(&self, from: usize, holds: impl Fn(char) -> bool) -> usize {
        self.text.iter().skip(self.at + from).take_while(|&&c| holds(c)).count()
    }

    /// Notes that `length` characters are no token, and passes over them.
    fn unknown(&mut self, length: usize) {
        let text: String = self.text[self.at..self.at + length].iter().collect();
        let text = text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
        let message = format!("Syntax error: token recognition error at: '{text}'");
        self.mistakes.push(Mistake { offset: Some(self.at), message });
        self.at += length;
    }

    fn word(&mut self) {
        let length = self.count_while(0, |c| c.is_ascii_alphanumeric() || c == '_');
        let word: String = self.text[self.at..self.at + length].iter().collect();
        let kind = match word.as_str() {
            "in" | "true" | "false" | "null" => TokenKind::Symbol,
            _ => TokenKind::Ident,
        };
        self.push(kind, length);
    }

    fn quoted(&mut self) {
        let inner = self.count_while(1, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ' '));
        if inner > 0 && self.peek(inner + 1) == Some('`') {
            self.push(TokenKind::Quoted, inner + 2);
        } else {
            self.unknown(inner + 1);
        }
    }

    fn number(&self) -> (TokenKind, usize) {
        if self.peek(0) == Some('0') && self.peek(1) == Some('x') {
            let digits = self.count_while(2, |c| c.is_ascii_hexdigit());
            if digits > 0 {
                return self.maybe_unsigned(digits + 2);
            }
        }
        let whole = self.count_while(0, |c| c.is_ascii_digit());
        let mut length = whole;
        if self.peek(length) == Some('.') {
            let fraction = self.count_while(length + 1, |c| c.is_ascii_digit());
            length += if fraction > 0 { fraction + 1 } else { 0 };
        }
        if matches!(self.peek(length), Some('e' | 'E')) {
            let sign = usize::from(matches!(self.peek(length + 1), Some('+' | '-')));
            let digits = self.count_while(length + 1 + sign, |c| c.is_ascii_digit());
            length += if digits > 0 { 1 + sign + digits } else { 0 };
        }
        if length > whole { (TokenKind::Float, length) } else { self.maybe_unsigned(length) }
    }

    fn maybe_unsigned(&self, length: usize) -> (TokenKind, usize) {
        match self.peek(length) {
            Some('u' | 'U') => (TokenKind::Uint, length + 1),
            _ => (TokenKind::Int, length),
        }
    }

    /// The kind of string that begins here, and the length of its prefix.
    fn string_length(&self) -> Option<(TokenKind, usize)> {
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
                Some('\n' | '\r') if !is_triple => return self.broken_string(prefix, length + 1),
                Some('\\') if !is_raw => match escape_length(&self.text[self.at + length..]) {
                    Some(escape) => length += escape,
                    None => return self.broken_string(prefix, length + 2),
                },
                Some(_) => length += 1,
                None => return self.broken_string(prefix, length),
            }
        }
    }

    fn broken_string(&mut self, prefix: usize, length: usize) {
        // A triple quote that never ends begins with an empty string.
        let quote = self.peek(prefix);
        if quote.is_some() && (1..3).all(|ahead| self.peek(prefix + ahead) == quote) {
            return self.push(TokenKind::String, prefix + 2);
        }
        self.unknown(length.min(self.text.len() - self.at));
    }
}

/// The length of the escape sequence at the start, if it is one.
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
