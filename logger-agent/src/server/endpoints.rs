//! The endpoints: requests to responses.

use std::{iter, net::IpAddr, sync::Arc};

use http::{
    HeaderMap, Method, Request, StatusCode,
    header::{CONTENT_TYPE, ORIGIN},
};
use http_body_util::BodyExt;
use kubewright_http::{Body, Budget, Peer, Share};

use super::{
    ServerConfig,
    response::{self, Failure, FullResponse},
};
use crate::{
    health::Health,
    interface::path,
    journal::{Acknowledgement, Journals, Reservation},
    metrics::Metrics,
    sources::{Activity, ActivitySource, Audit, RateLimit, Source},
};

/// The preference of a client that does not wait until its records are durable: RFC 7240.
const RESPOND_ASYNC: &str = "respond-async";

/// What a path serves.
enum Route {
    Ingest(Source),
    Report(Report),
}

/// What a path reports.
enum Report {
    Live,
    Ready,
    Metrics,
}

impl Route {
    fn from_path(requested: &str) -> Option<Self> {
        match requested {
            "/activity" => Some(Route::Ingest(Source::Activity)),
            "/audit" => Some(Route::Ingest(Source::Audit)),
            path::LIVEZ | "/healthz" => Some(Route::Report(Report::Live)),
            path::READYZ => Some(Route::Report(Report::Ready)),
            path::METRICS => Some(Route::Report(Report::Metrics)),
            _ => None,
        }
    }
}

/// The rates of the sources: one cannot use that of another.
#[derive(Debug)]
struct Rates {
    activity: RateLimit,
    audit: RateLimit,
}

impl Rates {
    fn get(&self, source: Source) -> &RateLimit {
        match source {
            Source::Activity => &self.activity,
            Source::Audit => &self.audit,
        }
    }
}

/// The endpoints of an agent.
///
/// | path | response |
/// |---|---|
/// | `POST /activity` | 200 when the JSON object is durable; 202 when it is written, with `Prefer: respond-async` |
/// | `POST /audit` | 200 when all events of the `EventList` are durable |
/// | `GET /livez`, `/healthz`, `/readyz` | 200, or 500 with the reason; `/readyz` also has a line for each warning |
/// | `GET /metrics` | the metrics in the OpenMetrics text format |
///
/// The endpoint of a source that is not accepted is not served. Further codes: 400 for an invalid body, 408 and 413 for
/// one that is slow or large, 429 and 503 with `Retry-After` for too many records.
///
/// Bodies reserve memory as they are received, so that a declared length reserves nothing, and the bodies of one peer
/// address that are not complete cannot use all of the memory.
#[derive(Debug)]
pub struct Endpoints {
    journals: Journals,
    health: Health,
    metrics: Arc<Metrics>,
    rates: Rates,
    /// The bytes of bodies that are not complete.
    peers: Budget,
    config: ServerConfig,
}

impl Endpoints {
    /// Creates the endpoints of an agent.
    #[must_use]
    pub fn new(journals: Journals, health: Health, metrics: Arc<Metrics>, config: ServerConfig) -> Self {
        let capacity = Source::ALL.map(|source| journals.get(source.into()).capacity()).into_iter().min();
        let max_per_peer = config.max_body_bytes.max(capacity.unwrap_or_default() / 4 * 3);
        let peers = Budget::new(usize::MAX, max_per_peer);
        let rate = || RateLimit::new(config.records_per_second, config.bytes_per_second);
        let rates = Rates { activity: rate(), audit: rate() };
        Endpoints { journals, health, metrics, rates, peers, config }
    }

    /// Responds to a request of the server, and only to probes on a connection of its reserve.
    pub(super) async fn serve(&self, request: Request<Body>) -> FullResponse {
        match request.extensions().get::<Peer>().copied() {
            Some(peer) if !peer.is_reserved => self.respond(request, peer.address).await,
            _ => self.respond_to_probe(&request),
        }
    }

