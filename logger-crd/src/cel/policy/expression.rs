//! A compiled expression of a policy.

use std::collections::BTreeSet;

use crate::cel::{
    checker::CheckedExpr,
    syntax::{Expr, ExprKind},
    types::Type,
};

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Expression {
    source: String,
    checked: CheckedExpr,
    references: BTreeSet<String>,
}

impl Expression {
    pub(super) fn new(source: &str, checked: CheckedExpr) -> Self {
        let mut references = BTreeSet::new();
        collect(&checked.root, &mut references);
        Expression { source: source.to_owned(), checked, references }
    }

    /// The source text.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    pub(super) fn checked(&self) -> &CheckedExpr {
        &self.checked
    }

    /// The type of the result.
    pub(crate) fn output_type(&self) -> &Type {
        self.checked.type_of(&self.checked.root)
    }

    /// Whether it reads a variable of the environment, such as `object`, or of the policy, such as `variables.limit`.
    pub(crate) fn reads(&self, variable: &str) -> bool {
        self.references.contains(variable)
    }
}

/// Collects the qualified names that an expression reads. The checker has replaced selections of qualified variables
/// by identifiers.
fn collect(expr: &Expr, references: &mut BTreeSet<String>) {
    if let ExprKind::Ident(name) = &expr.kind {
        references.insert(name.strip_prefix('.').unwrap_or(name).to_owned());
    }
    for child in expr.children() {
        collect(child, references);
    }
}
