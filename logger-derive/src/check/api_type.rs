//! The checks of what the single derives of `ApiType` and `ApiObject` assume.

use crate::{attr, errors::Errors, model::ApiType};

/// Checks a type that derives `ApiType`. Precedes the other checks, whose messages assume that the derives stand alone.
pub(crate) fn api_type(model: &ApiType, errors: &mut Errors) {
    unused_convert(model, errors);
    if !model.generics.params.is_empty() {
        let message = "`ApiType` does not support generic types: an apply configuration has one name; remove the \
                       parameters, or derive `DeepCopy` and `CrdSchema` in its place and use `#[apply(atomic)]` on the \
                       fields of this type";
        errors.push(&model.generics, message);
    }
    kind_attributes(model, errors);
}

/// Reports the attributes of kinds on a type that is none.
pub(crate) fn kind_attributes(model: &ApiType, errors: &mut Errors) {
    for name in ["genclient", "k8s", "policy"] {
        for attr in model.attributes(name) {
            errors.push(&attr, format_args!("`#[{name}]` applies to kinds, which derive `ApiObject`; remove this"));
        }
    }
}

/// Reports `#[convert(..)]` in a type that does not declare its conversion, where it would have no effect.
pub(crate) fn unused_convert(model: &ApiType, errors: &mut Errors) {
    for attr in attr::named("convert", &model.attrs).filter(|_| !model.converts) {
        let message = "no effect without a conversion of the type; add `#[convert(hub)]` or `#[convert(hub = \
                       path::Type)]` to the type";
        errors.push(attr, message);
    }
}
