//! The files of `config/webhook` and `config/certmanager`, and the patches of converted definitions.

mod certificates;
mod check;

use k8s_openapi::{
    api::{
        admissionregistration::v1::{
            MutatingWebhook, MutatingWebhookConfiguration, ServiceReference, ValidatingWebhook,
            ValidatingWebhookConfiguration, WebhookClientConfig,
        },
        core::v1::{Service, ServicePort, ServiceSpec},
    },
    apimachinery::pkg::{apis::meta::v1::ObjectMeta, util::intstr::IntOrString},
};
use kubewright_core::description::{
    AdmissionWebhookDescription, ConversionWebhookDescription, OperatorDescription, ServerDescription, WebhookNames,
};
use serde_json::{Value, json};

use super::{Files, NAMESPACE, Project, RenderError, kustomization::Kustomization};
use crate::settings::CertificateMode;

pub(crate) use certificates::{CERTIFICATE, CERTIFICATE_DIRECTORY, ISSUER};

/// The versions of reviews that the operator reads.
pub(crate) const REVIEW_VERSIONS: [&str; 1] = ["v1"];

/// The webhooks of an operator.
#[derive(Clone, Copy)]
pub(crate) struct Webhooks<'a> {
    /// The server with their paths.
    pub(crate) server: &'a ServerDescription,
    pub(crate) mode: CertificateMode,
    description: &'a OperatorDescription,
}

impl<'a> Webhooks<'a> {
    /// Returns the webhooks; `None` if there are none.
    ///
    /// # Errors
    /// Fails if one is invalid, or no server has its path.
    pub(crate) fn from_project(project: &'a Project) -> Result<Option<Self>, RenderError> {
        let (description, mode) = (&project.description, project.settings.webhooks.certificates);
        let server = check::server(description)?;
        check::check(project)?;
        Ok(server.map(|server| Webhooks { server, mode, description }))
    }

    /// Returns the conversion webhooks.
    pub(crate) fn conversions(&self) -> &'a [ConversionWebhookDescription] {
        &self.description.conversion_webhooks
    }
}

/// What `config/default` contains because of webhooks.
#[derive(Default)]
pub(super) struct Rendered {
    pub(super) resources: Vec<String>,
    pub(super) patches: Vec<String>,
}

/// Renders the files. Operator Lifecycle Manager creates the objects from the ClusterServiceVersion itself.
pub(super) fn render(files: &mut Files, webhooks: Option<Webhooks<'_>>) -> Result<Rendered, RenderError> {
    let Some(webhooks) = webhooks.filter(|webhooks| webhooks.mode != CertificateMode::Olm) else {
        return Ok(Rendered::default());
    };
    let mut resources = vec!["service.yaml".to_owned()];
    let service = service(files, webhooks.server);
    files.add("webhook/service.yaml", &service)?;
    let (mutating, validating) = configurations(files, webhooks);
    if let Some(configuration) = mutating {
        files.add("webhook/mutating_webhook_configuration.yaml", &configuration)?;
        resources.push("mutating_webhook_configuration.yaml".to_owned());
    }
    if let Some(configuration) = validating {
        files.add("webhook/validating_webhook_configuration.yaml", &configuration)?;
        resources.push("validating_webhook_configuration.yaml".to_owned());
    }
    files.kustomization("webhook", Kustomization::new(resources))?;
    let mut rendered = Rendered { resources: vec!["../webhook".to_owned()], patches: Vec::new() };
    if webhooks.mode == CertificateMode::CertManager {
        certificates::render(files)?;
        rendered.resources.push("../certmanager".to_owned());
    }
    for conversion in webhooks.conversions() {
        let name = format!("conversion_{}_{}.yaml", conversion.group, conversion.plural);
        files.write(&format!("default/{name}"), &conversion_patch(files, conversion, webhooks.mode))?;
        rendered.patches.push(name);
    }
    Ok(rendered)
}

/// The API server connects to port 443.
fn service(files: &Files, server: &ServerDescription) -> Service {
    let port = ServicePort {
        port: 443,
        protocol: Some("TCP".to_owned()),
        target_port: Some(IntOrString::Int(i32::from(server.port))),
        ..ServicePort::default()
    };
    Service {
        metadata: files.metadata(WebhookNames::SERVICE),
        spec: Some(ServiceSpec {
            ports: Some(vec![port]),
            selector: Some(files.pod_labels()),
            ..ServiceSpec::default()
        }),
        ..Service::default()
    }
}

/// Returns the configurations that have webhooks, which are sorted by their names.
fn configurations(
    files: &Files,
    webhooks: Webhooks<'_>,
) -> (Option<MutatingWebhookConfiguration>, Option<ValidatingWebhookConfiguration>) {
    let metadata = |name: &str| {
        let mut metadata = files.cluster_metadata(name);
        metadata.annotations = (webhooks.mode == CertificateMode::CertManager).then(|| certificates::inject(files));
        metadata
    };
    let (mutating, validating) = admission_webhooks(webhooks.description, client_config);
    let mutating = (!mutating.is_empty())
        .then(|| MutatingWebhookConfiguration { metadata: metadata(WebhookNames::MUTATING), webhooks: Some(mutating) });
    let validating = (!validating.is_empty()).then(|| ValidatingWebhookConfiguration {
        metadata: metadata(WebhookNames::VALIDATING),
        webhooks: Some(validating),
    });
    (mutating, validating)
}

/// Returns the admission webhooks, sorted by their names. The function returns the client configuration of a path.
pub(crate) fn admission_webhooks(
    description: &OperatorDescription,
    client_config: impl Fn(&str) -> WebhookClientConfig,
) -> (Vec<MutatingWebhook>, Vec<ValidatingWebhook>) {
    let mut webhooks: Vec<&AdmissionWebhookDescription> = description.admission_webhooks.iter().collect();
    webhooks.sort_by(|a, b| a.name.cmp(&b.name));
    let mutating = webhooks.iter().filter_map(|webhook| webhook.to_mutating_webhook(client_config(&webhook.path)));
    let validating = webhooks.iter().filter_map(|webhook| webhook.to_validating_webhook(client_config(&webhook.path)));
    (mutating.collect(), validating.collect())
}

fn client_config(path: &str) -> WebhookClientConfig {
    WebhookClientConfig {
        service: Some(ServiceReference {
            name: WebhookNames::SERVICE.to_owned(),
            namespace: NAMESPACE.to_owned(),
            path: Some(path.to_owned()),
            port: None,
        }),
        ..WebhookClientConfig::default()
    }
}

/// Returns the conversion of a definition by webhooks with this client configuration.
pub(crate) fn conversion(client_config: &Value) -> Value {
    json!({
        "strategy": "Webhook",
        "webhook": {"clientConfig": client_config, "conversionReviewVersions": REVIEW_VERSIONS},
    })
}

/// Returns the patch of a definition. kustomize replaces neither the name of the Service nor annotations in it, so that
/// these are the final ones.
fn conversion_patch(files: &Files, webhook: &ConversionWebhookDescription, mode: CertificateMode) -> Value {
    let service = json!({
        "name": WebhookNames::new(&files.name).service(),
        "namespace": files.final_namespace(),
        "path": webhook.path,
    });
    let metadata = ObjectMeta {
        name: Some(format!("{}.{}", webhook.plural, webhook.group)),
        annotations: (mode == CertificateMode::CertManager).then(|| certificates::inject(files)),
        ..ObjectMeta::default()
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {"conversion": conversion(&json!({"service": service}))},
    })
}
