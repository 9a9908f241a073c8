//! Paths of columns and of the scale subresource: they begin with a dot, and that is all the server looks at.

use super::path::Path;
use crate::finding::Finding;

/// What is wrong with a path that is not empty.
pub(super) fn check(json_path: &str, at: Path<'_>) -> Option<Finding> {
    let is_fine = json_path.starts_with('.');
    (!is_fine).then(|| Finding::invalid(at, json_path, "must be a simple json path starting with ."))
}
