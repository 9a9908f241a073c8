//! Validation of labels and label selectors in specs.

use kubewright_crd::names;

use super::{Errors, FieldValue};

/// Validates labels, or the labels of a selector.
pub(super) fn labels(labels: &FieldValue<'_>, errors: &mut Errors) {
    for (key, value) in labels.value.as_object().into_iter().flatten() {
        let invalid = |text: &str, detail: String| {
            crate::api::error::FieldError::invalid(&labels.path, format!("{text:?}"), detail)
        };
        errors.extend(names::label_key(key).into_iter().map(|detail| invalid(key, detail)));
        let value = value.as_str().unwrap_or_default();
        errors.extend(names::label_value(value).into_iter().map(|detail| invalid(value, detail)));
    }
}

/// Validates a label selector.
pub(super) fn selector(selector: &FieldValue<'_>, errors: &mut Errors) {
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
        errors.extend(requirement.at("key").validate(names::label_key));
    }
}
