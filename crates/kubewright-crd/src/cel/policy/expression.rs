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

    /// Whether it reads nothing but the object, and of its metadata only the name: what a rule of a definition can
    /// read.
    pub(crate) fn reads_only_object(&self) -> bool {
        const OTHERS: [&str; 6] = ["oldObject", "request", "params", "namespaceObject", "authorizer", "variables"];
        let is_other = |name: &String| OTHERS.contains(&name.split('.').next().unwrap_or_default());
        self.reads("object") && !self.references.iter().any(is_other) && !reads_metadata(&self.checked.root)
    }

    /// Whether it reads a variable of the environment, such as `object`, or of the policy, such as `variables.limit`.
    pub(crate) fn reads(&self, variable: &str) -> bool {
        self.references.contains(variable)
    }
}

/// Whether an expression reads the object as a value, or metadata other than the name.
fn reads_metadata(expr: &Expr) -> bool {
    match expr.qualified_name().as_deref() {
        Some("object" | "object.metadata") => return true,
        Some("object.metadata.name" | "object.metadata.generateName") => return false,
        Some(name) if name.starts_with("object.") && !name.starts_with("object.metadata.") => return false,
        _ => {}
    }
    match &expr.kind {
        ExprKind::Select(select) if select.is_test_only => match select.operand.qualified_name().as_deref() {
            Some("object") => select.field == "metadata",
            Some("object.metadata") => !matches!(select.field.as_str(), "name" | "generateName"),
            _ => reads_metadata(&select.operand),
        },
        _ => expr.children().into_iter().any(reads_metadata),
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
