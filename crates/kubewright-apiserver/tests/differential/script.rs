//! Runs a script on both servers and compares the results.

use std::{
    collections::BTreeSet,
    fs,
    sync::atomic::{AtomicUsize, Ordering},
};

use envtest::ControlPlane;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::{
    fragments::{Fragments, merge},
    json_diff::diff,
    operations::Request,
    session::{self, Result, SENTINEL, Session},
};

/// Relative to the root of the workspace.
const DEFINITIONS: [&str; 2] =
    ["crates/kubewright-apiserver/tests/conformance/definitions.yaml", "config/crd/bases/example.com_loggers.yaml"];

/// Both servers, with the same kinds.
pub(crate) struct Servers<'a> {
    real: Client,
    memory: Client,
    fragments: &'a Fragments,
    /// The number of scripts so far: each has dedicated namespaces.
    scripts: AtomicUsize,
}

impl<'a> Servers<'a> {
    /// Starts the server in memory, and creates the definitions on both.
    pub(crate) async fn prepare(control_plane: &ControlPlane, fragments: &'a Fragments) -> Self {
        let kubeconfig = Kubeconfig::read_from(control_plane.kubeconfig()).unwrap();
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
        // Temporary errors are compared too, so the client must not retry.
        config.default_retry = false;
        let real = Client::try_from(config).unwrap();
        let memory = ApiServer::builder().collects_garbage(false).build().client();
        let definitions: Vec<Value> = DEFINITIONS.iter().flat_map(|file| read(file)).collect();
        for client in [&real, &memory] {
            session::install(client, &definitions, fragments).await.unwrap();
        }
        Self { real, memory, fragments, scripts: AtomicUsize::new(0) }
    }

    /// Runs a script and describes the first difference, if there is one.
    pub(crate) async fn difference(&self, script: &[Request]) -> Option<String> {
        let namespace = format!("steps-{:06}", self.scripts.fetch_add(1, Ordering::Relaxed));
        let mut sessions =
            Sessions { real: Session::new(&self.real, &namespace), memory: Session::new(&self.memory, &namespace) };
        for client in [&self.real, &self.memory] {
            session::create_namespaces(client, &namespace).await.unwrap();
        }
        sessions.run(self.fragments, script).await.unwrap_or_else(|error| Some(format!("no answer: {error}")))
    }
}

fn read(file: &str) -> Vec<Value> {
    let text = fs::read_to_string(envtest::workspace_root().unwrap().join(file)).unwrap();
    match serde_saphyr::from_str(&text).unwrap() {
        Value::Array(definitions) => definitions,
        definition => vec![definition],
    }
}

/// The sessions of one script on both servers.
struct Sessions {
    real: Session,
    memory: Session,
}

impl Sessions {
    async fn run(&mut self, fragments: &Fragments, script: &[Request]) -> Result<Option<String>> {
        let collections: BTreeSet<&String> = script.iter().map(|request| &request.collection).collect();
        let mut starts = Vec::new();
        for collection in &collections {
            starts.push((self.real.version(collection).await?, self.memory.version(collection).await?));
        }
        for (index, request) in script.iter().enumerate() {
            let (real, memory) = tokio::try_join!(self.real.answer(request), self.memory.answer(request))?;
            if let Some(report) = difference(&format!("{} {request}", index + 1), &real, &memory) {
                return Ok(Some(report));
            }
        }
        for (collection, (real, memory)) in collections.into_iter().zip(starts) {
            let report = self.compare_final_state(fragments, collection, &real, &memory).await?;
            if report.is_some() {
                return Ok(report);
            }
        }
        Ok(None)
    }

    /// Compares the final objects of a collection, and its events.
    async fn compare_final_state(
        &mut self,
        fragments: &Fragments,
        collection: &str,
        real: &str,
        memory: &str,
    ) -> Result<Option<String>> {
        let kind = fragments.kinds.iter().find(|kind| kind.path.rsplit('/').next() == collection.rsplit('/').next());
        let mut sentinel = json!({ "metadata": { "name": SENTINEL, "labels": { "tier": "x" } } });
        for part in kind.into_iter().flat_map(|kind| [&kind.type_meta, &kind.base]) {
            merge(&mut sentinel, part);
        }
        for (verb, body) in [("POST", sentinel), ("GET", Value::Null)] {
            let (subpath, query) = (String::new(), String::new());
            let collection = collection.to_owned();
            let request = Request { verb, collection, subpath, query, body, merges_into_last: false };
            let (real, memory) = tokio::try_join!(self.real.answer(&request), self.memory.answer(&request))?;
            if let Some(report) = difference(&format!("at the end, {request}"), &real, &memory) {
                return Ok(Some(report));
            }
        }
        for selector in ["", "&labelSelector=tier%3Dx"] {
            let (real, memory) =
                (format!("resourceVersion={real}{selector}"), format!("resourceVersion={memory}{selector}"));
            let (real, memory) =
                tokio::try_join!(self.real.events(collection, &real), self.memory.events(collection, &memory))?;
            if let Some(report) = difference(&format!("the events of {collection} {selector}"), &real, &memory) {
                return Ok(Some(report));
            }
        }
        Ok(None)
    }
}

fn difference(subject: &str, real: &Value, memory: &Value) -> Option<String> {
    let mut report = Vec::new();
    match real["code"] == memory["code"] {
        true => diff(real, memory, &mut report),
        false => report.extend([("real", real), ("memory", memory)].map(|(server, answer)| {
            let body = &answer["body"];
            format!("  {server}: {} {}", answer["code"], body.get("message").unwrap_or(body))
        })),
    }
    (!report.is_empty()).then(|| format!("{subject}\n{}", report.join("\n")))
}
