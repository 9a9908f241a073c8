//! The health checks of the runtime's runnables: each fails for its fault, and recovers.

use std::{convert::Infallible, time::Duration};

use futures::FutureExt;
use k8s_openapi::api::{
    core::v1::{ConfigMap, Secret},
    events::v1::Event,
};
use kube::Api;
use kubewright_apiserver::{ApiServer, Fault, Faults, Requests};
use kubewright_manager::{Manager, Replicas};
use kubewright_runtime::{
    Controller, EventRecorder, EventType, InformerFactory, ObjectKey, events::EventConfig, metrics::Metrics,
};
use serde_json::json;
use tokio::time::{advance, sleep};

use crate::fixture::{Log, Running, SECOND, config_maps, create_config_map};

const MINUTE: Duration = Duration::from_mins(1);

#[tokio::test(start_paused = true)]
async fn controllers_and_informers_are_one_line_each() {
    let server = ApiServer::new();
    let factory = InformerFactory::new(server.client());
    let (informer, log) = (factory.informer::<ConfigMap>(), Log::default());
    let keys = log.clone();
    let controller = Controller::new("config-maps", &informer).build(move |key: ObjectKey| {
        keys.push(key.to_string());
        async { Ok::<_, Infallible>(()) }
    });
    let (recorder, worker) = EventRecorder::new(server.client(), "config-maps", EventConfig::default()).unwrap();
    let manager = Manager::builder(server.client())
        .add(Replicas::All, "informers", factory)
        .add(Replicas::All, "events", worker)
        .add(Replicas::Leader, "config-maps", controller)
        .build()
        .unwrap();
    let running = Running::ready(manager).await;
    create_config_map(server.client(), "a").await;
    running.wait_until(|_| log.contains("default/a")).await;
    let verbose = running.health.respond("/livez", "verbose").1;
    assert_eq!(verbose, "[+]ping ok\n[+]informers ok\n[+]events ok\n[+]config-maps ok\nlivez check passed\n");
    let verbose = running.health.respond("/readyz", "verbose&exclude=events").1;
    let expected = "[+]ping ok\n[+]informers ok\n[+]config-maps ok\n[+]startup ok\n[+]shutdown ok\n\
                    warn: some health checks cannot be excluded: no matches for \"events\"\nreadyz check passed\n";
    assert_eq!(verbose, expected);
    let object = config_maps(server.client()).get("a").await.unwrap();
    recorder.event(&object, EventType::Normal, "Reconciled", "Reconciling", "done");
    running.stop().await.unwrap();
    let events = Api::<Event>::namespaced(server.client(), "default").list(&Default::default()).await.unwrap();
    assert_eq!(events.items.len(), 1, "the event was written before the stop");
}

