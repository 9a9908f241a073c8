//! The start: what it waits for, and how it fails.

use std::{convert::Infallible, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_apiserver::{ApiServer, Fault, Faults, Requests, Verb};
use kubewright_core::description::ConversionWebhookDescription;
use kubewright_manager::{
    BoxError, LeaderElectionConfig, Manager, ManagerError, Probes, Replicas, Runnable, Stage, Webhooks,
    serving::{Certificates, ServerConfig},
};
use kubewright_runtime::{CancellationToken, Controller, InformerFactory, ObjectKey, informer::Config};
use tokio::time::{Instant, sleep};

use crate::fixture::{Log, Running, SECOND, create_config_map, ending_after, step};

/// Creates a server that rejects lists of ConfigMaps, and a factory with their informer.
fn forbidden() -> (ApiServer, Faults, InformerFactory) {
    let (server, faults) = (ApiServer::new(), Faults::new());
    let message = "configmaps is forbidden: User \"operator\" cannot list resource \"configmaps\"";
    faults.always(Requests::to("configmaps"), Fault::status(403, "Forbidden", message));
    let factory = InformerFactory::new(server.client_with(faults.layer()));
    factory.informer::<ConfigMap>();
    (server, faults, factory)
}

#[tokio::test(start_paused = true)]
async fn controllers_start_after_the_caches_are_synced() {
    let (server, faults, factory) = forbidden();
    let log = Log::default();
    let manager = Manager::builder(server.client())
        .add(Replicas::Leader, "controller", step("controller", &log))
        .add(Replicas::All, "informers", factory.clone())
        .build()
        .unwrap();
    let running = Running::start(manager);
    sleep(10 * SECOND).await;
    assert!(!log.contains("+controller"));
    let ready = running.probe("/readyz");
    let list = "[-]informers failed: cannot list configmaps: configmaps is forbidden";
    assert!(ready.contains(list) && ready.contains("[-]startup failed: not all runnables have started\n"), "{ready}");
    assert_eq!(running.probe("/livez"), "ok", "a restart does not help");
    faults.heal();
    running.wait_until(|running| running.probe("/readyz") == "ok").await;
    assert!(log.contains("+controller") && factory.why_not_synced().is_empty());
    running.stop().await.unwrap();
}

/// The list of a kind with objects in a former version needs the conversion webhook, and the API server calls only that
/// of a pod that is ready.
#[tokio::test(start_paused = true)]
async fn a_process_with_webhooks_is_ready_before_its_caches() {
    let (server, faults, factory) = forbidden();
    let conversion = ConversionWebhookDescription::new("example.com", "Widget", "widgets");
    let webhooks = Webhooks::new().conversion(conversion, |_, _| Ok::<_, String>(()));
    let certificates = Certificates::self_signed(["localhost"]).unwrap();
    let manager = Manager::builder(server.client())
        .serve_webhooks(ServerConfig::new("webhooks", 0), certificates, &webhooks)
        .add(Replicas::All, "informers", factory.clone())
        .build()
        .unwrap();
    let running = Running::ready(manager).await;
    assert!(!factory.why_not_synced().is_empty());
    faults.heal();
    running.wait_until(|_| factory.why_not_synced().is_empty()).await;
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stop_during_the_start_is_not_an_error() {
    let (server, _faults, factory) = forbidden();
    let log = Log::default();
    let manager = Manager::builder(server.client())
        .leader_election(LeaderElectionConfig::new("operator", "a"))
        .add(Replicas::All, "informers", factory)
        .add(Replicas::Leader, "controller", step("controller", &log))
        .build()
        .unwrap();
    let running = Running::start(manager);
    sleep(10 * SECOND).await;
    running.stop().await.unwrap();
    assert!(log.entries().is_empty(), "nothing else was started");
    let manager = Manager::builder(server.client()).add(Replicas::All, "step", step("step", &log)).build().unwrap();
    let stop = CancellationToken::new();
    stop.cancel();
    manager.run(stop).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stage_that_does_not_start_in_time_stops_the_manager_with_the_reasons() {
    let (server, _faults, factory) = forbidden();
    let builder = Manager::builder(server.client()).add(Replicas::All, "informers", factory);
    let began = Instant::now();
    let error = Running::start(builder.build().unwrap()).result().await.unwrap_err();
    assert_eq!(began.elapsed().as_secs(), 120);
    assert!(matches!(&error, ManagerError::NotStarted { reasons, .. } if reasons.len() == 1));
    let expected = "not started within 120s: `informers`: cannot list configmaps: configmaps is forbidden";
    assert!(error.to_string().starts_with(expected), "{error}");
    assert!(error.to_string().contains("kubectl auth can-i list configmaps"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_time_to_start_restarts_while_a_list_receives_objects() {
    let (server, faults) = (ApiServer::new(), Faults::new());
    for name in ["a", "b", "c", "d", "e"] {
        create_config_map(server.client(), name).await;
    }
    faults.always(Requests::to("configmaps").verb(Verb::List), Fault::slow(200, 50 * SECOND));
    let factory = InformerFactory::builder(server.client_with(faults.layer()))
        .configure(|config: Config<ConfigMap>| config.reflector(|reflector| reflector.list_timeout(Duration::MAX)))
        .build();
    let controller = Controller::new("web", &factory.informer::<ConfigMap>())
        .build(|_: ObjectKey| async { Ok::<_, Infallible>(()) });
    let manager = Manager::builder(server.client())
        .add(Replicas::All, "informers", factory.clone())
        .add(Replicas::Leader, "web", controller)
        .build()
        .unwrap();
    let began = Instant::now();
    let running = Running::ready(manager).await;
    assert!(began.elapsed() > 200 * SECOND, "{:?}", began.elapsed());
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_list_that_receives_no_further_object_does_not_start_in_time() {
    let (server, faults) = (ApiServer::new(), Faults::new());
    for name in ["a", "b", "c", "d", "e"] {
        create_config_map(server.client(), name).await;
    }
    // Each list breaks after the first object.
    faults.always(Requests::to("configmaps").verb(Verb::List), Fault::broken_after(500).delayed(40 * SECOND));
    let factory = InformerFactory::new(server.client_with(faults.layer()));
    factory.informer::<ConfigMap>();
    let began = Instant::now();
    let manager = Manager::builder(server.client()).add(Replicas::All, "informers", factory).build().unwrap();
    let error = Running::start(manager).result().await.unwrap_err();
    assert!(matches!(error, ManagerError::NotStarted { .. }), "{error}");
    assert_eq!(began.elapsed().as_secs(), 40 + 120, "after the first object");
}

#[tokio::test(start_paused = true)]
async fn a_runnable_that_fails_during_the_start_stops_the_manager() {
    struct Server;
    impl Runnable for Server {
        async fn run(self, _: CancellationToken) -> Result<(), BoxError> {
            Err("port 8081 is in use".into())
        }

        fn stage(&self) -> Stage {
            Stage::Servers
        }

        fn probes(&self) -> Probes {
            Probes::default().started(std::future::pending::<Result<(), BoxError>>())
        }
    }
    let log = Log::default();
    let manager = Manager::builder(ApiServer::new().client())
        .add(Replicas::All, "server", Server)
        .add(Replicas::All, "step", step("step", &log))
        .build()
        .unwrap();
    let error = Running::start(manager).result().await.unwrap_err();
    assert_eq!(error.to_string(), "`server` failed: port 8081 is in use");
    assert!(log.entries().is_empty(), "nothing else was started");
}

#[tokio::test(start_paused = true)]
async fn panics_of_user_code_during_the_start_name_the_runnable() {
    struct Panicking(fn() -> Probes, Log);
    impl Runnable for Panicking {
        async fn run(self, stop: CancellationToken) -> Result<(), BoxError> {
            stop.cancelled().await;
            self.1.push("stopped");
            Ok(())
        }

        fn probes(&self) -> Probes {
            (self.0)()
        }
    }
    async fn start() -> Result<(), BoxError> {
        panic!("no peers")
    }
    fn check() -> Result<(), BoxError> {
        panic!("no cache")
    }
    let never = || Probes::default().started(std::future::pending::<Result<(), BoxError>>()).ready(check);
    let panics = || Probes::default().started(start());
    for (probes, expected) in [
        (panics as fn() -> Probes, "`bad` panicked: no peers"),
        (never, "not started within 120s: `bad`: the check panicked: no cache"),
    ] {
        let log = Log::default();
        let builder = Manager::builder(ApiServer::new().client());
        let manager = builder.add(Replicas::All, "bad", Panicking(probes, log.clone())).build().unwrap();
        let error = Running::start(manager).result().await.unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(log.contains("stopped"), "it is stopped gracefully");
    }
}

#[tokio::test(start_paused = true)]
async fn m02_runnables_cannot_be_added_after_the_start() {
    let manager = Manager::builder(ApiServer::new().client()).build().unwrap();
    manager.add(Replicas::All, "early", step("early", &Log::default())).unwrap();
    let running = Running::ready(manager).await;
    let error = running.manager.add(Replicas::All, "late", ending_after(SECOND)).unwrap_err();
    assert_eq!(error.to_string(), "cannot add `late`: the manager was already started; add it before");
    let again = running.manager.run(CancellationToken::new()).await.unwrap_err();
    assert_eq!(again.to_string(), "the manager was already started; create a new one");
    running.stop().await.unwrap();
}

#[tokio::test]
async fn names_are_unique_and_options_are_valid() {
    let builder = || Manager::builder(ApiServer::new().client());
    let add =
        |name| builder().add(Replicas::All, "a", ending_after(SECOND)).add(Replicas::All, name, ending_after(SECOND));
    let error = add("a").build().unwrap_err();
    assert_eq!(error.to_string(), "cannot add the runnable: duplicate livez check `a`: use another name");
    assert!(add("a/b").build().unwrap_err().to_string().contains("invalid name of a check `a/b`"));
    let error = builder().leader_election(LeaderElectionConfig::new("", "a")).build().unwrap_err();
    assert!(error.to_string().starts_with("invalid leader election"), "{error}");
}
