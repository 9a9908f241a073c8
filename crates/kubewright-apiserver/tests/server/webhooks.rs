//! Admission webhooks that are called in process, through the configurations of the server.

mod calls;
mod matching;
mod reviews;

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use k8s_openapi::ByteString;
use kube::{Api, Client, api::DynamicObject};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::*;

/// The requests of the reviews that were received, with the paths of their webhooks.
#[derive(Clone, Default)]
struct Reviews(Arc<Mutex<Vec<(String, Value)>>>);

impl Reviews {
    /// Removes and returns the requests.
    fn take(&self) -> Vec<Value> {
        std::mem::take(&mut *self.0.lock().unwrap()).into_iter().map(|(_, request)| request).collect()
    }

    /// Removes the requests, and returns the paths.
    fn paths(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap()).into_iter().map(|(path, _)| path).collect()
    }
}

/// Returns a webhook for Widgets whose path is its name.
fn webhook(name: &str, operations: &[&str]) -> Value {
    json!({
        "name": format!("{name}.example.com"),
        "clientConfig": { "service": { "name": "webhooks", "namespace": "system", "path": format!("/{name}") } },
        "rules": [{
            "apiGroups": ["example.com"],
            "apiVersions": ["v1"],
            "resources": ["widgets"],
            "operations": operations,
        }],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    })
}

/// Returns a configuration: `Mutating` or `Validating`.
fn configuration(admission: &str, webhooks: Value) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": format!("{admission}WebhookConfiguration"),
        "metadata": { "name": "test" },
        "webhooks": webhooks,
    })
}

fn validating(webhooks: Value) -> Value {
    configuration("Validating", webhooks)
}

fn mutating(webhooks: Value) -> Value {
    configuration("Mutating", webhooks)
}

/// Returns a server with Widgets and configurations.
fn server_with(configurations: &[Value]) -> ApiServer {
    let server = ApiServer::new();
    server.load(&widget_definition()).unwrap();
    configurations.iter().for_each(|configuration| server.load(configuration).unwrap());
    server
}

/// Calls webhooks by a function from the path and the request to the response without its uid.
fn respond(server: &ApiServer, respond: impl Fn(&str, &Value) -> Value + Send + Sync + 'static) -> Reviews {
    let reviews = Reviews::default();
    let seen = reviews.clone();
    server.call_webhooks(move |http: Request<Bytes>| {
        let path = http.uri().path().to_owned();
        let review: Value = serde_json::from_slice(http.body()).unwrap();
        let mut response = respond(&path, &review["request"]);
        if response.get("uid").is_none() {
            response["uid"] = review["request"]["uid"].clone();
        }
        seen.0.lock().unwrap().push((path, review["request"].clone()));
        std::future::ready(answer(&response))
    });
    reviews
}

fn answer(response: &Value) -> Response<Bytes> {
    let review = json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response });
    Response::new(review.to_string().into())
}

fn allowed() -> Value {
    json!({ "allowed": true })
}

fn patched(operations: &Value) -> Value {
    let patch = ByteString(operations.to_string().into_bytes());
    json!({ "allowed": true, "patchType": "JSONPatch", "patch": patch })
}

/// Returns a client of a server with one configuration whose webhooks respond as the function does.
fn client_of(
    configuration: &Value,
    response: impl Fn(&str, &Value) -> Value + Send + Sync + 'static,
) -> (Client, Api<DynamicObject>, Reviews) {
    let server = server_with(std::slice::from_ref(configuration));
    let reviews = respond(&server, response);
    let client = server.client();
    (client.clone(), widgets(&client), reviews)
}