#[tokio::test(start_paused = true)]
async fn an_informer_that_cannot_list_is_not_ready_and_named() {
    let (server, faults, metrics) = (ApiServer::new(), Faults::new(), Metrics::default());
    let factory = InformerFactory::new(server.client_with(faults.layer()));
    factory.informer::<ConfigMap>();
    let message = "configmaps is forbidden: User \"operator\" cannot list resource \"configmaps\"";
    faults.always(Requests::to("configmaps"), Fault::status(403, "Forbidden", message));
    let manager = Manager::builder(server.client())
        .metrics(metrics.clone())
        .start_timeout(Duration::MAX)
        .add(Replicas::All, "informers", factory)
        .build()
        .unwrap();
    let running = Running::start(manager);
    sleep(10 * MINUTE).await;
    let expected = format!("internal server error: cannot list configmaps: {message}; grant the permission");
    let text = running.probe("/readyz/informers");
    assert!(text.starts_with(&expected), "{text}");
    let gauge = "kubernetes_healthcheck{name=\"informers\",type=\"readyz\"}";
    assert!(metrics.text().contains(&format!("{gauge} 0.0")), "{}", metrics.text());
    faults.heal();
    running.wait_until(|running| running.probe("/readyz") == "ok").await;
    assert!(metrics.text().contains(&format!("{gauge} 1.0")), "{}", metrics.text());
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn one_forbidden_kind_of_several_neither_ends_the_process_nor_makes_it_unready() {
    let (server, faults, metrics) = (ApiServer::new(), Faults::new(), Metrics::default());
    let cloned = metrics.clone();
    let factory = InformerFactory::builder(server.client_with(faults.layer()))
        .defaults(move |config| config.reflector(|reflector| reflector.metrics(cloned)))
        .build();
    let log = Log::default();
    let record = |name: &'static str| {
        let log = log.clone();
        move |key: ObjectKey| {
            log.push(format!("{name} {key}"));
            async { Ok::<_, Infallible>(()) }
        }
    };
    let maps = Controller::new("maps", &factory.informer::<ConfigMap>()).build(record("maps"));
    let secrets = Controller::new("secrets", &factory.informer::<Secret>()).build(record("secrets"));
    faults.always(Requests::to("secrets"), Fault::status(403, "Forbidden", "secrets is forbidden"));
    let manager = Manager::builder(server.client())
        .add(Replicas::All, "informers", factory)
        .add(Replicas::Leader, "maps", maps)
        .add(Replicas::Leader, "secrets", secrets)
        .build()
        .unwrap();
    let running = Running::ready(manager).await;
    sleep(10 * MINUTE).await;
    create_config_map(server.client(), "a").await;
    running.wait_until(|_| log.contains("maps default/a")).await;
    assert_eq!(running.probe("/readyz"), "ok");
    let gauge = |name, value| format!("reflector_failing{{name=\"{name}\",namespace=\"\"}} {value}.0");
    let text = metrics.text();
    assert!(text.contains(&gauge("secrets", 1)) && text.contains(&gauge("configmaps", 0)), "{text}");
    faults.heal();
    let secret = serde_json::from_value(json!({ "metadata": { "name": "b" } })).unwrap();
    Api::<Secret>::namespaced(server.client(), "default").create(&Default::default(), &secret).await.unwrap();
    running.wait_until(|_| log.contains("secrets default/b")).await;
    assert!(metrics.text().contains(&gauge("secrets", 0)), "{}", metrics.text());
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn one_forbidden_namespace_of_several_does_not_make_the_process_unready() {
    let (server, faults) = (ApiServer::new(), Faults::new());
    let factory = InformerFactory::builder(server.client_with(faults.layer())).namespaces(["a", "b"]).build();
    let informer = factory.informer::<ConfigMap>();
    let manager = Manager::builder(server.client()).add(Replicas::All, "informers", factory).build().unwrap();
    let running = Running::ready(manager).await;
    let forbidden = || Fault::status(403, "Forbidden", "configmaps is forbidden");
    faults.always(Requests::to("configmaps").namespace("b"), forbidden());
    faults.cut(Requests::to("configmaps").namespace("b"));
    sleep(10 * MINUTE).await;
    assert_eq!(running.probe("/readyz"), "ok");
    assert!(informer.last_error().is_some_and(|error| error.contains("configmaps is forbidden")));
    faults.always(Requests::to("configmaps").namespace("a"), forbidden());
    faults.cut(Requests::to("configmaps").namespace("a"));
    sleep(3 * MINUTE).await;
    let text = running.probe("/readyz");
    assert!(text.contains("[-]informers failed: cannot list configmaps"), "all of them: {text}");
    running.stop().await.unwrap();
}

/// Requests that are not answered, and watches that end: the connection is half-open.
#[tokio::test(start_paused = true)]
async fn a_watch_that_is_silent_for_too_long_is_not_live() {
    let (server, faults) = (ApiServer::new(), Faults::new());
    let factory = InformerFactory::new(server.client_with(faults.layer()));
    factory.informer::<ConfigMap>();
    let builder = Manager::builder(server.client()).add(Replicas::All, "informers", factory.clone());
    let running = Running::ready(builder.build().unwrap()).await;
    sleep(60 * MINUTE).await;
    assert_eq!(running.probe("/livez"), "ok", "a watch without changes is not silent");
    faults.always(Requests::to("configmaps"), Fault::hang());
    faults.cut(Requests::to("configmaps"));
    sleep(9 * MINUTE).await;
    assert_eq!(running.probe("/livez"), "ok");
    sleep(3 * MINUTE).await;
    let text = running.probe("/livez");
    let expected = "[-]informers failed: no response to the watch of configmaps for ";
    assert!(text.contains(expected) && text.contains(" s; the limit is 660 s\n"), "{text}");
    faults.heal();
    faults.cut(Requests::to("configmaps"));
    running.wait_until(|running| running.probe("/livez") == "ok").await;
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_synced_informer_whose_requests_are_rejected_for_2_minutes_is_not_ready() {
    let (server, faults) = (ApiServer::new(), Faults::new());
    let factory = InformerFactory::new(server.client_with(faults.layer()));
    let controller = Controller::new("web", &factory.informer::<ConfigMap>())
        .build(|_: ObjectKey| async { Ok::<_, Infallible>(()) });
    let builder = Manager::builder(server.client()).add(Replicas::All, "informers", factory).add(
        Replicas::Leader,
        "web",
        controller,
    );
    let running = Running::ready(builder.build().unwrap()).await;
    let message = "configmaps is forbidden: User \"operator\" cannot watch resource \"configmaps\"";
    faults.always(Requests::to("configmaps"), Fault::status(403, "Forbidden", message));
    faults.cut(Requests::to("configmaps"));
    sleep(MINUTE).await;
    assert_eq!(running.probe("/readyz"), "ok", "the API server may be restarting");
    sleep(2 * MINUTE).await;
    for name in ["informers", "web"] {
        let text = running.probe(&format!("/readyz/{name}"));
        assert!(text.starts_with("internal server error: cannot list configmaps: configmaps is forbidden"), "{text}");
        assert!(text.contains(" (failing for 1"), "{text}");
    }
    assert_eq!(running.probe("/livez"), "ok", "a restart does not help");
    faults.heal();
    running.wait_until(|running| running.probe("/readyz") == "ok").await;
    running.stop().await.unwrap();
}

/// The controller starts the factory, which is no runnable.
#[tokio::test(start_paused = true)]
async fn a_controller_with_a_silent_watch_is_not_live() {
    let (server, faults) = (ApiServer::new(), Faults::new());
    let factory = InformerFactory::new(server.client_with(faults.layer()));
    let controller = Controller::new("web", &factory.informer::<ConfigMap>())
        .start_factory(&factory)
        .build(|_: ObjectKey| async { Ok::<_, Infallible>(()) });
    let builder = Manager::builder(server.client()).add(Replicas::Leader, "web", controller);
    let running = Running::start(builder.build().unwrap());
    running.wait_until(|_| factory.why_not_synced().is_empty()).await;
    faults.always(Requests::to("configmaps"), Fault::hang());
    faults.cut(Requests::to("configmaps"));
    sleep(12 * MINUTE).await;
    let text = running.probe("/livez/web");
    assert!(text.starts_with("internal server error: no response to the watch of configmaps for "), "{text}");
    faults.heal();
    faults.cut(Requests::to("configmaps"));
    running.wait_until(|running| running.probe("/livez") == "ok").await;
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_the_server_does_not_affect_liveness() {
    let (server, faults) = (ApiServer::new(), Faults::new());
    let factory = InformerFactory::new(server.client_with(faults.layer()));
    factory.informer::<ConfigMap>();
    let builder = Manager::builder(server.client()).add(Replicas::All, "informers", factory);
    let running = Running::ready(builder.build().unwrap()).await;
    faults.always(Requests::all(), Fault::connection_refused());
    faults.cut(Requests::all());
    sleep(60 * MINUTE).await;
    assert_eq!(running.probe("/livez"), "ok");
    let text = running.probe("/readyz/informers");
    assert!(text.contains(" configmaps: ") && text.contains("(failing for 3"), "{text}");
    running.stop().await.unwrap();
}

/// The reconciler blocks its thread: the clock advances while it is polled.
#[tokio::test(start_paused = true)]
async fn a_reconciliation_that_is_stuck_past_its_timeout_is_not_live() {
    let server = ApiServer::new();
    let factory = InformerFactory::new(server.client());
    let (informer, log, builder) = (factory.informer::<ConfigMap>(), Log::default(), Manager::builder(server.client()));
    let (health, probes) = (builder.health().clone(), log.clone());
    let controller =
        Controller::new("web", &informer).reconciliation_timeout(60 * SECOND).build(move |_: ObjectKey| {
            let (health, probes) = (health.clone(), probes.clone());
            async move {
                for _ in 0..2 {
                    advance(40 * SECOND).now_or_never();
                    probes.push(health.respond("/livez/web", "").1);
                }
                Ok::<_, Infallible>(())
            }
        });
    let builder = builder.add(Replicas::All, "informers", factory).add(Replicas::Leader, "web", controller);
    let running = Running::ready(builder.build().unwrap()).await;
    create_config_map(server.client(), "a").await;
    running.wait_until(|_| log.entries().len() >= 2).await;
    let stuck = "internal server error: controller `web`: the reconciliation of `default/a` has been running for 80 s, \
                 and its timeout is 60 s; does it block its thread?\n";
    assert_eq!(log.entries()[..2], ["ok".to_owned(), stuck.to_owned()]);
    assert_eq!(running.probe("/livez"), "ok", "it has ended");
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn programs_can_add_checks() {
    let builder = Manager::builder(ApiServer::new().client());
    builder.health().add_ready("database", || Err("no connection")).unwrap();
    let running = Running::start(builder.build().unwrap());
    running.wait_until(|running| running.probe("/readyz/startup") == "ok").await;
    let expected =
        "[+]ping ok\n[-]database failed: no connection\n[+]startup ok\n[+]shutdown ok\nreadyz check failed\n";
    assert_eq!(running.probe("/readyz"), expected);
    running.stop().await.unwrap();
}
