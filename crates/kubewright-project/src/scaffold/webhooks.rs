//! The webhooks of a kind are created.

use super::{
    apis::{model, transition, unknown},
    files::{Files, kind_path},
    model::{Model, Resource, ResourceWebhooks},
    plan::{Plan, Problems},
    tree::Tree,
};

/// New webhooks of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewWebhooks {
    /// The group without the domain.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The version of the admission webhooks. A kind with one version does not need it.
    pub version: Option<String>,
    /// Whether a webhook sets fields of objects.
    pub defaulting: bool,
    /// Whether a webhook validates objects.
    pub validation: bool,
    /// The version through which a webhook converts objects; `None` for no conversion.
    pub hub: Option<String>,
}

/// Plans webhooks of a kind: a source for each, which the user continues.
///
/// # Errors
/// Fails with everything that prevents it.
pub fn create_webhooks(tree: &Tree, request: &NewWebhooks) -> Result<Plan, Problems> {
    let NewWebhooks { defaulting, validation, .. } = *request;
    let old = model(tree)?;
    let mut problems = Problems::default();
    if !defaulting && !validation && request.hub.is_none() {
        problems.add("nothing to create; use `--defaulting`, `--validation` or `--conversion --hub VERSION`");
    }
    let mut new = old.clone();
    if defaulting || validation {
        let version = admission_version(&old, request)?;
        let webhooks = ResourceWebhooks { defaulting, validation, conversion: false };
        add(&mut new, request, &version, webhooks)?;
    }
    if let Some(hub) = &request.hub {
        let webhooks = ResourceWebhooks { conversion: true, ..ResourceWebhooks::default() };
        add(&mut new, request, hub, webhooks)?;
        if versions(&old, request).count() < 2 {
            let NewWebhooks { kind, .. } = request;
            problems.add(format!("{kind} has one version, which needs no conversion; use `create version` first"));
        }
    }
    match problems.0.is_empty() {
        true => {
            let mut plan = transition(tree, &old, &new, &Files::new())?;
            plan.notes = request.hub.iter().flat_map(|hub| conversion_notes(&new, request, hub)).collect();
            Ok(plan)
        }
        false => Err(problems),
    }
}

/// Returns the attributes that the types of each version need.
fn conversion_notes(model: &Model, request: &NewWebhooks, hub: &str) -> Vec<String> {
    let of_hub = versions(model, request).find(|resource| resource.version == hub);
    let hub_module = of_hub.map(|resource| model.version_module(resource)).unwrap_or_default();
    let kind = &request.kind;
    let note = |resource: &Resource| {
        let attribute = match resource.version == hub {
            true => "convert(hub)".to_owned(),
            false => format!("convert(hub = crate::{hub_module}::{kind})"),
        };
        format!(
            "{}: add `#[{attribute}]` to {kind}, and the same to its other types, such as {kind}Spec and \
             {kind}Status",
            kind_path(model, resource)
        )
    };
    versions(model, request).map(note).collect()
}

fn versions<'a>(model: &'a Model, request: &NewWebhooks) -> impl Iterator<Item = &'a Resource> {
    let NewWebhooks { group, kind, .. } = request;
    model.resources.iter().filter(move |resource| resource.is_of_kind(group, kind))
}

/// Returns the version of the admission webhooks: requests in other versions are converted to it.
fn admission_version(model: &Model, request: &NewWebhooks) -> Result<String, Problems> {
    let found: Vec<&str> = versions(model, request).map(|resource| resource.version.as_str()).collect();
    match (&request.version, &found[..]) {
        (Some(version), _) => Ok(version.clone()),
        (None, [version]) => Ok((*version).to_owned()),
        (None, []) => Err(unknown(&request.kind, &request.group)),
        (None, versions) => {
            Err(format!("{} has the versions {}; select one with `--version`", request.kind, versions.join(", "))
                .into())
        }
    }
}

fn add(model: &mut Model, request: &NewWebhooks, version: &str, webhooks: ResourceWebhooks) -> Result<(), Problems> {
    let NewWebhooks { group, kind, .. } = request;
    let mut resources = model.resources.iter_mut();
    let found = resources.find(|resource| resource.is_of_kind(group, kind) && resource.version == version);
    let resource = found.ok_or_else(|| unknown(kind, group))?;
    resource.webhooks = resource.webhooks.union(webhooks);
    Ok(())
}
