//! The HTTP endpoint of a kubelet on a loopback address: the logs of its containers.
//!
//! Guarantees:
//! - the number of connections and the time of idle ones are bounded;
//! - a log is read in constant memory, and ends with its container if it is followed;
//! - a node that is cut off does not respond, and connections end when the node is switched off.

use std::{future::pending, io, net::Ipv4Addr, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::stream;
use http::{HeaderValue, Method, Request, Response, StatusCode, header::CONTENT_TYPE};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::Frame;
use k8s_openapi::api::core::v1::{Container, ContainerState, Pod};
use kube::ResourceExt;
use kubewright_http::{BoxService, Limits, Server};
use tokio::net::TcpListener;

use super::{
    logs::{Log, LogOptions},
    node_context::NodeContext,
    runtime::Runtime,
};
use crate::model::pods;

/// The maximum number of connections.
const MAX_CONNECTIONS: usize = 256;

type Body = UnsyncBoxBody<Bytes, io::Error>;

/// Listens on a free port if containers are processes. Simulated ones have no logs.
pub(super) async fn listen(context: &NodeContext) -> Option<TcpListener> {
    match context.runtime {
        Runtime::Simulated(_) => None,
        Runtime::Processes(_) => match TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await {
            Ok(listener) => Some(listener),
            Err(error) => {
                tracing::warn!(%error, node = context.name, "a kubelet cannot listen; it serves no logs");
                None
            }
        },
    }
}

/// Serves connections. Never returns.
pub(super) async fn run(context: &Arc<NodeContext>, listener: Option<TcpListener>) {
    let Some(listener) = listener else { return pending().await };
    let context = Arc::clone(context);
    let service = BoxService::from_fn(move |request| {
        let context = Arc::clone(&context);
        async move {
            context.connected().await;
            respond(&context, &request)
        }
    });
    // A node that is cut off does not respond, without a timeout.
    let limits = Limits { max_connections: MAX_CONNECTIONS, request_timeout: Duration::MAX, ..Limits::default() };
    // It does not stop, so that it does not fail.
    let _ = Server::new("kubelet", listener).limits(limits).serve(service, pending()).await;
}

fn respond(context: &Arc<NodeContext>, request: &Request<kubewright_http::Body>) -> Response<Body> {
    let path: Vec<_> = request.uri().path().split('/').skip(1).collect();
    let (["containerLogs", namespace, pod, container], &Method::GET) = (path.as_slice(), request.method()) else {
        return text(StatusCode::NOT_FOUND, "404 page not found\n");
    };
    let options = match LogOptions::parse(request.uri().query().unwrap_or_default()) {
        Ok(options) => options,
        Err(reason) => return text(StatusCode::BAD_REQUEST, &reason),
    };
    let Some(pod) = find(context, namespace, pod) else {
        return text(StatusCode::NOT_FOUND, &format!("pod \"{pod}\" not found"));
    };
    if !containers(&pod).any(|other| other.name == *container) {
        let reason = format!("container \"{container}\" not found in pod \"{}\"", pod.name_any());
        return text(StatusCode::NOT_FOUND, &reason);
    }
    log(Arc::clone(context), pod, (*container).to_owned(), options)
}

/// Returns a pod of this node.
fn find(context: &NodeContext, namespace: &str, name: &str) -> Option<Arc<Pod>> {
    let pod = context.environment.pods().store().get(namespace, name)?;
    (pods::node_name(&pod) == Some(context.name.as_str())).then_some(pod)
}

fn containers(pod: &Pod) -> impl Iterator<Item = &Container> {
    pod.spec.iter().flat_map(|spec| spec.containers.iter().chain(spec.init_containers.iter().flatten()))
}

/// Responds with a log.
fn log(context: Arc<NodeContext>, pod: Arc<Pod>, container: String, options: LogOptions) -> Response<Body> {
    let Runtime::Processes(processes) = &context.runtime else {
        return text(StatusCode::NOT_FOUND, "simulated containers have no logs");
    };
    match processes.logs(&context.name, &pod, &container).open(options) {
        Ok(Some(log)) => {
            let reader = Reader { log, context, pod, container };
            response(StatusCode::OK, StreamBody::new(stream::unfold(Some(reader), Reader::next)).boxed_unsync())
        }
        Ok(None) if options.previous => {
            let name = pod.name_any();
            let reason = format!("previous terminated container \"{container}\" in pod \"{name}\" not found");
            text(StatusCode::BAD_REQUEST, &reason)
        }
        Ok(None) => {
            let name = pod.name_any();
            let reason = format!("container \"{container}\" in pod \"{name}\" is waiting to start: ContainerCreating");
            text(StatusCode::BAD_REQUEST, &reason)
        }
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, &format!("cannot read the log: {error}")),
    }
}

/// A log that is sent.
struct Reader {
    log: Log,
    context: Arc<NodeContext>,
    pod: Arc<Pod>,
    container: String,
}

impl Reader {
    /// Returns the next part. An error is the last one.
    async fn next(reader: Option<Self>) -> Option<(io::Result<Frame<Bytes>>, Option<Self>)> {
        let Reader { mut log, context, pod, container } = reader?;
        let read = log.read(|| has_ended(&context, &pod, &container)).await;
        match read {
            Ok(part) => Some((Ok(Frame::data(part?)), Some(Reader { log, context, pod, container }))),
            Err(error) => Some((Err(error), None)),
        }
    }
}

/// Returns whether a container has ended, according to the status of its pod.
fn has_ended(context: &NodeContext, pod: &Pod, container: &str) -> bool {
    let current = find(context, &pod.namespace().unwrap_or_default(), &pod.name_any());
    let Some(current) = current.filter(|current| current.uid() == pod.uid()) else { return true };
    let Some(status) = &current.status else { return false };
    let statuses = [&status.container_statuses, &status.init_container_statuses].into_iter().flatten().flatten();
    let mut states = statuses.filter(|status| status.name == container).filter_map(|status| status.state.as_ref());
    states.any(|state: &ContainerState| {
        let reason = state.waiting.as_ref().and_then(|waiting| waiting.reason.as_deref());
        state.terminated.is_some() || reason == Some("CrashLoopBackOff")
    })
}

fn text(code: StatusCode, message: &str) -> Response<Body> {
    let body = Full::new(Bytes::copy_from_slice(message.as_bytes()));
    response(code, body.map_err(|never| match never {}).boxed_unsync())
}

fn response(code: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}
