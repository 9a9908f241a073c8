//! Requests that the server rejects, and the errors of the client.

use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use kubewright_runtime::Error;
use logger_client::Clientset;
use logger_types::v2::Logger;
use serde_json::json;

use crate::{logger, namespace};

#[track_caller]
fn assert_rejected(result: Result<Logger, Error>, field: &str) {
    let error = result.expect_err("the request is rejected");
    assert!(error.is_invalid(), "{error}");
    assert_eq!(error.status().unwrap().code, 422);
    let causes = &error.status().unwrap().details.as_ref().unwrap().causes;
    assert!(causes.iter().any(|cause| cause.field == field), "{causes:?}");
    assert!(error.to_string().contains(field), "{error}");
}

pub(super) async fn invalid_specs_are_rejected_by_field(client: Client) {
    let namespace = namespace(&client, "rejected").await;
    let loggers = Clientset::new(client).example_v2().loggers(&namespace);
    let mut idle = logger("audit");
    idle.spec.interval = "0s".to_owned();
    assert_rejected(loggers.create(&idle, &PostParams::default()).await, "spec.interval");
    let mut negative = logger("audit");
    negative.spec.replicas = Some(-1);
    assert_rejected(loggers.create(&negative, &PostParams::default()).await, "spec.replicas");
    assert!(loggers.get("audit").await.unwrap_err().is_not_found(), "rejected objects are not created");
}

pub(super) async fn misspelt_states_are_rejected(client: Client) {
    let namespace = namespace(&client, "misspelt").await;
    let loggers = Clientset::new(client.clone()).example_v2().loggers(&namespace);
    loggers.create(&logger("audit"), &PostParams::default()).await.unwrap();
    // The typed client cannot express an invalid state, so the patch is plain JSON.
    let patch = Patch::Merge(json!({"status": {"state": "Availabel"}}));
    let api = Api::<Logger>::namespaced(client, &namespace);
    let error = api.patch_status("audit", &PatchParams::default(), &patch).await.unwrap_err();
    let kube::Error::Api(status) = error else { panic!("{error}") };
    assert_eq!(status.code, 422);
    assert!(
        status.message.contains("status.state") && status.message.contains("\"Unavailable\""),
        "{}",
        status.message
    );
}

pub(super) async fn errors_name_the_request_and_the_cause(client: Client) {
    let namespace = namespace(&client, "errors").await;
    let loggers = Clientset::new(client).example_v2().loggers(&namespace);
    let missing = loggers.get("nobody").await.unwrap_err();
    assert_eq!(
        missing.to_string(),
        "cannot get loggers.example.com `nobody`: loggers.example.com \"nobody\" not found"
    );

    let mut unnamed = logger("audit");
    unnamed.metadata.name = None;
    let unnamed = loggers.update(&unnamed, &PostParams::default()).await.unwrap_err();
    assert_eq!(unnamed.to_string(), "cannot update loggers.example.com: metadata.name is not set");
}
