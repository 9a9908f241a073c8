//! The webhooks of the ClusterServiceVersion.

use k8s_openapi::api::admissionregistration::v1::{MutatingWebhook, ValidatingWebhook, WebhookClientConfig};

use super::{super::csv::WebhookDefinition, BundleError};
use crate::config::{
    MANAGER, Project,
    webhooks::{REVIEW_VERSIONS, Webhooks, admission_webhooks},
};

/// The port of the Service.
const PORT: u16 = 443;

/// Returns the admission webhooks, and then the conversion webhooks.
pub(super) fn definitions(project: &Project) -> Result<Vec<WebhookDefinition>, BundleError> {
    let Some(webhooks) = Webhooks::from_project(project)? else { return Ok(Vec::new()) };
    check(project)?;
    let definition = |kind, name: &str, path: &str| WebhookDefinition {
        admission_review_versions: REVIEW_VERSIONS.map(str::to_owned).into(),
        container_port: PORT,
        conversion_definitions: Vec::new(),
        deployment_name: format!("{}-{MANAGER}", project.settings.name),
        failure_policy: None,
        generate_name: name.to_owned(),
        match_policy: None,
        object_selector: None,
        reinvocation_policy: None,
        rules: None,
        side_effects: "None".to_owned(),
        target_port: webhooks.server.port,
        timeout_seconds: None,
        kind,
        webhook_path: path.to_owned(),
    };
    // The configuration of the client contains nothing but the path.
    let with_path = |path: &str| WebhookClientConfig { url: Some(path.to_owned()), ..WebhookClientConfig::default() };
    let path = |config: WebhookClientConfig| config.url.unwrap_or_default();
    let (mutating, validating) = admission_webhooks(&project.description, with_path);
    let mutating = mutating.into_iter().map(|webhook: MutatingWebhook| WebhookDefinition {
        failure_policy: webhook.failure_policy,
        match_policy: webhook.match_policy,
        object_selector: webhook.object_selector,
        reinvocation_policy: webhook.reinvocation_policy,
        rules: webhook.rules,
        side_effects: webhook.side_effects,
        timeout_seconds: webhook.timeout_seconds,
        ..definition("MutatingAdmissionWebhook", &webhook.name, &path(webhook.client_config))
    });
    let validating = validating.into_iter().map(|webhook: ValidatingWebhook| WebhookDefinition {
        failure_policy: webhook.failure_policy,
        match_policy: webhook.match_policy,
        object_selector: webhook.object_selector,
        rules: webhook.rules,
        side_effects: webhook.side_effects,
        timeout_seconds: webhook.timeout_seconds,
        ..definition("ValidatingAdmissionWebhook", &webhook.name, &path(webhook.client_config))
    });
    let conversions = webhooks.conversions().iter().map(|webhook| {
        let name = format!("{}.{}", webhook.plural, webhook.group);
        WebhookDefinition {
            conversion_definitions: vec![name.clone()],
            ..definition("ConversionWebhook", &format!("c{name}"), &webhook.path)
        }
    });
    Ok(mutating.chain(validating).chain(conversions).collect())
}

/// OLM would ignore these fields, so that webhooks were called for objects for which they are not meant.
fn check(project: &Project) -> Result<(), BundleError> {
    for webhook in &project.description.admission_webhooks {
        let fields = [
            ("matchConditions", !webhook.match_conditions.is_empty()),
            ("namespaceSelector", webhook.namespace_selector.is_some()),
        ];
        if let Some((field, _)) = fields.into_iter().find(|(_, is_set)| *is_set) {
            return Err(BundleError::WebhookField { name: webhook.name.clone(), field });
        }
    }
    Ok(())
}
