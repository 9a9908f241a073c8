//! Validation of the addresses of services and of their ranges.

use std::net::IpAddr;

use kubewright_crd::names;

use super::{Change, Errors, FieldValue};

const IMMUTABLE: &str = "field is immutable";

/// Validates the parent of an IP address.
pub(in crate::resource::built_in) fn ip_address(change: &Change<'_>, errors: &mut Errors) {
    let parent = FieldValue::new(change.object, "spec").at("parentRef");
    if !parent.is_set() {
        return errors.push(parent.required(""));
    }
    errors.extend(parent.at("group").validate(names::dns_1123_subdomain));
    for name in ["resource", "name"] {
        let field = parent.at(name);
        if field.is_empty() {
            errors.push(field.required(""));
        }
    }
    for name in ["resource", "name", "namespace"] {
        errors.extend(parent.at(name).validate(names::path_segment));
    }
}

/// Validates a range of addresses: one for each IP family, which an update can only add to.
pub(in crate::resource::built_in) fn service_cidr(change: &Change<'_>, errors: &mut Errors) {
    let spec = FieldValue::new(change.object, "spec");
    let ranges = spec.at("cidrs");
    let families: Vec<Option<bool>> = ranges.items().map(|range| family(range.text())).collect();
    match families.as_slice() {
        [] => return errors.push(ranges.required("at least one CIDR required")),
        [_, _, _, ..] => {
            errors.push(FieldValue { value: spec.value, ..ranges }.invalid("may only hold up to 2 values"));
            return;
        }
        [first, second] if first.is_none() || second.is_none() || first == second => {
            let detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
            errors.push(FieldValue { value: spec.value, ..ranges }.invalid(detail));
            return;
        }
        _ => {}
    }
    for range in ranges.items().filter(|range| family(range.text()).is_none()) {
        errors.push(range.invalid_text("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"));
    }
    let Some(old) = change.old.map(|old| FieldValue::new(old, "spec").at("cidrs")) else { return };
    if old.items().count() > ranges.items().count() {
        return errors.push(ranges.invalid(IMMUTABLE));
    }
    let changed = old.items().zip(ranges.items()).filter(|(old, new)| old.value != new.value);
    errors.extend(changed.map(|(_, new)| new.invalid(IMMUTABLE)));
}

/// Returns whether a range is of IPv6, or `None` if it is not a range.
fn family(range: &str) -> Option<bool> {
    let (address, bits) = range.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let max = if address.is_ipv6() { 128 } else { 32 };
    bits.parse::<u8>().ok().filter(|bits| *bits <= max)?;
    Some(address.is_ipv6())
}
