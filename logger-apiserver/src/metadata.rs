//! The rules for metadata that every kind shares: names, labels, finalizers, and what an update cannot change

use std::collections::BTreeMap;

use serde_json::json;
use uuid::Uuid;

use crate::{
    built_in::{Generation, Naming},
    kinds::Kind,
    object::{Object, now},
    status::FieldError,
};

/// What is left for a prefix once five characters are added to a name of at most 63.
const LONGEST_PREFIX: usize = 58;
/// No vowels and no digits that look like them: a generated name spells no word.
const SUFFIX_ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

const NAME: &str = "metadata.name";
const NO_DOTS: &str = "must not contain dots";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
    start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end \
    with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const KEY_NAME: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
    start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
    '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// A name from `generateName`: the prefix and five random characters.
pub(crate) fn generate_name(prefix: &str) -> String {
    let prefix: String = prefix.chars().take(LONGEST_PREFIX).collect();
    let random = Uuid::new_v4().into_bytes();
    let letter = |byte: u8| char::from(SUFFIX_ALPHABET[usize::from(byte) % SUFFIX_ALPHABET.len()]);
    // The first bytes of a version 4 uuid are all random.
    random.into_iter().take(5).fold(prefix, |mut name, byte| {
        name.push(letter(byte));
        name
    })
}

/// Sets what the server alone decides about a new object.
pub(crate) fn initialise(kind: &Kind, object: &mut Object) {
    wipe(object);
    let metadata = &mut object.metadata;
    metadata.uid = Some(Uuid::new_v4().to_string());
    metadata.creation_timestamp = Some(now());
    if kind.generation() != Generation::Uncounted {
        metadata.generation = Some(1);
    }
}

/// Drops what nobody else decides about a new object.
pub(crate) fn wipe(object: &mut Object) {
    let metadata = &mut object.metadata;
    metadata.uid = None;
    metadata.creation_timestamp = None;
    metadata.deletion_timestamp = None;
    metadata.deletion_grace_period_seconds = None;
}

/// Keeps what an update cannot change as it is stored.
pub(crate) fn carry_over(new: &mut Object, old: &Object) {
    let (to, from) = (&mut new.metadata, &old.metadata);
    to.creation_timestamp.clone_from(&from.creation_timestamp);
    if from.deletion_timestamp.is_some() {
        to.deletion_timestamp.clone_from(&from.deletion_timestamp);
        to.deletion_grace_period_seconds = from.deletion_grace_period_seconds;
    }
    to.generation = from.generation;
    to.resource_version.clone_from(&from.resource_version);
    if to.uid.is_none() {
        to.uid.clone_from(&from.uid);
    }
}

/// Marks an object whose finalizers keep it from going at once.
pub(crate) fn mark_deleted(object: &mut Object) {
    let metadata = &mut object.metadata;
    metadata.deletion_timestamp = Some(now());
    metadata.deletion_grace_period_seconds = Some(0);
    metadata.generation = metadata.generation.map(|generation| generation + 1);
}

/// The metadata rules an object breaks by itself.
pub(crate) fn check(kind: &Kind, object: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check_name(kind, object.name(), &mut errors);
    check_labels(object.metadata.labels.as_ref(), &mut errors);
    errors
}

/// The metadata rules an update breaks.
pub(crate) fn check_update(new: &Object, old: &Object) -> Vec<FieldError> {
    const IMMUTABLE: &str = "field is immutable";
    let mut errors = Vec::new();
    if new.uid() != old.uid() {
        errors.push(FieldError::invalid("metadata.uid", format!("{:?}", new.uid()), IMMUTABLE));
    }
    if let Some(time) = new.metadata.deletion_timestamp.as_ref().filter(|_| !old.is_terminating()) {
        errors.push(FieldError::invalid("metadata.deletionTimestamp", json!(time), IMMUTABLE));
    }
    if let Some(seconds) = new.metadata.deletion_grace_period_seconds.filter(|_| !old.is_terminating()) {
        errors.push(FieldError::invalid("metadata.deletionGracePeriodSeconds", seconds, IMMUTABLE));
    }
    let added: Vec<String> =
        new.finalizers().iter().filter(|finalizer| !old.finalizers().contains(finalizer)).cloned().collect();
    if old.is_terminating() && !added.is_empty() {
        let added: Vec<String> = added.iter().map(|finalizer| format!("{finalizer:?}")).collect();
        let why = "no new finalizers can be added if the object is being deleted, found new finalizers []string";
        errors.push(FieldError::forbidden("metadata.finalizers", format!("{why}{{{}}}", added.join(", "))));
    }
    errors
}

fn check_name(kind: &Kind, name: &str, errors: &mut Vec<FieldError>) {
    if name.is_empty() {
        return errors.push(FieldError::required(NAME, "name or generateName is required"));
    }
    let (longest, fits, rule) = match kind.naming() {
        Naming::Label => (63, is_dns_label(name), if name.contains('.') { NO_DOTS } else { LABEL }),
        Naming::Subdomain => (253, name.split('.').all(is_dns_label), SUBDOMAIN),
        Naming::PathSegment => return check_path_segment(name, errors),
    };
    if name.len() > longest {
        errors.push(FieldError::invalid(
            NAME,
            format!("{name:?}"),
            format!("must be no more than {longest} characters"),
        ));
    }
    if !fits {
        errors.push(FieldError::invalid(NAME, format!("{name:?}"), rule));
    }
}

fn check_path_segment(name: &str, errors: &mut Vec<FieldError>) {
    let mut refuse = |why: String| errors.push(FieldError::invalid(NAME, format!("{name:?}"), why));
    match name {
        "." | ".." => refuse(format!("may not be '{name}'")),
        _ => ["/", "%"]
            .iter()
            .filter(|part| name.contains(**part))
            .for_each(|part| refuse(format!("may not contain '{part}'"))),
    }
}

fn check_labels(labels: Option<&BTreeMap<String, String>>, errors: &mut Vec<FieldError>) {
    const FIELD: &str = "metadata.labels";
    for (key, value) in labels.into_iter().flatten() {
        let (prefix, name) = key.split_once('/').map_or((None, key.as_str()), |(prefix, name)| (Some(prefix), name));
        if prefix.is_some_and(|prefix| !prefix.split('.').all(is_dns_label)) {
            errors.push(FieldError::invalid(FIELD, format!("{key:?}"), format!("prefix part {SUBDOMAIN}")));
        }
        if !is_label_text(name) {
            errors.push(FieldError::invalid(FIELD, format!("{key:?}"), KEY_NAME));
        }
        if value.len() > 63 {
            errors.push(FieldError::invalid(FIELD, format!("{value:?}"), "must be no more than 63 characters"));
        }
        if !value.is_empty() && !is_label_text(value) {
            errors.push(FieldError::invalid(FIELD, format!("{value:?}"), LABEL_VALUE));
        }
    }
}

fn is_dns_label(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.starts_with(letter) && text.ends_with(letter) && text.chars().all(|c| letter(c) || c == '-')
}

fn is_label_text(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(letter) && text.ends_with(letter) && text.chars().all(|c| letter(c) || "-_.".contains(c))
}
