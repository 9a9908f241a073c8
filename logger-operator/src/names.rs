//! Names of the objects of a Logger: its children, their labels, the field manager.

use std::fmt::Write;

use k8s_openapi::{api::core::v1::Pod, apimachinery::pkg::apis::meta::v1::OwnerReference};
use kubewright_runtime::{ApiObject, ObjectKey, controller::MANAGED_BY_LABEL};
use logger_types::v2::Logger;
use ring::digest::{SHA256, digest};

/// The name of the controller. It is also the field manager, the reporter of events and the value of
/// [`MANAGED_BY_LABEL`].
pub const CONTROLLER: &str = "logger-operator";
/// The field manager of the definitions that the program applies.
pub const CRDS_FIELD_MANAGER: &str = "logger-operator-crds";
/// The label with the name of the program.
pub const NAME_LABEL: &str = "app.kubernetes.io/name";
/// The label that distinguishes the agents of one Logger from those of others.
pub const INSTANCE_LABEL: &str = "app.kubernetes.io/instance";
/// The value of [`NAME_LABEL`].
pub const AGENT: &str = "logger-agent";
/// The annotation of agents with the name of their Logger. Unlike a label, its value can have any length.
pub const LOGGER_ANNOTATION: &str = "example.com/logger";

/// The maximum length of the names of children, so that the names of their Pods are DNS labels: a Deployment appends up
/// to 17 characters, a StatefulSet and its revisions at most 11.
const MAX_CHILD: usize = 46;
/// The maximum length of the value of a label.
const MAX_LABEL: usize = 63;
/// The number of bytes of a digest in a name.
const DIGEST_BYTES: usize = 5;

/// The names of the children of a Logger.
///
/// Guarantees:
/// - the names of children are DNS labels that start with a letter, as those of Services must, and labels are valid,
///   whatever the name of the Logger;
/// - different Loggers have different names and labels;
/// - the names and the selector depend on the name of the Logger only: never on a version, an image or its spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    logger: String,
    namespace: String,
    child: String,
    instance: String,
}

impl Names {
    /// Returns the names for this Logger.
    #[must_use]
    pub fn new(logger: &Logger) -> Self {
        let name = logger.metadata.name.clone().unwrap_or_default();
        let namespace = logger.metadata.namespace.clone().unwrap_or_default();
        Names { child: child(&name), instance: instance(&name), logger: name, namespace }
    }

    /// Returns the name of the Logger.
    #[must_use]
    pub fn logger(&self) -> &str {
        &self.logger
    }

    /// Returns the namespace of the Logger and of its children.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns the name of every child: there is at most one of each kind.
    #[must_use]
    pub fn child(&self) -> &str {
        &self.child
    }

    /// Returns the labels that select the agents of the Logger.
    #[must_use]
    pub fn selector_labels(&self) -> [(&'static str, &str); 2] {
        [(INSTANCE_LABEL, &self.instance), (NAME_LABEL, AGENT)]
    }

    /// Returns the labels of children and agents.
    #[must_use]
    pub fn labels(&self) -> [(&'static str, &str); 5] {
        let [instance, name] = self.selector_labels();
        let (component, part_of) = (("app.kubernetes.io/component", "agent"), ("app.kubernetes.io/part-of", "logger"));
        [component, instance, (MANAGED_BY_LABEL, CONTROLLER), name, part_of]
    }

    /// Returns the selector of the agents as a string, for the scale subresource.
    #[must_use]
    pub fn selector(&self) -> String {
        self.selector_labels().map(|(label, value)| format!("{label}={value}")).join(",")
    }
}

/// Returns the key of the Logger that an agent belongs to, by its annotation.
#[must_use]
pub fn logger_of(agent: &Pod) -> Option<ObjectKey> {
    let name = agent.metadata.annotations.as_ref()?.get(LOGGER_ANNOTATION)?;
    Some(ObjectKey::namespaced(agent.metadata.namespace.as_deref()?, name))
}

/// Returns the controller of an object.
pub(crate) fn controller_of(object: &impl ApiObject) -> Option<&OwnerReference> {
    object.meta().owner_references.iter().flatten().find(|owner| owner.controller == Some(true))
}

fn child(logger: &str) -> String {
    let plain = format!("logger-{logger}");
    match plain.len() <= MAX_CHILD && !plain.contains('.') {
        true => plain,
        false => shorten(&plain.replace('.', "-"), logger, MAX_CHILD),
    }
}

fn instance(logger: &str) -> String {
    match logger.len() <= MAX_LABEL {
        true => logger.to_owned(),
        false => shorten(logger, logger, MAX_LABEL),
    }
}

/// Cuts a text, and appends a digest of the complete name.
fn shorten(text: &str, name: &str, max: usize) -> String {
    let length = max - 2 * DIGEST_BYTES - 1;
    let mut short: String = text.chars().take(length).collect();
    short.truncate(short.trim_end_matches(['-', '.']).len());
    short.push('-');
    for byte in digest(&SHA256, name.as_bytes()).as_ref().iter().take(DIGEST_BYTES) {
        // Writing to a string cannot fail.
        let _ = write!(short, "{byte:02x}");
    }
    short
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use kubewright_names::validation::{is_dns_1035_label, label_value};
    use logger_types::v2::LoggerSpec;

    use super::*;

    fn names(name: &str) -> Names {
        let metadata =
            ObjectMeta { name: Some(name.to_owned()), namespace: Some("default".to_owned()), ..ObjectMeta::default() };
        Names::new(&Logger { metadata, spec: LoggerSpec::default(), status: None })
    }

    #[test]
    fn names_of_children_are_dns_labels_that_start_with_a_letter() {
        let long = "a".repeat(253);
        for name in ["audit", "1audit", "a.b", "x-.y", &"b.".repeat(40), &long, &"c".repeat(39), &"c".repeat(40)] {
            let names = names(name);
            assert!(is_dns_1035_label(names.child()), "{name}: {}", names.child());
            assert!(names.child().len() <= MAX_CHILD, "{name}: {}", names.child());
            assert_eq!(label_value(&names.instance), Vec::<String>::new(), "{name}: {}", names.instance);
        }
        assert_eq!(names("audit").child(), "logger-audit");
    }

    #[test]
    fn different_loggers_have_different_names_and_labels() {
        let long = "a".repeat(100);
        let all = [names("a.b"), names("a-b"), names(&long), names(&format!("{long}b"))];
        for (index, names) in all.iter().enumerate() {
            for other in &all[index + 1..] {
                assert_ne!(names.child(), other.child());
                assert_ne!(names.selector(), other.selector());
            }
        }
    }

    #[test]
    fn the_selector_contains_the_instance_and_the_name_only() {
        let expected = "app.kubernetes.io/instance=audit,app.kubernetes.io/name=logger-agent";
        assert_eq!(names("audit").selector(), expected);
    }

    #[test]
    fn agents_name_their_logger_in_an_annotation() {
        let mut pod = Pod::default();
        pod.metadata.namespace = Some("default".to_owned());
        assert_eq!(logger_of(&pod), None);
        let annotation = (LOGGER_ANNOTATION.to_owned(), "audit".to_owned());
        pod.metadata.annotations = Some([annotation].into());
        assert_eq!(logger_of(&pod), Some(ObjectKey::namespaced("default", "audit")));
    }
}
