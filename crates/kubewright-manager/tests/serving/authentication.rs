//! Authentication and authorization by an API server, with paused time.

use std::{
    future::{Ready, ready},
    io::{self, Write},
    sync::{Arc, LazyLock, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures::future::join_all;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use k8s_openapi::api::{
    authentication::v1::{TokenReview, TokenReviewStatus, UserInfo},
    authorization::v1::{SubjectAccessReview, SubjectAccessReviewStatus},
};
use kubewright_apiserver::{Action, ApiServer, Fault, Faults, Reaction, Reactors, Requests, Verb};
use kubewright_manager::serving::{Authenticated, Authenticator, BoxService, Handler, Router, handler::text};
use tokio::time::{Instant, advance};
use tracing::Level;
use tracing_subscriber::fmt::MakeWriter;

const TOKEN: &str = "token-of-prometheus";
const SECOND: Duration = Duration::from_secs(1);

type Respond = fn(Request<Bytes>) -> Ready<Response<Bytes>>;

/// An API server with two users: `prometheus`, who may get `/metrics`, and `guest`.
struct Fixture {
    reactors: Reactors,
    faults: Faults,
    authenticator: Authenticator,
    handler: Authenticated<Respond>,
}

impl Fixture {
    fn new() -> Self {
        LazyLock::force(&LOG);
        let (reactors, faults) = (Reactors::new(), Faults::new());
        reactors.append(Requests::to("tokenreviews").verb(Verb::Create), review_token);
        reactors.append(Requests::to("subjectaccessreviews").verb(Verb::Create), review_access);
        let client = ApiServer::new().client_with((faults.layer(), reactors.layer()));
        let respond: Respond = |_| ready(text(StatusCode::OK, "metrics"));
        let authenticator = Authenticator::new(client);
        Fixture { reactors, faults, handler: authenticator.protect(respond), authenticator }
    }

    /// Returns the response to a request with this header.
    async fn send(&self, method: Method, path: &str, authorization: Option<&str>) -> (u16, String) {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        let response = self.handler.handle(request.body(Bytes::new()).unwrap()).await;
        let challenge = response.headers().get("www-authenticate").map(|value| value.to_str().unwrap());
        assert_eq!(challenge, (response.status() == StatusCode::UNAUTHORIZED).then_some("Bearer"));
        (response.status().as_u16(), String::from_utf8(response.body().to_vec()).unwrap())
    }

    async fn get(&self, token: &str) -> (u16, String) {
        self.send(Method::GET, "/metrics", Some(&format!("Bearer {token}"))).await
    }

    /// Returns the numbers of token reviews and of access reviews.
    fn reviews(&self) -> (usize, usize) {
        let actions = self.reactors.actions();
        (actions.creates::<TokenReview>().unwrap().len(), actions.creates::<SubjectAccessReview>().unwrap().len())
    }
}

fn review_token(action: &Action) -> Reaction {
    let mut review: TokenReview = action.object().unwrap();
    let name = review.spec.token.strip_prefix("token-of-");
    let user = |name: &str| UserInfo {
        username: Some(name.to_owned()),
        groups: Some(vec!["system:authenticated".to_owned()]),
        ..UserInfo::default()
    };
    review.status = Some(TokenReviewStatus {
        authenticated: Some(name.is_some()),
        error: name.is_none().then(|| format!("unknown token {}", review.spec.token)),
        user: name.map(user),
        ..TokenReviewStatus::default()
    });
    Reaction::answer(&review)
}

fn review_access(action: &Action) -> Reaction {
    let mut review: SubjectAccessReview = action.object().unwrap();
    let spec = &review.spec;
    assert_eq!(spec.groups.as_deref(), Some(&["system:authenticated".to_owned()][..]));
    let attributes = spec.non_resource_attributes.as_ref().unwrap();
    let access = (spec.user.as_deref(), attributes.verb.as_deref(), attributes.path.as_deref());
    let allowed = access == (Some("prometheus"), Some("get"), Some("/metrics"));
    review.status = Some(SubjectAccessReviewStatus { allowed, ..SubjectAccessReviewStatus::default() });
    Reaction::answer(&review)
}

#[tokio::test(start_paused = true)]
async fn an_authorized_request_reaches_the_handler() {
    let fixture = Fixture::new();
    assert_eq!(fixture.get(TOKEN).await, (200, "metrics".to_owned()));
    assert_eq!(fixture.send(Method::GET, "/metrics?a=b", Some("bearer token-of-prometheus")).await.0, 200);
}

#[tokio::test(start_paused = true)]
async fn a_service_is_protected_as_a_handler() {
    let fixture = Fixture::new();
    let service = BoxService::from_fn(|_| ready(Response::new(Full::new(Bytes::from("service")))));
    let router = Router::new().mount("/metrics", fixture.authenticator.protect(service));
    for (path, token, expected) in [
        ("/metrics", TOKEN, (200, "service")),
        ("/metrics", "token-of-guest", (403, "Authorization denied for user guest\n")),
        ("/metrics/other", TOKEN, (403, "Authorization denied for user prometheus\n")),
        ("/metrics", "unknown", (401, "Unauthorized\n")),
    ] {
        let request = Request::get(path).header("authorization", format!("Bearer {token}"));
        let response = router.respond(request.body(Bytes::new()).unwrap()).await;
        assert_eq!((response.status().as_u16(), &response.body()[..]), (expected.0, expected.1.as_bytes()), "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_without_a_valid_token_is_unauthorized() {
    let fixture = Fixture::new();
    let unauthorized = (401, "Unauthorized\n".to_owned());
    assert_eq!(fixture.send(Method::GET, "/metrics", None).await, unauthorized);
    assert_eq!(fixture.send(Method::GET, "/metrics", Some("Basic dXNlcg==")).await, unauthorized);
    assert_eq!(fixture.reviews(), (0, 0), "no review without a token");
    assert_eq!(fixture.get("unknown").await, unauthorized);
    assert_eq!(fixture.reviews(), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_user_without_the_permission_is_forbidden() {
    let fixture = Fixture::new();
    let denied = |user| (403, format!("Authorization denied for user {user}\n"));
    assert_eq!(fixture.get("token-of-guest").await, denied("guest"));
    let prometheus = Some("Bearer token-of-prometheus");
    assert_eq!(fixture.send(Method::POST, "/metrics", prometheus).await, denied("prometheus"));
    assert_eq!(fixture.send(Method::GET, "/metrics/other", prometheus).await, denied("prometheus"));
}

#[tokio::test(start_paused = true)]
async fn tokens_are_cached_for_a_minute_and_allowed_accesses_for_five() {
    let fixture = Fixture::new();
    for (after, reviews) in [(0, (1, 1)), (59, (1, 1)), (1, (2, 1)), (239, (3, 1)), (1, (3, 2))] {
        advance(after * SECOND).await;
        assert_eq!(fixture.get(TOKEN).await.0, 200);
        assert_eq!(fixture.reviews(), reviews, "{after} s later");
    }
}

#[tokio::test(start_paused = true)]
async fn unknown_tokens_are_cached_for_a_minute_and_denied_accesses_for_30_seconds() {
    let fixture = Fixture::new();
    for (after, reviews) in [(0, (1, 1)), (29, (1, 1)), (1, (1, 2)), (29, (1, 2)), (1, (2, 3))] {
        advance(after * SECOND).await;
        assert_eq!(fixture.get("token-of-guest").await.0, 403);
        assert_eq!(fixture.reviews(), reviews, "{after} s later");
    }
    let fixture = Fixture::new();
    for (after, reviews) in [(0, 1), (59, 1), (1, 2)] {
        advance(after * SECOND).await;
        assert_eq!(fixture.get("unknown").await.0, 401);
        assert_eq!(fixture.reviews(), (reviews, 0), "{after} s later");
    }
}

#[tokio::test(start_paused = true)]
async fn temporary_failures_are_retried_and_not_cached() {
    let fixture = Fixture::new();
    let error = || Fault::status(500, "InternalError", "etcd has no leader");
    fixture.faults.next(4, Requests::to("tokenreviews"), error());
    let started = Instant::now();
    assert_eq!(fixture.get(TOKEN).await.0, 200);
    let delays = started.elapsed().as_secs_f64();
    assert!((4.06..=4.9).contains(&delays), "{delays}");

    let fixture = Fixture::new();
    fixture.faults.next(5, Requests::to("tokenreviews"), error());
    assert_eq!(fixture.get(TOKEN).await, (500, "Authentication failed\n".to_owned()));
    fixture.faults.next(5, Requests::to("subjectaccessreviews"), error());
    assert_eq!(fixture.get(TOKEN).await, (500, "Authorization for user prometheus failed\n".to_owned()));
    assert_eq!(fixture.get(TOKEN).await.0, 200);
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_does_not_respond_fails_the_request_after_10_seconds() {
    let fixture = Fixture::new();
    fixture.faults.always(Requests::to("tokenreviews"), Fault::hang());
    let started = Instant::now();
    assert_eq!(fixture.get(TOKEN).await.0, 500);
    assert_eq!(started.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn the_number_of_concurrent_reviews_is_limited() {
    let fixture = Fixture::new();
    fixture.faults.always(Requests::to("tokenreviews"), Fault::latency(SECOND));
    let tokens: Vec<_> = (0..64).map(|number| format!("unknown-{number}")).collect();
    let started = Instant::now();
    let responses = join_all(tokens.iter().map(|token| fixture.get(token))).await;
    assert!(responses.iter().all(|response| response.0 == 401), "{responses:?}");
    assert_eq!(started.elapsed().as_secs(), 4, "16 at a time");
}

#[tokio::test(start_paused = true)]
async fn concurrent_requests_with_one_token_share_the_reviews() {
    let fixture = Fixture::new();
    fixture.faults.always(Requests::all(), Fault::late(SECOND));
    let started = Instant::now();
    let responses = join_all((0..200).map(|_| fixture.get(TOKEN))).await;
    assert!(responses.iter().all(|response| response.0 == 200), "{responses:?}");
    assert_eq!((fixture.reviews(), started.elapsed().as_secs()), ((1, 1), 2));
    let failed = Fixture::new();
    failed.faults.always(Requests::all(), Fault::status(403, "Forbidden", "no reviews"));
    let responses = join_all((0..200).map(|_| failed.get(TOKEN))).await;
    assert!(responses.iter().all(|response| response.0 == 500), "{responses:?}");
    assert_eq!(failed.faults.count(Requests::all()), 1);
}

#[tokio::test(start_paused = true)]
async fn a_token_that_was_authenticated_does_not_wait_for_reviews_of_unknown_tokens() {
    let fixture = Fixture::new();
    assert_eq!(fixture.get(TOKEN).await.0, 200);
    advance(10 * 60 * SECOND).await;
    fixture.faults.next(16, Requests::to("tokenreviews"), Fault::hang());
    let tokens: Vec<_> = (0..64).map(|number| format!("unknown-{number}")).collect();
    let unknown = join_all(tokens.iter().map(|token| fixture.get(token)));
    let known = async {
        fixture.faults.wait_for(|faults| faults.waiting(Requests::to("tokenreviews")) == 16).await;
        let started = Instant::now();
        assert_eq!(fixture.get(TOKEN).await.0, 200);
        started.elapsed()
    };
    let (_, waited) = futures::future::join(unknown, known).await;
    assert_eq!(waited, Duration::ZERO);
}

#[test]
fn a_missing_permission_is_logged_and_no_token_is() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let fixture = Fixture::new();
        assert_eq!(fixture.get(TOKEN).await.0, 200);
        assert_eq!(fixture.get("secret-that-is-unknown").await.0, 401);
        let forbidden = "tokenreviews.authentication.k8s.io is forbidden";
        fixture.faults.always(Requests::to("tokenreviews"), Fault::status(403, "Forbidden", forbidden));
        assert_eq!(fixture.get("token-of-other").await.0, 500);
    });
    let text = LOG.text();
    let permission = "grant the verb `create` for `tokenreviews` in the API group `authentication.k8s.io`";
    assert!(text.contains(permission), "{text}");
    assert!(text.contains("unknown token <token>"), "{text}");
    for token in [TOKEN, "secret-that-is-unknown", "token-of-other"] {
        assert!(!text.contains(token), "{text}");
    }
}

/// The log of all tests of this module. It is installed before the first request: a callsite that is registered while
/// the subscriber is being installed can stay disabled for the rest of the process.
static LOG: LazyLock<Log> = LazyLock::new(|| {
    let log = Log::default();
    tracing_subscriber::fmt().with_max_level(Level::TRACE).with_ansi(false).with_writer(log.clone()).init();
    log
});

/// Collects log lines.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Log;

    fn make_writer(&'a self) -> Log {
        self.clone()
    }
}
