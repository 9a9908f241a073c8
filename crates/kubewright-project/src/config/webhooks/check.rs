//! Rules of the API server for webhooks: what it would reject is an error before anything is rendered.

use std::{collections::BTreeSet, ops::RangeInclusive};

use kubewright_core::description::{
    AdmissionType, AdmissionWebhookDescription, OperatorDescription, ReinvocationPolicy, ServerDescription,
};
use kubewright_names::validation::is_dns_1123_subdomain;

use super::super::{Project, RenderError, server_with};

/// The limits of the API server.
const MAX_CONDITIONS: usize = 64;
const TIMEOUTS: RangeInclusive<i32> = 1..=30;
const MIN_LABELS: usize = 3;

/// Returns the server that has the paths of all webhooks; `None` without webhooks.
pub(super) fn server(description: &OperatorDescription) -> Result<Option<&ServerDescription>, RenderError> {
    let admission = description.admission_webhooks.iter().map(|webhook| webhook.path.as_str());
    let paths: Vec<&str> =
        admission.chain(description.conversion_webhooks.iter().map(|webhook| webhook.path.as_str())).collect();
    let Some(first) = paths.first() else { return Ok(None) };
    match server_with(description, &paths) {
        Some(server) if server.https => Ok(Some(server)),
        _ => Err(RenderError::NoWebhookServer { path: (*first).to_owned() }),
    }
}

/// Validates the webhooks.
pub(super) fn check(project: &Project) -> Result<(), RenderError> {
    let mut names = BTreeSet::new();
    for webhook in &project.description.admission_webhooks {
        let invalid = |reason| RenderError::Webhook { name: webhook.name.clone(), reason };
        if !names.insert((webhook.admission, &webhook.name)) {
            return Err(invalid("it is registered twice; rename one of the webhooks".to_owned()));
        }
        admission(webhook).map_err(invalid)?;
    }
    let mut converted = BTreeSet::new();
    for webhook in &project.description.conversion_webhooks {
        let name = format!("{}.{}", webhook.plural, webhook.group);
        let invalid = |reason: &str| RenderError::Webhook { name: name.clone(), reason: reason.to_owned() };
        if !converted.insert((&webhook.plural, &webhook.group)) {
            return Err(invalid("its objects are converted twice; remove one of the conversions"));
        }
        let is_defined = project.kinds.iter().any(|kind| kind.plural == webhook.plural && kind.group == webhook.group);
        if !is_defined {
            return Err(invalid("this project does not define it; convert only its kinds"));
        }
        path(&webhook.path).map_err(|reason| invalid(&reason))?;
    }
    Ok(())
}

fn admission(webhook: &AdmissionWebhookDescription) -> Result<(), String> {
    let AdmissionWebhookDescription { name, admission, operations, timeout_seconds, match_conditions, .. } = webhook;
    if !is_dns_1123_subdomain(name) || name.split('.').count() < MIN_LABELS {
        return Err(
            "invalid name: expected a domain with at least three labels, such as `vwidget-v1.example.org`".into()
        );
    }
    path(&webhook.path)?;
    if operations.is_empty() {
        return Err("it has no operations; add one, such as `CREATE`".into());
    }
    if !TIMEOUTS.contains(timeout_seconds) {
        return Err(format!("invalid timeout of {timeout_seconds} s: expected 1 to 30"));
    }
    if match_conditions.len() > MAX_CONDITIONS {
        return Err(format!("{} match conditions: expected at most {MAX_CONDITIONS}", match_conditions.len()));
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = match_conditions.iter().find(|condition| !names.insert(&condition.name)) {
        return Err(format!("two match conditions have the name `{}`; rename one of them", twice.name));
    }
    let has_policy = webhook.reinvocation_policy != ReinvocationPolicy::default();
    match admission {
        AdmissionType::Validating if has_policy => Err("only mutating webhooks are called again".into()),
        _ => Ok(()),
    }
}

/// Validates a path by the pattern of kubebuilder.
fn path(path: &str) -> Result<(), String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut segments = path.split('/');
    let starts_with_slash = segments.next() == Some("");
    match starts_with_slash && segments.all(|segment| !segment.is_empty() && segment.chars().all(is_allowed)) {
        true => Ok(()),
        false => Err(format!("invalid path `{path}`: expected `/` and letters, digits, `-`, `_` and `.`")),
    }
}
