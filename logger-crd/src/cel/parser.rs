//! Tokens as an expression, macros expanded on the way; mistakes in the words of the server's parser.

use super::{
    escape,
    lexer::{self, Token, TokenKind},
    literal, macros,
    syntax::{Call, Element, Entry, Expr, ExprKind, Id, Literal, Mistake, Select, Struct, operator},
};

/// How deep expressions may nest, as in the server's parser.
const MAX_DEPTH: usize = 250;

/// How long an expression may be, in characters.
const MAX_LENGTH: usize = 100_000;

/// What an expression may begin with.
const STARTS: &str =
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/// What may follow an operand.
const OPERATORS: &str = "'==', '!=', 'in', '<', '<=', '>=', '>', '&&', '||', '[', '.', '-', '?', '+', '*', '/', '%'";

/// An expression and where each of its nodes stands.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) root: Expr,
    /// By node: characters from the start.
    pub(super) offsets: Vec<usize>,
}

/// The expression a text says.
pub(super) fn parse(text: &str) -> Result<Parsed, Vec<Mistake>> {
    let length = text.chars().count();
    if length > MAX_LENGTH {
        let message = format!("expression code point size exceeds limit: size: {length}, limit {MAX_LENGTH}");
        return Err(vec![Mistake { offset: None, message }]);
    }
    let (tokens, mistakes) = lexer::tokens(text);
    let mut parser = Parser { tokens, at: 0, nodes: Nodes { offsets: Vec::new(), mistakes }, depth: 0 };
    match parser.whole() {
        Ok(root) if parser.nodes.mistakes.is_empty() => Ok(Parsed { root, offsets: parser.nodes.offsets }),
        _ => Err(parser.nodes.mistakes),
    }
}

/// The nodes made so far, and what was wrong.
pub(super) struct Nodes {
    offsets: Vec<usize>,
    mistakes: Vec<Mistake>,
}

impl Nodes {
    pub(super) fn id(&mut self, offset: usize) -> Id {
        self.offsets.push(offset);
        self.offsets.len() - 1
    }

    pub(super) fn offset(&self, id: Id) -> usize {
        self.offsets[id]
    }

    pub(super) fn make(&mut self, offset: usize, kind: ExprKind) -> Expr {
        Expr { id: self.id(offset), kind }
    }

    /// Notes a mistake; what stands there is broken.
    pub(super) fn broken(&mut self, offset: usize, message: impl Into<String>) -> Expr {
        self.mistakes.push(Mistake { offset: Some(offset), message: message.into() });
        self.make(offset, ExprKind::Broken)
    }

    /// The same expression with nodes of its own, at the same places.
    pub(super) fn copy(&mut self, expr: &Expr) -> Expr {
        let mut copy = expr.clone();
        self.renumber(&mut copy);
        copy
    }

    fn renumber(&mut self, expr: &mut Expr) {
        expr.id = self.id(self.offset(expr.id));
        match &mut expr.kind {
            ExprKind::Broken | ExprKind::Literal(_) | ExprKind::Ident(_) => {}
            ExprKind::Select(select) => self.renumber(&mut select.operand),
            ExprKind::Call(call) => {
                call.target.iter_mut().for_each(|target| self.renumber(target));
                call.args.iter_mut().for_each(|arg| self.renumber(arg));
            }
            ExprKind::List(elements) => elements.iter_mut().for_each(|element| self.renumber(&mut element.value)),
            ExprKind::Map(entries) => entries.iter_mut().for_each(|entry| {
                self.renumber(&mut entry.key);
                self.renumber(&mut entry.value);
            }),
            ExprKind::Struct(made) => made.values.iter_mut().for_each(|value| self.renumber(value)),
            ExprKind::Comprehension(c) => {
                [&mut c.range, &mut c.start, &mut c.condition, &mut c.step, &mut c.result]
                    .into_iter()
                    .for_each(|part| self.renumber(part));
            }
        }
    }
}

/// Parsing cannot go on; the mistake is noted.
struct Stop;

type Parse<T> = Result<T, Stop>;

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    nodes: Nodes,
    depth: usize,
}

impl Parser {
    fn whole(&mut self) -> Parse<Expr> {
        let root = self.expr()?;
        if self.peek().kind != TokenKind::End {
            return Err(self.unexpected_after(&format!("{{<EOF>, {OPERATORS}}}"), "<EOF>"));
        }
        Ok(root)
    }

    fn peek(&self) -> &Token {
        // The end token is never passed.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    fn is(&self, symbol: &str) -> bool {
        let token = self.peek();
        token.kind == TokenKind::Symbol && token.text == symbol
    }

    fn take(&mut self, symbol: &str) -> Option<usize> {
        self.is(symbol).then(|| self.next().offset)
    }

