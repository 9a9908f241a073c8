//! Logs of pods: they are requested from the kubelet of the node, as kube-apiserver does, over HTTP without TLS.

use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::{Pin, pin},
    time::Duration,
};

use bytes::Bytes;
use futures::stream;
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{CONTENT_TYPE, HOST},
    request::Parts,
};
use http_body::Frame;
use http_body_util::{BodyExt, Empty, Limited, StreamBody};
use hyper::{
    body::Incoming,
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{net::TcpStream, time::timeout};
use tower::BoxError;

use super::error_response::error_response;
use crate::{
    response::body::Body,
    server::api_server::ApiServer,
    wire::request::{Query, Route, Target},
};

/// The timeout for connecting to a kubelet and for the start of its response.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum size of the message of an error.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// A response in place of a log. It is large, and rare.
type Failure = Box<Response<Body>>;

/// Returns the path of the pod whose log is requested; `None` for other requests.
pub(super) fn pod_of_log(parts: &Parts) -> Option<&str> {
    let path = parts.uri.path().strip_suffix("/log").filter(|_| parts.method == Method::GET)?;
    let Route::Resource(Target { group, version, namespace: Some(_), plural, name: Some(_), subresource: None }) =
        Route::parse(path)
    else {
        return None;
    };
    (group.is_empty() && version == "v1" && plural == "pods").then_some(path)
}

/// Responds with the log of a container, which is a stream.
pub(super) async fn log(server: &ApiServer, pod_path: &str, parts: &Parts) -> Response<Body> {
    read_log(server, pod_path, parts.uri.query().unwrap_or_default()).await.unwrap_or_else(|failure| *failure)
}

async fn read_log(server: &ApiServer, pod_path: &str, query: &str) -> Result<Response<Body>, Failure> {
    let pod = get(server, pod_path).await?;
    let text = |path: &str| pod.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let container = container(&pod, &Query::parse(query))?;
    let node = text("/spec/nodeName");
    if node.is_empty() {
        // A pod that is not scheduled has an empty log.
        return Ok(text_response(Body::default()));
    }
    let address = kubelet_address(&get(server, &format!("/api/v1/nodes/{node}")).await?, node)?;
    let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
    let path = format!("/containerLogs/{namespace}/{name}/{container}?{query}");
    let failed = |error: BoxError| internal(&format!("Get \"http://{address}{path}\": {error}"));
    let exchange = Exchange::send(address, &path).await.map_err(failed)?;
    exchange.into_response().await
}

/// Reads an object as a client does. The failure is the response of the server.
async fn get(server: &ApiServer, path: &str) -> Result<Value, Failure> {
    let request = Request::get(path).body(kube::client::Body::empty());
    let request = request.map_err(|error| failure(StatusCode::BAD_REQUEST, "BadRequest", &error.to_string()))?;
    let response = server.clone().respond(request).await;
    if response.status() != StatusCode::OK {
        return Err(Box::new(response));
    }
    let Ok(body) = response.into_body().collect().await;
    let unreadable = |error: serde_json::Error| internal(&error.to_string());
    serde_json::from_slice(&body.to_bytes()).map_err(unreadable)
}

/// Returns the requested container, or the only one.
fn container(pod: &Value, query: &Query) -> Result<String, Failure> {
    let names = |field: &str| -> Vec<&str> {
        let containers = pod["spec"][field].as_array().into_iter().flatten();
        containers.filter_map(|container| container["name"].as_str()).collect()
    };
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    let (main, init, ephemeral) = (names("containers"), names("initContainers"), names("ephemeralContainers"));
    let exists = |name: &str| main.iter().chain(&init).chain(&ephemeral).any(|other| *other == name);
    let message = match (query.get("container"), main.as_slice()) {
        (Some(container), _) if exists(container) => return Ok(container.to_owned()),
        (Some(container), _) => format!("container {container} is not valid for pod {name}"),
        (None, [only]) => return Ok((*only).to_owned()),
        (None, _) => {
            let init = Some(init.join(" ")).filter(|init| !init.is_empty());
            let init = init.map(|init| format!(" or one of the init containers: [{init}]")).unwrap_or_default();
            let main = main.join(" ");
            format!("a container name must be specified for pod {name}, choose one of: [{main}]{init}")
        }
    };
    Err(failure(StatusCode::BAD_REQUEST, "BadRequest", &message))
}

/// Returns the address of the kubelet of a node, as its status declares it.
fn kubelet_address(node: &Value, name: &str) -> Result<SocketAddr, Failure> {
    let addresses = node["status"]["addresses"].as_array().into_iter().flatten();
    let mut ips = addresses.filter(|address| address["type"] == "InternalIP");
    let ip = ips.find_map(|address| address["address"].as_str()?.parse().ok());
    let port = node.pointer("/status/daemonEndpoints/kubeletEndpoint/Port").and_then(Value::as_u64);
    let port = port.and_then(|port| u16::try_from(port).ok()).filter(|port| *port != 0);
    let address = ip.zip(port).map(|(ip, port)| SocketAddr::new(ip, port));
    let missing = || internal(&format!("the status of node {name} has no InternalIP or no kubeletEndpoint"));
    address.ok_or_else(missing)
}

/// An exchange with a kubelet. Its connection belongs to the response, and is closed with it.
struct Exchange {
    status: StatusCode,
    body: Incoming,
    connection: Option<Connection>,
    /// Keeps the connection open.
    _sender: SendRequest<Empty<Bytes>>,
}

type Connection = Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>;

impl Exchange {
    async fn send(address: SocketAddr, path: &str) -> Result<Self, BoxError> {
        timeout(TIMEOUT, Self::send_request(address, path)).await?
    }

    async fn send_request(address: SocketAddr, path: &str) -> Result<Self, BoxError> {
        let request = Request::get(path).header(HOST, address.to_string()).body(Empty::new())?;
        let stream = TcpStream::connect(address).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let mut connection: Connection = Box::pin(connection);
        let (response, connection) = {
            let mut response = pin!(sender.send_request(request));
            tokio::select! {
                response = &mut response => (response?, Some(connection)),
                // The response can be received together with the end of the connection.
                closed = &mut connection => {
                    closed?;
                    (response.await?, None)
                }
            }
        };
        let (status, body) = (response.status(), response.into_body());
        Ok(Exchange { status, body, connection, _sender: sender })
    }

    /// Returns the body as a stream, or an error of the kubelet as a `Status`.
    async fn into_response(self) -> Result<Response<Body>, Failure> {
        let (status, frames) = (self.status, stream::unfold(self, Self::next_frame));
        if status.is_success() {
            return Ok(text_response(StreamBody::new(frames).boxed_unsync()));
        }
        let message = Limited::new(StreamBody::new(frames).boxed_unsync(), MAX_ERROR_BYTES).collect().await;
        let message = message.map(|message| message.to_bytes()).unwrap_or_default();
        let reason = match status {
            StatusCode::BAD_REQUEST => "BadRequest",
            StatusCode::NOT_FOUND => "NotFound",
            _ => "InternalError",
        };
        Err(failure(status, reason, String::from_utf8_lossy(&message).trim()))
    }

    /// Returns the next part of the body. The stream ends when the connection fails.
    async fn next_frame(mut self) -> Option<(Result<Frame<Bytes>, Infallible>, Self)> {
        loop {
            let frame = match &mut self.connection {
                Some(connection) => tokio::select! {
                    biased;
                    frame = self.body.frame() => Some(frame),
                    _ = connection => None,
                },
                None => Some(self.body.frame().await),
            };
            match frame {
                Some(Some(Ok(frame))) => return Some((Ok(frame), self)),
                Some(_) => return None,
                // What was received remains to be read.
                None => self.connection = None,
            }
        }
    }
}

fn text_response(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}

fn internal(detail: &str) -> Failure {
    failure(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", &format!("Internal error occurred: {detail}"))
}

fn failure(code: StatusCode, reason: &str, message: &str) -> Failure {
    Box::new(error_response(code, reason, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod_path(method: &str, uri: &str) -> Option<String> {
        let (parts, ()) = Request::builder().method(method).uri(uri).body(()).unwrap().into_parts();
        pod_of_log(&parts).map(str::to_owned)
    }

    #[test]
    fn only_logs_of_pods_are_requested_from_kubelets() {
        let pod = "/api/v1/namespaces/default/pods/web";
        assert_eq!(pod_path("GET", &format!("{pod}/log?follow=true")).as_deref(), Some(pod));
        for (method, uri) in [
            ("POST", format!("{pod}/log")),
            ("GET", pod.to_owned()),
            ("GET", "/api/v1/namespaces/default/pods/log".to_owned()),
            ("GET", "/api/v1/namespaces/default/configmaps/web/log".to_owned()),
            ("GET", "/apis/example.com/v1/namespaces/default/pods/web/log".to_owned()),
        ] {
            assert_eq!(pod_path(method, &uri), None, "{method} {uri}");
        }
    }
}
