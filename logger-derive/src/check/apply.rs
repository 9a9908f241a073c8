//! The checks of a type that derives `ApplyConfiguration`.

use super::serde;
use crate::{
    errors::Errors,
    model::{AppliedBody, AppliedType},
};

/// Checks a type that derives `ApplyConfiguration`.
pub(crate) fn apply(model: &AppliedType, errors: &mut Errors) {
    if !model.generics.params.is_empty() {
        let message = "`ApplyConfiguration` does not support generic types: an apply configuration has one name; \
                       remove the parameters, or this derive and use `#[apply(atomic)]` on the fields of this type";
        errors.push(&model.generics, message);
    }
    // The encoding of an atomic type is that of the type itself, whatever its parts.
    let is_struct = matches!(model.body, AppliedBody::Struct(_));
    let items = model.items.iter().enumerate().filter(|(i, _)| *i == 0 || is_struct).map(|(_, item)| item);
    serde::check_keys(items, |row| row.apply, errors);
    match &model.body {
        AppliedBody::Struct(_) => {}
        AppliedBody::Atomic { unused } => {
            for attr in unused {
                errors.push(attr, "this type is applied atomically, with all its fields; remove this");
            }
        }
        AppliedBody::Union => {
            errors.push(&model.ident, "unsupported union: its active field is not known; use an enum");
        }
    }
}
