//! Expressions as the checker, the estimate and the evaluation read them: macros expanded, every node with a place.

use std::fmt;

/// A node's number: the places and types of nodes are kept beside the tree.
pub(super) type Id = usize;

/// The names of operators as functions.
pub(super) mod operator {
    pub(in crate::cel) const CONDITIONAL: &str = "_?_:_";
    pub(in crate::cel) const AND: &str = "_&&_";
    pub(in crate::cel) const OR: &str = "_||_";
    pub(in crate::cel) const NOT: &str = "!_";
    pub(in crate::cel) const EQUALS: &str = "_==_";
    pub(in crate::cel) const NOT_EQUALS: &str = "_!=_";
    pub(in crate::cel) const LESS: &str = "_<_";
    pub(in crate::cel) const LESS_EQUALS: &str = "_<=_";
    pub(in crate::cel) const GREATER: &str = "_>_";
    pub(in crate::cel) const GREATER_EQUALS: &str = "_>=_";
    pub(in crate::cel) const IN: &str = "@in";
    pub(in crate::cel) const ADD: &str = "_+_";
    pub(in crate::cel) const SUBTRACT: &str = "_-_";
    pub(in crate::cel) const MULTIPLY: &str = "_*_";
    pub(in crate::cel) const DIVIDE: &str = "_/_";
    pub(in crate::cel) const MODULO: &str = "_%_";
    pub(in crate::cel) const NEGATE: &str = "-_";
    pub(in crate::cel) const INDEX: &str = "_[_]";
    pub(in crate::cel) const OPTIONAL_INDEX: &str = "_[?_]";
    pub(in crate::cel) const OPTIONAL_SELECT: &str = "_?._";
    pub(in crate::cel) const NOT_STRICTLY_FALSE: &str = "@not_strictly_false";
    pub(in crate::cel) const MAP_INSERT: &str = "cel.@mapInsert";
    pub(in crate::cel) const SORT_BY_KEYS: &str = "@sortByAssociatedKeys";
}

/// The variable a comprehension gathers its result in; no source can write it.
pub(super) const ACCUMULATOR: &str = "@result";

#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) id: Id,
    pub(super) kind: ExprKind,
}

#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    /// Stands where the source was wrong.
    Broken,
    Literal(Literal),
    Ident(String),
    Select(Box<Select>),
    Call(Call),
    List(Vec<Element>),
    Map(Vec<Entry>),
    Struct(Struct),
    Comprehension(Box<Comprehension>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
}

#[derive(Clone, Debug)]
pub(super) struct Select {
    pub(super) operand: Expr,
    pub(super) field: String,
    /// Written `has(..)`: whether the field is there.
    pub(super) is_test: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) function: String,
    pub(super) target: Option<Box<Expr>>,
    pub(super) args: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) value: Expr,
    pub(super) is_optional: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: Expr,
    pub(super) value: Expr,
    pub(super) is_optional: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Struct {
    pub(super) name: String,
    pub(super) values: Vec<Expr>,
}

/// A loop over a list or map: what `all`, `map` and their like become.
#[derive(Clone, Debug)]
pub(super) struct Comprehension {
    pub(super) range: Expr,
    pub(super) variable: String,
    pub(super) second_variable: Option<String>,
    pub(super) accumulator: String,
    pub(super) start: Expr,
    pub(super) condition: Expr,
    pub(super) step: Expr,
    pub(super) result: Expr,
}

impl Comprehension {
    /// Whether this only names a value: an empty loop whose result uses the accumulator.
    pub(super) fn is_binding(&self) -> bool {
        matches!(&self.range.kind, ExprKind::List(elements) if elements.is_empty())
            && matches!(self.condition.kind, ExprKind::Literal(Literal::Bool(false)))
            && self.accumulator != ACCUMULATOR
    }
}

impl Expr {
    /// `a.b.c`, if that is all this is.
    pub(super) fn qualified_name(&self) -> Option<String> {
        match &self.kind {
            ExprKind::Ident(name) => Some(name.clone()),
            ExprKind::Select(select) if !select.is_test => {
                Some(format!("{}.{}", select.operand.qualified_name()?, select.field))
            }
            _ => None,
        }
    }

    /// The nodes directly below.
    pub(super) fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Broken | ExprKind::Literal(_) | ExprKind::Ident(_) => Vec::new(),
            ExprKind::Select(select) => vec![&select.operand],
            ExprKind::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
            ExprKind::List(elements) => elements.iter().map(|element| &element.value).collect(),
            ExprKind::Map(entries) => entries.iter().flat_map(|entry| [&entry.key, &entry.value]).collect(),
            ExprKind::Struct(made) => made.values.iter().collect(),
            ExprKind::Comprehension(c) => vec![&c.range, &c.start, &c.condition, &c.step, &c.result],
        }
    }
}

/// A mistake in an expression.
#[derive(Clone, Debug)]
pub(super) struct Mistake {
    /// Where, in characters from the start; `None` for the expression as a whole.
    pub(super) offset: Option<usize>,
    pub(super) message: String,
}

/// The text of an expression, to show mistakes in.
pub(super) struct Source<'a>(pub(super) &'a str);

impl Source<'_> {
    /// Line, from 1, and column, from 0, of a character.
    fn place(&self, offset: usize) -> (usize, usize) {
        let before: Vec<char> = self.0.chars().take(offset).collect();
        let line = before.iter().filter(|&&c| c == '\n').count() + 1;
        let column = before.iter().rev().take_while(|&&c| c != '\n').count();
        (line, column)
    }

    /// All mistakes as the server shows them: in order, each with its line and a mark below.
    pub(super) fn show(&self, mistakes: &[Mistake]) -> String {
        let mut placed: Vec<(Option<(usize, usize)>, &Mistake)> =
            mistakes.iter().map(|mistake| (mistake.offset.map(|offset| self.place(offset)), mistake)).collect();
        placed.sort_by_key(|(place, _)| *place);
        let shown: Vec<String> =
            placed.iter().map(|(place, mistake)| Shown { source: self, place: *place, mistake }.to_string()).collect();
        shown.join("\n")
    }
}

struct Shown<'a> {
    source: &'a Source<'a>,
    place: Option<(usize, usize)>,
    mistake: &'a Mistake,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((line, column)) = self.place else {
            return write!(f, "ERROR: <input>:-1:0: {}", self.mistake.message);
        };
        write!(f, "ERROR: <input>:{line}:{}: {}", column + 1, self.mistake.message)?;
        let Some(text) = self.source.0.split('\n').nth(line - 1) else { return Ok(()) };
        write!(f, "\n | {}\n | ", text.replace('\t', " "))?;
        for c in text.chars().take(column) {
            f.write_str(if c.is_ascii() { "." } else { "．" })?;
        }
        f.write_str(if text.chars().nth(column).is_none_or(|c| c.is_ascii()) { "^" } else { "＾" })
    }
}
