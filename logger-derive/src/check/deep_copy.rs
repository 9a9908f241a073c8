//! The checks of a type that derives `DeepCopy`.

use crate::{
    errors::Errors,
    model::{CopiedBody, CopiedType},
};

/// Checks a type that derives `DeepCopy`.
pub(crate) fn deep_copy(model: &CopiedType, errors: &mut Errors) {
    for attr in &model.unused_defaults {
        errors.push(
            attr,
            "`#[default(..)]` has no effect without `#[kubewright::defaults]`; add that above the derives of the type",
        );
    }
    if let CopiedBody::Union = model.body {
        errors.push(&model.ident, "unsupported union: its active field is not known; use an enum");
    }
}
