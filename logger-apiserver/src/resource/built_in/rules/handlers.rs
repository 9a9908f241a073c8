//! The rules of probes and of what is done when a container starts and stops.

use super::{Errors, Place, words};

/// Probes and lifecycle handlers of a container.
pub(super) fn all(container: &Place<'_>, errors: &mut Errors) {
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let probe = container.at(name);
        if probe.is_there() {
            self::probe(&probe, name != "readinessProbe", errors);
        }
    }
    for hook in ["postStart", "preStop"].map(|name| container.at("lifecycle").at(name)) {
        if hook.is_there() {
            handler(&hook, errors);
        }
    }
}

fn probe(probe: &Place<'_>, succeeds_once: bool, errors: &mut Errors) {
    const NUMBERS: [&str; 5] =
        ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];
    handler(probe, errors);
    errors.extend(NUMBERS.iter().filter_map(|name| probe.at(name).not_negative()));
    let threshold = probe.at("successThreshold");
    if succeeds_once && threshold.is_there() && threshold.value != 1 {
        errors.push(threshold.invalid("must be 1"));
    }
    let grace = probe.at("terminationGracePeriodSeconds");
    if grace.value.as_i64().is_some_and(|seconds| seconds <= 0) {
        errors.push(grace.invalid("must be greater than 0"));
    }
}

/// One way to do it is said, in full.
fn handler(handler: &Place<'_>, errors: &mut Errors) {
    let mut ways = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"]
        .map(|name| handler.at(name))
        .into_iter()
        .filter(Place::is_there);
    let Some(way) = ways.next() else {
        return errors.push(handler.required("must specify a handler type"));
    };
    if way.path.ends_with(".exec") && way.at("command").is_empty() {
        errors.push(way.at("command").required(""));
    }
    if way.path.ends_with(".httpGet") || way.path.ends_with(".tcpSocket") {
        port(&way.at("port"), errors);
    }
    errors.extend(ways.map(|way| way.forbidden("may not specify more than 1 handler type")));
}

/// A port by its number or its name.
pub(super) fn port(port: &Place<'_>, errors: &mut Errors) {
    if let Some(number) = port.value.as_i64() {
        if !words::is_port(number) {
            errors.push(port.invalid(words::PORT_RANGE));
        }
    } else if port.is_there() {
        errors.extend(words::port_name(port.text()).into_iter().map(|why| port.invalid(why)));
    }
}
