//! The story: Loggers come, change and go, while the controller keeps their status true.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use logger_client::informers::example_v1::LoggerInformer;
use logger_client::typed::example_v1::LoggerClient;
use logger_client::{Clientset, SharedInformerFactory};
use logger_runtime::informer::{Delivery, Overflow};
use logger_runtime::kube::api::{DeleteParams, PostParams};
use logger_runtime::{CancellationToken, Event, HandlerOptions};
use logger_types::v1::{Logger, LoggerSpec, LoggerState};
use tokio::sync::watch;

use crate::controller::controller;
use crate::picture;
use crate::voice::{both, say};

/// How long any step may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// By default a handler hears of the latest state alone; a story tells the ones between as well.
const EVERY_EVENT: Delivery = Delivery::EveryEvent { cap: 1_000, overflow: Overflow::Coalesce };
const NAMES: [&str; 2] = ["audit", "access"];

/// Runs the controller beside the story, and afterwards removes the Loggers that the story made.
pub(crate) async fn tell(clientset: &Clientset, namespace: &str) -> Result<()> {
    let loggers = clientset.example_v1().loggers(namespace);
    for name in NAMES {
        if loggers.get_opt(name).await?.is_some() {
            bail!("a Logger {namespace}/{name} is there already; it is left alone: name another --namespace");
        }
    }
    let factory = SharedInformerFactory::namespaced(clientset, namespace);
    let informer = factory.example_v1().loggers();
    let stage = Stage::new(&informer, loggers, namespace);
    let (controller, stop) = (controller(clientset.clone(), &informer), CancellationToken::new());
    factory.start();
    factory.wait_for_sync(PATIENCE).await?;
    let controller = tokio::spawn(controller.run(stop.clone()));

    let told = tokio::select! {
        told = stage.play() => told,
        _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("interrupted")),
    };
    let cleared = stage.clear().await;

    stop.cancel();
    let stopped = controller.await.context("the controller failed")?.map_err(Into::into);
    factory.shutdown().await;
    both(both(told, cleared), stopped)
}

/// Where the story plays: it acts through the typed client and sees through the informer.
struct Stage {
    loggers: LoggerClient,
    namespace: String,
    /// The Loggers by name, as the informer told of them last.
    told: watch::Sender<BTreeMap<String, Arc<Logger>>>,
}

impl Stage {
    fn new(informer: &LoggerInformer, loggers: LoggerClient, namespace: &str) -> Self {
        let told = watch::Sender::new(BTreeMap::new());
        let tell = told.clone();
        let heard = informer.add_event_handler_with(HandlerOptions::new().delivery(EVERY_EVENT), move |event| {
            say(picture::line(event));
            let logger = Arc::clone(event.object());
            let name = logger.metadata.name.clone().unwrap_or_default();
            tell.send_modify(|told| {
                match event {
                    Event::Deleted { .. } => told.remove(&name),
                    _ => told.insert(name, logger),
                };
            });
        });
        heard.expect("the informer has not run yet");
        Stage { loggers, namespace: namespace.to_owned(), told }
    }

    async fn play(&self) -> Result<()> {
        say("\n# two Loggers are created; the controller reports them available");
        self.create("audit", 60, 2).await?;
        self.create("access", 5, 1).await?;
        for name in NAMES {
            self.until(name, |logger| logger.is_some_and(is_reported)).await?;
        }

        say("\n# one is updated: its generation moves, and the controller follows");
        let mut audit = self.loggers.get("audit").await?;
        audit.spec.time_interval = 30;
        audit.spec.replicas = Some(3);
        let generation = self.loggers.update(&audit, &PostParams::default()).await?.metadata.generation;
        self.until("audit", |logger| {
            logger.is_some_and(|logger| is_reported(logger) && logger.metadata.generation == generation)
        })
        .await?;

        say("\n# one with an interval of 0 is refused by its schema");
        match self.create("broken", 0, 1).await {
            Ok(()) => bail!("the API server took a Logger with an interval of 0"),
            Err(error) => say(format!("REFUSED {error}")),
        }

        say("\n# one is deleted");
        self.loggers.delete("access", &DeleteParams::default()).await?;
        self.until("access", |logger| logger.is_none()).await?;

        say("\n# what is left");
        say(picture::describe(&self.loggers.get("audit").await?));
        Ok(())
    }

    async fn create(&self, name: &str, time_interval: i32, replicas: i32) -> Result<()> {
        let logger = Logger {
            metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
            spec: LoggerSpec { name: name.to_owned(), time_interval, replicas: Some(replicas) },
            status: None,
        };
        self.loggers.create(&logger, &PostParams::default()).await?;
        Ok(())
    }

    /// Waits until the informer has told of a Logger like this, or that there is none.
    async fn until(&self, name: &str, is_so: impl Fn(Option<&Logger>) -> bool) -> Result<()> {
        let mut told = self.told.subscribe();
        let seen = told.wait_for(|told| is_so(told.get(name).map(Arc::as_ref)));
        tokio::time::timeout(PATIENCE, seen)
            .await
            .with_context(|| format!("waited {PATIENCE:?} for Logger {}/{name}, in vain", self.namespace))??;
        Ok(())
    }

    /// Removes what is left of the story's Loggers, also where it broke off.
    async fn clear(&self) -> Result<()> {
        for name in NAMES {
            match self.loggers.delete(name, &DeleteParams::default()).await {
                Err(error) if !error.is_not_found() => return Err(error.into()),
                _ => self.until(name, |logger| logger.is_none()).await?,
            }
        }
        Ok(())
    }
}

fn is_reported(logger: &Logger) -> bool {
    let status = logger.status.clone().unwrap_or_default();
    status.state == Some(LoggerState::Available) && status.observed_generation == logger.metadata.generation
}
