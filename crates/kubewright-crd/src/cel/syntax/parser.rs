//! Parses tokens into an expression and expands macros. The error messages are those of cel-go's ANTLR parser.

use kubewright_names::cel::is_reserved;

use super::{
    ast::{Call, Expr, ExprKind, Id, ListElement, Literal, MapEntry, Select, StructExpr, StructField},
    error::CelError,
    factory::ExprFactory,
    lexer::{self, Token, TokenKind},
    literal, macros, operator,
};

/// The maximum nesting depth of an expression, as in cel-go.
const MAX_DEPTH: usize = 250;

/// The maximum length of an expression in characters.
const MAX_LENGTH: usize = 100_000;

/// The tokens that can start an expression, as error messages list them.
const EXPRESSION_START: &str =
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

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
    let (tokens, errors) = lexer::tokenize(text);
    let mut parser = Parser { text, tokens, position: 0, factory: ExprFactory::new(errors), depth: 0 };
    match parser.parse() {
        Ok(root) if parser.factory.errors.is_empty() => Ok(ParsedExpr { root, offsets: parser.factory.offsets }),
        _ => Err(parser.factory.errors),
    }
}

/// Parsing cannot continue. The error is reported.
struct Aborted;

type ParseResult<T> = Result<T, Aborted>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    position: usize,
    factory: ExprFactory,
    depth: usize,
}

