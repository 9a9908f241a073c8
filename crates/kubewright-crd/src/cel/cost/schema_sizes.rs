//! The maximum sizes that a schema declares.

use super::{
    ast_node::{AstNode, Path},
    estimate::Estimate,
};
use crate::cel::types::{DeclKind, DeclType};

/// Estimates sizes by the declared type of `self`.
pub(super) struct SchemaSizes<'a> {
    pub(super) root: &'a DeclType,
}

impl SchemaSizes<'_> {
    /// The size of the value at a path; `None` if the schema does not declare it. The first segment, a variable, is
    /// ignored: like the server, this resolves every path from the root.
    pub(super) fn declared_size(&self, path: &Path) -> Option<Estimate> {
        if path.is_empty() {
            return None;
        }
        let mut declared = self.root;
        for segment in path.segments().iter().skip(1) {
            declared = match (segment.as_str(), &declared.kind) {
                ("@items" | "@values", DeclKind::List(inner) | DeclKind::Map(inner)) => inner,
                // Keys have the simple string type, which declares no elements.
                ("@keys", DeclKind::Map(_)) => return Some(Estimate::ZERO),
                (field, DeclKind::Object(fields)) => fields.get(field)?,
                _ => return None,
            };
        }
        Some(Estimate::new(0, declared.max_elements))
    }

    /// The size of a node: the computed one, the declared one, or the range of all sizes.
    pub(super) fn size(&self, node: &AstNode<'_>) -> Estimate {
        node.computed_size.or_else(|| self.declared_size(&node.path)).unwrap_or(Estimate::UNKNOWN)
    }
}
