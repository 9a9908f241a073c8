//! The rules of services.

use std::{collections::BTreeSet, net::IpAddr};

use logger_crd::names;

use super::{Change, Errors, Place, handlers, selectors, words};
use crate::api::error::FieldError;

pub(in crate::resource::built_in) fn service(change: &Change<'_>, errors: &mut Errors) {
    let spec = Place::of(change.object, "spec");
    let is_name = spec.at("type").text() == "ExternalName";
    addresses(&spec, errors);
    let ports = spec.at("ports");
    if ports.is_empty() && !is_name && spec.at("clusterIP").text() != "None" {
        errors.push(ports.required(""));
    }
    all_ports(&spec, errors);
    selectors::labels(&spec.at("selector"), errors);
    if let Some(old) = change.old {
        address_stays(&spec, &Place::of(old, "spec"), errors);
    }
}

/// A name outside has no address; what is open on nodes has one.
fn addresses(spec: &Place<'_>, errors: &mut Errors) {
    let (type_, addresses) = (spec.at("type").text(), spec.at("clusterIPs"));
    if type_ == "ExternalName" {
        if !addresses.is_empty() {
            errors.push(addresses.forbidden("may not be set for ExternalName services"));
        }
        if spec.at("externalName").is_empty() {
            errors.push(spec.at("externalName").required(""));
        }
        errors.extend(spec.at("externalName").mistakes(names::dns_1123_subdomain));
        return;
    }
    for address in addresses.items() {
        match address.text() {
            "None" if type_ != "ClusterIP" => {
                errors.push(address.invalid(format!("may not be set to 'None' for {type_} services")));
            }
            "None" => {}
            text if text.parse::<IpAddr>().is_err() => {
                errors.push(address.invalid("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
            }
            _ => {}
        }
    }
}

/// An address is given for good.
fn address_stays(new: &Place<'_>, old: &Place<'_>, errors: &mut Errors) {
    let (now, before) = (new.at("clusterIPs"), old.at("clusterIPs"));
    let had_one = old.at("type").text() != "ExternalName" && before.is_there();
    if had_one && new.at("type").text() != "ExternalName" && now.value[0] != before.value[0] {
        let first = Place { path: format!("{}[0]", now.path), value: now.value };
        errors.push(first.invalid("may not change once set"));
    }
}

fn all_ports(spec: &Place<'_>, errors: &mut Errors) {
    let several = spec.at("ports").items().count() > 1;
    let is_closed = matches!(spec.at("type").text(), "ClusterIP" | "ExternalName");
    let (mut names, mut numbers) = (BTreeSet::new(), BTreeSet::new());
    for port in spec.at("ports").items() {
        let (name, number) = (port.at("name"), port.at("port"));
        if several && name.is_empty() {
            errors.push(name.required(""));
        }
        errors.extend(name.mistakes(names::dns_1123_label));
        if !name.is_empty() && !names.insert(name.text()) {
            errors.push(name.duplicate(name.value));
        }
        if !number.value.as_i64().is_some_and(words::is_port) {
            errors.push(number.invalid(words::PORT_RANGE));
        }
        handlers::port(&port.at("targetPort"), errors);
        if is_closed && port.at("nodePort").value.as_i64().is_some_and(|port| port != 0) {
            let why = format!("may not be used when `type` is '{}'", spec.at("type").text());
            errors.push(port.at("nodePort").forbidden(why));
        }
        if !numbers.insert((number.value.as_i64(), port.at("protocol").text())) {
            errors.push(FieldError::duplicate(&port.path, in_go(&port)));
        }
    }
}

/// Formats the key of a port as Go does.
fn in_go(port: &Place<'_>) -> String {
    let (protocol, number) = (port.at("protocol"), port.at("port"));
    format!(
        "{{\"Name\":\"\",\"Protocol\":{},\"AppProtocol\":null,\"Port\":{},\"TargetPort\":0,\"NodePort\":0}}",
        protocol.value, number.value
    )
}
