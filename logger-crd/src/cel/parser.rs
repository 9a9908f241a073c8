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
    let mut parser = Parser { text, tokens, at: 0, nodes: Nodes { offsets: Vec::new(), mistakes }, depth: 0 };
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

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    nodes: Nodes,
    depth: usize,
}

impl Parser<'_> {
    fn whole(&mut self) -> Parse<Expr> {
        let root = self.expr()?;
        if self.peek().kind != TokenKind::End {
            return Err(self.missing("<EOF>"));
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

    fn expect(&mut self, symbol: &str) -> Parse<usize> {
        match self.take(symbol) {
            Some(offset) => Ok(offset),
            None => Err(self.missing(symbol)),
        }
    }

    fn stop(&mut self, message: String) -> Stop {
        let offset = self.peek().offset;
        self.nodes.mistakes.push(Mistake { offset: Some(offset), message });
        Stop
    }

    /// A token where none such may begin an expression.
    fn mismatched(&mut self, expected: &str) -> Stop {
        let token = self.peek();
        let begins = |token: &Token| !nothing_begins_with(token) || token.text == ")" && expected.contains("')'");
        let fits_after = self.tokens.get(self.at + 1).is_some_and(begins);
        let is_extraneous = token.kind != TokenKind::End && expected.contains("NUM_INT") && fits_after;
        let what = if is_extraneous { "extraneous" } else { "mismatched" };
        let message = format!("Syntax error: {what} input '{}' expecting {expected}", token.text);
        self.stop(message)
    }

    /// Another token than the one that must follow. The server's parser calls it extraneous if leaving it out would do,
    /// and the other one missing if putting that in would.
    fn missing(&mut self, symbol: &str) -> Stop {
        let token = self.peek().clone();
        let quoted = if symbol == "<EOF>" { symbol.to_owned() } else { format!("'{symbol}'") };
        let after = self.tokens.get(self.at + 1);
        let is_extraneous = token.kind != TokenKind::End && after.is_some_and(|after| after.text == symbol);
        let follows = match symbol {
            ")" | "]" => token.kind == TokenKind::End || self.binary_operator().is_some(),
            ":" => !matches!(token.kind, TokenKind::Symbol | TokenKind::End),
            _ => false,
        };
        let message = if is_extraneous {
            format!("extraneous input '{}' expecting {quoted}", token.text)
        } else if follows {
            format!("missing {quoted} at '{}'", token.text)
        } else {
            format!("mismatched input '{}' expecting {quoted}", token.text)
        };
        self.stop(format!("Syntax error: {message}"))
    }

    /// Every level of nesting takes this way once: its frames are kept few and small.
    fn expr(&mut self) -> Parse<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.nests_too_deep());
        }
        let mut parsed = self.or()?;
        if let Some(offset) = self.take("?") {
            parsed = self.conditional(offset, parsed)?;
        }
        self.depth -= 1;
        Ok(parsed)
    }

    fn conditional(&mut self, offset: usize, condition: Expr) -> Parse<Expr> {
        let yes = self.or()?;
        self.expect(":")?;
        let no = self.expr()?;
        Ok(self.call(offset, operator::CONDITIONAL, vec![condition, yes, no]))
    }

    fn nests_too_deep(&mut self) -> Stop {
        let message = format!("expression recursion limit exceeded: {MAX_DEPTH}");
        self.nodes.mistakes.push(Mistake { offset: None, message });
        Stop
    }

    fn call(&mut self, offset: usize, function: &str, args: Vec<Expr>) -> Expr {
        self.nodes.make(offset, ExprKind::Call(Call { function: function.to_owned(), target: None, args }))
    }

    fn or(&mut self) -> Parse<Expr> {
        let first = self.and()?;
        if !self.is("||") {
            return Ok(first);
        }
        self.chain("||", operator::OR, first, Self::and)
    }

    fn and(&mut self) -> Parse<Expr> {
        let first = self.binary(0)?;
        if !self.is("&&") {
            return Ok(first);
        }
        self.chain("&&", operator::AND, first, |parser| parser.binary(0))
    }

    /// A chain of `||` or `&&`, made a balanced tree.
    fn chain(
        &mut self,
        symbol: &str,
        function: &str,
        first: Expr,
        term: impl Fn(&mut Self) -> Parse<Expr>,
    ) -> Parse<Expr> {
        let mut terms = vec![first];
        let mut offsets = Vec::new();
        while let Some(offset) = self.take(symbol) {
            offsets.push(offset);
            terms.push(term(self)?);
        }
        let ids: Vec<Id> = offsets.into_iter().map(|offset| self.nodes.id(offset)).collect();
        Ok(balanced(function, &ids, &mut terms.into_iter()))
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
                return Err(self.too_deep());
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

    /// Whether no expression can begin here.
    fn begins_nothing(&self) -> bool {
        nothing_begins_with(self.peek())
    }

    fn member(&mut self) -> Parse<Expr> {
        let mut operand = self.primary()?;
        let mut length = 0;
        loop {
            operand = if let Some(offset) = self.take(".") {
                self.selection(operand, offset)?
            } else if let Some(offset) = self.take("[") {
                let is_optional = self.take("?").is_some();
                if !is_optional && self.begins_nothing() {
                    return Err(self.mismatched(&STARTS.replace("'!',", "'!', '?',")));
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
            _ => return Err(self.no_name_after_dot(dot)),
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

    /// The message shows the text from the dot on, as it is written.
    fn no_name_after_dot(&mut self, dot: usize) -> Stop {
        let token = self.peek().clone();
        let end = token.offset + if token.kind == TokenKind::End { 0 } else { token.text.chars().count() };
        let text: String = self.text.chars().skip(dot).take(end - dot).collect();
        self.stop(format!("Syntax error: no viable alternative at input '{text}'"))
    }

    /// Arguments up to a closing bracket.
    fn args(&mut self, close: &str) -> Parse<Vec<Expr>> {
        let mut args = Vec::new();
        if self.take(close).is_some() {
            return Ok(args);
        }
        if self.begins_nothing() {
            return Err(self.mismatched(&STARTS.replace("'(', '.',", "'(', ')', '.',")));
        }
        loop {
            args.push(self.expr()?);
            if self.take(",").is_none() {
                self.expect(close)?;
                return Ok(args);
            }
        }
    }

    fn primary(&mut self) -> Parse<Expr> {
        if self.is("(") {
            self.next();
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
        self.atom()
    }

    /// What begins with no bracket.
    fn atom(&mut self) -> Parse<Expr> {
        let token = self.peek().clone();
        match token.kind {
            TokenKind::Ident => self.name(false),
            TokenKind::Int | TokenKind::Uint | TokenKind::Float => self.number(),
            TokenKind::String | TokenKind::Bytes => {
                self.next();
                Ok(match literal::text(&token) {
                    Ok(value) => self.nodes.make(token.offset, ExprKind::Literal(value)),
                    Err(message) => self.nodes.broken(token.offset, message),
                })
            }
            TokenKind::Symbol => self.word(&token),
            TokenKind::Quoted | TokenKind::End => Err(self.mismatched(STARTS)),
        }
    }

    fn word(&mut self, token: &Token) -> Parse<Expr> {
        let value = match token.text.as_str() {
            "." => {
                self.next();
                let is_name = self.peek().kind == TokenKind::Ident;
                return if is_name { self.name(true) } else { Err(self.mismatched("IDENTIFIER")) };
            }
            "-" if self.is_negative_number() => return self.number(),
            "null" => Literal::Null,
            word @ ("true" | "false") => Literal::Bool(word == "true"),
            _ => return Err(self.mismatched(STARTS)),
        };
        self.next();
        Ok(self.nodes.make(token.offset, ExprKind::Literal(value)))
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
        let offset = self.expect("{")?;
        let mut values = Vec::new();
        while self.take("}").is_none() {
            self.take("?");
            if !matches!(self.peek().kind, TokenKind::Ident | TokenKind::Quoted) {
                return Err(self.mismatched("{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"));
            }
            self.next();
            self.expect(":")?;
            values.push(self.expr()?);
            if self.take(",").is_none() && !self.is("}") {
                return Err(self.mismatched("{'}', ','}"));
            }
        }
        Ok(self.nodes.make(offset, ExprKind::Struct(Struct { name, values })))
    }

    fn list(&mut self) -> Parse<Expr> {
        let offset = self.next().offset;
        let mut elements = Vec::new();
        if self.is(",") && self.tokens.get(self.at + 1).is_some_and(|after| after.text == "]") {
            self.next();
        }
        while self.take("]").is_none() {
            let is_optional = self.take("?").is_some();
            if elements.is_empty() && !is_optional && self.begins_nothing() {
                return Err(self.mismatched(
                    &STARTS.replace("'{', '(', '.',", "']', '{', '(', '.', ',',").replace("'!',", "'!', '?',"),
                ));
            }
            elements.push(Element { value: self.expr()?, is_optional });
            if self.take(",").is_none() && !self.is("]") {
                return Err(self.mismatched("{']', ','}"));
            }
        }
        Ok(self.nodes.make(offset, ExprKind::List(elements)))
    }

    fn map(&mut self) -> Parse<Expr> {
        let offset = self.next().offset;
        let mut entries = Vec::new();
        if self.is(",") && self.tokens.get(self.at + 1).is_some_and(|after| after.text == "}") {
            self.next();
        }
        while self.take("}").is_none() {
            let is_optional = self.take("?").is_some();
            if entries.is_empty() && !is_optional && self.begins_nothing() {
                return Err(self.mismatched(
                    &STARTS.replace("'{', '(', '.',", "'{', '}', '(', '.', ',',").replace("'!',", "'!', '?',"),
                ));
            }
            let key = self.expr()?;
            self.expect(":")?;
            entries.push(Entry { key, value: self.expr()?, is_optional });
            if self.take(",").is_none() && !self.is("}") {
                return Err(self.mismatched("{'}', ','}"));
            }
        }
        Ok(self.nodes.make(offset, ExprKind::Map(entries)))
    }
}

fn nothing_begins_with(token: &Token) -> bool {
    match token.kind {
        TokenKind::End | TokenKind::Quoted => true,
        TokenKind::Symbol => !["[", "{", "(", ".", "-", "!", "true", "false", "null"].contains(&token.text.as_str()),
        _ => false,
    }
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
