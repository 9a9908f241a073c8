//! The files of `config/certmanager`: the certificate that cert-manager issues.

use std::collections::BTreeMap;

use kubewright_core::description::WebhookNames;
use serde_json::json;

use super::super::{Files, RenderError, kustomization::Kustomization};

/// The directory of the certificate in the container, in which Operator Lifecycle Manager mounts it, too.
pub(crate) const CERTIFICATE_DIRECTORY: &str = "/tmp/k8s-webhook-server/serving-certs";
/// The Certificate, without the prefix of its name.
pub(crate) const CERTIFICATE: &str = "serving-cert";
/// The Issuer, without the prefix of its name.
pub(crate) const ISSUER: &str = "selfsigned-issuer";
const API_VERSION: &str = "cert-manager.io/v1";

/// Renders the Issuer and the Certificate. kustomize does not change the names in their specifications.
pub(super) fn render(files: &mut Files) -> Result<(), RenderError> {
    let names = WebhookNames::new(&files.name);
    let issuer = json!({
        "apiVersion": API_VERSION,
        "kind": "Issuer",
        "metadata": files.metadata(ISSUER),
        "spec": {"selfSigned": {}},
    });
    let host = format!("{}.{}.svc", names.service(), files.final_namespace());
    let certificate = json!({
        "apiVersion": API_VERSION,
        "kind": "Certificate",
        "metadata": files.metadata(CERTIFICATE),
        "spec": {
            "dnsNames": [host.clone(), format!("{host}.cluster.local")],
            "issuerRef": {"kind": "Issuer", "name": format!("{}-{ISSUER}", files.name)},
            "privateKey": {"algorithm": "ECDSA", "rotationPolicy": "Always", "size": 256},
            "secretName": names.secret(),
        },
    });
    files.add("certmanager/issuer.yaml", &issuer)?;
    files.add("certmanager/certificate.yaml", &certificate)?;
    let resources = ["issuer.yaml", "certificate.yaml"].map(str::to_owned);
    files.kustomization("certmanager", Kustomization::new(resources))
}

/// Returns the annotation of objects whose CA bundle cert-manager writes.
pub(super) fn inject(files: &Files) -> BTreeMap<String, String> {
    let certificate = format!("{}/{}-{CERTIFICATE}", files.final_namespace(), files.name);
    BTreeMap::from([(WebhookNames::CA_FROM.to_owned(), certificate)])
}
