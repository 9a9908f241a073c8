//! Metadata of all kinds: generated names, system fields, and validation.

mod owners;

use std::{borrow::Cow, collections::BTreeMap};

use kubewright_names::validation;
use serde_json::json;
use uuid::Uuid;

use crate::{
    api::{
        error::FieldError,
        kind::Kind,
        object::{Object, now},
    },
    resource::strategy::{Generation, Naming},
};

/// The maximum length of the prefix of a generated name (`MaxGeneratedNameLength`).
const MAX_PREFIX_LENGTH: usize = 58;
/// No vowels and no digits similar to them, so that generated names do not contain words.
const SUFFIX_ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// The maximum total size of annotations, in bytes (`TotalAnnotationSizeLimitB`).
const MAX_ANNOTATION_SIZE: usize = 256 << 10;

const NAME: &str = "metadata.name";

/// Generates a name from `generateName`: the prefix and five random characters.
pub(crate) fn generate_name(prefix: &str) -> String {
    let prefix: String = prefix.chars().take(MAX_PREFIX_LENGTH).collect();
    let random = Uuid::new_v4().into_bytes();
    let letter = |byte: u8| char::from(SUFFIX_ALPHABET[usize::from(byte) % SUFFIX_ALPHABET.len()]);
    // The first bytes of a version 4 UUID are random.
    random.into_iter().take(5).fold(prefix, |mut name, byte| {
        name.push(letter(byte));
        name
    })
}

/// Sets the system fields of a new object (`FillObjectMetaSystemFields`).
pub(crate) fn fill_system_fields(generation: Generation, object: &mut Object) {
    let metadata = &mut object.metadata;
    metadata.uid = Some(Uuid::new_v4().to_string());
    metadata.creation_timestamp = Some(now());
    if !matches!(generation, Generation::Unset | Generation::Updates) {
        metadata.generation = Some(1);
    }
}

/// Clears the system fields of a new object (`WipeObjectMetaSystemFields`).
pub(crate) fn wipe_system_fields(object: &mut Object) {
    let metadata = &mut object.metadata;
    metadata.uid = None;
    metadata.creation_timestamp = None;
    metadata.deletion_timestamp = None;
    metadata.deletion_grace_period_seconds = None;
}

/// Restores the fields of the stored object that an update cannot change.
pub(crate) fn preserve_system_fields(new: &mut Object, old: &Object) {
    let (to, from) = (&mut new.metadata, &old.metadata);
    to.creation_timestamp.clone_from(&from.creation_timestamp);
    if from.deletion_timestamp.is_some() {
        to.deletion_timestamp.clone_from(&from.deletion_timestamp);
    }
    to.deletion_grace_period_seconds = to.deletion_grace_period_seconds.or(from.deletion_grace_period_seconds);
    to.generation = from.generation;
    to.resource_version.clone_from(&from.resource_version);
    if to.uid.is_none() {
        to.uid.clone_from(&from.uid);
    }
}

/// Sets the deletion timestamp of an object with finalizers. An existing timestamp is retained.
pub(crate) fn mark_deleted(object: &mut Object) {
    let metadata = &mut object.metadata;
    if metadata.deletion_timestamp.is_none() {
        metadata.deletion_timestamp = Some(now());
        metadata.generation = metadata.generation.map(|generation| generation + 1);
    }
    metadata.deletion_grace_period_seconds = Some(0);
}

/// Validates the metadata of an object (`ValidateObjectMeta`).
pub(crate) fn check(kind: &Kind, naming: Naming, object: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Some(prefix) = &object.metadata.generate_name {
        check_name(naming, "metadata.generateName", &mask_trailing_dash(prefix), &mut errors);
    }
    if object.name().is_empty() {
        errors.push(FieldError::required(NAME, "name or generateName is required"));
    } else {
        check_name(naming, NAME, object.name(), &mut errors);
    }
    errors.extend(check_common(object));
    check_finalizers(kind, object, &mut errors);
    errors
}

fn check_common(object: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    errors.extend(object.metadata.labels.iter().flat_map(label_errors));
    errors
        .extend(object.metadata.annotations.iter().flat_map(|texts| annotation_errors(texts, "metadata.annotations")));
    errors.extend(owners::check(object.metadata.owner_references.as_deref().unwrap_or_default()));
    errors
}

