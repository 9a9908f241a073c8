//! Templates: texts with `{{names}}` that are replaced by values.

use super::{
    model::{Model, Resource},
    tree::compare,
};

/// The values of a template.
pub(super) struct Values(Vec<(&'static str, String)>);

impl Values {
    /// Returns the values that all files of a project share.
    pub(super) fn from_model(model: &Model) -> Self {
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
    pub(super) fn from_resource(model: &Model, resource: &Resource) -> Self {
        let is_derived = resource.plural == kubewright_names::resource::plural(&resource.kind);
        let plural = if is_derived { String::new() } else { format!("plural = \"{}\", ", resource.plural) };
        let genclient = if resource.namespaced { "#[genclient]" } else { "#[genclient(non_namespaced)]" };
        let namespace = if resource.namespaced { "Some(\"default\".into())" } else { "None" };
        let api = if resource.namespaced {
            "Api::namespaced(client.clone(), \"default\")"
        } else {
            "Api::all(client.clone())"
        };
        Values::from_model(model)
            .with("kind", resource.kind.clone())
            .with("module", resource.module())
            .with("version_module", model.version_module(resource))
            .with("api_version", format!("{}/{}", model.api_group(resource), resource.version))
            .with("version", resource.version.clone())
            .with("conversion", conversion(model, resource))
            .with("conversion_modules", conversion_modules(model, resource))
            .with("plural", plural)
            .with("genclient", genclient.to_owned())
            .with("namespace", namespace.to_owned())
            .with("api", api.to_owned())
            .with("lowercase", resource.kind.to_lowercase())
            .with("sample", resource.sample())
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

/// Returns the converter of a kind whose hub is this version.
fn conversion(model: &Model, hub: &Resource) -> String {
    let path = |resource: &Resource| format!("{}::{}", model.version_module(resource), resource.kind);
    let spokes = model.resources.iter().filter(|other| other.is_of_kind(&hub.group, &hub.kind) && *other != hub);
    let spokes: String = spokes.map(|spoke| format!(".spoke::<{}>()", path(spoke))).collect();
    format!("Converter::hub::<{}>(){spokes}.build()", path(hub))
}

/// Returns the modules of all versions of a kind, sorted.
fn conversion_modules(model: &Model, hub: &Resource) -> String {
    let versions = model.resources.iter().filter(|other| other.is_of_kind(&hub.group, &hub.kind));
    let mut modules: Vec<String> = versions.map(|version| model.version_module(version)).collect();
    modules.sort_by(|a, b| compare(a, b));
    modules.join(", ")
}
