//! Why agents are not ready, as they report it: they have no access to the API server, and the message of a failed HTTP
//! probe is not part of the status of a Pod.

use std::{
    collections::BTreeMap,
    error::Error,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use futures::future::join_all;
use http::{Request, StatusCode, header::HOST};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1::{Pod, PodStatus};
use logger_agent::interface::{NOT_DURABLE, PORT, path};
use tokio::{net::TcpStream, time::timeout};

/// How long an agent can take to respond. A reconciliation waits for it.
const TIMEOUT: Duration = Duration::from_secs(1);
/// The maximum number of agents of one Logger that are requested.
const MAX_REQUESTS: usize = 8;
/// The maximum size of a response.
const MAX_BODY: usize = 4096;

/// The errors of agents that cannot make records durable, by the names of their Pods.
pub type Reports = BTreeMap<String, String>;

/// Requests the agents that run and are not ready. Agents on nodes that do not respond are not requested.
pub(crate) async fn reports(pods: &[Arc<Pod>]) -> Reports {
    let unready = pods.iter().filter_map(|pod| Some((pod.metadata.name.clone()?, unready_address(pod)?)));
    // The same ones each time, so that the reported error changes with its cause only.
    let mut unready: Vec<_> = unready.collect();
    unready.sort_unstable();
    let requests = unready.into_iter().take(MAX_REQUESTS).map(|(name, address)| async move {
        let response = timeout(TIMEOUT, request(address)).await;
        match response {
            Ok(Ok(error)) => error.map(|error| (name, error)),
            Ok(Err(error)) => {
                tracing::debug!(pod = name, %error, "cannot request the readiness of an agent");
                None
            }
            Err(_) => None,
        }
    });
    join_all(requests).await.into_iter().flatten().collect()
}

/// Returns whether an agent runs and is not ready, so that it can report the reason.
pub(crate) fn can_report(pod: &Pod) -> bool {
    unready_address(pod).is_some()
}

fn unready_address(pod: &Pod) -> Option<SocketAddr> {
    let status = pod.status.as_ref().filter(|_| pod.metadata.deletion_timestamp.is_none())?;
    // The kubelet sets this condition. That of the Pod is set for lost nodes as well.
    let is_unready = condition(status, "ContainersReady") == Some("False");
    let mut states = status.container_statuses.iter().flatten().filter_map(|container| container.state.as_ref());
    let is_running = states.any(|state| state.running.is_some());
    let ip: IpAddr = status.pod_ip.as_ref()?.parse().ok()?;
    (is_unready && is_running).then(|| SocketAddr::new(ip, PORT))
}

fn condition<'a>(status: &'a PodStatus, type_: &str) -> Option<&'a str> {
    let mut conditions = status.conditions.iter().flatten();
    conditions.find(|condition| condition.type_ == type_).map(|condition| condition.status.as_str())
}

/// Returns the error that an agent reports; `None` if it reports none.
async fn request(address: SocketAddr) -> Result<Option<String>, Box<dyn Error + Send + Sync>> {
    let stream = TcpStream::connect(address).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let request = Request::get(path::READYZ).header(HOST, address.to_string()).body(Empty::<Bytes>::new())?;
    let exchange = async move {
        let response = sender.send_request(request).await?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MAX_BODY).collect().await?.to_bytes();
        Ok::<_, Box<dyn Error + Send + Sync>>((status, body))
    };
    // The connection ends when the sender is dropped.
    let (exchanged, _) = tokio::join!(exchange, connection);
    let (status, body) = exchanged?;
    Ok(if status == StatusCode::INTERNAL_SERVER_ERROR { error(&String::from_utf8_lossy(&body)) } else { None })
}

fn error(body: &str) -> Option<String> {
    body.lines().next()?.strip_prefix(NOT_DURABLE).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    fn pod(containers_ready: &str, state: Value) -> Pod {
        let container = json!({
            "name": "agent", "image": "a", "imageID": "", "ready": false, "restartCount": 0, "state": state,
        });
        let conditions = json!([{"type": "ContainersReady", "status": containers_ready}]);
        let status = json!({"podIP": "127.0.0.1", "conditions": conditions, "containerStatuses": [container]});
        serde_json::from_value(json!({"metadata": {"name": "a"}, "status": status})).unwrap()
    }

    #[test]
    fn agents_that_run_and_are_not_ready_are_requested() {
        assert!(can_report(&pod("False", json!({"running": {}}))));
        assert!(!can_report(&pod("False", json!({"waiting": {"reason": "CrashLoopBackOff"}}))));
        assert!(!can_report(&pod("True", json!({"running": {}}))), "its node does not respond");
    }

    #[test]
    fn the_error_of_an_agent_is_part_of_its_response() {
        let response = "records are not durable: No space left on device (os error 28)\n";
        assert_eq!(error(response).as_deref(), Some("No space left on device (os error 28)"));
        assert_eq!(error("no record is durable yet\n"), None);
    }

    #[tokio::test]
    async fn a_response_is_read_from_the_endpoint() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let serve = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            let length = stream.read(&mut request).await.unwrap();
            let body = "records are not durable: full\n";
            let head = format!("HTTP/1.1 500 Internal Server Error\r\ncontent-length: {}\r\n\r\n", body.len());
            let response = head + body;
            stream.write_all(response.as_bytes()).await.unwrap();
            String::from_utf8_lossy(&request[..length]).into_owned()
        };
        let (found, head) = tokio::join!(request(address), serve);
        assert_eq!(found.unwrap().as_deref(), Some("full"));
        assert!(head.starts_with("GET /readyz HTTP/1.1\r\n"), "{head}");
    }
}