    fn expect(&mut self, symbol: &str, expected: &str) -> Parse<usize> {
        match self.take(symbol) {
            Some(offset) => Ok(offset),
            None => Err(self.unexpected_after(expected, &format!("'{symbol}'"))),
        }
    }

    fn stop(&mut self, message: String) -> Stop {
        let offset = self.peek().offset;
        self.nodes.mistakes.push(Mistake { offset: Some(offset), message });
        Stop
    }

    /// A token where none such may begin an expression.
    fn mismatched(&mut self, expected: &str) -> Stop {
        let message = format!("Syntax error: mismatched input '{}' expecting {expected}", self.peek().text);
        self.stop(message)
    }

    /// A token that cannot follow an operand. The server's parser calls it extraneous if leaving it out would do, and
    /// says then what it waits for alone.
    fn unexpected_after(&mut self, expected: &str, closing: &str) -> Stop {
        let token = self.peek().clone();
        let after = self.tokens.get(self.at + 1);
        let closing_text = closing.trim_matches('\'');
        if token.kind != TokenKind::End && after.is_some_and(|after| after.text == closing_text) {
            return self.stop(format!("Syntax error: extraneous input '{}' expecting {closing}", token.text));
        }
        if token.kind != TokenKind::End && closing == "<EOF>" {
            return self.stop(format!("Syntax error: mismatched input '{}' expecting {closing}", token.text));
        }
        self.mismatched(expected)
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("expression recursion limit exceeded: {MAX_DEPTH}");
            self.nodes.mistakes.push(Mistake { offset: None, message });
            return Err(Stop);
        }
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn expr(&mut self) -> Parse<Expr> {
        self.deeper(|parser| {
            let condition = parser.logic(operator::OR)?;
            let Some(offset) = parser.take("?") else { return Ok(condition) };
            let yes = parser.logic(operator::OR)?;
            parser.expect(":", &format!("{{{OPERATORS}, ':'}}"))?;
            let no = parser.expr()?;
            Ok(parser.call(offset, operator::CONDITIONAL, vec![condition, yes, no]))
        })
    }

    fn call(&mut self, offset: usize, function: &str, args: Vec<Expr>) -> Expr {
        self.nodes.make(offset, ExprKind::Call(Call { function: function.to_owned(), target: None, args }))
    }

    /// A chain of `||` or `&&`, made a balanced tree.
    fn logic(&mut self, function: &str) -> Parse<Expr> {
        let is_or = function == operator::OR;
        let mut terms = vec![self.logic_term(is_or)?];
        let mut offsets = Vec::new();
        while let Some(offset) = self.take(if is_or { "||" } else { "&&" }) {
            offsets.push(offset);
            terms.push(self.logic_term(is_or)?);
        }
        let ids: Vec<Id> = offsets.into_iter().map(|offset| self.nodes.id(offset)).collect();
        Ok(balanced(function, &ids, &mut terms.into_iter()))
    }

    fn logic_term(&mut self, is_or: bool) -> Parse<Expr> {
        if is_or { self.logic(operator::AND) } else { self.binary(0) }
    }

    /// Comparisons, sums and products, by precedence, all from left to right.
    fn binary(&mut self, weakest: usize) -> Parse<Expr> {
        let mut left = self.unary()?;
        let mut length = 0;
        while let Some((precedence, function)) = self.binary_operator() {
            if precedence < weakest {
                break;
            }
            length += 1;
            if length > MAX_DEPTH {
                return self.deeper(|_| Ok(left)).and(Err(self.too_deep()));
            }
            let offset = self.next().offset;
            let right = self.binary(precedence + 1)?;
            left = self.call(offset, function, vec![left, right]);
        }
        Ok(left)
    }

