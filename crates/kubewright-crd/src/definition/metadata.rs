//! Validation of the metadata of a definition: name, labels, annotations, finalizers, and the approval of protected
//! groups.

use kubewright_names::validation as names;

use super::crd::Crd;
use crate::{
    field::{FieldError, Path},
    value::is_uri,
};

const APPROVAL_ANNOTATION: &str = "api-approved.kubernetes.io";
const LINK: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

pub(super) fn validate(crd: Crd<'_>) -> Vec<FieldError> {
    let mut errors = validate_name(crd);
    errors.extend(validate_common(crd));
    for name in crd.metadata().strings("finalizers") {
        let messages = names::label_key(name).into_iter();
        errors.extend(messages.map(|detail| FieldError::invalid("metadata.finalizers", name, detail)));
    }
    errors
}

/// Validates the metadata of an update, without the immutable name and the finalizers.
pub(super) fn validate_update(new: Crd<'_>, old: Crd<'_>) -> Vec<FieldError> {
    let (new_name, old_name) = (new.metadata().string("name"), old.metadata().string("name"));
    let changed = (new_name != old_name).then(|| FieldError::invalid("metadata.name", new_name, "field is immutable"));
    changed.into_iter().chain(validate_common(new)).collect()
}

fn validate_name(crd: Crd<'_>) -> Vec<FieldError> {
    let metadata = crd.metadata();
    let validate = |name: &str, is_prefix: bool| {
        let without_hyphen = if is_prefix { name.strip_suffix('-').map(|name| format!("{name}a")) } else { None };
        let mut messages = names::dns_1123_subdomain(without_hyphen.as_deref().unwrap_or(name));
        if name != format!("{}.{}", crd.names().string("plural"), crd.spec().string("group")) {
            messages.push("must be spec.names.plural+\".\"+spec.group".to_owned());
        }
        messages
    };
    let mut errors = Vec::new();
    let prefix = metadata.string("generateName");
    if !prefix.is_empty() {
        errors.extend(
            validate(prefix, true)
                .into_iter()
                .map(|detail| FieldError::invalid("metadata.generateName", prefix, detail)),
        );
    }
    match metadata.string("name") {
        "" => errors.push(FieldError::required("metadata.name", "name or generateName is required")),
        name => errors
            .extend(validate(name, false).into_iter().map(|detail| FieldError::invalid("metadata.name", name, detail))),
    }
    errors
}

fn validate_common(crd: Crd<'_>) -> Vec<FieldError> {
    let metadata = crd.metadata();
    let mut errors = Vec::new();
    let mut add = |path: &str, value: &str, messages: Vec<String>| {
        errors.extend(messages.into_iter().map(|detail| FieldError::invalid(path, value, detail)));
    };
    for (key, value) in metadata.fields("labels").into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        add("metadata.labels", key, names::label_key(key));
        add("metadata.labels", value, names::label_value(value));
    }
    for (key, _) in metadata.fields("annotations").into_iter().flatten() {
        add("metadata.annotations", key, names::label_key(&key.to_lowercase()));
    }
    let size = |(key, value): (&String, &serde_json::Value)| key.len() + value.as_str().unwrap_or_default().len();
    if metadata.fields("annotations").into_iter().flatten().map(size).sum::<usize>() > 256 << 10 {
        errors.push(FieldError::too_long("metadata.annotations", 256 << 10));
    }
    errors
}

/// Validates the annotation that approves an API of a protected group. An update that does not change it is accepted.
pub(super) fn validate_approval(new: Crd<'_>, old: Option<Crd<'_>>) -> Option<FieldError> {
    let group = new.spec().string("group");
    let is_protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|domain| group.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
    let approval = new.annotation(APPROVAL_ANNOTATION);
    let state = Approval::parse(approval);
    if !is_protected || old.is_some_and(|old| Approval::parse(old.annotation(APPROVAL_ANNOTATION)) == state) {
        return None;
    }
    let (metadata, needed) = (Path::root("metadata"), "protected groups must have approval annotation");
    let annotations = metadata.child("annotations");
    let at = annotations.key(APPROVAL_ANNOTATION);
    match state {
        Approval::Given | Approval::Bypassed => None,
        Approval::Missing => Some(FieldError::required(at, format!("{needed} {APPROVAL_ANNOTATION:?}, {LINK}"))),
        Approval::Invalid => {
            let with = "with either a URL or a reason starting with \"unapproved\"";
            Some(FieldError::invalid(at, approval, format!("{needed} {APPROVAL_ANNOTATION:?} {with}, {LINK}")))
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
    fn parse(annotation: &str) -> Self {
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