/// Validates an update of metadata (`ValidateObjectMetaUpdate`).
pub(crate) fn check_update(new: &Object, old: &Object) -> Vec<FieldError> {
    const IMMUTABLE: &str = "field is immutable";
    let mut errors = check_common(new);
    if new.uid() != old.uid() {
        errors.push(FieldError::invalid("metadata.uid", format!("{:?}", new.uid()), IMMUTABLE));
    }
    if let Some(time) = new.metadata.deletion_timestamp.as_ref().filter(|_| !old.is_terminating()) {
        errors.push(FieldError::invalid("metadata.deletionTimestamp", json!(time), IMMUTABLE));
    }
    let is_new = |seconds: &i64| Some(*seconds) != old.metadata.deletion_grace_period_seconds;
    if let Some(seconds) = new.metadata.deletion_grace_period_seconds.filter(is_new) {
        errors.push(FieldError::invalid("metadata.deletionGracePeriodSeconds", seconds, IMMUTABLE));
    }
    let added: Vec<String> =
        new.finalizers().iter().filter(|finalizer| !old.finalizers().contains(finalizer)).cloned().collect();
    if old.is_terminating() && !added.is_empty() {
        let added: Vec<String> = added.iter().map(|finalizer| format!("{finalizer:?}")).collect();
        let detail = "no new finalizers can be added if the object is being deleted, found new finalizers []string";
        errors.push(FieldError::forbidden("metadata.finalizers", format!("{detail}{{{}}}", added.join(", "))));
    }
    errors
}

/// Makes a prefix with a trailing dash a valid name (`maskTrailingDash`).
fn mask_trailing_dash(prefix: &str) -> Cow<'_, str> {
    match prefix.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let mut rest: Vec<char> = rest.chars().collect();
            rest.pop();
            rest.push('a');
            rest.into_iter().collect::<String>().into()
        }
        _ => prefix.into(),
    }
}

fn check_name(naming: Naming, field: &str, name: &str, errors: &mut Vec<FieldError>) {
    let messages = match naming {
        Naming::Label => validation::dns_1123_label(name),
        Naming::Subdomain => validation::dns_1123_subdomain(name),
        Naming::PathSegment => validation::path_segment(name),
    };
    errors.extend(messages.into_iter().map(|detail| FieldError::invalid(field, format!("{name:?}"), detail)));
}

/// Validates finalizers. For built-in kinds, only the standard ones can be unqualified.
fn check_finalizers(kind: &Kind, object: &Object, errors: &mut Vec<FieldError>) {
    const FIELD: &str = "metadata.finalizers";
    const STANDARD: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];
    for (index, finalizer) in object.finalizers().iter().enumerate() {
        let messages = validation::label_key(finalizer);
        let shown = format!("{finalizer:?}");
        if messages.is_empty() && !kind.is_custom && !finalizer.contains('/') && !STANDARD.contains(&finalizer.as_str())
        {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            errors.push(FieldError::invalid(format!("{FIELD}[{index}]"), &shown, detail));
        }
        errors.extend(messages.into_iter().map(|detail| FieldError::invalid(FIELD, &shown, detail)));
    }
}

/// Returns the warnings for unqualified finalizers of a custom object.
pub(crate) fn unqualified_finalizers(object: &Object) -> impl Iterator<Item = String> {
    let unqualified = object.finalizers().iter().filter(|finalizer| !finalizer.contains('/'));
    unqualified.map(|finalizer| {
        let detail =
            "prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers";
        format!("metadata.finalizers: {finalizer:?}: {detail}")
    })
}

/// Returns the errors of labels.
pub(crate) fn label_errors(labels: &BTreeMap<String, String>) -> Vec<FieldError> {
    const FIELD: &str = "metadata.labels";
    let mut errors = Vec::new();
    for (key, value) in labels {
        errors.extend(
            validation::label_key(key).into_iter().map(|detail| FieldError::invalid(FIELD, format!("{key:?}"), detail)),
        );
        errors.extend(
            validation::label_value(value)
                .into_iter()
                .map(|detail| FieldError::invalid(FIELD, format!("{value:?}"), detail)),
        );
    }
    errors
}

/// Returns the errors of annotations, which are at `field`.
pub(crate) fn annotation_errors(annotations: &BTreeMap<String, String>, field: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for key in annotations.keys() {
        // The prefix of an annotation key can contain upper case.
        let messages = validation::label_key(&key.to_lowercase()).into_iter();
        errors.extend(messages.map(|detail| FieldError::invalid(field, format!("{key:?}"), detail)));
    }
    let size: usize = annotations.iter().map(|(key, value)| key.len() + value.len()).sum();
    if size > MAX_ANNOTATION_SIZE {
        errors.push(FieldError::too_long(field, MAX_ANNOTATION_SIZE));
    }
    errors
}
