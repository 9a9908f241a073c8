//! Validation of probes and lifecycle handlers.

use super::{Errors, FieldValue, formats};

/// Validates the probes and lifecycle handlers of a container.
pub(super) fn all(container: &FieldValue<'_>, errors: &mut Errors) {
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let probe = container.at(name);
        if probe.is_set() {
            self::probe(&probe, name != "readinessProbe", errors);
        }
    }
    for hook in ["postStart", "preStop"].map(|name| container.at("lifecycle").at(name)) {
        if hook.is_set() {
            handler(&hook, errors);
        }
    }
}

fn probe(probe: &FieldValue<'_>, requires_one_success: bool, errors: &mut Errors) {
    const NUMBERS: [&str; 5] =
        ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];
    handler(probe, errors);
    errors.extend(NUMBERS.iter().filter_map(|name| probe.at(name).not_negative()));
    let threshold = probe.at("successThreshold");
    if requires_one_success && threshold.is_set() && threshold.value != 1 {
        errors.push(threshold.invalid("must be 1"));
    }
    let grace = probe.at("terminationGracePeriodSeconds");
    if grace.value.as_i64().is_some_and(|seconds| seconds <= 0) {
        errors.push(grace.invalid("must be greater than 0"));
    }
}

/// Validates a handler: exactly one type is specified.
fn handler(handler: &FieldValue<'_>, errors: &mut Errors) {
    let mut actions = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"]
        .map(|name| handler.at(name))
        .into_iter()
        .filter(FieldValue::is_set);
    let Some(action) = actions.next() else {
        return errors.push(handler.required("must specify a handler type"));
    };
    if action.path.ends_with(".exec") && action.at("command").is_empty() {
        errors.push(action.at("command").required(""));
    }
    if action.path.ends_with(".httpGet") || action.path.ends_with(".tcpSocket") {
        port(&action.at("port"), errors);
    }
    errors.extend(actions.map(|action| action.forbidden("may not specify more than 1 handler type")));
}

/// Validates a port number or port name.
pub(super) fn port(port: &FieldValue<'_>, errors: &mut Errors) {
    if let Some(number) = port.value.as_i64() {
        if !formats::is_port(number) {
            errors.push(port.invalid(formats::PORT_RANGE));
        }
    } else if port.is_set() {
        errors.extend(formats::port_name(port.text()).into_iter().map(|detail| port.invalid(detail)));
    }
}
