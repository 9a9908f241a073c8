//! Renders the ClusterServiceVersion of a project.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use k8s_openapi::{api::apps::v1::Deployment, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kubewright_core::description::{
    KindDescription,
    PermissionScope::{self, Cluster, Namespaced, OwnNamespace, Reviews},
};
use semver::Version;
use serde_json::Value;

use super::{
    super::{
        CSV_KIND, EXAMPLES, SKIP_RANGE,
        csv::{
            ClusterServiceVersion, ClusterServiceVersionSpec, CustomResourceDefinitions, Descriptor, Icon, InstallMode,
            InstallSpec, InstallStrategy, Link, Maintainer, NamedDeployment, OwnedDefinition, OwnedResource,
            Permissions, Provider, RelatedImage,
        },
    },
    BundleError, BundleOptions, text, webhooks,
};
use crate::{
    config::Project,
    rbac::{SERVICE_ACCOUNT, rules_of},
    workspace::{Package, Sources},
};

/// What a ClusterServiceVersion is rendered from.
pub(super) struct Input<'a> {
    pub(super) project: &'a Project,
    pub(super) package: &'a Package,
    pub(super) sources: &'a Sources,
    pub(super) version: &'a Version,
    pub(super) options: &'a BundleOptions,
}

pub(super) fn render(input: &Input<'_>, deployments: Vec<Deployment>) -> Result<ClusterServiceVersion, BundleError> {
    let Input { project, package, sources, version, .. } = input;
    let (settings, olm) = (&project.settings, &project.settings.olm);
    let maintainers: Vec<_> = package.authors.iter().map(|author| maintainer(author)).collect();
    let publisher = olm.provider.clone().or_else(|| maintainers.first().map(|maintainer| maintainer.name.clone()));
    let icon = sources.icon.as_ref();
    let spec = ClusterServiceVersionSpec {
        custom_resource_definitions: CustomResourceDefinitions {
            owned: sources.definitions.iter().flat_map(|definition| owned(definition, project)).collect(),
        },
        description: package.description.clone(),
        display_name: olm.display_name.clone().unwrap_or_else(|| words(&settings.name)),
        icon: icon.map(|icon| [Icon { base64data: STANDARD.encode(&icon.data), mediatype: icon.media_type }]),
        related_images: related_images(&deployments),
        install: InstallStrategy { strategy: "deployment", spec: install(project, deployments) },
        install_modes: install_modes(settings.namespaced),
        keywords: package.keywords.clone(),
        links: links(package),
        maintainers,
        maturity: olm.maturity.clone(),
        min_kube_version: olm.min_kube_version.clone(),
        provider: publisher.map(|name| Provider { name }),
        replaces: olm.replaces.clone(),
        skips: olm.skips.clone(),
        version: version.to_string(),
        webhook_definitions: webhooks::definitions(project)?,
    };
    Ok(ClusterServiceVersion {
        api_version: "operators.coreos.com/v1alpha1",
        kind: CSV_KIND,
        metadata: ObjectMeta {
            name: Some(format!("{}.v{version}", settings.name)),
            annotations: Some(annotations(input)?),
            ..ObjectMeta::default()
        },
        spec,
    })
}

