//! The file `PROJECT`: the model of a project, in version 3 of the schema of kubebuilder.

use serde::{Deserialize, Serialize};

use super::{
    model::{External, Model, Resource, ResourceWebhooks},
    plan::Problems,
};

/// The path of the file.
pub(super) const PATH: &str = "PROJECT";
/// The version of the schema.
const VERSION: &str = "3";
/// The plugin that stands for this toolchain. kubebuilder reads the file, but has no such plugin.
const PLUGIN: &str = "cargo-kubewright/v1";

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ProjectFile {
    domain: String,
    layout: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    namespaced: bool,
    project_name: String,
    repo: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    resources: Vec<ResourceEntry>,
    version: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResourceEntry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    api: Option<Api>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    controller: bool,
    domain: String,
    /// The kind belongs to another project.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    external: bool,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    group: String,
    kind: String,
    path: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    plural: String,
    version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    webhooks: Option<Webhooks>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Webhooks {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    conversion: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    defaulting: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    validation: bool,
    webhook_version: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Api {
    crd_version: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    namespaced: bool,
}

/// Renders the file.
pub(super) fn render(model: &Model) -> Result<String, Problems> {
    let repo = format!("{}/{}", model.domain, model.name);
    // kubebuilder validates it as the path of a Go import.
    let path = |module: &str| format!("{repo}/{}/{module}", model.types());
    let mut resources: Vec<&Resource> = model.resources.iter().collect();
    resources.sort();
    let entry = |resource: &Resource| ResourceEntry {
        api: Some(Api { crd_version: "v1".to_owned(), namespaced: resource.namespaced }),
        controller: resource.controller,
        domain: model.domain.clone(),
        external: false,
        group: resource.group.clone(),
        kind: resource.kind.clone(),
        path: path(&model.version_module(resource)),
        plural: resource.plural.clone(),
        version: resource.version.clone(),
        webhooks: webhooks(resource.webhooks),
    };
    let file = ProjectFile {
        domain: model.domain.clone(),
        layout: vec![PLUGIN.to_owned()],
        namespaced: model.namespaced,
        project_name: model.name.clone(),
        repo: repo.clone(),
        resources: resources.into_iter().map(entry).chain(external_entries(&model.externals, path)).collect(),
        version: VERSION.to_owned(),
    };
    let text = serde_saphyr::to_string(&file).map_err(|error| format!("cannot encode {PATH}: {error}"))?;
    Ok(text.trim_end().to_owned() + "\n")
}

/// Returns one entry for each kind of other projects, sorted.
fn external_entries(externals: &[External], path: impl Fn(&str) -> String) -> Vec<ResourceEntry> {
    let mut entries = Vec::new();
    let mut externals: Vec<&External> = externals.iter().collect();
    externals.sort();
    for External { group, version, module, kinds } in externals {
        // The group of kubebuilder is the first label, and the domain the others.
        let (label, domain) = group.split_once('.').unwrap_or((group, ""));
        entries.extend(kinds.iter().map(|kind| ResourceEntry {
            api: None,
            controller: false,
            domain: domain.to_owned(),
            external: true,
            group: label.to_owned(),
            kind: kind.clone(),
            path: path(module),
            plural: String::new(),
            version: version.clone(),
            webhooks: None,
        }));
    }
    entries
}

/// Returns the version of a group in an entry of another project, without its kind.
fn external(entry: &ResourceEntry) -> External {
    let group = [entry.group.as_str(), entry.domain.as_str()].into_iter().filter(|part| !part.is_empty());
    External {
        group: group.collect::<Vec<_>>().join("."),
        version: entry.version.clone(),
        module: entry.path.rsplit('/').next().unwrap_or_default().to_owned(),
        kinds: Vec::new(),
    }
}

/// Returns the imported versions of groups with their kinds.
fn externals(entries: &[ResourceEntry]) -> Vec<External> {
    let mut externals: Vec<External> = Vec::new();
    for entry in entries {
        let new = external(entry);
        let is_same = |found: &&mut External| (&found.group, &found.version) == (&new.group, &new.version);
        match externals.iter_mut().find(is_same) {
            Some(found) => found.kinds.push(entry.kind.clone()),
            None => externals.push(External { kinds: vec![entry.kind.clone()], ..new }),
        }
    }
    externals
}

fn webhooks(webhooks: ResourceWebhooks) -> Option<Webhooks> {
    let ResourceWebhooks { defaulting, validation, conversion } = webhooks;
    webhooks.any().then(|| Webhooks { conversion, defaulting, validation, webhook_version: "v1".to_owned() })
}

/// Parses the file.
pub(super) fn parse(text: &str) -> Result<Model, Problems> {
    let file: ProjectFile = serde_saphyr::from_str(text).map_err(|error| format!("cannot read {PATH}: {error}"))?;
    let mut problems = Problems::default();
    if file.version != VERSION {
        problems.add(format!("{PATH} has version {}; expected {VERSION}", file.version));
    }
    if file.layout != [PLUGIN] {
        let found = file.layout.join(", ");
        problems.add(format!("{PATH} has the layout `{found}`; expected `{PLUGIN}`: another tool created the project"));
    }
    let (external, declared): (Vec<_>, Vec<_>) = file.resources.into_iter().partition(|entry| entry.external);
    for entry in declared.iter().filter(|entry| entry.domain != file.domain) {
        problems.add(format!("{PATH}: {} has the domain `{}`; expected `{}`", entry.kind, entry.domain, file.domain));
    }
    let resource = |entry: ResourceEntry| Resource {
        group: entry.group,
        version: entry.version,
        kind: entry.kind,
        plural: entry.plural,
        namespaced: entry.api.is_some_and(|api| api.namespaced),
        controller: entry.controller,
        webhooks: entry.webhooks.map_or_else(ResourceWebhooks::default, |webhooks| {
            let Webhooks { conversion, defaulting, validation, .. } = webhooks;
            ResourceWebhooks { defaulting, validation, conversion }
        }),
    };
    let model = Model {
        name: file.project_name,
        domain: file.domain,
        namespaced: file.namespaced,
        resources: declared.into_iter().map(resource).collect(),
        externals: externals(&external),
    };
    model.check(&mut problems);
    problems.or(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_read_as_it_was_written() {
        let widget = Resource {
            group: "apps".to_owned(),
            version: "v1".to_owned(),
            kind: "Widget".to_owned(),
            plural: "widgets".to_owned(),
            namespaced: true,
            controller: true,
            webhooks: ResourceWebhooks::default(),
        };
        let gadget = Resource {
            group: String::new(),
            kind: "Gadget".to_owned(),
            plural: "gadgets".to_owned(),
            webhooks: ResourceWebhooks { validation: true, ..ResourceWebhooks::default() },
            ..widget.clone()
        };
        let model = Model {
            name: "my-operator".to_owned(),
            domain: "example.com".to_owned(),
            namespaced: true,
            resources: vec![gadget, widget],
            externals: vec![External {
                group: "cert-manager.io".to_owned(),
                version: "v1".to_owned(),
                module: "cert_manager_v1".to_owned(),
                kinds: vec!["Certificate".to_owned(), "Issuer".to_owned()],
            }],
        };
        assert_eq!(parse(&render(&model).unwrap()).unwrap(), model);
    }

    #[test]
    fn fields_that_would_be_lost_are_errors() {
        let file =
            "domain: example.com\nlayout: [cargo-kubewright/v1]\nplugins: {}\nprojectName: a\nrepo: a\nversion: '3'\n";
        assert!(parse(file).unwrap_err().to_string().contains("plugins"));
    }

    #[test]
    fn projects_of_other_tools_are_errors() {
        let file = "domain: example.com\nlayout: [go.kubebuilder.io/v4]\nprojectName: a\nrepo: a\nversion: '3'\n";
        let problems = parse(file).unwrap_err().to_string();
        assert!(problems.contains("the layout `go.kubebuilder.io/v4`; expected `cargo-kubewright/v1`"), "{problems}");
    }
}