    /// Responds to a request of a peer.
    async fn respond(&self, request: Request<Body>, peer: IpAddr) -> FullResponse {
        let (route, method) = (Route::from_path(request.uri().path()), request.method().clone());
        let result = match (route, method) {
            (Some(Route::Ingest(source)), _) if !self.config.accept.contains(&source) => Err(Failure::NotFound),
            (Some(Route::Ingest(source)), Method::POST) => self.ingest(source, request, peer).await,
            (Some(Route::Ingest(_)), _) => Err(Failure::Method("POST")),
            (Some(Route::Report(report)), Method::GET | Method::HEAD) => Ok(self.report(&report)),
            (Some(Route::Report(_)), _) => Err(Failure::Method("GET, HEAD")),
            (None, _) => Err(Failure::NotFound),
        };
        result.unwrap_or_else(|failure| {
            if let Some(reason) = failure.rejected() {
                self.metrics.add_rejected(reason);
                tracing::debug!(error = %failure, "rejected a request");
            }
            failure.into_response()
        })
    }

    /// Responds to a request of a connection for probes.
    fn respond_to_probe(&self, request: &Request<Body>) -> FullResponse {
        match (Route::from_path(request.uri().path()), request.method()) {
            (Some(Route::Report(report)), &Method::GET | &Method::HEAD) => self.report(&report),
            _ => Failure::Connections.into_response(),
        }
    }

    fn report(&self, report: &Report) -> FullResponse {
        let (health, warnings) = match report {
            Report::Live => (self.health.live(), Vec::new()),
            Report::Ready => (self.health.ready(), self.health.warnings()),
            Report::Metrics => {
                return response::with_type(StatusCode::OK, Metrics::CONTENT_TYPE, self.metrics.text());
            }
        };
        let (status, first) = match health {
            Ok(()) if warnings.is_empty() => return response::text(StatusCode::OK, "ok"),
            Ok(()) => (StatusCode::OK, "ok".to_owned()),
            Err(reason) => (StatusCode::INTERNAL_SERVER_ERROR, reason),
        };
        let lines = iter::once(first).chain(warnings).map(|line| line + "\n");
        response::text(status, lines.collect::<String>())
    }

    async fn ingest(&self, source: Source, request: Request<Body>, peer: IpAddr) -> Result<FullResponse, Failure> {
        let (parts, body) = request.into_parts();
        self.check_client(source, &parts.headers)?;
        let (journal, rate) = (self.journals.get(source.into()), self.rates.get(source));
        let mut reservation = journal.reserve(1)?;
        let body = self.receive(body, self.peers.share(peer), &mut reservation).await?;
        rate.take_bytes(body.len()).map_err(Failure::RateLimited)?;
        let drafts = activity_source(source).drafts(&parts.headers, &body)?;
        let drafts: Vec<_> = drafts.into_iter().map(|draft| draft.from_peer(peer)).collect();
        drop(body);
        rate.take_records(drafts.len()).map_err(Failure::RateLimited)?;
        let (acknowledgement, status) = match prefers_async(&parts.headers) {
            true => (Acknowledgement::Written, StatusCode::ACCEPTED),
            false => (Acknowledgement::Durable, StatusCode::OK),
        };
        let receipt = journal.append(drafts, acknowledgement, reservation).await?;
        Ok(response::receipt(status, &receipt))
    }

    fn check_client(&self, source: Source, headers: &HeaderMap) -> Result<(), Failure> {
        let tokens = match source {
            Source::Activity => &self.config.activity_tokens,
            Source::Audit => &self.config.audit_tokens,
        };
        match tokens.accept(headers) {
            true => check_web_page(headers),
            false => Err(Failure::Unauthorized),
        }
    }

    /// Receives a body. Its memory is reserved as it is received.
    async fn receive(
        &self,
        mut body: Body,
        mut share: Share,
        reservation: &mut Reservation,
    ) -> Result<Vec<u8>, Failure> {
        let mut received = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame?.into_data() else { continue };
            if !share.try_reserve(data.len()) {
                return Err(Failure::PeerBytes(self.peers.max_per_peer()));
            }
            reservation.grow(data.len())?;
            received.extend_from_slice(&data);
        }
        Ok(received)
    }
}

fn activity_source(source: Source) -> &'static dyn ActivitySource {
    match source {
        Source::Activity => &Activity,
        Source::Audit => &Audit,
    }
}

