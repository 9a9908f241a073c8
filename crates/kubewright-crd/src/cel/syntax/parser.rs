//! Parses tokens into an expression and expands macros. The errors are those of cel-go's ANTLR parser.

use kubewright_names::cel::is_reserved;

use super::{
    ast::{Call, Expr, ExprKind, Id, ListElement, Literal, MapEntry, Select, StructExpr, StructField},
    error::CelError,
    factory::{ExprFactory, NO_LOCATION},
    lexer::{Token, TokenKind},
    literal, macros, operator,
    recovery::{Aborted, Follow, ParseResult, TokenReader},
    token_set::TokenSet,
};

/// The maximum nesting depth of an expression, as in cel-go.
const MAX_DEPTH: usize = 250;

/// The maximum length of an expression in characters.
const MAX_LENGTH: usize = 100_000;

/// What follows a primary expression, and the suffixes after it.
const SUFFIXES: Follow = Follow { tokens: TokenSet::DOT.or(TokenSet::LEFT_BRACKET), can_end: true };

/// An expression that is not the last part of its rule.
const EXPRESSION: Follow = Follow { tokens: TokenSet::EXPRESSION_START, can_end: false };

/// What follows an operand in the operators around it.
const OPERATORS: TokenSet = TokenSet::AND.or(TokenSet::OR).or(TokenSet::RELATIONS).or(TokenSet::ARITHMETIC);

/// A syntax tree and the offsets of its nodes.
#[derive(Debug)]
pub(crate) struct ParsedExpr {
    pub(crate) root: Expr,
    /// Indexed by node: characters from the start.
    pub(crate) offsets: Vec<usize>,
}

/// Parses an expression.
pub(crate) fn parse(text: &str) -> Result<ParsedExpr, Vec<CelError>> {
    let length = text.chars().count();
    if length > MAX_LENGTH {
        let message = format!("expression code point size exceeds limit: size: {length}, limit {MAX_LENGTH}");
        return Err(vec![CelError::without_location(message)]);
    }
    let mut parser = Parser { tokens: TokenReader::new(text), factory: ExprFactory::default(), depth: 0, height: 0 };
    let parsed = parser.parse();
    let Parser { tokens, factory, .. } = parser;
    let mut errors = tokens.errors;
    match parsed {
        Ok(root) if errors.is_empty() && factory.errors.is_empty() => Ok(ParsedExpr { root, offsets: factory.offsets }),
        // cel-go expands macros and reads literals after parsing.
        Ok(_) => {
            errors.extend(factory.errors);
            Err(errors)
        }
        Err(Aborted) => Err(errors),
    }
}

/// Each function parses a rule of the grammar. After an error, it returns what it has parsed.
struct Parser<'a> {
    tokens: TokenReader<'a>,
    factory: ExprFactory,
    /// The number of expressions around the current one.
    depth: usize,
    /// The height of the last operand: the most selections, indexes, calls of members and operators on a path in it.
    height: usize,
}

