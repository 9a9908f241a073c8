//! Webhooks of a manager: their server and their description.

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_apiserver::ApiServer;
use kubewright_core::description::{AdmissionType, ConversionWebhookDescription, OperatorDescription};
use kubewright_manager::{
    Manager, Webhooks,
    manager::BuildError,
    serving::{Certificates, ServerConfig},
};

use crate::fixture::{MUTATE, VALIDATE, set_level, webhooks};

fn certificates() -> Certificates {
    Certificates::self_signed(["localhost"]).unwrap()
}

#[tokio::test]
async fn webhooks_are_described_with_their_server() {
    let conversion = ConversionWebhookDescription::new("example.com", "Widget", "widgets");
    let webhooks = webhooks().conversion(conversion, |_, _| Ok::<_, String>(()));
    let config = ServerConfig::new("webhooks", 9443).describes_only(true);
    let manager = Manager::builder(ApiServer::new().client()).serve_webhooks(config, certificates(), &webhooks);
    let description = manager.describe().unwrap();
    let server = &description.servers[0];
    assert_eq!((server.name.as_str(), server.port, server.https), ("webhooks", 9443, true));
    let admission: Vec<_> =
        description.admission_webhooks.iter().map(|webhook| (webhook.admission, webhook.path.as_str())).collect();
    assert_eq!(admission, [(AdmissionType::Mutating, MUTATE), (AdmissionType::Validating, VALIDATE)]);
    assert_eq!(description.conversion_webhooks[0].path, "/convert/widgets.example.com");
    let conversions = description.conversion_webhooks.iter().map(|webhook| &webhook.path);
    let paths = description.admission_webhooks.iter().map(|webhook| &webhook.path).chain(conversions);
    paths.for_each(|path| assert!(server.paths.contains(path), "{path}"));
    let json = serde_json::to_string(&description).unwrap();
    assert_eq!(serde_json::from_str::<OperatorDescription>(&json).unwrap(), description);
}

#[tokio::test]
async fn invalid_webhooks_are_an_error_of_the_manager() {
    let twice = Webhooks::new().defaulter::<ConfigMap>(set_level).defaulter::<ConfigMap>(set_level);
    let config = ServerConfig::new("webhooks", 0);
    let manager = Manager::builder(ApiServer::new().client()).serve_webhooks(config, certificates(), &twice);
    let error = manager.build().unwrap_err();
    assert!(matches!(error, BuildError::Webhooks(_)), "{error}");
}
