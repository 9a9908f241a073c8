//! A reflector of a scripted server, and its events as text.

use std::time::Duration;

use futures::{StreamExt, stream::BoxStream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, ResourceExt};
use kubewright_runtime::{
    Error, Reflector,
    reflector::{Config, Event},
};

use super::scripted_server::ScriptedServer;

/// Exceeds every back-off and the detection of a dead watch.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// The events of a running reflector.
pub(crate) struct ReflectorEvents(BoxStream<'static, Result<Event<ConfigMap>, Error>>);

/// Starts a reflector of the ConfigMaps in the default namespace.
pub(crate) fn start_reflector(server: &ScriptedServer, config: Config<ConfigMap>) -> ReflectorEvents {
    let api = Api::namespaced(server.client(), "default");
    ReflectorEvents(Reflector::with_config(api, config).events().boxed())
}

impl ReflectorEvents {
    /// Returns the next event as `all a b @7`, `a @8`, `-a @9` or `@10`, or an error as `error: ..`.
    pub(crate) async fn next(&mut self) -> String {
        match self.event().await {
            Ok(event) => describe(&event),
            Err(error) => format!("error: {error}"),
        }
    }

    pub(crate) async fn event(&mut self) -> Result<Event<ConfigMap>, Error> {
        let next = tokio::time::timeout(TIMEOUT, self.0.next()).await;
        next.expect("an event within an hour").expect("a reflector never ends")
    }

    /// Expects these events in this order and skips errors.
    pub(crate) async fn expect_events(&mut self, expected: &[&str]) {
        for expected in expected {
            let event = loop {
                let event = self.next().await;
                if !event.starts_with("error") {
                    break event;
                }
            };
            assert_eq!(event, *expected);
        }
    }

    /// Returns the next error and skips events.
    pub(crate) async fn error(&mut self) -> Error {
        loop {
            if let Err(error) = self.event().await {
                return error;
            }
        }
    }
}

fn describe(event: &Event<ConfigMap>) -> String {
    match event {
        Event::Replaced { objects, version } => {
            let mut names: Vec<_> = objects.iter().map(|object| object.name_any()).collect();
            names.sort();
            format!("all {} @{version}", names.join(" "))
        }
        Event::Applied { object, version } => format!("{} @{version}", object.name_any()),
        Event::Deleted { object, version } => format!("-{} @{version}", object.name_any()),
        Event::Bookmark { version } => format!("@{version}"),
    }
}
