//! Names of a kind: DNS labels, and no two that are confused.

use super::{definition::Fields, path::Path};
use crate::{
    finding::Finding,
    names::{dns_1035_label, dns_1123_subdomain},
};

pub(super) fn check_group(group: &str, at: &Path<'_>) -> Vec<Finding> {
    let at = at.child("group");
    let wrong = dns_1123_subdomain(group);
    match group {
        "" => vec![Finding::required(at, "")],
        _ if !wrong.is_empty() => vec![Finding::invalid(at, group, wrong.join(","))],
        _ if !group.contains('.') => vec![Finding::invalid(at, group, "should be a domain with at least one dot")],
        _ => Vec::new(),
    }
}

/// `names` of the spec, which have to be there.
pub(super) fn check_required(names: Fields<'_>, at: &Path<'_>) -> Vec<Finding> {
    let required = ["plural", "singular", "kind", "listKind"];
    let absent = required.into_iter().filter(|name| names.text(name).is_empty());
    absent.map(|name| Finding::required(at.child(name), "")).collect()
}

pub(super) fn check(names: Fields<'_>, at: &Path<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for field in ["plural", "singular"] {
        findings.extend(label(names.text(field), at.child(field)));
    }
    for field in ["kind", "listKind"] {
        let name = names.text(field);
        let wrong = dns_1035_label(&name.to_lowercase()).join(",");
        if !name.is_empty() && !wrong.is_empty() {
            let detail = format!("may have mixed case, but should otherwise match: {wrong}");
            findings.push(Finding::invalid(at.child(field), name, detail));
        }
    }
    for field in ["shortNames", "categories"] {
        let list = at.child(field);
        for (index, name) in names.texts(field).enumerate() {
            findings.extend(listed_label(name, list.index(index)));
        }
    }
    let kind = names.text("kind");
    if !kind.is_empty() && kind == names.text("listKind") {
        findings.push(Finding::invalid(at.child("listKind"), kind, "kind and listKind may not be the same"));
    }
    findings
}

/// A name that may be absent.
fn label(name: &str, at: Path<'_>) -> Option<Finding> {
    if name.is_empty() { None } else { listed_label(name, at) }
}

pub(super) fn listed_label(name: &str, at: Path<'_>) -> Option<Finding> {
    let wrong = dns_1035_label(name).join(",");
    (!wrong.is_empty()).then(|| Finding::invalid(at, name, wrong))
}
