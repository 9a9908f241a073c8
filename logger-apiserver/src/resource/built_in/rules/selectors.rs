//! The rules of labels and of what selects by them, in specs.

use logger_crd::names;

use super::{Errors, Place};

/// Labels, or what is to be equal to them.
pub(super) fn labels(labels: &Place<'_>, errors: &mut Errors) {
    for (key, value) in labels.value.as_object().into_iter().flatten() {
        let of =
            |text: &str, why: String| crate::api::error::FieldError::invalid(&labels.path, format!("{text:?}"), why);
        errors.extend(names::label_key(key).into_iter().map(|why| of(key, why)));
        let value = value.as_str().unwrap_or_default();
        errors.extend(names::label_value(value).into_iter().map(|why| of(value, why)));
    }
}

/// A label selector.
pub(super) fn selector(selector: &Place<'_>, errors: &mut Errors) {
    labels(&selector.at("matchLabels"), errors);
    for requirement in selector.at("matchExpressions").items() {
        let (operator, values) = (requirement.at("operator"), requirement.at("values"));
        match operator.text() {
            "In" | "NotIn" if values.is_empty() => {
                errors.push(values.required("must be specified when `operator` is 'In' or 'NotIn'"));
            }
            "In" | "NotIn" => {}
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                errors.push(values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
            }
            "Exists" | "DoesNotExist" => {}
            _ => errors.push(operator.invalid("not a valid selector operator")),
        }
        errors.extend(requirement.at("key").mistakes(names::label_key));
    }
}
