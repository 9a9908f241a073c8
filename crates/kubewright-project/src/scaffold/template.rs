//! Templates: texts with `{{names}}` that are replaced by values.

use super::model::{Model, Resource};

/// The values of a template.
pub(super) struct Values(Vec<(&'static str, String)>);

impl Values {
    /// Returns the values that all files of a project share.
    pub(super) fn of(model: &Model) -> Self {
        let snake = |name: String| name.replace('-', "_");
        Values(vec![
            ("name", model.name.clone()),
            ("domain", model.domain.clone()),
            ("crate", snake(model.name.clone())),
            ("types", model.types()),
            ("types_crate", snake(model.types())),
            ("client", model.client()),
            ("client_crate", snake(model.client())),
            ("namespaced", model.namespaced.to_string()),
        ])
    }

    /// Returns the values of the files of a kind.
    pub(super) fn of_resource(model: &Model, resource: &Resource) -> Self {
        let is_derived = resource.plural == kubewright_names::resource::plural(&resource.kind);
        let plural = if is_derived { String::new() } else { format!("plural = \"{}\", ", resource.plural) };
        let genclient = if resource.namespaced { "#[genclient]" } else { "#[genclient(non_namespaced)]" };
        let namespace = if resource.namespaced { "Some(\"default\".into())" } else { "None" };
        let api = if resource.namespaced {
            "Api::namespaced(client.clone(), \"default\")"
        } else {
            "Api::all(client.clone())"
        };
        Values::of(model)
            .with("kind", resource.kind.clone())
            .with("module", resource.module())
            .with("version_module", model.version_module(resource))
            .with("api_version", format!("{}/{}", model.api_group(resource), resource.version))
            .with("api_group", model.api_group(resource))
            .with("version", resource.version.clone())
            .with("plural_name", resource.plural.clone())
            .with("plural", plural)
            .with("genclient", genclient.to_owned())
            .with("namespace", namespace.to_owned())
            .with("api", api.to_owned())
            .with("sample", resource.kind.to_lowercase())
    }

    /// Adds a value.
    pub(super) fn with(mut self, name: &'static str, value: String) -> Self {
        self.0.push((name, value));
        self
    }

    /// Replaces the names of a template by these values.
    pub(super) fn fill(&self, template: &str) -> String {
        let replace = |text: String, (name, value): &(&str, String)| text.replace(&format!("{{{{{name}}}}}"), value);
        self.0.iter().fold(template.to_owned(), replace)
    }
}
