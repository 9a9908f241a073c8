//! A script on both servers, and where they differ

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
use logger_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::{
    differing::differing,
    menu::{Menu, put_in},
    operations::Request,
    side::{self, LAST, Result, Side},
};

const DEFINITIONS: [&str; 2] = ["/tests/conformance/definitions.yaml", "/../config/crd/bases/example.com_loggers.yaml"];

/// Both servers, with the same kinds.
pub(crate) struct Servers<'a> {
    real: Client,
    memory: Client,
    menu: &'a Menu,
    /// How many scripts have run: each has namespaces of its own.
    scripts: AtomicUsize,
}

impl<'a> Servers<'a> {
    /// Starts the one in memory, and makes the definitions on both.
    pub(crate) async fn prepare(control_plane: &ControlPlane, menu: &'a Menu) -> Self {
        let kubeconfig = Kubeconfig::read_from(control_plane.kubeconfig()).unwrap();
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
        // What a server refuses for a while is an answer like others.
        config.default_retry = false;
        let real = Client::try_from(config).unwrap();
        let memory = ApiServer::builder().collects_garbage(false).build().client();
        let definitions: Vec<Value> = DEFINITIONS.iter().flat_map(|file| read(file)).collect();
        for client in [&real, &memory] {
            side::install(client, &definitions, menu).await.unwrap();
        }
        Self { real, memory, menu, scripts: AtomicUsize::new(0) }
    }

    /// Where the servers first differ, if they do.
    pub(crate) async fn difference(&self, script: &[Request]) -> Option<String> {
        let namespace = format!("steps-{:06}", self.scripts.fetch_add(1, Ordering::Relaxed));
        let mut pair = Pair { real: Side::new(&self.real, &namespace), memory: Side::new(&self.memory, &namespace) };
        for client in [&self.real, &self.memory] {
            side::make_namespaces(client, &namespace).await.unwrap();
        }
        pair.run(self.menu, script).await.unwrap_or_else(|error| Some(format!("no answer: {error}")))
    }
}

fn read(file: &str) -> Vec<Value> {
    let text = fs::read_to_string(format!("{}{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    match serde_saphyr::from_str(&text).unwrap() {
        Value::Array(definitions) => definitions,
        definition => vec![definition],
    }
}

/// Both servers in the middle of a script.
struct Pair {
    real: Side,
    memory: Side,
}

impl Pair {
    async fn run(&mut self, menu: &Menu, script: &[Request]) -> Result<Option<String>> {
        let collections: BTreeSet<&String> = script.iter().map(|request| &request.collection).collect();
        let mut starts = Vec::new();
        for collection in &collections {
            starts.push((self.real.version(collection).await?, self.memory.version(collection).await?));
        }
        for (index, request) in script.iter().enumerate() {
            let (real, memory) = tokio::try_join!(self.real.answer(request), self.memory.answer(request))?;
            if let Some(told) = difference(&format!("{} {request}", index + 1), &real, &memory) {
                return Ok(Some(told));
            }
        }
        for (collection, (real, memory)) in collections.into_iter().zip(starts) {
            let told = self.compare(menu, collection, &real, &memory).await?;
            if told.is_some() {
                return Ok(told);
            }
        }
        Ok(None)
    }

    /// Compares what there is in the end, and what happened.
    async fn compare(&mut self, menu: &Menu, collection: &str, real: &str, memory: &str) -> Result<Option<String>> {
        let kind = menu.kinds.iter().find(|kind| kind.path.rsplit('/').next() == collection.rsplit('/').next());
        let mut last = json!({ "metadata": { "name": LAST, "labels": { "tier": "x" } } });
        for part in kind.into_iter().flat_map(|kind| [&kind.head, &kind.base]) {
            put_in(&mut last, part);
        }
        for (verb, body) in [("POST", last), ("GET", Value::Null)] {
            let (below, query) = (String::new(), String::new());
            let request = Request { verb, collection: collection.to_owned(), below, query, body, is_change: false };
            let (real, memory) = tokio::try_join!(self.real.answer(&request), self.memory.answer(&request))?;
            if let Some(told) = difference(&format!("at the end, {request}"), &real, &memory) {
                return Ok(Some(told));
            }
        }
        for selector in ["", "&labelSelector=tier%3Dx"] {
            let (real, memory) =
                (format!("resourceVersion={real}{selector}"), format!("resourceVersion={memory}{selector}"));
            let (real, memory) =
                tokio::try_join!(self.real.events(collection, &real), self.memory.events(collection, &memory))?;
            if let Some(told) = difference(&format!("the events of {collection} {selector}"), &real, &memory) {
                return Ok(Some(told));
            }
        }
        Ok(None)
    }
}

fn difference(what: &str, real: &Value, memory: &Value) -> Option<String> {
    let mut told = Vec::new();
    match real["code"] == memory["code"] {
        true => differing(real, memory, &mut told),
        false => told.extend([("real", real), ("memory", memory)].map(|(which, answer)| {
            let body = &answer["body"];
            format!("  {which}: {} {}", answer["code"], body.get("message").unwrap_or(body))
        })),
    }
    (!told.is_empty()).then(|| format!("{what}\n{}", told.join("\n")))
}