fn annotations(input: &Input<'_>) -> Result<BTreeMap<String, String>, BundleError> {
    let Input { project, package, sources, options, .. } = input;
    let olm = &project.settings.olm;
    let examples = serde_json::to_string_pretty(&sources.samples).map_err(BundleError::Samples)?;
    let categories = (!olm.categories.is_empty()).then(|| olm.categories.join(","));
    let annotations = [
        (EXAMPLES, Some(examples)),
        ("capabilities", Some(olm.capabilities.clone())),
        ("categories", categories),
        ("containerImage", Some(project.settings.image.clone())),
        ("createdAt", options.created_at.clone()),
        ("description", package.description.clone()),
        ("license", package.license.clone()),
        ("repository", package.repository.clone()),
        (SKIP_RANGE, olm.skip_range.clone()),
    ];
    Ok(annotations.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
}

/// Splits `Ada <ada@example.com>`.
fn maintainer(author: &str) -> Maintainer {
    match author.trim_end_matches('>').split_once('<') {
        Some((name, email)) => Maintainer { name: name.trim().to_owned(), email: Some(email.trim().to_owned()) },
        None => Maintainer { name: author.trim().to_owned(), email: None },
    }
}

fn links(package: &Package) -> Vec<Link> {
    let links = [("Source Code", &package.repository), ("Homepage", &package.homepage)];
    links.into_iter().filter_map(|(name, url)| Some(Link { name, url: url.clone()? })).collect()
}

fn related_images(deployments: &[Deployment]) -> Vec<RelatedImage> {
    let specs = deployments.iter().filter_map(|deployment| deployment.spec.as_ref()?.template.spec.as_ref());
    let containers = specs.flat_map(|spec| &spec.containers);
    containers
        .filter_map(|container| Some(RelatedImage { image: container.image.clone()?, name: container.name.clone() }))
        .collect()
}

fn install(project: &Project, deployments: Vec<Deployment>) -> InstallSpec {
    let account = format!("{}-{SERVICE_ACCOUNT}", project.settings.name);
    let permissions = |scopes: &[PermissionScope]| {
        let rules = rules_of(&project.description, scopes);
        let permissions = Permissions { rules, service_account_name: account.clone() };
        if permissions.rules.is_empty() { Vec::new() } else { vec![permissions] }
    };
    let (of_cluster, of_namespace): (&[_], &[_]) = match project.settings.namespaced {
        true => (&[Cluster, Reviews], &[Namespaced, OwnNamespace]),
        false => (&[Namespaced, Cluster, Reviews], &[OwnNamespace]),
    };
    let deployment = |deployment: Deployment| {
        let mut spec = deployment.spec.unwrap_or_default();
        if let Some(pod) = &mut spec.template.spec {
            pod.service_account_name = Some(account.clone());
        }
        let (label, name) = (deployment.metadata.labels, deployment.metadata.name);
        NamedDeployment { label: label.unwrap_or_default(), name: name.unwrap_or_default(), spec }
    };
    InstallSpec {
        cluster_permissions: permissions(of_cluster),
        deployments: deployments.into_iter().map(deployment).collect(),
        permissions: permissions(of_namespace),
    }
}

/// An operator watches all namespaces, or its own.
fn install_modes(namespaced: bool) -> Vec<InstallMode> {
    [
        ("OwnNamespace", namespaced),
        ("SingleNamespace", false),
        ("MultiNamespace", false),
        ("AllNamespaces", !namespaced),
    ]
    .map(|(mode, supported)| InstallMode { mode, supported })
    .into()
}

/// Returns an entry for each version of a definition.
fn owned(definition: &Value, project: &Project) -> Vec<OwnedDefinition> {
    let (group, kind) = (text(definition, "/spec/group"), text(definition, "/spec/names/kind"));
    let versions = definition.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten();
    let one_version = |version: &Value| {
        let schema = version.pointer("/schema/openAPIV3Schema").unwrap_or(&Value::Null);
        OwnedDefinition {
            description: description(schema),
            display_name: words(kind),
            kind: kind.to_owned(),
            name: text(definition, "/metadata/name").to_owned(),
            resources: resources(group, kind, project),
            spec_descriptors: descriptors(schema, "spec"),
            status_descriptors: descriptors(schema, "status"),
            version: text(version, "/name").to_owned(),
        }
    };
    versions.map(one_version).collect()
}

fn description(schema: &Value) -> Option<String> {
    schema["description"].as_str().map(str::to_owned)
}

/// Returns the kinds that the controllers of a kind own.
fn resources(group: &str, kind: &str, project: &Project) -> Vec<OwnedResource> {
    let controllers = project.description.controllers.iter();
    let owned = controllers
        .filter(|controller| controller.reconciles.group == group && controller.reconciles.kind == kind)
        .flat_map(|controller| &controller.owns);
    let resource = |kind: &KindDescription| OwnedResource {
        kind: kind.kind.clone(),
        name: String::new(),
        version: kind.version.clone(),
    };
    owned.map(resource).collect()
}

/// Returns the fields of the spec or the status, with their documentation.
fn descriptors(schema: &Value, part: &str) -> Vec<Descriptor> {
    let fields = schema["properties"][part]["properties"].as_object().into_iter().flatten();
    fields
        .map(|(name, field)| Descriptor {
            description: description(field),
            display_name: words(name),
            path: name.clone(),
        })
        .collect()
}

/// Returns a name for people: `Logger Operator` for `logger-operator`, `Time Interval` for `timeInterval`.
fn words(name: &str) -> String {
    let mut words = String::new();
    let mut previous = '-';
    for c in name.chars() {
        let is_separator = |c: char| c == '-' || c == '_';
        let starts_word = is_separator(previous) || previous.is_lowercase() && c.is_uppercase();
        if starts_word && !is_separator(c) {
            if !words.is_empty() {
                words.push(' ');
            }
            words.extend(c.to_uppercase());
        } else if !is_separator(c) {
            words.push(c);
        }
        previous = c;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_for_people() {
        for (name, expected) in [
            ("logger-operator", "Logger Operator"),
            ("timeInterval", "Time Interval"),
            ("HTTPRoute", "HTTPRoute"),
            ("a_b", "A B"),
        ] {
            assert_eq!(words(name), expected);
        }
    }

    #[test]
    fn authors_are_split() {
        let ada = maintainer("Ada <ada@example.com>");
        assert_eq!((ada.name.as_str(), ada.email.as_deref()), ("Ada", Some("ada@example.com")));
        assert_eq!(maintainer("Ada").email, None);
    }
}