impl Parser<'_> {
    fn parse(&mut self) -> ParseResult<Expr> {
        let root = self.expr()?;
        if self.peek().kind != TokenKind::Eof {
            return Err(self.unexpected("<EOF>"));
        }
        Ok(root)
    }

    fn peek(&self) -> &Token {
        // The position never exceeds that of the last token.
        &self.tokens[self.position.min(self.tokens.len() - 1)]
    }

    /// Consumes a token.
    fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        if token.kind != TokenKind::Eof {
            self.position += 1;
        }
        token
    }

    fn is(&self, symbol: &str) -> bool {
        let token = self.peek();
        token.kind == TokenKind::Symbol && token.text == symbol
    }

    /// Consumes the next token if it is the symbol, and returns its offset.
    fn accept(&mut self, symbol: &str) -> Option<usize> {
        self.is(symbol).then(|| self.advance().offset)
    }

    fn expect(&mut self, symbol: &str) -> ParseResult<usize> {
        match self.accept(symbol) {
            Some(offset) => Ok(offset),
            None => Err(self.unexpected(symbol)),
        }
    }

    fn abort(&mut self, message: String) -> Aborted {
        let offset = self.peek().offset;
        self.factory.errors.push(CelError::at(offset, message));
        Aborted
    }

    /// Reports a token that cannot start an expression. ANTLR calls it extraneous if the next token can.
    fn mismatched(&mut self, expected: &str) -> Aborted {
        let token = self.peek();
        let can_follow =
            |token: &Token| !cannot_start_expression(token) || token.text == ")" && expected.contains("')'");
        let next_fits = self.tokens.get(self.position + 1).is_some_and(can_follow);
        let is_extraneous = token.kind != TokenKind::Eof && expected.contains("NUM_INT") && next_fits;
        let what = if is_extraneous { "extraneous" } else { "mismatched" };
        let message = format!("Syntax error: {what} input '{}' expecting {expected}", token.text);
        self.abort(message)
    }

    /// Reports a token other than the expected symbol. ANTLR calls the token extraneous if the symbol follows it, and
    /// the symbol missing if the token can follow the symbol.
    fn unexpected(&mut self, symbol: &str) -> Aborted {
        let token = self.peek().clone();
        let quoted = if symbol == "<EOF>" { symbol.to_owned() } else { format!("'{symbol}'") };
        let next = self.tokens.get(self.position + 1);
        let is_extraneous = token.kind != TokenKind::Eof && next.is_some_and(|next| next.text == symbol);
        let is_missing = match symbol {
            ")" | "]" => token.kind == TokenKind::Eof || self.binary_operator().is_some(),
            ":" => !matches!(token.kind, TokenKind::Symbol | TokenKind::Eof),
            _ => false,
        };
        let message = if is_extraneous {
            format!("extraneous input '{}' expecting {quoted}", token.text)
        } else if is_missing {
            format!("missing {quoted} at '{}'", token.text)
        } else {
            format!("mismatched input '{}' expecting {quoted}", token.text)
        };
        self.abort(format!("Syntax error: {message}"))
    }

    /// Parses an expression. Each level of nesting recurses through this function, so its stack frames must stay small.
    fn expr(&mut self) -> ParseResult<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.recursion_limit_exceeded());
        }
        let mut parsed = self.or()?;
        if let Some(offset) = self.accept("?") {
            parsed = self.conditional(offset, parsed)?;
        }
        self.depth -= 1;
        Ok(parsed)
    }

    fn conditional(&mut self, offset: usize, condition: Expr) -> ParseResult<Expr> {
        let yes = self.or()?;
        self.expect(":")?;
        let no = self.expr()?;
        Ok(self.call(offset, operator::CONDITIONAL, vec![condition, yes, no]))
    }

    fn recursion_limit_exceeded(&mut self) -> Aborted {
        let message = format!("expression recursion limit exceeded: {MAX_DEPTH}");
        self.factory.errors.push(CelError::without_location(message));
        Aborted
    }

    fn call(&mut self, offset: usize, function: &str, args: Vec<Expr>) -> Expr {
        self.factory.call(offset, function, args)
    }

    fn or(&mut self) -> ParseResult<Expr> {
        let first = self.and()?;
        if !self.is("||") {
            return Ok(first);
        }
        self.chain("||", operator::OR, first, Self::and)
    }

    fn and(&mut self) -> ParseResult<Expr> {
        let first = self.binary(0)?;
        if !self.is("&&") {
            return Ok(first);
        }
        self.chain("&&", operator::AND, first, |parser| parser.binary(0))
    }

    /// Parses a chain of `||` or `&&` into a balanced tree.
    fn chain(
        &mut self,
        symbol: &str,
        function: &str,
        first: Expr,
        term: impl Fn(&mut Self) -> ParseResult<Expr>,
    ) -> ParseResult<Expr> {
        let mut terms = vec![first];
        let mut offsets = Vec::new();
        while let Some(offset) = self.accept(symbol) {
            offsets.push(offset);
            terms.push(term(self)?);
        }
        let ids: Vec<Id> = offsets.into_iter().map(|offset| self.factory.next_id(offset)).collect();
        Ok(balanced(function, &ids, &mut terms.into_iter()))
    }

    /// Parses comparisons, sums and products by precedence climbing. All of them are left-associative.
    fn binary(&mut self, min_precedence: usize) -> ParseResult<Expr> {
        let mut left = self.unary()?;
        let mut length = 0;
        while let Some((precedence, function)) = self.binary_operator() {
            if precedence < min_precedence {
                break;
            }
            length += 1;
            if length > MAX_DEPTH {
                return Err(self.max_depth_exceeded());
            }
            let offset = self.advance().offset;
            let right = self.binary(precedence + 1)?;
            left = self.call(offset, function, vec![left, right]);
        }
        Ok(left)
    }

    fn max_depth_exceeded(&mut self) -> Aborted {
        self.factory.errors.push(CelError::without_location("max recursion depth exceeded"));
        Aborted
    }

    fn binary_operator(&self) -> Option<(usize, &'static str)> {
        let token = self.peek();
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
        let (symbol, function) = if self.is("!") {
            ("!", operator::NOT)
        } else if self.is("-") && !self.is_negative_number() {
            ("-", operator::NEGATE)
        } else {
            return self.member();
        };
        let first = self.advance().offset;
        let mut count = 1;
        while self.accept(symbol).is_some() {
            count += 1;
        }
        let operand = self.member()?;
        Ok(if count % 2 == 0 { operand } else { self.call(first, function, vec![operand]) })
    }

    fn is_negative_number(&self) -> bool {
        self.is("-")
            && self
                .tokens
                .get(self.position + 1)
                .is_some_and(|next| matches!(next.kind, TokenKind::Int | TokenKind::Float))
    }

    fn cannot_start_expression(&self) -> bool {
        cannot_start_expression(self.peek())
    }

    fn member(&mut self) -> ParseResult<Expr> {
        let mut operand = self.primary()?;
        let mut length = 0;
        loop {
            operand = if let Some(offset) = self.accept(".") {
                self.select_or_member_call(operand, offset)?
            } else if let Some(offset) = self.accept("[") {
                let is_optional = self.accept("?").is_some();
                if !is_optional && self.cannot_start_expression() {
                    return Err(self.mismatched(&EXPRESSION_START.replace("'!',", "'!', '?',")));
                }
                let index = self.expr()?;
                self.expect("]")?;
                let function = if is_optional { operator::OPTIONAL_INDEX } else { operator::INDEX };
                self.call(offset, function, vec![operand, index])
            } else {
                return Ok(operand);
            };
            length += 1;
            if length > MAX_DEPTH {
                return Err(self.max_depth_exceeded());
            }
        }
    }

    /// Parses what follows a dot: a field selection or a member call.
    fn select_or_member_call(&mut self, operand: Expr, dot: usize) -> ParseResult<Expr> {
        let is_optional = self.accept("?").is_some();
        let token = self.peek().clone();
        let field = match token.kind {
            TokenKind::Ident => token.text.clone(),
            // The server's environment does not enable escaped identifiers.
            TokenKind::EscapedIdent => {
                self.factory.report_error(token.offset, "unsupported syntax: '`'");
                String::new()
            }
            _ if is_optional => return Err(self.mismatched("{IDENTIFIER, ESC_IDENTIFIER}")),
            _ => return Err(self.missing_identifier_after_dot(dot)),
        };
        self.advance();
        if is_optional {
            let name = self.factory.literal(token.offset, Literal::String(field));
            return Ok(self.call(dot, operator::OPTIONAL_SELECT, vec![operand, name]));
        }
        if token.kind == TokenKind::Ident && self.is("(") {
            let open = self.advance().offset;
            let args = self.arguments(")")?;
            return Ok(macros::member_call(&mut self.factory, open, field, operand, args));
        }
        let select = Select { operand, field, is_test_only: false };
        Ok(self.factory.expr(dot, ExprKind::Select(Box::new(select))))
    }

    /// Reports a dot without an identifier. The message contains the source text from the dot on.
    fn missing_identifier_after_dot(&mut self, dot: usize) -> Aborted {
        let token = self.peek().clone();
        let end = token.offset + if token.kind == TokenKind::Eof { 0 } else { token.text.chars().count() };
        let text: String = self.text.chars().skip(dot).take(end - dot).collect();
        self.abort(format!("Syntax error: no viable alternative at input '{text}'"))
    }

    /// Parses arguments up to a closing bracket.
    fn arguments(&mut self, close: &str) -> ParseResult<Vec<Expr>> {
        let mut args = Vec::new();
        if self.accept(close).is_some() {
            return Ok(args);
        }
        if self.cannot_start_expression() {
            return Err(self.mismatched(&EXPRESSION_START.replace("'(', '.',", "'(', ')', '.',")));
        }
        loop {
            args.push(self.expr()?);
            if self.accept(",").is_none() {
                self.expect(close)?;
                return Ok(args);
            }
        }
    }

    fn primary(&mut self) -> ParseResult<Expr> {
        if self.is("(") {
            self.advance();
            let inner = self.expr()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.is("[") {
            return self.list();
        }
        if self.is("{") {
            return self.map();
        }
        self.unbracketed()
    }

    /// Parses a primary expression that starts with no bracket.
    fn unbracketed(&mut self) -> ParseResult<Expr> {
        let token = self.peek().clone();
        match token.kind {
            TokenKind::Ident => self.identifier(false),
            TokenKind::Int | TokenKind::Uint | TokenKind::Float => self.number(),
            TokenKind::String | TokenKind::Bytes => {
                self.advance();
                Ok(match literal::string(&token) {
                    Ok(value) => self.factory.literal(token.offset, value),
                    Err(message) => self.factory.report_error(token.offset, message),
                })
            }
            TokenKind::Symbol => self.keyword(&token),
            TokenKind::EscapedIdent | TokenKind::Eof => Err(self.mismatched(EXPRESSION_START)),
        }
    }

    /// Parses what starts with a symbol: `true`, `false`, `null`, a negative number, or an absolute name `.a`.
    fn keyword(&mut self, token: &Token) -> ParseResult<Expr> {
        let value = match token.text.as_str() {
            "." => {
                self.advance();
                let is_name = self.peek().kind == TokenKind::Ident;
                return if is_name { self.identifier(true) } else { Err(self.mismatched("IDENTIFIER")) };
            }
            "-" if self.is_negative_number() => return self.number(),
            "null" => Literal::Null,
            flag @ ("true" | "false") => Literal::Bool(flag == "true"),
            _ => return Err(self.mismatched(EXPRESSION_START)),
        };
        self.advance();
        Ok(self.factory.literal(token.offset, value))
    }

    fn number(&mut self) -> ParseResult<Expr> {
        let first = self.advance();
        let (sign, token) = if first.text == "-" { ("-", self.advance()) } else { ("", first.clone()) };
        Ok(match literal::number(sign, &token) {
            Ok(value) => self.factory.literal(first.offset, value),
            Err(message) => self.factory.report_error(first.offset, message),
        })
    }

    /// Parses a variable, a global call, or the construction of a message.
    fn identifier(&mut self, is_absolute: bool) -> ParseResult<Expr> {
        let token = self.advance();
        if self.is("{") || self.is_struct() {
            return self.struct_expr(token.text);
        }
        let start = if is_absolute { token.offset.saturating_sub(1) } else { token.offset };
        let name = if is_absolute { format!(".{}", token.text) } else { token.text.clone() };
        let is_reserved = is_reserved(&token.text);
        if self.is("(") {
            let open = self.advance().offset;
            let args = self.arguments(")")?;
            if is_reserved {
                return Ok(self.factory.report_error(start, format!("reserved identifier: {}", token.text)));
            }
            return Ok(macros::global_call(&mut self.factory, open, name, args));
        }
        if is_reserved {
            return Ok(self.factory.report_error(start, format!("reserved identifier: {}", token.text)));
        }
        Ok(self.factory.ident(token.offset, name))
    }

    /// Whether an opening brace follows the qualified name at the current position.
    fn is_struct(&self) -> bool {
        let mut position = self.position;
        while self.tokens.get(position).is_some_and(|token| token.text == ".")
            && self.tokens.get(position + 1).is_some_and(|token| token.kind == TokenKind::Ident)
        {
            position += 2;
        }
        position > self.position && self.tokens.get(position).is_some_and(|token| token.text == "{")
    }

    fn struct_expr(&mut self, mut type_name: String) -> ParseResult<Expr> {
        while self.accept(".").is_some() {
            type_name = format!("{type_name}.{}", self.advance().text);
        }
        let offset = self.expect("{")?;
        let mut fields = Vec::new();
        while self.accept("}").is_none() {
            let is_optional = self.accept("?").is_some();
            if !matches!(self.peek().kind, TokenKind::Ident | TokenKind::EscapedIdent) {
                return Err(self.mismatched("{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"));
            }
            let name = self.advance();
            if name.kind == TokenKind::EscapedIdent {
                self.factory.report_error(name.offset, "unsupported syntax: '`'");
            }
            let colon = self.expect(":")?;
            let id = self.factory.next_id(colon);
            fields.push(StructField { id, name: name.text, value: self.expr()?, is_optional });
            if self.accept(",").is_none() && !self.is("}") {
                return Err(self.mismatched("{'}', ','}"));
            }
        }
        Ok(self.factory.expr(offset, ExprKind::Struct(StructExpr { type_name, fields })))
    }

    fn list(&mut self) -> ParseResult<Expr> {
        let offset = self.advance().offset;
        let mut elements = Vec::new();
        if self.is(",") && self.tokens.get(self.position + 1).is_some_and(|after| after.text == "]") {
            self.advance();
        }
        while self.accept("]").is_none() {
            let is_optional = self.accept("?").is_some();
            if elements.is_empty() && !is_optional && self.cannot_start_expression() {
                return Err(self.mismatched(
                    &EXPRESSION_START
                        .replace("'{', '(', '.',", "']', '{', '(', '.', ',',")
                        .replace("'!',", "'!', '?',"),
                ));
            }
            elements.push(ListElement { value: self.expr()?, is_optional });
            if self.accept(",").is_none() && !self.is("]") {
                return Err(self.mismatched("{']', ','}"));
            }
        }
        Ok(self.factory.expr(offset, ExprKind::List(elements)))
    }

    fn map(&mut self) -> ParseResult<Expr> {
        let offset = self.advance().offset;
        let mut entries = Vec::new();
        if self.is(",") && self.tokens.get(self.position + 1).is_some_and(|after| after.text == "}") {
            self.advance();
        }
        while self.accept("}").is_none() {
            let is_optional = self.accept("?").is_some();
            if entries.is_empty() && !is_optional && self.cannot_start_expression() {
                return Err(self.mismatched(
                    &EXPRESSION_START
                        .replace("'{', '(', '.',", "'{', '}', '(', '.', ',',")
                        .replace("'!',", "'!', '?',"),
                ));
            }
            let key = self.expr()?;
            self.expect(":")?;
            entries.push(MapEntry { key, value: self.expr()?, is_optional });
            if self.accept(",").is_none() && !self.is("}") {
                return Err(self.mismatched("{'}', ','}"));
            }
        }
        Ok(self.factory.expr(offset, ExprKind::Map(entries)))
    }
}

