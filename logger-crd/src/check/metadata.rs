//! Metadata of a definition: its name, labels, annotations and finalizers, and the approval of groups of Kubernetes.

use super::{definition::Definition, path::Path};
use crate::{finding::Finding, names, value::is_uri};

const APPROVED: &str = "api-approved.kubernetes.io";
const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

pub(super) fn check(definition: Definition<'_>) -> Vec<Finding> {
    let mut findings = check_name(definition);
    findings.extend(check_common(definition));
    for name in definition.metadata().texts("finalizers") {
        let wrong = names::label_key(name).into_iter();
        findings.extend(wrong.map(|why| Finding::invalid("metadata.finalizers", name, why)));
    }
    findings
}

/// An update does not look at the form of the name, which cannot change, nor at finalizers.
pub(super) fn check_update(new: Definition<'_>, old: Definition<'_>) -> Vec<Finding> {
    let (new_name, old_name) = (new.metadata().text("name"), old.metadata().text("name"));
    let changed = (new_name != old_name).then(|| Finding::invalid("metadata.name", new_name, "field is immutable"));
    changed.into_iter().chain(check_common(new)).collect()
}

fn check_name(definition: Definition<'_>) -> Vec<Finding> {
    let metadata = definition.metadata();
    let wrong = |name: &str, may_end_in_hyphen: bool| {
        let checked = if may_end_in_hyphen { name.strip_suffix('-').map(|name| format!("{name}a")) } else { None };
        let mut wrong = names::dns_1123_subdomain(checked.as_deref().unwrap_or(name));
        if name != format!("{}.{}", definition.names().text("plural"), definition.spec().text("group")) {
            wrong.push("must be spec.names.plural+\".\"+spec.group".to_owned());
        }
        wrong
    };
    let mut findings = Vec::new();
    let prefix = metadata.text("generateName");
    if !prefix.is_empty() {
        findings
            .extend(wrong(prefix, true).into_iter().map(|why| Finding::invalid("metadata.generateName", prefix, why)));
    }
    match metadata.text("name") {
        "" => findings.push(Finding::required("metadata.name", "name or generateName is required")),
        name => findings.extend(wrong(name, false).into_iter().map(|why| Finding::invalid("metadata.name", name, why))),
    }
    findings
}

fn check_common(definition: Definition<'_>) -> Vec<Finding> {
    let metadata = definition.metadata();
    let mut findings = Vec::new();
    let mut wrong = |path: &str, value: &str, errors: Vec<String>| {
        findings.extend(errors.into_iter().map(|why| Finding::invalid(path, value, why)));
    };
    for (key, value) in metadata.fields("labels").into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        wrong("metadata.labels", key, names::label_key(key));
        wrong("metadata.labels", value, names::label_value(value));
    }
    for (key, _) in metadata.fields("annotations").into_iter().flatten() {
        wrong("metadata.annotations", key, names::label_key(&key.to_lowercase()));
    }
    let size = |(key, value): (&String, &serde_json::Value)| key.len() + value.as_str().unwrap_or_default().len();
    if metadata.fields("annotations").into_iter().flatten().map(size).sum::<usize>() > 256 << 10 {
        findings.push(Finding::too_long("metadata.annotations", 256 << 10));
    }
    findings
}

/// Groups of Kubernetes need an annotation that says who approved of the API. One that stays as it was is let pass.
pub(super) fn check_approval(new: Definition<'_>, old: Option<Definition<'_>>) -> Option<Finding> {
    let group = new.spec().text("group");
    let is_protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|domain| group.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
    let approval = new.annotation(APPROVED);
    let state = Approval::of(approval);
    if !is_protected || old.is_some_and(|old| Approval::of(old.annotation(APPROVED)) == state) {
        return None;
    }
    let (metadata, needed) = (Path::root("metadata"), "protected groups must have approval annotation");
    let annotations = metadata.child("annotations");
    let at = annotations.key(APPROVED);
    match state {
        Approval::Given | Approval::Bypassed => None,
        Approval::Missing => Some(Finding::required(at, format!("{needed} {APPROVED:?}, {SEE}"))),
        Approval::Invalid => {
            let with = "with either a URL or a reason starting with \"unapproved\"";
            Some(Finding::invalid(at, approval, format!("{needed} {APPROVED:?} {with}, {SEE}")))
        }
    }
}

#[derive(PartialEq)]
enum Approval {
    Missing,
    Given,
    Bypassed,
    Invalid,
}

impl Approval {
    fn of(annotation: &str) -> Self {
        let has_host = || {
            let (_, rest) = annotation.split_once("://")?;
            rest.split(['/', '?']).next().filter(|host| !host.is_empty())
        };
        match annotation {
            "" => Self::Missing,
            _ if annotation.starts_with("unapproved") => Self::Bypassed,
            _ if is_uri(annotation) && has_host().is_some() => Self::Given,
            _ => Self::Invalid,
        }
    }
}
