//! The errors of the typed client: each names the request, the cause and a suggestion, and none is a panic.

use std::{net::TcpListener, time::Duration};

use futures::{StreamExt, pin_mut};
use k8s_openapi::api::autoscaling::v1::HorizontalPodAutoscaler;
use kube::{
    Client, Config,
    api::{DeleteParams, ListParams, PostParams, WatchParams},
};
use kubewright_apiserver::{ApiServer, Fault, Faults, Requests, Verb};
use kubewright_runtime::{Error, TypedClient};
use logger_client::{Clientset, typed::example_v2::LoggerClient};
use serde_json::json;

fn loggers(client: Client) -> LoggerClient {
    Clientset::new(client).example_v2().loggers("default")
}

/// Returns a client of an embedded server that serves all kinds, with the faults that `fail` injects.
async fn faulty_client(fail: impl FnOnce(&Faults)) -> Client {
    let (server, faults) = (ApiServer::new(), Faults::new());
    tests::install_crds(&server.client()).await;
    fail(&faults);
    server.client_with(faults.layer())
}

/// Returns the error of a get that receives this answer.
async fn get_error(answer: Fault) -> Error {
    let client = faulty_client(|faults| drop(faults.once(Verb::Get, answer))).await;
    let error = loggers(client).get("audit").await.expect_err("the get fails");
    assert!(!error.to_string().contains('\n'), "the message has one line: {error}");
    error
}