/// Rejects requests of web pages: browsers send them to loopback addresses, and without a preflight unless their
/// content type is JSON.
fn check_web_page(headers: &HeaderMap) -> Result<(), Failure> {
    if headers.contains_key(ORIGIN) || headers.contains_key("sec-fetch-site") {
        return Err(Failure::WebPage);
    }
    let Some(content_type) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    let essence = content_type.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    match essence.eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => Err(Failure::ContentType),
    }
}

fn prefers_async(headers: &HeaderMap) -> bool {
    let preferences = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    preferences.flat_map(|value| value.split([',', ';'])).any(|value| value.trim().eq_ignore_ascii_case(RESPOND_ASYNC))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use serde_json::Value;

    use super::*;
    use crate::{
        file_system::Disk,
        journal::{JournalConfig, JournalThreads},
        segment::Series,
        sources::Tokens,
    };

    const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    struct Fixture {
        endpoints: Endpoints,
        thread: JournalThreads,
        _directory: tempfile::TempDir,
    }

    fn fixture(config: ServerConfig) -> Fixture {
        fixture_in(tempfile::tempdir().unwrap(), config)
    }

    fn fixture_in(directory: tempfile::TempDir, config: ServerConfig) -> Fixture {
        let series = Series::new(directory.path(), "log", "0").unwrap();
        let (journal_config, metrics) = (JournalConfig::new(Duration::from_millis(20)), Arc::new(Metrics::new()));
        let (journals, thread) = Journals::open(Arc::new(Disk), series, journal_config, Arc::clone(&metrics)).unwrap();
        let health = Health::new(journals.clone(), Duration::from_secs(600));
        Fixture { endpoints: Endpoints::new(journals, health, metrics, config), thread, _directory: directory }
    }

    fn config() -> ServerConfig {
        ServerConfig::new(([127, 0, 0, 1], 0).into())
    }

    impl Fixture {
        async fn send(&self, method: &str, path: &str, prefer: &str, body: &str) -> (u16, HeaderMap, String) {
            let request = Request::builder().method(method).uri(path).header("prefer", prefer);
            let body =
                Body::from(Bytes::copy_from_slice(body.as_bytes())).max_bytes(self.endpoints.config.max_body_bytes);
            let request = request.body(body).unwrap();
            let (parts, body) = self.endpoints.respond(request, PEER).await.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            (parts.status.as_u16(), parts.headers, String::from_utf8(body.to_vec()).unwrap())
        }
    }

    #[tokio::test]
    async fn the_agent_is_ready_after_the_first_durable_record() {
        let fixture = fixture(config());
        let (code, _, text) = fixture.send("GET", "/readyz", "", "").await;
        assert_eq!((code, text.as_str()), (500, "no record is durable yet\n"));
        let (code, _, text) = fixture.send("POST", "/activity", "", "{\"user\":\"jane\"}").await;
        assert_eq!((code, text.as_str()), (200, "{\"records\":1,\"duplicates\":0,\"first\":0,\"last\":0}"));
        for path in ["/readyz", "/livez", "/healthz"] {
            assert_eq!(fixture.send("GET", path, "", "").await.0, 200, "{path}");
        }
        let (_, headers, text) = fixture.send("GET", "/metrics", "", "").await;
        assert_eq!(headers["content-type"], Metrics::CONTENT_TYPE);
        assert!(text.contains("logger_agent_records_total{source=\"activity\"} 1\n"), "{text}");
        fixture.thread.stop().await.unwrap();
        assert_eq!(fixture.endpoints.health.live().unwrap_err(), "the journal is stopped");
    }

    #[tokio::test]
    async fn a_corrupt_segment_is_reported_and_the_agent_is_ready() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("log_0-00000000000000000000.ndjson"), "x\n").unwrap();
        let fixture = fixture_in(directory, config());
        let line = "corrupt segment: log_0-00000000000000000000.ndjson: 1 of 1 lines are not valid records\n";
        let (code, _, text) = fixture.send("GET", "/readyz", "", "").await;
        assert_eq!((code, text), (500, format!("no record is durable yet\n{line}")));
        assert_eq!(fixture.send("POST", "/activity", "", "{}").await.0, 200);
        let (code, _, text) = fixture.send("GET", "/readyz", "", "").await;
        assert_eq!((code, text), (200, format!("ok\n{line}")));
        fixture.thread.stop().await.unwrap();
    }

    #[tokio::test]
    async fn a_client_can_prefer_not_to_wait() {
        let fixture = fixture(config());
        let (code, ..) = fixture.send("POST", "/activity", "handling=lenient, Respond-Async", "{}").await;
        assert_eq!(code, 202);
        fixture.thread.stop().await.unwrap();
    }

    #[tokio::test]
    async fn only_accepted_sources_are_served() {
        let fixture = fixture(ServerConfig { accept: vec![Source::Activity], ..config() });
        assert_eq!(fixture.send("POST", "/activity", "", "{}").await.0, 200);
        for method in ["POST", "GET"] {
            let (code, _, text) = fixture.send(method, "/audit", "", "{}").await;
            assert_eq!((code, text.as_str()), (404, "not found\n"), "{method}");
        }
        fixture.thread.stop().await.unwrap();
    }

    #[tokio::test]
    async fn an_audit_event_is_written_once() {
        let fixture = fixture(config());
        let body = r#"{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[{"auditID":"7","stage":"Panic"}]}"#;
        for (records, duplicates) in [(1, 0), (0, 1)] {
            let (code, _, text) = fixture.send("POST", "/audit", "", body).await;
            let receipt: Value = serde_json::from_str(&text).unwrap();
            assert_eq!((code, &receipt["records"], &receipt["duplicates"]), (200, &records.into(), &duplicates.into()));
        }
        fixture.thread.stop().await.unwrap();
    }

    #[tokio::test]
    async fn a_chosen_audit_id_hides_no_event() {
        let fixture = fixture(config());
        let event = |verb: &str| {
            format!(
                r#"{{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[
                {{"auditID":"a1","stage":"ResponseComplete","verb":"{verb}"}}]}}"#
            )
        };
        for (verb, records) in [("get", 1), ("delete", 1), ("get", 0), ("delete", 0)] {
            let (code, _, text) = fixture.send("POST", "/audit", "", &event(verb)).await;
            let receipt: Value = serde_json::from_str(&text).unwrap();
            assert_eq!((code, &receipt["records"]), (200, &records.into()), "{verb}");
        }
        let metrics = fixture.endpoints.metrics.text();
        assert!(metrics.contains("logger_agent_reused_ids_total 1\n"), "{metrics}");
        fixture.thread.stop().await.unwrap();
    }

    #[tokio::test]
    async fn a_long_audit_id_rejects_no_list() {
        let fixture = fixture(config());
        let (long, good) = ("a".repeat(1000), r#"{"auditID":"7","stage":"ResponseComplete"}"#);
        let body = format!(
            r#"{{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[
            {good},{{"auditID":"{long}","stage":"ResponseComplete"}},{{"verb":"get"}}]}}"#
        );
        let (code, _, text) = fixture.send("POST", "/audit", "", &body).await;
        let receipt: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((code, &receipt["records"]), (200, &3.into()));
        let metrics = fixture.endpoints.metrics.text();
        assert!(metrics.contains("logger_agent_events_without_id_total 2\n"), "{metrics}");
        fixture.thread.stop().await.unwrap();
    }

    #[tokio::test]
    async fn invalid_requests_have_a_code_and_a_reason() {
        let fixture = fixture(ServerConfig { max_body_bytes: 10, ..config() });
        for (method, path, body, code, text) in [
            ("GET", "/other", "", 404, "not found\n"),
            ("GET", "/activity", "", 405, "method not allowed; use POST\n"),
            ("POST", "/metrics", "", 405, "method not allowed; use GET, HEAD\n"),
            ("POST", "/activity", "{\"a\":12345}", 413, "the body exceeds 10 bytes\n"),
            ("POST", "/audit", "{}", 400, "expected an EventList of audit.k8s.io/v1, found `` of ``\n"),
        ] {
            let (found, _, reason) = fixture.send(method, path, "", body).await;
            assert_eq!((found, reason.as_str()), (code, text), "{method} {path}");
        }
        let metrics = fixture.endpoints.metrics.text();
        assert!(metrics.contains("logger_agent_rejected_requests_total{reason=\"too_large\"} 1\n"), "{metrics}");
        fixture.thread.stop().await.unwrap();
    }

    #[tokio::test]
    async fn too_many_records_are_rejected_with_a_time_to_retry() {
        let fixture = fixture(ServerConfig { records_per_second: std::num::NonZeroU32::MIN, ..config() });
        assert_eq!(fixture.send("POST", "/activity", "", "{}").await.0, 200);
        let reservation = fixture.endpoints.journals.get(Source::Activity.into()).reserve(usize::MAX).unwrap();
        let (code, headers, _) = fixture.send("POST", "/activity", "", "{}").await;
        assert_eq!(code, 503);
        assert_eq!(headers["retry-after"], "1");
        drop(reservation);
        let mut limited = None;
        for _ in 0..100 {
            let (code, headers, _) = fixture.send("POST", "/activity", "", "{}").await;
            if code == 429 {
                limited = Some(headers);
                break;
            }
        }
        assert_eq!(limited.unwrap()["retry-after"], "1");
        fixture.thread.stop().await.unwrap();
    }

    #[tokio::test]
    async fn large_records_of_one_source_are_limited_and_leave_the_rate_of_another() {
        let fixture = fixture(ServerConfig { bytes_per_second: std::num::NonZeroU32::MIN, ..config() });
        assert_eq!(fixture.send("POST", "/activity", "", "{}").await.0, 200);
        let (code, headers, text) = fixture.send("POST", "/activity", "", "{}").await;
        assert_eq!((code, text.as_str()), (429, "too many records or bytes per second; retry later\n"));
        assert_eq!(headers["retry-after"], "1");
        let list = r#"{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[]}"#;
        assert_eq!(fixture.send("POST", "/audit", "", list).await.0, 200);
        fixture.thread.stop().await.unwrap();
    }

    #[tokio::test]
    async fn a_web_page_cannot_post() {
        let fixture = fixture(config());
        for (name, value, expected) in [
            ("origin", "https://example.com", 403),
            ("origin", "null", 403),
            ("sec-fetch-site", "cross-site", 403),
            ("content-type", "text/plain;charset=UTF-8", 415),
            ("content-type", "application/x-www-form-urlencoded", 415),
            ("content-type", "application/json; charset=utf-8", 200),
        ] {
            let request = Request::post("/activity").header(name, value).body(Bytes::from("{\"x\":1}").into()).unwrap();
            let response = fixture.endpoints.respond(request, PEER).await;
            assert_eq!(response.status(), expected, "{name}: {value}");
        }
        fixture.thread.stop().await.unwrap();
    }

    #[tokio::test]
    async fn audit_events_of_other_pods_are_rejected() {
        let (file, list) = (
            tempfile::NamedTempFile::new().unwrap(),
            r#"{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[]}"#,
        );
        std::fs::write(file.path(), "0123456789abcdef\n").unwrap();
        let fixture = fixture(ServerConfig { audit_tokens: Tokens::read(file.path()).unwrap(), ..config() });
        let (code, headers, text) = fixture.send("POST", "/audit", "", list).await;
        assert_eq!((code, text.as_str()), (401, "missing or unknown bearer token\n"));
        assert_eq!(headers["www-authenticate"], "Bearer");
        let request = Request::post("/audit").header("authorization", "Bearer 0123456789abcdef");
        let response = fixture.endpoints.respond(request.body(Bytes::from(list).into()).unwrap(), PEER).await;
        assert_eq!(response.status(), 200);
        assert_eq!(fixture.send("POST", "/activity", "", "{}").await.0, 200, "no token is configured");
        let metrics = fixture.endpoints.metrics.text();
        assert!(metrics.contains("logger_agent_rejected_requests_total{reason=\"unauthorized\"} 1\n"), "{metrics}");
        fixture.thread.stop().await.unwrap();
    }
}
