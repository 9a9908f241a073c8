//! The reporter of events: a controller in one process.

use std::{
    fmt,
    hash::{Hash, Hasher},
};

use kubewright_names::validation::label_key;

use super::{
    config::EventConfig,
    metrics::EventMetrics,
    name::{MAX_WORD, cut},
};

/// The controller and its instance, and the metrics of the controller. Reporters are equal if controller and instance
/// are.
pub(super) struct Reporter {
    pub(super) controller: String,
    pub(super) instance: String,
    pub(super) metrics: EventMetrics,
}

/// Reports the name of a controller that is not a qualified name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid controller name `{name}`: {}; use a name such as `config-maps` or `example.com/config-maps`",
    .errors.join("; ")
)]
pub struct InvalidControllerName {
    name: String,
    errors: Vec<String>,
}

impl Reporter {
    pub(super) fn new(controller: &str, config: &EventConfig) -> Result<Self, InvalidControllerName> {
        let errors = label_key(controller);
        if !errors.is_empty() {
            return Err(InvalidControllerName { name: controller.to_owned(), errors });
        }
        let instance = config.instance.clone().unwrap_or_else(|| instance(controller, host_name()));
        Ok(Reporter {
            controller: controller.to_owned(),
            instance: cut(instance, MAX_WORD),
            metrics: EventMetrics::new(&config.metrics, controller),
        })
    }
}

fn instance(controller: &str, host: Option<String>) -> String {
    match host {
        Some(host) => format!("{controller}-{host}"),
        None => controller.to_owned(),
    }
}

fn host_name() -> Option<String> {
    let name = hostname::get().ok()?.into_string().ok()?;
    Some(name).filter(|name| !name.is_empty())
}

impl PartialEq for Reporter {
    fn eq(&self, other: &Self) -> bool {
        (&self.controller, &self.instance) == (&other.controller, &other.instance)
    }
}

impl Eq for Reporter {}

impl Hash for Reporter {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.controller, &self.instance).hash(state);
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter")
            .field("controller", &self.controller)
            .field("instance", &self.instance)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instance_is_controller_and_host_name() {
        assert_eq!(instance("maps", Some("node-1".into())), "maps-node-1");
        assert_eq!(instance("maps", None), "maps");
        let reporter = Reporter::new("maps", &EventConfig::default()).unwrap();
        assert!(reporter.instance.starts_with("maps"), "{reporter:?}");
    }

    #[test]
    fn instances_are_cut_on_a_character_boundary() {
        let config = EventConfig::default().instance(format!("a{}", "é".repeat(100)));
        assert_eq!(Reporter::new("maps", &config).unwrap().instance.len(), 127);
    }

    #[test]
    fn controllers_have_a_qualified_name() {
        for valid in ["maps", "example.com/maps"] {
            assert!(Reporter::new(valid, &EventConfig::default()).is_ok(), "{valid}");
        }
        for invalid in ["", "two words", "/maps", "example.com/", "a/b/c"] {
            let error = Reporter::new(invalid, &EventConfig::default()).unwrap_err().to_string();
            assert!(error.starts_with(&format!("invalid controller name `{invalid}`: ")), "{error}");
            assert!(error.ends_with("; use a name such as `config-maps` or `example.com/config-maps`"), "{error}");
        }
    }
}