    fn too_deep(&mut self) -> Stop {
        self.nodes.mistakes.push(Mistake { offset: None, message: "max recursion depth exceeded".to_owned() });
        Stop
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

    fn unary(&mut self) -> Parse<Expr> {
        let (symbol, function) = if self.is("!") {
            ("!", operator::NOT)
        } else if self.is("-") && !self.is_negative_number() {
            ("-", operator::NEGATE)
        } else {
            return self.member();
        };
        let first = self.next().offset;
        let mut count = 1;
        while self.take(symbol).is_some() {
            count += 1;
        }
        let operand = self.member()?;
        Ok(if count % 2 == 0 { operand } else { self.call(first, function, vec![operand]) })
    }

    fn is_negative_number(&self) -> bool {
        self.is("-")
            && self.tokens.get(self.at + 1).is_some_and(|next| matches!(next.kind, TokenKind::Int | TokenKind::Float))
    }

    fn member(&mut self) -> Parse<Expr> {
        let mut operand = self.primary()?;
        let mut length = 0;
        loop {
            operand = if let Some(offset) = self.take(".") {
                self.selection(operand, offset)?
            } else if let Some(offset) = self.take("[") {
                let is_optional = self.take("?").is_some();
                let index = self.expr()?;
                self.expect("]", &format!("{{{OPERATORS}, ']'}}"))?;
                let function = if is_optional { operator::OPTIONAL_INDEX } else { operator::INDEX };
                self.call(offset, function, vec![operand, index])
            } else {
                return Ok(operand);
            };
            length += 1;
            if length > MAX_DEPTH {
                return Err(self.too_deep());
            }
        }
    }

    /// What follows a dot: a field or a method.
    fn selection(&mut self, operand: Expr, dot: usize) -> Parse<Expr> {
        let is_optional = self.take("?").is_some();
        let token = self.peek().clone();
        let field = match token.kind {
            TokenKind::Ident => token.text.clone(),
            // Backticks are not enabled for rules.
            TokenKind::Quoted => {
                self.nodes.broken(token.offset, "unsupported syntax: '`'");
                String::new()
            }
            _ if is_optional => return Err(self.mismatched("{IDENTIFIER, ESC_IDENTIFIER}")),
            _ => return Err(self.no_name_after_dot()),
        };
        self.next();
        if is_optional {
            let name = self.nodes.make(token.offset, ExprKind::Literal(Literal::String(field)));
            return Ok(self.call(dot, operator::OPTIONAL_SELECT, vec![operand, name]));
        }
        if token.kind == TokenKind::Ident && self.is("(") {
            let open = self.next().offset;
            let args = self.args(")")?;
            return Ok(macros::member(&mut self.nodes, open, field, operand, args));
        }
        let select = Select { operand, field, is_test: false };
        Ok(self.nodes.make(dot, ExprKind::Select(Box::new(select))))
    }

    fn no_name_after_dot(&mut self) -> Stop {
        let token = self.peek().clone();
        // A word of the language, such as `in`, is told by another name than a bracket would be.
        if token.kind == TokenKind::Symbol && escape::is_reserved(&token.text) || token.kind == TokenKind::End {
            return self.stop(format!("Syntax error: no viable alternative at input '.{}'", end_less(&token.text)));
        }
        self.stop(format!("Syntax error: no viable alternative at input '.{}'", token.text))
    }

    /// Arguments up to a closing bracket.
    fn args(&mut self, close: &str) -> Parse<Vec<Expr>> {
        let mut args = Vec::new();
        if self.take(close).is_some() {
            return Ok(args);
        }
        loop {
            args.push(self.expr()?);
            if self.take(",").is_none() {
                self.expect(close, &format!("{{{OPERATORS}, ',', '{close}'}}"))?;
                return Ok(args);
            }
        }
    }

    fn primary(&mut self) -> Parse<Expr> {
        let token = self.peek().clone();
        match token.kind {
            TokenKind::Ident => self.name(false),
            TokenKind::Symbol => match token.text.as_str() {
                "." => {
                    self.next();
                    if self.peek().kind == TokenKind::Ident {
                        self.name(true)
                    } else {
                        Err(self.mismatched("IDENTIFIER"))
                    }
                }
                "(" => {
                    self.next();
                    let inner = self.expr()?;
                    self.expect(")", &format!("{{{OPERATORS}, ')'}}"))?;
                    Ok(inner)
                }
                "[" => self.list(),
                "{" => self.map(),
                "-" if self.is_negative_number() => self.number(),
                "true" | "false" | "null" => {
                    self.next();
                    let value = match token.text.as_str() {
                        "null" => Literal::Null,
                        word => Literal::Bool(word == "true"),
                    };
                    Ok(self.nodes.make(token.offset, ExprKind::Literal(value)))
                }
                _ => Err(self.mismatched(STARTS)),
            },
            TokenKind::Int | TokenKind::Uint | TokenKind::Float => self.number(),
            TokenKind::String | TokenKind::Bytes => {
                self.next();
                Ok(match literal::text(&token) {
                    Ok(value) => self.nodes.make(token.offset, ExprKind::Literal(value)),
                    Err(message) => self.nodes.broken(token.offset, message),
                })
            }
            TokenKind::Quoted | TokenKind::End => Err(self.mismatched(STARTS)),
        }
    }

    fn number(&mut self) -> Parse<Expr> {
        let first = self.next();
        let (sign, token) = if first.text == "-" { ("-", self.next()) } else { ("", first.clone()) };
        Ok(match literal::number(sign, &token) {
            Ok(value) => self.nodes.make(first.offset, ExprKind::Literal(value)),
            Err(message) => self.nodes.broken(first.offset, message),
        })
    }

    /// A variable, a function call, or the name of a message to make.
    fn name(&mut self, is_absolute: bool) -> Parse<Expr> {
        let token = self.next();
        if self.is("{") || self.is_message() {
            return self.message(token.text);
        }
        let start = if is_absolute { token.offset.saturating_sub(1) } else { token.offset };
        let name = if is_absolute { format!(".{}", token.text) } else { token.text.clone() };
        let is_reserved = escape::is_reserved(&token.text);
        if self.is("(") {
            let open = self.next().offset;
            let args = self.args(")")?;
            if is_reserved {
                return Ok(self.nodes.broken(start, format!("reserved identifier: {}", token.text)));
            }
            return Ok(macros::global(&mut self.nodes, open, name, args));
        }
        if is_reserved {
            return Ok(self.nodes.broken(start, format!("reserved identifier: {}", token.text)));
        }
        Ok(self.nodes.make(token.offset, ExprKind::Ident(name)))
    }

    /// Whether the names and dots from here end in an opening brace.
    fn is_message(&self) -> bool {
        let mut at = self.at;
        while self.tokens.get(at).is_some_and(|token| token.text == ".")
            && self.tokens.get(at + 1).is_some_and(|token| token.kind == TokenKind::Ident)
        {
            at += 2;
        }
        at > self.at && self.tokens.get(at).is_some_and(|token| token.text == "{")
    }

    fn message(&mut self, mut name: String) -> Parse<Expr> {
        while self.take(".").is_some() {
            name = format!("{name}.{}", self.next().text);
        }
        let offset = self.expect("{", "'{'")?;
        let mut values = Vec::new();
        while self.take("}").is_none() {
            self.take("?");
            if !matches!(self.peek().kind, TokenKind::Ident | TokenKind::Quoted) {
                return Err(self.mismatched("{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"));
            }
            self.next();
            self.expect(":", "':'")?;
            values.push(self.expr()?);
            if self.take(",").is_none() && !self.is("}") {
                return Err(self.mismatched(&format!("{{{OPERATORS}, '}}', ','}}")));
            }
        }
        Ok(self.nodes.make(offset, ExprKind::Struct(Struct { name, values })))
    }

    fn list(&mut self) -> Parse<Expr> {
        let offset = self.next().offset;
        let mut elements = Vec::new();
        while self.take("]").is_none() {
            let is_optional = self.take("?").is_some();
            elements.push(Element { value: self.expr()?, is_optional });
            if self.take(",").is_none() && !self.is("]") {
                return Err(self.mismatched(&format!("{{{OPERATORS}, ']', ','}}")));
            }
        }
        Ok(self.nodes.make(offset, ExprKind::List(elements)))
    }

    fn map(&mut self) -> Parse<Expr> {
        let offset = self.next().offset;
        let mut entries = Vec::new();
        while self.take("}").is_none() {
            let is_optional = self.take("?").is_some();
            let key = self.expr()?;
            self.expect(":", &format!("{{{OPERATORS}, ':'}}"))?;
            entries.push(Entry { key, value: self.expr()?, is_optional });
            if self.take(",").is_none() && !self.is("}") {
                return Err(self.mismatched(&format!("{{{OPERATORS}, '}}', ','}}")));
            }
        }
        Ok(self.nodes.make(offset, ExprKind::Map(entries)))
    }
}

fn end_less(text: &str) -> &str {
    if text == "<EOF>" { "" } else { text }
}

/// A tree of all terms in their order: the middle operator on top, as the server has it.
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
    use crate::cel::syntax::Source;

