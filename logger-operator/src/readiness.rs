//! Problems that agents report to the operator: an agent has no access to the API server, and the response to a probe
//! is not part of the status of a Pod.

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
use logger_agent::interface::{CLOCK_STEPPED_BACK, CORRUPT_SEGMENT, NOT_DURABLE, PORT, path};
use tokio::{net::TcpStream, time::timeout};

/// How long an agent can take to respond. A reconciliation waits for it.
const TIMEOUT: Duration = Duration::from_secs(1);
/// The maximum number of agents of one Logger that are requested.
const MAX_REQUESTS: usize = 32;
/// The maximum size of a response.
const MAX_BODY: usize = 4096;

/// The reports of agents, by the names of their Pods.
pub type Reports = BTreeMap<String, Report>;

/// The problems that an agent reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Why records cannot be made durable.
    pub not_durable: Option<String>,
    /// The name of a segment with records that cannot be read, and the reason.
    pub corrupt_segment: Option<String>,
    /// The name of the segment with the first record after the clock was set back, and the times.
    pub clock_step: Option<String>,
}

/// Whether an agent is ready. The order is that of requests: agents that are not ready are the first ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Readiness {
    /// Records are not durable, or the agent starts.
    Unready,
    /// Records are durable.
    Ready,
}

/// Requests the agents that run. Agents on nodes that do not respond are not requested.
pub(crate) async fn reports(pods: &[Arc<Pod>]) -> Reports {
    let agents = pods.iter().filter_map(|pod| Some((readiness(pod)?, pod.metadata.name.clone()?, address(pod)?)));
    // The same ones each time, so that the reported error changes with its cause only.
    let mut agents: Vec<_> = agents.collect();
    agents.sort_unstable();
    let requests = agents.into_iter().take(MAX_REQUESTS).map(|(_, name, address)| async move {
        let response = timeout(TIMEOUT, request(address)).await;
        match response {
            Ok(Ok(report)) => Some((name, report)),
            Ok(Err(error)) => {
                tracing::debug!(pod = name, %error, "cannot request the readiness of an agent");
                None
            }
            Err(_) => None,
        }
    });
    join_all(requests).await.into_iter().flatten().collect()
}

/// Returns whether an agent is ready; `None` if it cannot be requested.
pub(crate) fn readiness(pod: &Pod) -> Option<Readiness> {
    address(pod)?;
    let status = pod.status.as_ref()?;
    // The kubelet sets the first condition. That of the Pod is `False` for lost nodes as well.
    match (condition(status, "ContainersReady")?, condition(status, "Ready")) {
        ("False", _) => Some(Readiness::Unready),
        ("True", Some("True")) => Some(Readiness::Ready),
        _ => None,
    }
}

/// Returns the address of an agent that runs.
fn address(pod: &Pod) -> Option<SocketAddr> {
    let status = pod.status.as_ref().filter(|_| pod.metadata.deletion_timestamp.is_none())?;
    let mut states = status.container_statuses.iter().flatten().filter_map(|container| container.state.as_ref());
    let is_running = states.any(|state| state.running.is_some());
    let ip: IpAddr = status.pod_ip.as_ref()?.parse().ok()?;
    is_running.then(|| SocketAddr::new(ip, PORT))
}

fn condition<'a>(status: &'a PodStatus, type_: &str) -> Option<&'a str> {
    let mut conditions = status.conditions.iter().flatten();
    conditions.find(|condition| condition.type_ == type_).map(|condition| condition.status.as_str())
}

/// Returns the report of an agent.
async fn request(address: SocketAddr) -> Result<Report, Box<dyn Error + Send + Sync>> {
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
    Ok(match status {
        StatusCode::OK | StatusCode::INTERNAL_SERVER_ERROR => report(&String::from_utf8_lossy(&body)),
        _ => Report::default(),
    })
}

fn report(body: &str) -> Report {
    let find = |start: &str| body.lines().find_map(|line| line.strip_prefix(start)).map(str::to_owned);
    Report {
        not_durable: find(NOT_DURABLE),
        corrupt_segment: find(CORRUPT_SEGMENT),
        clock_step: find(CLOCK_STEPPED_BACK),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    fn pod(containers_ready: &str, ready: &str, state: Value) -> Pod {
        let container = json!({
            "name": "agent", "image": "a", "imageID": "", "ready": false, "restartCount": 0, "state": state,
        });
        let conditions = json!([
            {"type": "ContainersReady", "status": containers_ready}, {"type": "Ready", "status": ready},
        ]);
        let status = json!({"podIP": "127.0.0.1", "conditions": conditions, "containerStatuses": [container]});
        serde_json::from_value(json!({"metadata": {"name": "a"}, "status": status})).unwrap()
    }

    #[test]
    fn agents_that_run_on_nodes_that_respond_are_requested() {
        let running = json!({"running": {}});
        assert_eq!(readiness(&pod("False", "False", running.clone())), Some(Readiness::Unready));
        assert_eq!(readiness(&pod("True", "True", running.clone())), Some(Readiness::Ready));
        assert_eq!(readiness(&pod("True", "False", running)), None, "its node does not respond");
        let waiting = json!({"waiting": {"reason": "CrashLoopBackOff"}});
        assert_eq!(readiness(&pod("False", "False", waiting)), None);
    }

    #[test]
    fn the_problems_of_an_agent_are_lines_of_its_response() {
        let not_durable = Some("No space left on device (os error 28)".to_owned());
        let response = "records are not durable: No space left on device (os error 28)\n";
        assert_eq!(report(response), Report { not_durable, ..Report::default() });
        let response = "ok\ncorrupt segment: a-0.ndjson: 1 of 2 lines\nclock stepped back: a-1.ndjson: from 2 to 1\n";
        let expected = Report {
            not_durable: None,
            corrupt_segment: Some("a-0.ndjson: 1 of 2 lines".to_owned()),
            clock_step: Some("a-1.ndjson: from 2 to 1".to_owned()),
        };
        assert_eq!(report(response), expected);
        assert_eq!(report("no record is durable yet\n"), Report::default());
        assert_eq!(report("ok"), Report::default());
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
        assert_eq!(found.unwrap().not_durable.as_deref(), Some("full"));
        assert!(head.starts_with("GET /readyz HTTP/1.1\r\n"), "{head}");
    }
}
