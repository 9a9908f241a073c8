//! Validation of services.

use std::{collections::BTreeSet, net::IpAddr};

use kubewright_crd::names;

use super::{Change, Errors, FieldValue, formats, handlers, selectors};
use crate::api::error::FieldError;

pub(in crate::resource::built_in) fn service(change: &Change<'_>, errors: &mut Errors) {
    let spec = FieldValue::new(change.object, "spec");
    let is_external_name = spec.at("type").text() == "ExternalName";
    addresses(&spec, errors);
    let ports = spec.at("ports");
    if ports.is_empty() && !is_external_name && spec.at("clusterIP").text() != "None" {
        errors.push(ports.required(""));
    }
    all_ports(&spec, errors);
    selectors::labels(&spec.at("selector"), errors);
    if let Some(old) = change.old {
        cluster_ip_update(&spec, &FieldValue::new(old, "spec"), errors);
    }
}

/// Validates the cluster IPs and the external name.
fn addresses(spec: &FieldValue<'_>, errors: &mut Errors) {
    let (type_, addresses) = (spec.at("type").text(), spec.at("clusterIPs"));
    if type_ == "ExternalName" {
        if !addresses.is_empty() {
            errors.push(addresses.forbidden("may not be set for ExternalName services"));
        }
        if spec.at("externalName").is_empty() {
            errors.push(spec.at("externalName").required(""));
        }
        errors.extend(spec.at("externalName").validate(names::dns_1123_subdomain));
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

/// Validates that the cluster IP does not change.
fn cluster_ip_update(new: &FieldValue<'_>, old: &FieldValue<'_>, errors: &mut Errors) {
    let (new_ips, old_ips) = (new.at("clusterIPs"), old.at("clusterIPs"));
    let had_cluster_ip = old.at("type").text() != "ExternalName" && old_ips.is_set();
    if had_cluster_ip && new.at("type").text() != "ExternalName" && new_ips.value[0] != old_ips.value[0] {
        let first = FieldValue { path: format!("{}[0]", new_ips.path), value: new_ips.value };
        errors.push(first.invalid("may not change once set"));
    }
}

fn all_ports(spec: &FieldValue<'_>, errors: &mut Errors) {
    let several = spec.at("ports").items().count() > 1;
    let has_no_node_ports = matches!(spec.at("type").text(), "ClusterIP" | "ExternalName");
    let (mut names, mut numbers) = (BTreeSet::new(), BTreeSet::new());
    for port in spec.at("ports").items() {
        let (name, number) = (port.at("name"), port.at("port"));
        if several && name.is_empty() {
            errors.push(name.required(""));
        }
        errors.extend(name.validate(names::dns_1123_label));
        if !name.is_empty() && !names.insert(name.text()) {
            errors.push(name.duplicate(name.value));
        }
        if !number.value.as_i64().is_some_and(formats::is_port) {
            errors.push(number.invalid(formats::PORT_RANGE));
        }
        handlers::port(&port.at("targetPort"), errors);
        if has_no_node_ports && port.at("nodePort").value.as_i64().is_some_and(|port| port != 0) {
            let detail = format!("may not be used when `type` is '{}'", spec.at("type").text());
            errors.push(port.at("nodePort").forbidden(detail));
        }
        if !numbers.insert((number.value.as_i64(), port.at("protocol").text())) {
            errors.push(FieldError::duplicate(&port.path, format_port_key(&port)));
        }
    }
}

/// Formats the key of a port as Go does.
fn format_port_key(port: &FieldValue<'_>) -> String {
    let (protocol, number) = (port.at("protocol"), port.at("port"));
    format!(
        "{{\"Name\":\"\",\"Protocol\":{},\"AppProtocol\":null,\"Port\":{},\"TargetPort\":0,\"NodePort\":0}}",
        protocol.value, number.value
    )
}