    fn mistakes(text: &str) -> String {
        parse(text).map_or_else(|mistakes| Source(text).show(&mistakes), |_| "parsed".to_owned())
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        assert_eq!(
            mistakes("self.a ==\n  for + 1"),
            "ERROR: <input>:2:3: reserved identifier: for\n |   for + 1\n | ..^"
        );
    }

    #[test]
    fn precedence_is_that_of_the_grammar() {
        let parsed = parse("1 + 2 * 3 == 7 && !a.b || c ? d : e").expect("it is one");
        let ExprKind::Call(call) = parsed.root.kind else { panic!("a call") };
        assert_eq!(call.function, operator::CONDITIONAL);
    }

    #[test]
    fn nesting_has_a_limit_and_no_stack_overflows() {
        for (open, close) in [("(", ")"), ("[", "]"), ("f(", ")"), ("{1:", "}"), ("!(", ")"), ("a?b:", "")] {
            let deep = format!("{}1{}", open.repeat(20_000), close.repeat(20_000));
            assert!(mistakes(&deep).contains("expression"), "{open}");
            let shallow = format!("{}1{}", open.repeat(200), close.repeat(200));
            assert_eq!(mistakes(&shallow), "parsed", "{open}");
        }
        for chain in ["a.b", "+1", "[0]", " && a"] {
            mistakes(&format!("a{}", chain.repeat(5000)));
        }
    }
}
