//! What the server refuses, and how the client says so.

use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use logger_client::Clientset;
use logger_runtime::Error;
use logger_types::v1::Logger;
use serde_json::json;

use crate::{logger, namespace};

#[track_caller]
fn refused_on(result: Result<Logger, Error>, field: &str) {
    let error = result.expect_err("it is refused");
    assert!(error.is_invalid(), "{error}");
    assert_eq!(error.status().unwrap().code, 422);
    let causes = &error.status().unwrap().details.as_ref().unwrap().causes;
    assert!(causes.iter().any(|cause| cause.field == field), "{causes:?}");
    assert!(error.to_string().contains(field), "{error}");
}

pub(super) async fn broken_specs_are_refused_with_the_field_named(client: Client) {
    let namespace = namespace(&client, "refused").await;
    let loggers = Clientset::new(client).example_v1().loggers(&namespace);
    let mut idle = logger("audit");
    idle.spec.time_interval = 0;
    refused_on(loggers.create(&idle, &PostParams::default()).await, "spec.timeInterval");
    let mut negative = logger("audit");
    negative.spec.replicas = Some(-1);
    refused_on(loggers.create(&negative, &PostParams::default()).await, "spec.replicas");
    assert!(loggers.get("audit").await.unwrap_err().is_not_found(), "nothing is made of what was refused");
}

pub(super) async fn misspelt_states_are_refused(client: Client) {
    let namespace = namespace(&client, "misspelt").await;
    let loggers = Clientset::new(client.clone()).example_v1().loggers(&namespace);
    loggers.create(&logger("audit"), &PostParams::default()).await.unwrap();
    // The typed client cannot spell it wrong, so plain JSON does.
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

pub(super) async fn errors_name_the_request_the_cause_and_the_way_out(client: Client) {
    let namespace = namespace(&client, "errors").await;
    let loggers = Clientset::new(client).example_v1().loggers(&namespace);
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
