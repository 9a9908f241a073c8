//! The abstract syntax tree that the checker, the cost estimator and the interpreter share. Macros are already
//! expanded.

/// The number of a node. Offsets and types of nodes are stored beside the tree.
pub(crate) type Id = usize;

/// The accumulator variable of a comprehension. Its name is no identifier, so source text cannot refer to it.
pub(crate) const ACCUMULATOR: &str = "@result";

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) id: Id,
    pub(crate) kind: ExprKind,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    /// The placeholder for source text with a syntax error.
    Unspecified,
    Literal(Literal),
    Ident(String),
    Select(Box<Select>),
    Call(Call),
    List(Vec<ListElement>),
    Map(Vec<MapEntry>),
    Struct(StructExpr),
    Comprehension(Box<Comprehension>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
}

#[derive(Clone, Debug)]
pub(crate) struct Select {
    pub(crate) operand: Expr,
    pub(crate) field: String,
    /// Whether the source is `has(..)`, which tests for the presence of the field.
    pub(crate) is_test_only: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) function: String,
    /// The receiver of a member call.
    pub(crate) target: Option<Box<Expr>>,
    pub(crate) args: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub(crate) struct ListElement {
    pub(crate) value: Expr,
    pub(crate) is_optional: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct MapEntry {
    pub(crate) key: Expr,
    pub(crate) value: Expr,
    pub(crate) is_optional: bool,
}

/// The construction of a message, `Name{field: value}`.
#[derive(Clone, Debug)]
pub(crate) struct StructExpr {
    pub(crate) type_name: String,
    pub(crate) fields: Vec<StructField>,
}

#[derive(Clone, Debug)]
pub(crate) struct StructField {
    /// The number of the initializer, whose offset is that of its colon.
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) value: Expr,
    pub(crate) is_optional: bool,
}

/// A fold over a list or map: the expansion of `all`, `exists`, `map`, `filter` and the other iteration macros.
#[derive(Clone, Debug)]
pub(crate) struct Comprehension {
    pub(crate) iter_range: Expr,
    pub(crate) iter_var: String,
    pub(crate) iter_var2: Option<String>,
    pub(crate) accu_var: String,
    pub(crate) accu_init: Expr,
    pub(crate) loop_condition: Expr,
    pub(crate) loop_step: Expr,
    pub(crate) result: Expr,
}

impl Comprehension {
    /// Whether this only binds a variable: a loop over an empty list whose result reads the accumulator.
    pub(crate) fn is_binding(&self) -> bool {
        matches!(&self.iter_range.kind, ExprKind::List(elements) if elements.is_empty())
            && matches!(self.loop_condition.kind, ExprKind::Literal(Literal::Bool(false)))
            && self.accu_var != ACCUMULATOR
    }

    /// The subexpressions.
    fn children(&self) -> [&Expr; 5] {
        [&self.iter_range, &self.accu_init, &self.loop_condition, &self.loop_step, &self.result]
    }
}

impl Expr {
    /// The name `a.b.c` of an identifier or of a chain of field selections; `None` for any other expression.
    pub(crate) fn qualified_name(&self) -> Option<String> {
        match &self.kind {
            ExprKind::Ident(name) => Some(name.clone()),
            ExprKind::Select(select) if !select.is_test_only => {
                Some(format!("{}.{}", select.operand.qualified_name()?, select.field))
            }
            _ => None,
        }
    }

    /// The direct children.
    pub(crate) fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Unspecified | ExprKind::Literal(_) | ExprKind::Ident(_) => Vec::new(),
            ExprKind::Select(select) => vec![&select.operand],
            ExprKind::Call(call) => call.target.as_deref().into_iter().chain(&call.args).collect(),
            ExprKind::List(elements) => elements.iter().map(|element| &element.value).collect(),
            ExprKind::Map(entries) => entries.iter().flat_map(|entry| [&entry.key, &entry.value]).collect(),
            ExprKind::Struct(message) => message.fields.iter().map(|field| &field.value).collect(),
            ExprKind::Comprehension(comprehension) => comprehension.children().to_vec(),
        }
    }
}
