//! The metrics of requests, under the names of kube-apiserver, in the OpenMetrics text format.
//!
//! The number of series is bounded: paths that are not served have empty labels, and so have the resources after the
//! first [`MAX_RESOURCES`].

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, OnceLock},
};

use http::{Method, Response, header::CONTENT_TYPE, request::Parts};
use http_body_util::BodyExt;
use parking_lot::Mutex;
use prometheus_client::{
    encoding::text,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};
use tokio::time::Instant;

use crate::{
    meta::review,
    response::{api_response::ApiResponse, body::Body, watch::EventCounter},
    storage::state::State,
    wire::{
        content::Content,
        request_info::{RequestInfo, Verb},
    },
};

/// The path of the metrics.
pub(crate) const PATH: &str = "/metrics";
const CONTENT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The maximum number of resources with dedicated series.
const MAX_RESOURCES: usize = 1_000;
/// The subresources with dedicated series.
const SUBRESOURCES: [&str; 8] = ["approval", "binding", "eviction", "finalize", "log", "scale", "status", "token"];
/// The first segments of paths without a resource that have dedicated series.
const PATHS: [&str; 8] = ["api", "apis", "healthz", "livez", "metrics", "openapi", "readyz", "version"];

/// The buckets of durations in seconds.
const BUCKETS: [f64; 23] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0,
    45.0, 60.0,
];

type Labels<const N: usize> = [(&'static str, Cow<'static, str>); N];

/// The metrics of one server.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Labels<9>, Counter>,
    durations: Family<Labels<8>, Histogram>,
    in_flight: Family<Labels<1>, Gauge>,
    long_running: Family<Labels<7>, Gauge>,
    watch_events: Family<Labels<3>, Counter>,
    objects: Family<Labels<1>, Gauge>,
    resource_objects: Family<Labels<2>, Gauge>,
    /// The resources with dedicated series.
    resources: Mutex<BTreeSet<String>>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Metrics {
    /// Creates the metrics of a server without requests.
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("apiserver"),
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            in_flight: Family::default(),
            long_running: Family::default(),
            watch_events: Family::default(),
            objects: Family::default(),
            resource_objects: Family::default(),
            resources: Mutex::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("request", "Requests by verb, resource, scope and response code", self.requests.clone());
        let help = "Durations of requests that are not watches";
        registry.register("request_duration_seconds", help, self.durations.clone());
        let help = "Requests in flight, without watches";
        registry.register("current_inflight_requests", help, self.in_flight.clone());
        registry.register("longrunning_requests", "Running watches", self.long_running.clone());
        registry.register("watch_events", "Events that were sent to watches", self.watch_events.clone());
        registry.register("storage_objects", "Stored objects by resource", self.objects.clone());
        let help = "Stored objects by group and resource";
        registry.register("resource_objects", help, self.resource_objects.clone());
    }

    /// Starts the measurement of a request.
    pub(crate) fn start(self: &Arc<Self>, parts: &Parts) -> Measurement {
        let info = RequestInfo::new(&parts.method, &parts.uri);
        let verb = verb(&info, parts);
        let in_flight = match verb {
            "WATCH" => None,
            "GET" | "LIST" => Some("readOnly"),
            _ => Some("mutating"),
        };
        let in_flight = in_flight.map(|kind| {
            let gauge = self.in_flight.get_or_create(&[("request_kind", kind.into())]).clone();
            Held::new(gauge)
        });
        let (metrics, started) = (Arc::clone(self), Instant::now());
        Measurement { metrics, info, verb, is_served: OnceLock::new(), started, _in_flight: in_flight }
    }

    /// Returns the labels of a request. `is_served` is whether its resource is.
    fn target(&self, info: RequestInfo, verb: &'static str, is_served: bool) -> Target {
        let mut target = Target { verb, ..Target::default() };
        if info.resource.is_empty() {
            let first = info.path.split('/').nth(1).unwrap_or_default();
            target.subresource = if PATHS.contains(&first) { format!("/{first}") } else { String::new() };
            return target;
        }
        if !is_served || !self.has_series(&info) {
            return target;
        }
        target.dry_run = if info.has_option("dryRun") { "All" } else { "" };
        target.scope = match (info.name.is_empty(), info.namespace.is_empty()) {
            (false, _) => "resource",
            (true, _) if info.verb == Verb::Create => "resource",
            (true, false) => "namespace",
            (true, true) => "cluster",
        };
        let is_known = SUBRESOURCES.contains(&info.subresource.as_str());
        target.subresource = if is_known { info.subresource } else { String::new() };
        (target.group, target.version, target.resource) = (info.group, info.version, info.resource);
        target
    }

    /// Returns whether a served resource has dedicated series.
    fn has_series(&self, info: &RequestInfo) -> bool {
        let mut resources = self.resources.lock();
        let key = [info.group.as_str(), info.version.as_str(), info.resource.as_str()].join("/");
        resources.contains(&key) || resources.len() < MAX_RESOURCES && resources.insert(key)
    }

    /// Returns the metrics as text, with the current number of objects.
    pub(crate) fn respond(&self, state: &State) -> ApiResponse {
        self.count_objects(state);
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = text::encode(&mut text, &self.registry);
        ApiResponse::Content(http::StatusCode::OK, Content { media_type: CONTENT, bytes: text.into_bytes() })
    }

    fn count_objects(&self, state: &State) {
        let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
        for (resource, _) in state.store.objects() {
            *counts.entry(resource).or_default() += 1;
        }
        self.objects.clear();
        self.resource_objects.clear();
        for (key, count) in counts.into_iter().take(MAX_RESOURCES) {
            let (resource, group) = key.split_once('.').unwrap_or((key, ""));
            self.objects.get_or_create(&[("resource", key.to_owned().into())]).set(count);
            let labels = [("group", group.to_owned().into()), ("resource", resource.to_owned().into())];
            self.resource_objects.get_or_create(&labels).set(count);
        }
    }
}

