//! The rules of network policies.

use std::net::IpAddr;

use super::{Change, Errors, Place, handlers, selectors};

pub(in crate::resource::built_in) fn network_policy(change: &Change<'_>, errors: &mut Errors) {
    let spec = Place::of(change.object, "spec");
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

/// A port, or a range of them.
fn port(port: &Place<'_>, errors: &mut Errors) {
    let (first, last) = (port.at("port"), port.at("endPort"));
    handlers::port(&first, errors);
    match (last.value.as_i64(), first.value.as_i64()) {
        (None, _) => {}
        (Some(_), None) if !first.is_there() => {
            errors.push(last.invalid("may not be specified when `port` is not specified"))
        }
        (Some(_), None) => errors.push(last.invalid("may not be specified when `port` is non-numeric")),
        (Some(last_port), Some(first_port)) if last_port < first_port => {
            errors.push(Place { value: first.value, ..last }.invalid("must be greater than or equal to `port`"));
        }
        (Some(_), Some(_)) => {}
    }
}

/// Who is meant: by labels or by addresses.
fn peer(peer: &Place<'_>, errors: &mut Errors) {
    let (pods, namespaces, block) = (peer.at("podSelector"), peer.at("namespaceSelector"), peer.at("ipBlock"));
    selectors::selector(&pods, errors);
    selectors::selector(&namespaces, errors);
    let selects = pods.is_there() || namespaces.is_there();
    if !selects && !block.is_there() {
        errors.push(peer.required("must specify a peer"));
    } else if selects && block.is_there() {
        errors.push(peer.forbidden("may not specify both ipBlock and another peer"));
    }
    let range = block.at("cidr");
    if block.is_there() && range.is_empty() {
        errors.push(range.required(""));
    } else if block.is_there() && !is_range(range.text()) {
        errors.push(range.invalid("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"));
    }
}

fn is_range(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else {
        return false;
    };
    let most = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    bits.parse::<u8>().is_ok_and(|bits| bits <= most)
}
