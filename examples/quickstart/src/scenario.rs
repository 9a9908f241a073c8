//! The scenario: Loggers are created, updated and deleted while the controller reconciles them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_runtime::{
    CancellationToken, Event, HandlerOptions,
    informer::Delivery,
    kube::api::{DeleteParams, PostParams},
};
use logger_client::{
    Clientset, SharedInformerFactory, informers::example_v2::LoggerInformer, typed::example_v2::LoggerClient,
};
use logger_types::v2::{Logger, LoggerSpec, LoggerState};
use tokio::sync::watch;

use crate::{
    controller::controller,
    format,
    output::{both, print},
};

/// How long any step may take.
const TIMEOUT: Duration = Duration::from_secs(30);
const NAMES: [&str; 2] = ["audit", "access"];

/// Runs the scenario beside the controller, then removes its Loggers.
pub(crate) async fn run(clientset: &Clientset, namespace: &str) -> Result<()> {
    let loggers = clientset.example_v2().loggers(namespace);
    for name in NAMES {
        if loggers.get_opt(name).await?.is_some() {
            bail!("a Logger {namespace}/{name} already exists and is not changed; choose another --namespace");
        }
    }
    let factory = SharedInformerFactory::namespaced(clientset, namespace);
    let informer = factory.example_v2().loggers();
    let scenario = Scenario::new(&informer, loggers, namespace);
    let (controller, stop) = (controller(&informer), CancellationToken::new());
    factory.start();
    factory.wait_for_sync(TIMEOUT).await?;
    let controller = tokio::spawn(controller.run(stop.clone()));

    let outcome = tokio::select! {
        outcome = scenario.play() => outcome,
        _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("interrupted")),
    };
    let removal = scenario.remove_loggers().await;

    stop.cancel();
    let stopped = controller.await.context("the controller failed")?.map_err(Into::into);
    factory.shutdown().await;
    both(both(outcome, removal), stopped)
}

/// The scenario, which writes through the typed client and reads from the events of the informer.
struct Scenario {
    loggers: LoggerClient,
    namespace: String,
    /// The Loggers by name according to the latest events.
    observed: watch::Sender<BTreeMap<String, Arc<Logger>>>,
}

impl Scenario {
    fn new(informer: &LoggerInformer, loggers: LoggerClient, namespace: &str) -> Self {
        let observed = watch::Sender::new(BTreeMap::new());
        let sender = observed.clone();
        // By default slow handlers receive coalesced events; the scenario shows the intermediate states as well.
        let options = HandlerOptions::new().delivery(Delivery::EVERY_EVENT);
        let registration = informer.add_event_handler_with(options, move |event| {
            print(format::line(event));
            let logger = Arc::clone(event.object());
            let name = logger.metadata.name.clone().unwrap_or_default();
            sender.send_modify(|observed| {
                match event {
                    Event::Deleted { .. } => observed.remove(&name),
                    _ => observed.insert(name, logger),
                };
            });
        });
        registration.expect("the informer has not run yet");
        Scenario { loggers, namespace: namespace.to_owned(), observed }
    }

    async fn play(&self) -> Result<()> {
        print("\n# Two Loggers are created; the controller reports them as available.");
        self.create("audit", "1m", 2).await?;
        self.create("access", "5s", 1).await?;
        for name in NAMES {
            self.wait_until(name, |logger| logger.is_some_and(is_reported)).await?;
        }

        print("\n# One is updated: its generation increases, and the controller reconciles it.");
        let mut audit = self.loggers.get("audit").await?;
        audit.spec.interval = "30s".to_owned();
        audit.spec.replicas = Some(3);
        let generation = self.loggers.update(&audit, &PostParams::default()).await?.metadata.generation;
        self.wait_until("audit", |logger| {
            logger.is_some_and(|logger| is_reported(logger) && logger.metadata.generation == generation)
        })
        .await?;

        print("\n# One with an interval of 0 is rejected by the schema.");
        match self.create("broken", "0s", 1).await {
            Ok(()) => bail!("the API server accepted a Logger with an interval of 0"),
            Err(error) => print(format!("REJECTED {error}")),
        }

        print("\n# One is deleted.");
        self.loggers.delete("access", &DeleteParams::default()).await?;
        self.wait_until("access", |logger| logger.is_none()).await?;

        print("\n# The remaining one:");
        print(format::describe(&self.loggers.get("audit").await?));
        Ok(())
    }

    async fn create(&self, name: &str, interval: &str, replicas: i32) -> Result<()> {
        let logger = Logger {
            metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
            spec: LoggerSpec {
                name: name.to_owned(),
                interval: interval.to_owned(),
                replicas: Some(replicas),
                ..LoggerSpec::default()
            },
            status: None,
        };
        self.loggers.create(&logger, &PostParams::default()).await?;
        Ok(())
    }

    /// Waits until the latest event of a Logger, or its absence, meets the condition.
    async fn wait_until(&self, name: &str, condition: impl Fn(Option<&Logger>) -> bool) -> Result<()> {
        let mut observed = self.observed.subscribe();
        let met = observed.wait_for(|observed| condition(observed.get(name).map(Arc::as_ref)));
        tokio::time::timeout(TIMEOUT, met).await.with_context(|| {
            format!("Logger {}/{name} did not reach the expected state within {TIMEOUT:?}", self.namespace)
        })??;
        Ok(())
    }

    /// Removes the remaining Loggers of the scenario, even if it failed.
    async fn remove_loggers(&self) -> Result<()> {
        for name in NAMES {
            match self.loggers.delete(name, &DeleteParams::default()).await {
                Err(error) if !error.is_not_found() => return Err(error.into()),
                _ => self.wait_until(name, |logger| logger.is_none()).await?,
            }
        }
        Ok(())
    }
}

fn is_reported(logger: &Logger) -> bool {
    let status = logger.status.clone().unwrap_or_default();
    status.state == Some(LoggerState::Available) && status.observed_generation == logger.metadata.generation
}
