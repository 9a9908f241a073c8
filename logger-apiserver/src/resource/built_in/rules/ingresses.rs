//! The rules of ingresses: hosts, paths and what is behind them.

use std::net::IpAddr;

use logger_crd::names;

use super::{Change, Errors, Place, words};

pub(in crate::resource::built_in) fn ingress(change: &Change<'_>, errors: &mut Errors) {
    let spec = Place::of(change.object, "spec");
    let (rules, default) = (spec.at("rules"), spec.at("defaultBackend"));
    if rules.is_empty() && !default.is_there() {
        errors.push(crate::api::error::FieldError::invalid(
            "spec",
            "null",
            "either `defaultBackend` or `rules` must be specified",
        ));
    }
    if default.is_there() {
        backend(&default, errors);
    }
    rules.items().for_each(|rule| self::rule(&rule, errors));
    spec.at("tls").items().flat_map(|tls| tls.at("hosts").items()).for_each(|host| name(&host, errors));
    errors.extend(spec.at("ingressClassName").mistakes(names::dns_1123_subdomain));
}

fn rule(rule: &Place<'_>, errors: &mut Errors) {
    let host = rule.at("host");
    if !host.is_empty() {
        if host.text().parse::<IpAddr>().is_ok() {
            errors.push(host.invalid("must be a DNS name, not an IP address"));
        } else {
            name(&host, errors);
        }
    }
    let paths = rule.at("http").at("paths");
    if rule.at("http").is_there() && paths.is_empty() {
        errors.push(paths.required(""));
    }
    paths.items().for_each(|one| path(&one, errors));
}

/// A host, of which the first part may be any.
fn name(host: &Place<'_>, errors: &mut Errors) {
    let rest = host.text().strip_prefix("*.").unwrap_or(host.text());
    errors.extend(names::dns_1123_subdomain(rest).into_iter().map(|why| host.invalid_text(why)));
}

fn path(one: &Place<'_>, errors: &mut Errors) {
    const NEVER: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];
    const NOT_LAST: [&str; 2] = ["/..", "/."];
    let (path, type_) = (one.at("path"), one.at("pathType"));
    match type_.text() {
        _ if !type_.is_there() => return errors.push(type_.required("pathType must be specified")),
        "Exact" | "Prefix" => {
            if !path.text().starts_with('/') {
                errors.push(path.invalid_text("must be an absolute path"));
            }
            let never = NEVER.iter().filter(|part| path.text().contains(**part));
            errors.extend(never.map(|part| path.invalid(format!("must not contain '{part}'"))));
            let last = NOT_LAST.iter().filter(|part| path.text().ends_with(**part));
            errors.extend(last.map(|part| path.invalid(format!("cannot end with '{part}'"))));
        }
        "ImplementationSpecific" => {
            if !path.is_empty() && !path.text().starts_with('/') {
                errors.push(path.invalid("must be an absolute path"));
            }
        }
        _ => errors.push(type_.unsupported(&["Exact", "ImplementationSpecific", "Prefix"])),
    }
    backend(&one.at("backend"), errors);
}

/// What is behind is a resource, or a port of a service, by its name or its number.
fn backend(backend: &Place<'_>, errors: &mut Errors) {
    let (resource, service) = (backend.at("resource"), backend.at("service"));
    match (resource.is_there(), service.is_there()) {
        (true, true) => return errors.push(backend.invalid_text("cannot set both resource and service backends")),
        (false, false) => return errors.push(backend.invalid_text("resource or service backend is required")),
        (true, false) => return,
        (false, true) => {}
    }
    let host = service.at("name");
    if host.is_empty() {
        errors.push(host.required(""));
    }
    errors.extend(host.mistakes(names::dns_1123_label));
    let (name, number) = (service.at("port").at("name"), service.at("port").at("number"));
    match (name.is_empty(), number.value.as_i64().unwrap_or_default()) {
        (true, 0) => errors.push(backend.required("port name or number is required")),
        (true, port) if !words::is_port(port) => errors.push(number.invalid(words::PORT_RANGE)),
        (true, _) => {}
        (false, 0) => errors.extend(name.mistakes(words::port_name)),
        (false, _) => errors.push(backend.invalid_text("cannot set both port name & port number")),
    }
}