impl Parser<'_> {
    fn parse(&mut self) -> ParseResult<Expr> {
        self.tokens.enter(TokenSet::EOF, false);
        let root = self.expr()?;
        self.tokens.exit();
        self.tokens.expect(35, TokenSet::EOF, Follow { tokens: TokenSet::EMPTY, can_end: false })?;
        Ok(root)
    }

    /// Parses an expression. Each level of nesting recurses through this function, so its stack frames must stay small.
    fn expr(&mut self) -> ParseResult<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.limit_exceeded(format!("expression recursion limit exceeded: {MAX_DEPTH}")));
        }
        let mut parsed = self.operand(TokenSet::QUESTION_MARK, true)?;
        if let Some(offset) = self.tokens.accept(TokenSet::QUESTION_MARK) {
            parsed = self.conditional(offset, parsed)?;
        }
        self.depth -= 1;
        Ok(parsed)
    }

    /// Parses a rule with an expression that these tokens follow.
    fn expr_before(&mut self, tokens: TokenSet, can_end: bool) -> ParseResult<Expr> {
        let other_parts = self.height;
        self.tokens.enter(tokens, can_end);
        let parsed = self.expr()?;
        self.tokens.exit();
        self.height = self.height.max(other_parts);
        Ok(parsed)
    }

    fn conditional(&mut self, offset: usize, condition: Expr) -> ParseResult<Expr> {
        let condition_height = self.height;
        let yes = self.operand(TokenSet::COLON, false)?;
        self.height = self.height.max(condition_height);
        let no = match self.tokens.expect(40, TokenSet::COLON, EXPRESSION)? {
            Some(_) => self.expr_before(TokenSet::EMPTY, true)?,
            None => self.factory.unspecified(NO_LOCATION),
        };
        self.add_level()?;
        Ok(self.factory.call(offset, operator::CONDITIONAL, vec![condition, yes, no]))
    }

    /// Counts a level of the current operand. The checker and the interpreter are recursive, as are those of cel-go.
    fn add_level(&mut self) -> ParseResult<()> {
        self.height += 1;
        match self.height > MAX_DEPTH {
            true => Err(self.limit_exceeded("max recursion depth exceeded")),
            false => Ok(()),
        }
    }

    /// Reports that an expression is too deep, instead of errors after parsing.
    fn limit_exceeded(&mut self, message: impl Into<String>) -> Aborted {
        self.tokens.errors.push(CelError::without_location(message));
        Aborted
    }

    /// Parses an operand of a conditional expression, which these tokens follow.
    fn operand(&mut self, tokens: TokenSet, can_end: bool) -> ParseResult<Expr> {
        self.tokens.enter(tokens.or(OPERATORS), can_end);
        let parsed = self.or()?;
        self.tokens.exit();
        Ok(parsed)
    }

    fn or(&mut self) -> ParseResult<Expr> {
        let first = self.and()?;
        if !self.tokens.is(TokenSet::OR) {
            return Ok(first);
        }
        self.chain(TokenSet::OR, operator::OR, first, Self::and)
    }

    fn and(&mut self) -> ParseResult<Expr> {
        let first = self.binary(0)?;
        if !self.tokens.is(TokenSet::AND) {
            return Ok(first);
        }
        self.chain(TokenSet::AND, operator::AND, first, |parser| parser.binary(0))
    }

    /// Parses a chain of `||` or `&&` into a balanced tree.
    fn chain(
        &mut self,
        symbol: TokenSet,
        function: &str,
        first: Expr,
        term: impl Fn(&mut Self) -> ParseResult<Expr>,
    ) -> ParseResult<Expr> {
        let mut terms = vec![first];
        let mut offsets = Vec::new();
        while let Some(offset) = self.tokens.accept(symbol) {
            offsets.push(offset);
            let height = self.height;
            terms.push(term(self)?);
            self.height = self.height.max(height);
        }
        let ids: Vec<Id> = offsets.into_iter().map(|offset| self.factory.next_id(offset)).collect();
        Ok(balanced(function, &ids, &mut terms.into_iter()))
    }

    /// Parses comparisons, sums and products by precedence climbing. All of them are left-associative.
    fn binary(&mut self, min_precedence: usize) -> ParseResult<Expr> {
        let mut left = self.unary()?;
        while let Some((precedence, function)) = self.binary_operator() {
            if precedence < min_precedence {
                break;
            }
            let height = self.height;
            let offset = self.tokens.advance().offset;
            let right = self.binary(precedence + 1)?;
            self.height = self.height.max(height);
            self.add_level()?;
            left = self.factory.call(offset, function, vec![left, right]);
        }
        Ok(left)
    }

    fn binary_operator(&self) -> Option<(usize, &'static str)> {
        let token = self.tokens.peek();
        if token.kind != TokenKind::Symbol {
            return None;
        }
        Some(match token.text.as_str() {
            "<" => (0, operator::LESS),
            "<=" => (0, operator::LESS_EQUALS),
            ">" => (0, operator::GREATER),
            ">=" => (0, operator::GREATER_EQUALS),
            "==" => (0, operator::EQUALS),
            "!=" => (0, operator::NOT_EQUALS),
            "in" => (0, operator::IN),
            "+" => (1, operator::ADD),
            "-" => (1, operator::SUBTRACT),
            "*" => (2, operator::MULTIPLY),
            "/" => (2, operator::DIVIDE),
            "%" => (2, operator::MODULO),
            _ => return None,
        })
    }

    fn unary(&mut self) -> ParseResult<Expr> {
        let start = self.tokens.peek().offset;
        if !self.tokens.sync(99, TokenSet::EXPRESSION_START)? {
            return Ok(self.invalid_operand(start));
        }
        if self.tokens.is(TokenSet::NOT) {
            return self.negated(TokenSet::NOT, operator::NOT);
        }
        let is_minus = self.tokens.is(TokenSet::MINUS);
        if is_minus && !self.tokens.is_ahead(1, TokenSet::PRIMARY_START) {
            self.tokens.no_viable_alternative(99, 2)?;
            return Ok(self.invalid_operand(start));
        }
        if is_minus && !self.tokens.is_ahead(1, TokenSet::SIGNED_NUMBERS) {
            return self.negated(TokenSet::MINUS, operator::NEGATE);
        }
        if !self.tokens.is(TokenSet::PRIMARY_START) {
            self.tokens.no_viable_alternative(99, 1)?;
            return Ok(self.invalid_operand(start));
        }
        self.member()
    }

    /// The operand that cel-go puts in place of one with an error.
    fn invalid_operand(&mut self, start: usize) -> Expr {
        self.factory.literal(start, Literal::String("<<error>>".to_owned()))
    }

    /// Parses one or more `!` or `-` and their operand.
    fn negated(&mut self, symbol: TokenSet, function: &str) -> ParseResult<Expr> {
        let first = self.tokens.peek().offset;
        let (mut count, mut is_viable) = (0, true);
        while self.tokens.is(symbol) && is_viable {
            is_viable = symbol == TokenSet::NOT || self.tokens.is_ahead(1, TokenSet::PRIMARY_START);
            if is_viable {
                self.tokens.advance();
                count += 1;
                self.tokens.sync_loop(TokenSet::PRIMARY_START.or(symbol));
            }
        }
        let operand = match is_viable {
            true => self.member()?,
            false => {
                self.tokens.no_viable_alternative(96, 2)?;
                self.factory.unspecified(NO_LOCATION)
            }
        };
        Ok(if count % 2 == 0 { operand } else { self.factory.call(first, function, vec![operand]) })
    }

    fn member(&mut self) -> ParseResult<Expr> {
        self.tokens.enter(SUFFIXES.tokens, SUFFIXES.can_end);
        let mut operand = self.primary()?;
        self.tokens.exit();
        while self.tokens.is(SUFFIXES.tokens) {
            let is_complete;
            (operand, is_complete) = match self.tokens.is(TokenSet::DOT) {
                true => self.select_or_member_call(operand)?,
                false => self.index(operand)?,
            };
            if !is_complete {
                break;
            }
            self.add_level()?;
        }
        Ok(operand)
    }

    /// Parses an index. Also returns whether there was no error.
    fn index(&mut self, operand: Expr) -> ParseResult<(Expr, bool)> {
        let offset = self.tokens.advance().offset;
        if !self.tokens.sync(121, TokenSet::OPTIONAL_START)? {
            let missing = self.factory.unspecified(NO_LOCATION);
            return Ok((self.factory.call(offset, operator::INDEX, vec![operand, missing]), false));
        }
        let is_optional = self.tokens.accept(TokenSet::QUESTION_MARK).is_some();
        let index = self.expr_before(TokenSet::RIGHT_BRACKET, false)?;
        let is_complete = self.tokens.expect(124, TokenSet::RIGHT_BRACKET, SUFFIXES)?.is_some();
        let function = if is_optional { operator::OPTIONAL_INDEX } else { operator::INDEX };
        Ok((self.factory.call(offset, function, vec![operand, index]), is_complete))
    }

    /// Parses a field selection or a member call. Also returns whether there was no error.
    fn select_or_member_call(&mut self, operand: Expr) -> ParseResult<(Expr, bool)> {
        if !self.tokens.is_ahead(1, TokenSet::FIELD.or(TokenSet::QUESTION_MARK)) {
            self.tokens.no_viable_alternative(126, 2)?;
            return Ok((operand, false));
        }
        let dot = self.tokens.advance().offset;
        let is_optional = self.tokens.accept(TokenSet::QUESTION_MARK).is_some();
        let is_call = self.tokens.is(TokenSet::IDENTIFIER) && self.tokens.is_ahead(1, TokenSet::LEFT_PAREN);
        if is_call && !is_optional {
            return self.member_call(operand);
        }
        let offset = self.tokens.peek().offset;
        self.tokens.enter(SUFFIXES.tokens, SUFFIXES.can_end);
        let name = self.field_name()?;
        self.tokens.exit();
        let field = self.report_invalid(name, offset).unwrap_or_default();
        if is_optional {
            let name = self.factory.literal(offset, Literal::String(field));
            return Ok((self.factory.call(dot, operator::OPTIONAL_SELECT, vec![operand, name]), true));
        }
        let select = Select { operand, field, is_test_only: false };
        Ok((self.factory.expr(dot, ExprKind::Select(Box::new(select))), true))
    }

    fn member_call(&mut self, operand: Expr) -> ParseResult<(Expr, bool)> {
        let name = self.tokens.advance().text;
        let open = self.tokens.advance().offset;
        let (args, is_complete) = self.arguments([115, 117])?;
        Ok((macros::member_call(&mut self.factory, open, name, operand, args), is_complete))
    }

    /// Parses the name of a field. The error is that of cel-go for a name that it does not support.
    fn field_name(&mut self) -> ParseResult<Result<String, &'static str>> {
        if !self.tokens.sync(235, TokenSet::FIELD)? {
            return Ok(Err("unsupported ident kind"));
        }
        if !self.tokens.is(TokenSet::FIELD) {
            self.tokens.no_viable_alternative(235, 1)?;
            return Ok(Err("unsupported ident kind"));
        }
        let token = self.tokens.advance();
        Ok(match token.kind {
            TokenKind::Ident => Ok(token.text),
            // The server's environment does not enable escaped identifiers.
            _ => Err("unsupported syntax: '`'"),
        })
    }

    /// Returns a name, or reports its error.
    fn report_invalid(&mut self, name: Result<String, &'static str>, offset: usize) -> Option<String> {
        name.map_err(|message| self.factory.report_error(offset, message)).ok()
    }

    /// Parses arguments up to the closing parenthesis. Also returns whether there was no error.
    fn arguments(&mut self, [start, end]: [u16; 2]) -> ParseResult<(Vec<Expr>, bool)> {
        let mut args = Vec::new();
        if !self.tokens.sync(start, TokenSet::EXPRESSION_START.or(TokenSet::RIGHT_PAREN))? {
            return Ok((args, false));
        }
        if self.tokens.is(TokenSet::EXPRESSION_START) {
            self.tokens.enter(TokenSet::RIGHT_PAREN, false);
            args.push(self.expr_before(TokenSet::COMMA, true)?);
            while self.tokens.accept(TokenSet::COMMA).is_some() {
                args.push(self.expr_before(TokenSet::COMMA, true)?);
            }
            self.tokens.exit();
        }
        let is_complete = self.tokens.expect(end, TokenSet::RIGHT_PAREN, SUFFIXES)?.is_some();
        Ok((args, is_complete))
    }

    fn primary(&mut self) -> ParseResult<Expr> {
        self.height = 0;
        if !self.tokens.sync(184, TokenSet::PRIMARY_START)? {
            return Ok(self.factory.unspecified(NO_LOCATION));
        }
        if self.tokens.accept(TokenSet::LEFT_PAREN).is_some() {
            let inner = self.expr_before(TokenSet::RIGHT_PAREN, false)?;
            self.tokens.expect(146, TokenSet::RIGHT_PAREN, SUFFIXES)?;
            return Ok(inner);
        }
        if self.tokens.is(TokenSet::LEFT_BRACKET) {
            return self.list();
        }
        if self.tokens.is(TokenSet::LEFT_BRACE) {
            return self.map();
        }
        self.unbracketed()
    }

    /// Parses a primary expression that starts with no bracket.
    fn unbracketed(&mut self) -> ParseResult<Expr> {
        let token = self.tokens.peek().clone();
        match token.kind {
            TokenKind::Ident => self.identifier(token.offset, false),
            TokenKind::Int | TokenKind::Uint | TokenKind::Float => Ok(self.number()),
            TokenKind::String | TokenKind::Bytes => {
                self.tokens.advance();
                Ok(match literal::string(&token) {
                    Ok(value) => self.factory.literal(token.offset, value),
                    Err(message) => self.factory.report_error(token.offset, message),
                })
            }
            TokenKind::Symbol | TokenKind::EscapedIdent | TokenKind::Eof => self.keyword(&token),
        }
    }

    /// Parses what starts with a symbol: `true`, `false`, `null`, a negative number, or an absolute name `.a`.
    fn keyword(&mut self, token: &Token) -> ParseResult<Expr> {
        let value = match token.text.as_str() {
            "." if self.tokens.is_ahead(1, TokenSet::IDENTIFIER) => {
                self.tokens.advance();
                return self.identifier(token.offset, true);
            }
            "-" if self.tokens.is_ahead(1, TokenSet::SIGNED_NUMBERS) => return Ok(self.number()),
            "null" => Literal::Null,
            flag @ ("true" | "false") => Literal::Bool(flag == "true"),
            text => {
                let count = if matches!(text, "." | "-") { 2 } else { 1 };
                let state = if text == "-" { 256 } else { 184 };
                self.tokens.no_viable_alternative(state, count)?;
                return Ok(self.factory.unspecified(NO_LOCATION));
            }
        };
        self.tokens.advance();
        Ok(self.factory.literal(token.offset, value))
    }

    fn number(&mut self) -> Expr {
        let first = self.tokens.advance();
        let (sign, token) = if first.text == "-" { ("-", self.tokens.advance()) } else { ("", first.clone()) };
        match literal::number(sign, &token) {
            Ok(value) => self.factory.literal(first.offset, value),
            Err(message) => self.factory.report_error(first.offset, message),
        }
    }

    /// Parses a variable, a global call, or the construction of a message.
    fn identifier(&mut self, start: usize, is_absolute: bool) -> ParseResult<Expr> {
        let token = self.tokens.advance();
        if self.is_struct() {
            return self.struct_expr(token.text);
        }
        let name = if is_absolute { format!(".{}", token.text) } else { token.text.clone() };
        let is_reserved = is_reserved(&token.text);
        if self.tokens.is(TokenSet::LEFT_PAREN) {
            let (open, errors) = (self.tokens.advance().offset, self.factory.errors.len());
            let (args, _) = self.arguments([141, 143])?;
            if is_reserved {
                self.factory.errors.truncate(errors);
                return Ok(self.factory.report_error(start, format!("reserved identifier: {}", token.text)));
            }
            return Ok(macros::global_call(&mut self.factory, open, name, args));
        }
        if is_reserved {
            return Ok(self.factory.report_error(start, format!("reserved identifier: {}", token.text)));
        }
        Ok(self.factory.ident(token.offset, name))
    }

    /// Whether an opening brace follows the name, which can be qualified.
    fn is_struct(&self) -> bool {
        let mut ahead = 0;
        while self.tokens.is_ahead(ahead, TokenSet::DOT) && self.tokens.is_ahead(ahead + 1, TokenSet::IDENTIFIER) {
            ahead += 2;
        }
        self.tokens.is_ahead(ahead, TokenSet::LEFT_BRACE)
    }

    fn struct_expr(&mut self, mut type_name: String) -> ParseResult<Expr> {
        while self.tokens.accept(TokenSet::DOT).is_some() {
            type_name = format!("{type_name}.{}", self.tokens.advance().text);
        }
        let offset = self.tokens.advance().offset;
        let (start, comma) = (TokenSet::FIELD.or(TokenSet::QUESTION_MARK), TokenSet::COMMA.or(TokenSet::RIGHT_BRACE));
        let mut fields = Vec::new();
        if self.tokens.sync(177, start.or(comma))? {
            if self.tokens.is(start) {
                self.tokens.enter(comma, false);
                fields = self.struct_fields(start)?;
                self.tokens.exit();
            }
            self.close([180, 182], TokenSet::RIGHT_BRACE)?;
        }
        Ok(self.factory.expr(offset, ExprKind::Struct(StructExpr { type_name, fields })))
    }

    /// Parses fields, which start with these tokens. Fields without a value are not part of the result.
    fn struct_fields(&mut self, start: TokenSet) -> ParseResult<Vec<StructField>> {
        let list = self.tokens.peek().offset;
        let mut fields = Vec::new();
        loop {
            self.tokens.enter(TokenSet::COLON, false);
            let is_optional = self.tokens.accept(TokenSet::QUESTION_MARK).is_some();
            self.tokens.enter(TokenSet::EMPTY, true);
            let name = self.field_name()?;
            self.tokens.exit();
            self.tokens.exit();
            let Some(colon) = self.tokens.expect(203, TokenSet::COLON, EXPRESSION)? else { return Ok(fields) };
            let errors = self.factory.errors.len();
            let value = self.expr_before(TokenSet::COMMA, true)?;
            if name.is_err() {
                self.factory.errors.truncate(errors);
            }
            if let Some(name) = self.report_invalid(name, list) {
                fields.push(StructField { id: self.factory.next_id(colon), name, value, is_optional });
            }
            if !(self.tokens.is(TokenSet::COMMA) && self.tokens.is_ahead(1, start)) {
                return Ok(fields);
            }
            self.tokens.advance();
        }
    }

    /// Parses the optional comma after the last element, and the closing bracket.
    fn close(&mut self, [comma, end]: [u16; 2], bracket: TokenSet) -> ParseResult<()> {
        if self.tokens.sync(comma, TokenSet::COMMA.or(bracket))? {
            self.tokens.accept(TokenSet::COMMA);
            self.tokens.expect(end, bracket, SUFFIXES)?;
        }
        Ok(())
    }

    fn list(&mut self) -> ParseResult<Expr> {
        let offset = self.tokens.advance().offset;
        let comma = TokenSet::COMMA.or(TokenSet::RIGHT_BRACKET);
        let mut elements = Vec::new();
        if self.tokens.sync(150, TokenSet::OPTIONAL_START.or(comma))? {
            if self.tokens.is(TokenSet::OPTIONAL_START) {
                self.tokens.enter(comma, false);
                elements = self.list_elements()?;
                self.tokens.exit();
            }
            self.close([153, 155], TokenSet::RIGHT_BRACKET)?;
        }
        Ok(self.factory.expr(offset, ExprKind::List(elements)))
    }

    fn list_elements(&mut self) -> ParseResult<Vec<ListElement>> {
        let mut elements = Vec::new();
        loop {
            let is_optional = self.tokens.accept(TokenSet::QUESTION_MARK).is_some();
            elements.push(ListElement { value: self.expr_before(TokenSet::COMMA, true)?, is_optional });
            if !self.is_next_element() {
                return Ok(elements);
            }
            self.tokens.advance();
        }
    }

    /// Whether a comma follows, and then an element.
    fn is_next_element(&self) -> bool {
        self.tokens.is(TokenSet::COMMA) && self.tokens.is_ahead(1, TokenSet::OPTIONAL_START)
    }

    fn map(&mut self) -> ParseResult<Expr> {
        let offset = self.tokens.advance().offset;
        let comma = TokenSet::COMMA.or(TokenSet::RIGHT_BRACE);
        let mut entries = Vec::new();
        if self.tokens.sync(158, TokenSet::OPTIONAL_START.or(comma))? {
            if self.tokens.is(TokenSet::OPTIONAL_START) {
                self.tokens.enter(comma, false);
                entries = self.map_entries()?;
                self.tokens.exit();
            }
            self.close([161, 163], TokenSet::RIGHT_BRACE)?;
        }
        Ok(self.factory.expr(offset, ExprKind::Map(entries)))
    }

    /// Parses entries. Those without a value are not part of the result.
    fn map_entries(&mut self) -> ParseResult<Vec<MapEntry>> {
        let mut entries = Vec::new();
        loop {
            let errors = self.factory.errors.len();
            let is_optional = self.tokens.accept(TokenSet::QUESTION_MARK).is_some();
            let key = self.expr_before(TokenSet::COLON, false)?;
            if self.tokens.expect(221, TokenSet::COLON, EXPRESSION)?.is_none() {
                self.factory.errors.truncate(errors);
                return Ok(entries);
            }
            entries.push(MapEntry { key, value: self.expr_before(TokenSet::COMMA, true)?, is_optional });
            if !self.is_next_element() {
                return Ok(entries);
            }
            self.tokens.advance();
        }
    }
}

/// Builds a balanced tree of all terms in order, with the middle operator at the root, as cel-go does.
fn balanced(function: &str, ids: &[Id], terms: &mut impl Iterator<Item = Expr>) -> Expr {
    if ids.is_empty() {
        return terms.next().expect("a chain has one term more than operators");
    }
    let middle = ids.len() / 2;
    let left = balanced(function, &ids[..middle], terms);
    let right = balanced(function, &ids[middle + 1..], terms);
    let call = Call { function: function.to_owned(), target: None, args: vec![left, right] };
    Expr { id: ids[middle], kind: ExprKind::Call(call) }
}

#[cfg(test)]
mod tests;
