//! A conversion webhook on the loopback interface, whose responses can be made wrong.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header::CONTENT_TYPE};
use k8s_openapi::ByteString;
use kubewright_manager::{
    CancellationToken,
    serving::{Certificates, Router, Server, ServerConfig, ServerError},
};
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::sleep};

const PATH: &str = "/convert";
/// The time of a slow response.
const DELAY: Duration = Duration::from_millis(500);

/// What is wrong with the responses.
#[derive(Debug, Clone)]
pub(super) enum Fault {
    /// The UID is not that of the request.
    Uid,
    /// There are no converted objects.
    Count,
    /// The result.
    Result(Value),
    /// There is no response in the review.
    NoResponse,
    /// The value at a path of each converted object.
    Object(&'static str, Value),
    /// The code, with a text instead of a review.
    Code(u16),
    /// The responses are late.
    Delay,
}

/// A webhook that converts Gauges.
pub(super) struct Converter {
    address: SocketAddr,
    authority: String,
    fault: Arc<Mutex<Option<Fault>>>,
    stop: CancellationToken,
    task: Mutex<Option<JoinHandle<Result<(), ServerError>>>>,
}

impl Converter {
    /// Starts a webhook on a free port, with a dedicated certificate.
    pub(super) fn start() -> Self {
        let certificates = Certificates::self_signed(["127.0.0.1"]).expect("a certificate");
        let authority = pem(certificates.chain().first().expect("a certificate"));
        let fault = Arc::new(Mutex::new(None));
        let current: Arc<Mutex<Option<Fault>>> = Arc::clone(&fault);
        let respond = move |request: Request<Bytes>| {
            let fault = current.lock().expect("no panic").clone();
            async move {
                if let Some(Fault::Delay) = fault {
                    sleep(DELAY).await;
                }
                respond(&request, fault)
            }
        };
        let server = Server::bind(ServerConfig::new("converter", 0), Router::new().post(PATH, respond));
        let server = server.expect("a free port").tls(certificates);
        let (address, stop) = (server.local_address(), CancellationToken::new());
        let task = Mutex::new(Some(tokio::spawn(server.run(stop.clone()))));
        Self { address, authority, fault, stop, task }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the `clientConfig` of a definition.
    pub(super) fn client_config(&self) -> Value {
        let bundle = ByteString(self.authority.clone().into_bytes());
        json!({ "url": format!("https://{}{PATH}", self.address), "caBundle": bundle })
    }

    /// Makes all further responses wrong.
    pub(super) fn respond_with(&self, fault: Fault) {
        *self.fault.lock().expect("no panic") = Some(fault);
    }

    /// Stops the webhook: no connection to its port succeeds afterwards.
    pub(super) async fn stop(&self) {
        self.stop.cancel();
        let task = self.task.lock().expect("no panic").take().expect("it is stopped once");
        task.await.expect("no panic").expect("the server stops");
    }
}

/// Returns a certificate as PEM.
fn pem(der: &[u8]) -> String {
    let base64 = serde_json::to_value(ByteString(der.to_vec())).expect("a string");
    let base64 = base64.as_str().unwrap_or_default();
    format!("-----BEGIN CERTIFICATE-----\n{base64}\n-----END CERTIFICATE-----\n")
}

fn respond(request: &Request<Bytes>, fault: Option<Fault>) -> Response<Bytes> {
    if let Some(Fault::Code(code)) = fault {
        let mut response = Response::new(Bytes::from_static(b"broken"));
        *response.status_mut() = StatusCode::from_u16(code).expect("a code");
        return response;
    }
    let review: Value = serde_json::from_slice(request.body()).expect("a review");
    let request = &review["request"];
    let target = request["desiredAPIVersion"].as_str().expect("a version");
    let objects = request["objects"].as_array().expect("objects").iter();
    let mut objects: Vec<Value> = objects.map(|object| convert(object.clone(), target)).collect();
    if let Some(Fault::Object(path, value)) = &fault {
        objects.iter_mut().for_each(|object| set(object, path, value));
    }
    let mut response = json!({ "uid": request["uid"], "result": { "status": "Success" }, "convertedObjects": objects });
    match fault {
        Some(Fault::Uid) => response["uid"] = json!("other"),
        Some(Fault::Count) => response["convertedObjects"] = json!([]),
        Some(Fault::Result(result)) => response["result"] = result,
        Some(Fault::NoResponse) => response = Value::Null,
        _ => {}
    }
    let mut answer = json!({ "apiVersion": review["apiVersion"], "kind": review["kind"], "response": response });
    if answer["response"].is_null() {
        answer.as_object_mut().expect("an object").remove("response");
    }
    let mut response = Response::new(Bytes::from(answer.to_string()));
    response.headers_mut().insert(CONTENT_TYPE, "application/json".parse().expect("a media type"));
    response
}

/// Sets the value at a path, whose parent exists.
fn set(object: &mut Value, path: &str, value: &Value) {
    let (parent, name) = path.rsplit_once('/').expect("a path");
    let parent = object.pointer_mut(parent).expect("the parent exists");
    parent[name] = value.clone();
}

/// Converts the interval of a Gauge.
fn convert(mut object: Value, target: &str) -> Value {
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        let seconds = spec.remove("seconds").and_then(|seconds| seconds.as_i64());
        let interval = spec.remove("interval");
        let interval = interval.and_then(|interval| interval.as_str()?.trim_end_matches('s').parse().ok());
        let period = spec.remove("period").and_then(|period| period["seconds"].as_i64());
        if let Some(seconds) = seconds.or(interval).or(period) {
            let version = target.rsplit('/').next().unwrap_or_default();
            spec.extend(super::interval(version, seconds).as_object().cloned().unwrap_or_default());
        }
    }
    object["apiVersion"] = json!(target);
    object
}
