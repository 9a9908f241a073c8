//! Creates the nodes of a syntax tree, and collects the errors of its source.

use super::{
    ast::{Call, Expr, ExprKind, Id, Literal},
    error::CelError,
};

/// The offset of an expression that is not in the source text.
pub(crate) const NO_LOCATION: usize = usize::MAX;

/// The offsets of the nodes created so far, and the errors reported so far.
#[derive(Default)]
pub(crate) struct ExprFactory {
    /// Indexed by node: characters from the start.
    pub(crate) offsets: Vec<usize>,
    pub(crate) errors: Vec<CelError>,
}

impl ExprFactory {
    /// Allocates the number of a node.
    pub(crate) fn next_id(&mut self, offset: usize) -> Id {
        self.offsets.push(offset);
        self.offsets.len() - 1
    }

    pub(crate) fn offset(&self, id: Id) -> usize {
        self.offsets[id]
    }

    pub(crate) fn expr(&mut self, offset: usize, kind: ExprKind) -> Expr {
        Expr { id: self.next_id(offset), kind }
    }

    pub(crate) fn literal(&mut self, offset: usize, literal: Literal) -> Expr {
        self.expr(offset, ExprKind::Literal(literal))
    }

    pub(crate) fn ident(&mut self, offset: usize, name: impl Into<String>) -> Expr {
        self.expr(offset, ExprKind::Ident(name.into()))
    }

    /// Creates a call of a global function.
    pub(crate) fn call(&mut self, offset: usize, function: impl Into<String>, args: Vec<Expr>) -> Expr {
        self.expr(offset, ExprKind::Call(Call { function: function.into(), target: None, args }))
    }

    /// Creates a call of a member function.
    pub(crate) fn member_call(
        &mut self,
        offset: usize,
        function: impl Into<String>,
        target: Expr,
        args: Vec<Expr>,
    ) -> Expr {
        self.expr(offset, ExprKind::Call(Call { function: function.into(), target: Some(Box::new(target)), args }))
    }

    /// Reports an error and creates the placeholder for the invalid source text.
    pub(crate) fn report_error(&mut self, offset: usize, message: impl Into<String>) -> Expr {
        self.errors.push(match offset {
            NO_LOCATION => CelError::without_location(message),
            offset => CelError::at(offset, message),
        });
        self.unspecified(offset)
    }

    /// Creates the placeholder for source text with a syntax error.
    pub(crate) fn unspecified(&mut self, offset: usize) -> Expr {
        self.expr(offset, ExprKind::Unspecified)
    }

    /// Copies an expression: new nodes with the same offsets.
    pub(crate) fn copy(&mut self, expr: &Expr) -> Expr {
        let mut copy = expr.clone();
        self.renumber(&mut copy);
        copy
    }

    fn renumber(&mut self, expr: &mut Expr) {
        expr.id = self.next_id(self.offset(expr.id));
        match &mut expr.kind {
            ExprKind::Unspecified | ExprKind::Literal(_) | ExprKind::Ident(_) => {}
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
            ExprKind::Struct(message) => message.fields.iter_mut().for_each(|field| {
                field.id = self.next_id(self.offset(field.id));
                self.renumber(&mut field.value);
            }),
            ExprKind::Comprehension(c) => {
                [&mut c.iter_range, &mut c.accu_init, &mut c.loop_condition, &mut c.loop_step, &mut c.result]
                    .into_iter()
                    .for_each(|part| self.renumber(part));
            }
        }
    }
}
