//! Reads tokens, and recovers from syntax errors to find further ones: the default error strategy of ANTLR, with the
//! limits of cel-go. States have the numbers of cel-go's generated parser.

use std::{cmp::Ordering, ops::Range};

use super::{
    error::{CelError, MAX_ERRORS},
    lexer::{self, Token, TokenKind, Tokens},
    token_set::TokenSet,
};

/// The maximum number of recoveries from errors.
const MAX_RECOVERIES: usize = 30;

/// The maximum number of tokens that a recovery skips.
const MAX_SKIPPED: usize = 256;

/// Parsing cannot continue. The error is reported.
pub(super) struct Aborted;

pub(super) type ParseResult<T> = Result<T, Aborted>;

/// The tokens that can follow a rule in the rule that invokes it.
#[derive(Clone, Copy)]
pub(super) struct Follow {
    pub(super) tokens: TokenSet,
    /// Whether the invoking rule can end there.
    pub(super) can_end: bool,
}

/// The tokens of an expression, and the state of error recovery.
pub(super) struct TokenReader<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// The offsets of characters that form no token.
    unrecognized: Vec<Range<usize>>,
    /// The types of the tokens.
    types: Vec<TokenSet>,
    position: usize,
    /// What follows each rule that is being parsed, the innermost last.
    follows: Vec<Follow>,
    /// The errors of the lexer and of the parser.
    pub(super) errors: Vec<CelError>,
    /// Whether no token was matched since the last error. Further errors are not reported.
    is_recovering: bool,
    recoveries: usize,
    /// The position of the last recovery, and the states in which rules ended there.
    last_recovery: Option<(usize, Vec<u16>)>,
}

