//! What a reflector tells, as text.

use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, ResourceExt};
use logger_runtime::reflector::{Config, Event};
use logger_runtime::{Error, Reflector};

use crate::script::Script;

/// Longer than any back-off, and than a watch that has died.
const PATIENCE: Duration = Duration::from_secs(3600);

pub(crate) struct Hearing(BoxStream<'static, Result<Event<ConfigMap>, Error>>);

/// Runs a reflector of the default namespace's `ConfigMap`s.
pub(crate) fn hear(script: &Script, config: Config<ConfigMap>) -> Hearing {
    let api = Api::namespaced(script.client(), "default");
    Hearing(Reflector::with(api, config).events().boxed())
}

impl Hearing {
    /// What is told next: `all a b @7`, `a @8`, `-a @9`, `@10`, or `error: ..`.
    pub(crate) async fn next(&mut self) -> String {
        match self.event().await {
            Ok(event) => told(&event),
            Err(error) => format!("error: {error}"),
        }
    }

    pub(crate) async fn event(&mut self) -> Result<Event<ConfigMap>, Error> {
        let next = tokio::time::timeout(PATIENCE, self.0.next()).await;
        next.expect("something is told within an hour").expect("a reflector goes on for ever")
    }

    /// Asserts what is told next, errors left out.
    pub(crate) async fn these(&mut self, expected: &[&str]) {
        for expected in expected {
            let told = loop {
                let told = self.next().await;
                if !told.starts_with("error") {
                    break told;
                }
            };
            assert_eq!(told, *expected);
        }
    }

    /// The next error.
    pub(crate) async fn error(&mut self) -> Error {
        loop {
            if let Err(error) = self.event().await {
                return error;
            }
        }
    }
}

fn told(event: &Event<ConfigMap>) -> String {
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
