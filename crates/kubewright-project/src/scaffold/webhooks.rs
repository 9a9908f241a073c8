//! The webhooks of a kind are created.

use super::{
    apis::{model, transition, unknown},
    conversions::convert_types,
    files::Files,
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

/// Plans webhooks of a kind: a source for each, which the user continues. Types of a kind with a conversion get its
/// attributes.
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
            add_conversion(tree, &new, request, &mut plan)?;
            Ok(plan)
        }
        false => Err(problems),
    }
}

/// Adds the attributes of conversion to the types of each version.
fn add_conversion(tree: &Tree, model: &Model, request: &NewWebhooks, plan: &mut Plan) -> Result<(), Problems> {
    let all: Vec<&Resource> = versions(model, request).collect();
    let Some(hub) = all.iter().find(|resource| Some(&resource.version) == request.hub.as_ref()) else { return Ok(()) };
    let (steps, notes) = convert_types(tree, model, &all, hub)?;
    plan.add(steps);
    plan.notes.extend(notes);
    Ok(())
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