/// Returns the verb in the spelling of metrics.
fn verb(info: &RequestInfo, parts: &Parts) -> &'static str {
    let content_type = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match info.verb {
        _ if info.resource.is_empty() && !matches!(parts.method, Method::GET | Method::HEAD) => "other",
        Verb::Get => "GET",
        Verb::List => "LIST",
        Verb::Watch => "WATCH",
        Verb::Create => "POST",
        Verb::Update => "PUT",
        Verb::Patch if content_type.starts_with("application/apply-patch+") => "APPLY",
        Verb::Patch => "PATCH",
        Verb::Delete => "DELETE",
        Verb::DeleteCollection => "DELETECOLLECTION",
    }
}

/// The labels of a request.
#[derive(Debug, Clone, Default)]
struct Target {
    verb: &'static str,
    dry_run: &'static str,
    scope: &'static str,
    group: String,
    version: String,
    resource: String,
    subresource: String,
}

impl Target {
    /// Returns the labels of running requests.
    fn running(&self) -> Labels<7> {
        [
            ("component", "apiserver".into()),
            ("group", self.group.clone().into()),
            ("resource", self.resource.clone().into()),
            ("scope", self.scope.into()),
            ("subresource", self.subresource.clone().into()),
            ("verb", self.verb.into()),
            ("version", self.version.clone().into()),
        ]
    }

    /// Returns the labels of completed requests.
    fn completed(&self) -> Labels<8> {
        let [component, group, resource, scope, subresource, verb, version] = self.running();
        [component, ("dry_run", self.dry_run.into()), group, resource, scope, subresource, verb, version]
    }

    /// Returns the labels of responses with a code.
    fn responded(&self, code: u16) -> Labels<9> {
        let [component, dry_run, group, resource, scope, subresource, verb, version] = self.completed();
        [("code", code.to_string().into()), component, dry_run, group, resource, scope, subresource, verb, version]
    }

    /// Returns the labels of events of a watch.
    fn events(&self) -> Labels<3> {
        [
            ("group", self.group.clone().into()),
            ("resource", self.resource.clone().into()),
            ("version", self.version.clone().into()),
        ]
    }
}

/// The measurement of one request.
pub(crate) struct Measurement {
    metrics: Arc<Metrics>,
    info: RequestInfo,
    verb: &'static str,
    /// Whether the resource of the request was served when the request was handled.
    is_served: OnceLock<bool>,
    started: Instant,
    _in_flight: Option<Held>,
}

impl Measurement {
    /// Determines the labels of the request. The first state counts, which is that before the request is handled.
    pub(crate) fn observe(&self, state: &State) {
        let RequestInfo { group, version, resource, .. } = &self.info;
        self.is_served.get_or_init(|| {
            let is_review = review::ALL.iter().any(|review| review.group == *group && review.plural() == *resource);
            is_review || state.registry.get(group, version, resource).is_some()
        });
    }

    /// Returns whether the labels of the request are determined. Some requests fail before.
    pub(crate) fn is_observed(&self) -> bool {
        self.is_served.get().is_some()
    }

    /// Records the response. A watch is measured until its body is dropped.
    pub(crate) fn finish(self, response: Response<Body>) -> Response<Body> {
        let Self { metrics, info, verb, is_served, started, _in_flight } = self;
        let target = metrics.target(info, verb, is_served.get().is_some_and(|is_served| *is_served));
        metrics.requests.get_or_create(&target.responded(response.status().as_u16())).inc();
        if target.verb != "WATCH" {
            metrics.durations.get_or_create(&target.completed()).observe(started.elapsed().as_secs_f64());
            return response;
        }
        let running = Held::new(metrics.long_running.get_or_create(&target.running()).clone());
        let events = metrics.watch_events.get_or_create(&target.events()).clone();
        // The response to a watch that fails has no counter, and one event.
        let counter = response.extensions().get::<EventCounter>().cloned();
        response.map(|body| {
            let counted = body.map_frame(move |frame| {
                let _ = &running;
                events.inc_by(counter.as_ref().map_or(1, |counter| counter.take() as u64));
                frame
            });
            counted.boxed_unsync()
        })
    }
}

/// One unit of a gauge, until it is dropped.
struct Held(Gauge);

impl Held {
    fn new(gauge: Gauge) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.dec();
    }
}
