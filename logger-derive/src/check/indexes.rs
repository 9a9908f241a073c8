//! The checks of the indexes of `#[genclient(..)]`.

use kubewright_names::case::is_snake_case;

use crate::{errors::Errors, model::Kind};

/// Checks the names of the indexes, and that there is an informer.
pub(super) fn check(kind: &Kind, errors: &mut Errors) {
    let indexes = kind.indexes();
    for (i, index) in indexes.iter().enumerate() {
        let name = index.name();
        if !is_snake_case(&name) {
            errors.push(&index.name, "expected an index name in snake case, such as `by_state`");
        } else if indexes[..i].iter().any(|earlier| earlier.name() == name) {
            errors.push(&index.name, "duplicate index name; rename one");
        }
    }
    if let (Some(index), false) = (indexes.first(), kind.has_informer()) {
        errors.push(
            &index.name,
            "an index requires an informer and a lister; grant `list`, `watch` and `get`, or remove it",
        );
    }
}
