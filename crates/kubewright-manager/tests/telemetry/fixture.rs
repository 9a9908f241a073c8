//! The fixture of the tests: telemetry with a log in memory, and a reconciliation.

use std::{
    io::{Result as IoResult, Write},
    sync::{Arc, LazyLock, Mutex},
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, api::PostParams};
use kubewright_apiserver::ApiServer;
use kubewright_manager::Telemetry;
use kubewright_runtime::{CancellationToken, Controller, InformerFactory, ObjectKey, ReconcileError};
use serde_json::{Value, json};
use tracing::{Dispatch, dispatcher::set_default};
use tracing_subscriber::Registry;

/// Subscribers that enable everything. Without them, a callsite that another test registers on a thread without a
/// subscriber could stay disabled for the rest of the process.
static REGISTERED: LazyLock<[Dispatch; 2]> = LazyLock::new(|| [(); 2].map(|()| Dispatch::new(Registry::default())));

/// A log in memory.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// Returns the lines, which are JSON objects.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the only line with this message.
    pub(crate) fn line(&self, message: &str) -> Value {
        let mut lines = self.lines();
        lines.retain(|line| line["msg"] == message);
        assert_eq!(lines.len(), 1, "{message}: {}", self.text());
        lines.remove(0)
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> IoResult<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> IoResult<()> {
        Ok(())
    }
}

/// Returns telemetry that writes to this log, with the filter `info`.
pub(crate) fn telemetry(log: &Log) -> Telemetry {
    LazyLock::force(&REGISTERED);
    let writer = log.clone();
    Telemetry::new().filter("info").writer(move || writer.clone())
}

/// Reconciles the ConfigMap `default/a` with this subscriber. The reconciler logs `reconciling`, and fails.
pub(crate) async fn reconcile(subscriber: &Dispatch) {
    let _default = set_default(subscriber);
    let client = ApiServer::new().client();
    let map = serde_json::from_value(json!({"metadata": {"name": "a"}})).unwrap();
    Api::<ConfigMap>::namespaced(client.clone(), "default").create(&PostParams::default(), &map).await.unwrap();
    let (stop, reconciled) = (CancellationToken::new(), CancellationToken::new());
    let (factory, done) = (InformerFactory::new(client), reconciled.clone());
    let builder = Controller::new("config-maps", &factory.informer::<ConfigMap>()).start_factory(&factory);
    let controller = builder.build(move |_: ObjectKey| {
        tracing::info!(count = 3, "reconciling");
        done.cancel();
        async { Err::<(), _>(ReconcileError::terminal("invalid")) }
    });
    let running = tokio::spawn(controller.run(stop.clone()));
    reconciled.cancelled().await;
    stop.cancel();
    running.await.unwrap().unwrap();
}
