//! Sets of token types. Their display is that of ANTLR's error messages.

use std::fmt;

use super::lexer::{Token, TokenKind};

/// The token types in the order of the grammar, as error messages display them.
const NAMES: [&str; 35] = [
    "<EOF>",
    "'=='",
    "'!='",
    "'in'",
    "'<'",
    "'<='",
    "'>='",
    "'>'",
    "'&&'",
    "'||'",
    "'['",
    "']'",
    "'{'",
    "'}'",
    "'('",
    "')'",
    "'.'",
    "','",
    "'-'",
    "'!'",
    "'?'",
    "':'",
    "'+'",
    "'*'",
    "'/'",
    "'%'",
    "'true'",
    "'false'",
    "'null'",
    "NUM_FLOAT",
    "NUM_INT",
    "NUM_UINT",
    "STRING",
    "BYTES",
    "IDENTIFIER",
];

/// The bit of an identifier in backticks, the last token type.
const ESCAPED_IDENTIFIER: u64 = 1 << NAMES.len();

/// A set of token types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TokenSet(u64);

impl TokenSet {
    pub(super) const EMPTY: TokenSet = TokenSet(0);
    pub(super) const EOF: TokenSet = TokenSet(1);
    pub(super) const AND: TokenSet = TokenSet(1 << 8);
    pub(super) const OR: TokenSet = TokenSet(1 << 9);
    pub(super) const LEFT_BRACKET: TokenSet = TokenSet(1 << 10);
    pub(super) const RIGHT_BRACKET: TokenSet = TokenSet(1 << 11);
    pub(super) const LEFT_BRACE: TokenSet = TokenSet(1 << 12);
    pub(super) const RIGHT_BRACE: TokenSet = TokenSet(1 << 13);
    pub(super) const LEFT_PAREN: TokenSet = TokenSet(1 << 14);
    pub(super) const RIGHT_PAREN: TokenSet = TokenSet(1 << 15);
    pub(super) const DOT: TokenSet = TokenSet(1 << 16);
    pub(super) const COMMA: TokenSet = TokenSet(1 << 17);
    pub(super) const MINUS: TokenSet = TokenSet(1 << 18);
    pub(super) const NOT: TokenSet = TokenSet(1 << 19);
    pub(super) const QUESTION_MARK: TokenSet = TokenSet(1 << 20);
    pub(super) const COLON: TokenSet = TokenSet(1 << 21);
    pub(super) const IDENTIFIER: TokenSet = TokenSet(1 << 34);
    /// An identifier, perhaps in backticks.
    pub(super) const FIELD: TokenSet = TokenSet(TokenSet::IDENTIFIER.0 | ESCAPED_IDENTIFIER);
    /// `==`, `!=`, `in`, `<`, `<=`, `>=` and `>`.
    pub(super) const RELATIONS: TokenSet = TokenSet(0b1111_1110);
    /// `+`, `-`, `*`, `/` and `%`.
    pub(super) const ARITHMETIC: TokenSet = TokenSet(TokenSet::MINUS.0 | 0b1111 << 22);
    /// Numbers that can follow the sign of a literal.
    pub(super) const SIGNED_NUMBERS: TokenSet = TokenSet(0b11 << 29);
    /// The tokens that can start a primary expression: brackets, names and literals.
    pub(super) const PRIMARY_START: TokenSet = TokenSet(
        TokenSet::LEFT_BRACKET.0
            | TokenSet::LEFT_BRACE.0
            | TokenSet::LEFT_PAREN.0
            | TokenSet::DOT.0
            | TokenSet::MINUS.0
            | 0b1_1111_1111 << 26,
    );
    /// The tokens that can start an expression.
    pub(super) const EXPRESSION_START: TokenSet = TokenSet::PRIMARY_START.or(TokenSet::NOT);
    /// The tokens that can start an expression that is perhaps optional.
    pub(super) const OPTIONAL_START: TokenSet = TokenSet::EXPRESSION_START.or(TokenSet::QUESTION_MARK);

    /// The type of a token.
    pub(super) fn from_token(token: &Token) -> TokenSet {
        let name = match token.kind {
            TokenKind::Eof => return TokenSet::EOF,
            TokenKind::Ident => return TokenSet::IDENTIFIER,
            TokenKind::EscapedIdent => return TokenSet(ESCAPED_IDENTIFIER),
            TokenKind::Symbol => format!("'{}'", token.text),
            TokenKind::Float => "NUM_FLOAT".to_owned(),
            TokenKind::Int => "NUM_INT".to_owned(),
            TokenKind::Uint => "NUM_UINT".to_owned(),
            TokenKind::String => "STRING".to_owned(),
            TokenKind::Bytes => "BYTES".to_owned(),
        };
        NAMES.iter().position(|known| *known == name).map_or(TokenSet::EMPTY, |bit| TokenSet(1 << bit))
    }

    pub(super) const fn or(self, other: TokenSet) -> TokenSet {
        TokenSet(self.0 | other.0)
    }

    /// Whether the sets have a common token type.
    pub(super) const fn has(self, other: TokenSet) -> bool {
        self.0 & other.0 != 0
    }
}

impl fmt::Display for TokenSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = NAMES.iter().chain([&"ESC_IDENTIFIER"]).enumerate();
        let names: Vec<&str> = names.filter(|(bit, _)| self.0 & (1 << bit) != 0).map(|(_, name)| *name).collect();
        match names.as_slice() {
            [only] => f.write_str(only),
            names => write!(f, "{{{}}}", names.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cel::syntax::lexer::tokenize;

    #[test]
    fn sets_are_displayed_in_the_order_of_the_grammar() {
        let tokens =
            tokenize("== != in < <= >= > && || [ ] { } ( ) . , - ! ? : + * / % true false null 1.0 1 1u '' b'' a `a`")
                .tokens;
        let all: Vec<String> = tokens.iter().map(|token| TokenSet::from_token(token).to_string()).collect();
        let expected: Vec<&str> = NAMES[1..].iter().copied().chain(["ESC_IDENTIFIER", "<EOF>"]).collect();
        assert_eq!(all, expected);
        let start = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, \
                     IDENTIFIER}";
        assert_eq!(TokenSet::EXPRESSION_START.to_string(), start);
        assert_eq!(TokenSet::RELATIONS.to_string(), "{'==', '!=', 'in', '<', '<=', '>=', '>'}");
        assert_eq!(TokenSet::ARITHMETIC.to_string(), "{'-', '+', '*', '/', '%'}");
        assert_eq!(TokenSet::SIGNED_NUMBERS.to_string(), "{NUM_FLOAT, NUM_INT}");
    }
}
