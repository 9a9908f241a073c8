//! The places of values in the objects of webhooks: the Service, the Secret and the certificate of the release.

use kubewright_core::description::{ConversionWebhookDescription, WebhookNames};
use serde_json::json;

use super::{ChartError, helpers::Helpers, namespace, template::Template};
use crate::config::webhooks::{CERTIFICATE, ISSUER, conversion};

/// Whether cert-manager issues the certificate.
pub(super) const CERT_MANAGER: &str = ".Values.certManager.enabled";
/// Whether the operator issues the certificate.
pub(super) const SELF_MANAGED: &str = "not .Values.certManager.enabled";

/// Returns the namespace and the name of the Certificate.
pub(super) fn certificate_id(helpers: Helpers<'_>) -> String {
    format!("{{{{ .Release.Namespace }}}}/{}", helpers.object_text(CERTIFICATE))
}

/// Returns the annotation with the Certificate whose authority cert-manager writes to an object.
pub(super) fn ca_annotation(helpers: Helpers<'_>) -> (String, Template) {
    (WebhookNames::CA_FROM.to_owned(), Template::Expression(certificate_id(helpers)))
}

/// Places what depends on the release in a webhook configuration.
pub(super) fn place_configuration(template: &mut Template, helpers: Helpers<'_>) -> Result<(), ChartError> {
    for webhook in template.list_at("/webhooks")? {
        place_service(webhook.at("/clientConfig/service")?, helpers)?;
    }
    let annotations = Template::map([ca_annotation(helpers)]);
    template.map_at("/metadata")?.set("annotations", annotations.only_if(CERT_MANAGER));
    Ok(())
}

fn place_service(service: &mut Template, helpers: Helpers<'_>) -> Result<(), ChartError> {
    let service = service.map_at("")?;
    service.set("name", helpers.object(WebhookNames::SERVICE));
    service.set("namespace", namespace());
    Ok(())
}

/// Places what depends on the release in the Certificate.
pub(super) fn place_certificate(template: &mut Template, helpers: Helpers<'_>) -> Result<(), ChartError> {
    let host = format!("{}.{{{{ .Release.Namespace }}}}.svc", helpers.object_text(WebhookNames::SERVICE));
    let names = [host.clone(), format!("{host}.cluster.local")];
    let spec = template.map_at("/spec")?;
    spec.set("dnsNames", Template::List(names.map(Template::Expression).into()));
    spec.set("secretName", helpers.object(WebhookNames::SECRET));
    template.map_at("/spec/issuerRef")?.set("name", helpers.object(ISSUER));
    Ok(())
}

/// Replaces the names of this operator in the rules of a role.
pub(super) fn place_rules(template: &mut Template, helpers: Helpers<'_>) -> Result<(), ChartError> {
    let names = [WebhookNames::SECRET, WebhookNames::MUTATING, WebhookNames::VALIDATING];
    for rule in template.list_at("/rules")? {
        // Other rules are not restricted to names.
        let Ok(resource_names) = rule.list_at("/resourceNames") else { continue };
        for resource_name in resource_names {
            let is = |name: &&&str| *resource_name == Template::Scalar(format!("{}-{name}", helpers.chart).into());
            if let Some(name) = names.iter().find(is) {
                *resource_name = helpers.object(name);
            }
        }
    }
    Ok(())
}

/// Returns the variable with the prefix of the names of the release.
pub(super) fn name_prefix(helpers: Helpers<'_>) -> Template {
    let name = ("name".to_owned(), Template::Scalar(WebhookNames::PREFIX_VARIABLE.into()));
    Template::map([name, ("value".to_owned(), helpers.full_name())])
}

/// Adds the conversion to a definition.
pub(super) fn place_conversion(
    template: &mut Template,
    webhook: &ConversionWebhookDescription,
    helpers: Helpers<'_>,
) -> Result<(), ChartError> {
    let mut placed = Template::from(conversion(&json!({"service": {"path": webhook.path}})));
    place_service(placed.at("/webhook/clientConfig/service")?, helpers)?;
    template.map_at("/spec")?.set("conversion", placed);
    Ok(())
}