impl<'a> TokenReader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let Tokens { tokens, unrecognized, errors: found } = lexer::tokenize(text);
        let types = tokens.iter().map(TokenSet::from_token).collect();
        let mut reader = TokenReader {
            text,
            tokens,
            unrecognized,
            types,
            position: 0,
            follows: Vec::new(),
            errors: Vec::new(),
            is_recovering: false,
            recoveries: 0,
            last_recovery: None,
        };
        found.into_iter().for_each(|error| reader.push_error(error));
        reader
    }

    /// Adds a syntax error. One that exceeds the maximum ends the tokens.
    fn push_error(&mut self, error: CelError) {
        match self.errors.len().cmp(&MAX_ERRORS) {
            Ordering::Less => self.errors.push(error),
            Ordering::Equal => {
                let message = format!("Syntax error: More than {MAX_ERRORS} syntax errors");
                self.errors.push(CelError { message, ..error });
                self.position = self.tokens.len() - 1;
            }
            Ordering::Greater => {}
        }
    }

    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.index(0)]
    }

    /// Whether the next token is in the set.
    pub(super) fn is(&self, tokens: TokenSet) -> bool {
        self.types[self.index(0)].has(tokens)
    }

    /// Whether a token after the next one is in the set.
    pub(super) fn is_ahead(&self, ahead: usize, tokens: TokenSet) -> bool {
        self.types[self.index(ahead)].has(tokens)
    }

    /// The index of a token. After the last token, which is the end, it is that of the end.
    fn index(&self, ahead: usize) -> usize {
        (self.position + ahead).min(self.tokens.len() - 1)
    }

    /// Consumes a token that fits the grammar.
    pub(super) fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.position = self.index(1);
        self.is_recovering = false;
        self.last_recovery = None;
        token
    }

    /// Consumes the next token if it is in the set, and returns its offset.
    pub(super) fn accept(&mut self, tokens: TokenSet) -> Option<usize> {
        self.is(tokens).then(|| self.advance().offset)
    }

    /// Parses a rule, which the tokens follow in the current one.
    pub(super) fn enter(&mut self, tokens: TokenSet, can_end: bool) {
        self.follows.push(Follow { tokens, can_end });
    }

    /// Ends the rule.
    pub(super) fn exit(&mut self) {
        self.follows.pop();
    }

    /// Checks the token before a choice between alternatives. Returns false if the rule has to end.
    pub(super) fn sync(&mut self, state: u16, expected: TokenSet) -> ParseResult<bool> {
        if self.is_recovering || self.is(expected) || self.delete_token(expected) {
            return Ok(true);
        }
        self.report_mismatch(expected);
        self.recover(state)?;
        Ok(false)
    }

    /// Checks the token before the next iteration of a loop, and skips those that fit neither the loop nor what
    /// follows.
    pub(super) fn sync_loop(&mut self, expected: TokenSet) {
        if self.is_recovering || self.is(expected) {
            return;
        }
        self.report(0, |token| format!("extraneous input '{token}' expecting {expected}"));
        let until = self.recovery_set().or(expected).or(TokenSet::EOF);
        while !self.is(until) {
            self.position = self.index(1);
        }
    }

    /// Consumes a symbol and returns its offset. If another token is in its place, either that token is extraneous, the
    /// symbol is missing, because the token can follow it, or the rule has to end.
    pub(super) fn expect(&mut self, state: u16, symbol: TokenSet, next: Follow) -> ParseResult<Option<usize>> {
        if let Some(offset) = self.accept(symbol) {
            return Ok(Some(offset));
        }
        self.count_recovery()?;
        if self.delete_token(symbol) {
            return Ok(self.accept(symbol));
        }
        let next = if next.can_end { next.tokens.or(self.follow_set()) } else { next.tokens };
        if self.is(next) {
            self.report(0, |token| format!("missing {symbol} at '{token}'"));
            return Ok(Some(self.peek().offset));
        }
        self.report_mismatch(symbol);
        self.recover(state)?;
        Ok(None)
    }

    /// Reports that no alternative starts with the next `count` tokens, and ends the rule.
    pub(super) fn no_viable_alternative(&mut self, state: u16, count: usize) -> ParseResult<()> {
        let (first, last) = (self.index(0), self.index(count - 1));
        let end = match self.tokens[last].kind {
            TokenKind::Eof => self.tokens[last].offset,
            _ => self.tokens[last].offset + self.tokens[last].text.chars().count(),
        };
        let start = self.tokens[first].offset;
        let is_recognized = |offset: &usize| {
            let next = self.unrecognized.partition_point(|range| range.end <= *offset);
            !self.unrecognized.get(next).is_some_and(|range| range.contains(offset))
        };
        let characters = self.text.chars().enumerate().skip(start).take(end - start);
        let input: String = characters.filter(|(offset, _)| is_recognized(offset)).map(|(_, c)| c).collect();
        let keyword = ["true", "false", "null"].into_iter().find(|keyword| input.ends_with(keyword));
        self.report(count - 1, |_| match keyword {
            Some(keyword) if input.chars().count() == keyword.len() + 1 => {
                format!("mismatched input '{keyword}' expecting IDENTIFIER")
            }
            _ => format!("no viable alternative at input '{}'", escape(&input)),
        });
        self.recover(state)
    }

    /// Skips the next token if the one after it is expected.
    fn delete_token(&mut self, expected: TokenSet) -> bool {
        if !self.is_ahead(1, expected) {
            return false;
        }
        self.report(0, |token| format!("extraneous input '{token}' expecting {expected}"));
        self.advance();
        true
    }

    fn report_mismatch(&mut self, expected: TokenSet) {
        self.report(0, |token| format!("mismatched input '{token}' expecting {expected}"));
    }

    /// Reports a syntax error at a token, unless it is a consequence of the last one.
    fn report(&mut self, ahead: usize, message: impl FnOnce(&str) -> String) {
        if self.is_recovering {
            return;
        }
        self.is_recovering = true;
        let token = &self.tokens[self.index(ahead)];
        let message = format!("Syntax error: {}", message(&escape(&token.text)));
        self.push_error(CelError::at(token.offset, message));
    }

    /// Ends a rule with an error: skips tokens until one that can follow a rule that is being parsed.
    fn recover(&mut self, state: u16) -> ParseResult<()> {
        self.count_recovery()?;
        let mut skipped = 0;
        let (position, states) = self.last_recovery.take().unwrap_or_default();
        // A second error of a state at the same token would not end.
        if position == self.position && states.contains(&state) {
            self.position = self.index(1);
            skipped += 1;
        }
        self.last_recovery = Some((self.position, [states, vec![state]].concat()));
        let until = self.recovery_set().or(TokenSet::EOF);
        while !self.is(until) {
            if skipped == MAX_SKIPPED {
                let message = format!("error recovery token lookahead limit exceeded: {MAX_SKIPPED}");
                self.errors.push(CelError::without_location(message));
                return Err(Aborted);
            }
            skipped += 1;
            self.position = self.index(1);
        }
        Ok(())
    }

    fn count_recovery(&mut self) -> ParseResult<()> {
        if self.recoveries == MAX_RECOVERIES {
            let message = format!("Syntax error: error recovery attempt limit exceeded: {MAX_RECOVERIES}");
            self.errors.push(CelError::at(self.peek().offset, message));
            return Err(Aborted);
        }
        self.recoveries += 1;
        Ok(())
    }

    /// The tokens that can follow any of the rules that are being parsed.
    fn recovery_set(&self) -> TokenSet {
        self.follows.iter().fold(TokenSet::EMPTY, |tokens, follow| tokens.or(follow.tokens))
    }

    /// The tokens that can follow the current rule.
    fn follow_set(&self) -> TokenSet {
        let mut tokens = TokenSet::EMPTY;
        for follow in self.follows.iter().rev() {
            tokens = tokens.or(follow.tokens);
            if !follow.can_end {
                break;
            }
        }
        tokens
    }
}

/// Escapes whitespace as ANTLR does.
fn escape(text: &str) -> String {
    text.replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}
