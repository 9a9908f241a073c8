//! Validation of network policies.

use std::net::IpAddr;

use super::{Change, Errors, FieldValue, handlers, selectors};

pub(in crate::resource::built_in) fn network_policy(change: &Change<'_>, errors: &mut Errors) {
    let spec = FieldValue::new(change.object, "spec");
    selectors::selector(&spec.at("podSelector"), errors);
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.at(rules).items() {
            rule.at("ports").items().for_each(|port| self::port(&port, errors));
            rule.at(peers).items().for_each(|peer| self::peer(&peer, errors));
        }
    }
    let types = spec.at("policyTypes");
    for type_ in types.items().filter(|type_| !matches!(type_.text(), "Ingress" | "Egress")) {
        errors.push(type_.unsupported(&["Ingress", "Egress"]));
    }
}

/// Validates a port or a port cidr.
fn port(port: &FieldValue<'_>, errors: &mut Errors) {
    let (first, last) = (port.at("port"), port.at("endPort"));
    handlers::port(&first, errors);
    match (last.value.as_i64(), first.value.as_i64()) {
        (None, _) => {}
        (Some(_), None) if !first.is_set() => {
            errors.push(last.invalid("may not be specified when `port` is not specified"))
        }
        (Some(_), None) => errors.push(last.invalid("may not be specified when `port` is non-numeric")),
        (Some(last_port), Some(first_port)) if last_port < first_port => {
            errors.push(FieldValue { value: first.value, ..last }.invalid("must be greater than or equal to `port`"));
        }
        (Some(_), Some(_)) => {}
    }
}

/// Validates a peer: selectors or an IP block.
fn peer(peer: &FieldValue<'_>, errors: &mut Errors) {
    let (pods, namespaces, block) = (peer.at("podSelector"), peer.at("namespaceSelector"), peer.at("ipBlock"));
    selectors::selector(&pods, errors);
    selectors::selector(&namespaces, errors);
    let selects = pods.is_set() || namespaces.is_set();
    if !selects && !block.is_set() {
        errors.push(peer.required("must specify a peer"));
    } else if selects && block.is_set() {
        errors.push(peer.forbidden("may not specify both ipBlock and another peer"));
    }
    let cidr = block.at("cidr");
    if block.is_set() && cidr.is_empty() {
        errors.push(cidr.required(""));
    } else if block.is_set() && !is_cidr(cidr.text()) {
        errors.push(cidr.invalid("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"));
    }
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else {
        return false;
    };
    let max_bits = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    bits.parse::<u8>().is_ok_and(|bits| bits <= max_bits)
}