fn cannot_start_expression(token: &Token) -> bool {
    match token.kind {
        TokenKind::Eof | TokenKind::EscapedIdent => true,
        TokenKind::Symbol => !["[", "{", "(", ".", "-", "!", "true", "false", "null"].contains(&token.text.as_str()),
        _ => false,
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
mod tests {
    use super::*;
    use crate::cel::syntax::error::Source;

    fn errors(text: &str) -> String {
        parse(text).map_or_else(|errors| Source(text).format(&errors), |_| "parsed".to_owned())
    }

    #[test]
    fn errors_show_the_source_line_and_a_caret() {
        assert_eq!(
            errors("self.a ==\n  for + 1"),
            "ERROR: <input>:2:3: reserved identifier: for\n |   for + 1\n | ..^"
        );
    }

    #[test]
    fn operators_have_the_precedence_of_the_grammar() {
        let parsed = parse("1 + 2 * 3 == 7 && !a.b || c ? d : e").expect("a valid expression");
        let ExprKind::Call(call) = parsed.root.kind else { panic!("expected a call") };
        assert_eq!(call.function, operator::CONDITIONAL);
    }

    #[test]
    fn nesting_depth_is_limited_and_never_overflows_the_stack() {
        for (open, close) in [("(", ")"), ("[", "]"), ("f(", ")"), ("{1:", "}"), ("!(", ")"), ("a?b:", "")] {
            let deep = format!("{}1{}", open.repeat(20_000), close.repeat(20_000));
            assert!(errors(&deep).contains("expression"), "{open}");
            let shallow = format!("{}1{}", open.repeat(200), close.repeat(200));
            assert_eq!(errors(&shallow), "parsed", "{open}");
        }
        for chain in ["a.b", "+1", "[0]", " && a"] {
            errors(&format!("a{}", chain.repeat(5000)));
        }
    }
}