/// Returns a client of an address that nothing listens on.
fn unreachable_client() -> Client {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut config = Config::new(format!("http://127.0.0.1:{port}").parse().unwrap());
    config.connect_timeout = Some(Duration::from_secs(5));
    Client::try_from(config).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_missing_crd_is_not_found_with_a_suggestion() {
    let loggers = loggers(ApiServer::new().client());
    let errors = [
        loggers.get("audit").await.unwrap_err(),
        loggers.get_opt("audit").await.expect_err("the kind is missing, not only the object"),
        loggers.list(&ListParams::default()).await.unwrap_err(),
        loggers.watch(&WatchParams::default(), "0").await.err().unwrap(),
        loggers.create(&tests::logger("audit"), &PostParams::default()).await.unwrap_err(),
        loggers.delete("audit", &DeleteParams::default()).await.unwrap_err(),
    ];
    for error in errors {
        assert!(error.is_not_found(), "{error}");
        let text = error.to_string();
        for part in [
            "loggers.example.com",
            "404 page not found",
            "is its CustomResourceDefinition installed?",
            "`kubectl get crd loggers.example.com`",
            "config/crd/bases",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_built_in_kind_that_is_not_served_does_not_suggest_a_crd() {
    let faults = Faults::new();
    faults.always(Requests::to("horizontalpodautoscalers"), Fault::answer(404, "404 page not found\n"));
    let client = ApiServer::new().client_with(faults.layer());
    let scalers = TypedClient::<HorizontalPodAutoscaler>::namespaced(client, "default");
    let text = scalers.get("web").await.unwrap_err().to_string();
    assert!(
        text.ends_with(
            "does not serve horizontalpodautoscalers.autoscaling: `kubectl api-resources` lists the resources it serves"
        ),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_missing_object_is_not_reported_as_a_missing_crd() {
    let loggers = loggers(tests::embedded().await);
    assert_eq!(loggers.get_opt("audit").await.unwrap(), None);
    let error = loggers.get("audit").await.unwrap_err();
    assert!(error.is_not_found());
    assert!(!error.to_string().contains("CustomResourceDefinition"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn forbidden_suggests_how_to_check_the_permission() {
    let forbidden = Fault::status(403, "Forbidden", "User \"ann\" cannot do that");
    let loggers = loggers(faulty_client(|faults| drop(faults.always(Requests::all(), forbidden))).await);
    let logger = tests::logger("audit");
    let post = PostParams::default();
    let (delete, all) = (DeleteParams::default(), ListParams::default());
    for (error, request) in [
        (loggers.get("audit").await.unwrap_err(), "get loggers.example.com"),
        (loggers.list(&all).await.unwrap_err(), "list loggers.example.com"),
        (loggers.create(&logger, &post).await.unwrap_err(), "create loggers.example.com"),
        (loggers.update(&logger, &post).await.unwrap_err(), "update loggers.example.com"),
        (loggers.update_status(&logger, &post).await.unwrap_err(), "update loggers.example.com --subresource=status"),
        (loggers.delete("audit", &delete).await.unwrap_err(), "delete loggers.example.com"),
        (loggers.delete_collection(&delete, &all).await.unwrap_err(), "deletecollection loggers.example.com"),
    ] {
        assert!(error.is_forbidden(), "{error}");
        assert!(error.to_string().contains("User \"ann\" cannot do that"), "{error}");
        let suggestion = format!("`kubectl auth can-i {request} --namespace default`");
        assert!(error.to_string().contains(&suggestion), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_conflict_suggests_to_read_again() {
    let loggers = loggers(tests::embedded().await);
    let stale = loggers.create(&tests::logger("audit"), &PostParams::default()).await.unwrap();
    let mut changed = stale.clone();
    changed.spec.interval = "5s".to_owned();
    loggers.update(&changed, &PostParams::default()).await.unwrap();
    let error = loggers.update(&stale, &PostParams::default()).await.unwrap_err();
    assert!(error.is_conflict() && !error.is_already_exists());
    assert!(error.to_string().starts_with("cannot update loggers.example.com `audit`: "), "{error}");
    assert!(error.to_string().contains("read it again and repeat the change"), "{error}");
    let exists = loggers.create(&tests::logger("audit"), &PostParams::default()).await.unwrap_err();
    assert!(exists.is_already_exists() && !exists.is_conflict());
    assert!(!exists.to_string().contains("read it again"), "{exists}");
}

#[tokio::test]
async fn an_unreachable_server_is_reported_with_the_cause() {
    let error = loggers(unreachable_client()).get("audit").await.unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("cannot get loggers.example.com `audit`: "), "{text}");
    assert!(text.to_lowercase().contains("connection refused"), "{text}");
    assert!(text.contains("is the API server up"), "{text}");
    assert!(error.status().is_none() && error.kube_error().is_some());
    assert!(!error.is_not_found() && !error.is_forbidden() && !error.is_conflict());
}

#[tokio::test(start_paused = true)]
async fn a_truncated_response_is_an_error() {
    let error = get_error(Fault::torn("{\"apiVersion\": \"example.com/v2\", ")).await;
    assert!(error.to_string().contains("connection reset"), "{error}");
    assert!(error.to_string().contains("is the API server up"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn malformed_json_is_an_error_that_questions_the_kubeconfig() {
    for text in ["{\"apiVersion\": ", "<html>\n<body>log in first</body></html>", ""] {
        let error = get_error(Fault::answer(200, text)).await;
        assert!(matches!(error.kube_error(), Some(kube::Error::SerdeError(_))), "{error}");
        let text = error.to_string();
        assert!(text.contains("line 1 column"), "{text}");
        assert!(
            text.contains("does the kubeconfig name the API server") && !text.contains("is the API server up"),
            "a server answered: {text}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn malformed_events_are_errors_and_the_watch_continues() {
    let good = json!({"type": "ADDED", "object": tests::logger("audit")});
    let answer = format!("{{\"type\": nonsense}}\n{good}\n");
    let client = faulty_client(|faults| drop(faults.once(Verb::Watch, Fault::answer(200, answer)))).await;
    let events = loggers(client).watch(&WatchParams::default(), "0").await.unwrap();
    pin_mut!(events);
    let error = events.next().await.unwrap().unwrap_err();
    assert!(error.to_string().starts_with("cannot watch loggers.example.com: "), "{error}");
    assert!(events.next().await.unwrap().is_ok());
    assert!(events.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_500_with_an_html_body_is_one_line_of_text() {
    let page =
        format!("<html>\n<head><title>500</title></head>\n<body>\n{}\n</body>\n</html>\n", "<br>oops".repeat(5000));
    let error = get_error(Fault::answer(500, page)).await;
    assert_eq!(error.status().unwrap().code, 500);
    let text = error.to_string();
    assert!(text.starts_with("cannot get loggers.example.com `audit`: "), "{text}");
    assert!(text.contains("500"), "{text}");
    assert!(text.len() < 1000, "{} bytes", text.len());
}

#[tokio::test(start_paused = true)]
async fn an_error_without_a_body_names_its_code() {
    let error = get_error(Fault::answer(502, String::new())).await;
    assert!(error.to_string().contains("502"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_response_of_another_kind_is_rejected() {
    let response = |api_version: &str, kind: &str| {
        let spec = json!({"name": "audit", "interval": "1s"});
        let answer = json!({"apiVersion": api_version, "kind": kind, "metadata": {}, "spec": spec, "items": []});
        Fault::answer(200, answer.to_string())
    };
    for (api_version, kind) in [("library.example.org/v1beta1", "Logger"), ("example.com/v2", "Book")] {
        let loggers =
            loggers(faulty_client(|faults| drop(faults.always(Requests::all(), response(api_version, kind)))).await);
        for error in [loggers.get("audit").await.unwrap_err(), loggers.list(&ListParams::default()).await.unwrap_err()]
        {
            assert!(matches!(error.kube_error(), Some(kube::Error::SerdeError(_))), "{error}");
            let found = if kind == "Book" { kind } else { api_version };
            assert!(error.to_string().contains(&format!("\"{found}\", expected")), "{error}");
            assert!(error.to_string().contains("something else answered"), "{error}");
        }
    }
}
