//! The operator as a program: one builder of its controllers, webhooks and runnables, and its command line.

mod command;
mod crds;
mod embedded;
mod options;
mod output;
mod process;
mod running;
mod setup;

use std::{fmt, process::ExitCode};

use bytes::Bytes;
use http::{Request, Response};
use kube::Client;
use kubewright_runtime::{
    Controller, EventRecorder, InformerFactory, InformerFactoryBuilder,
    error::WithCauses,
    events::{EventConfig, EventWorker},
    metrics::Metrics,
};
use tower_service::Service;

pub use options::{NoOptions, ProcessOptions};
pub use running::RunningOperator;
pub use setup::Setup;

use crate::{
    manager::{BoxError, ManagerBuilder, Replicas, Runnable},
    serving::{Body, BoxService},
    webhooks::Webhooks,
};
use embedded::Embedded;

type Informers<O> = Box<dyn Fn(InformerFactoryBuilder, &O) -> InformerFactoryBuilder + Send + Sync>;
type Part<O> = Box<dyn Fn(ManagerBuilder, &Setup<O>) -> Result<ManagerBuilder, BoxError> + Send + Sync>;
type Definitions = Box<dyn Fn() -> Result<String, BoxError> + Send + Sync>;
type BuildWebhooks = Box<dyn Fn(&Client) -> Webhooks + Send + Sync>;
type Route<O> = Box<dyn Fn(&Setup<O>) -> BoxService + Send + Sync>;
type Print = Box<dyn Fn() -> Result<String, BoxError> + Send + Sync>;

/// An operator: what it consists of, and its command line.
///
/// ```no_run
/// use std::{process::ExitCode, sync::Arc};
///
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright_manager::Operator;
/// use kubewright_runtime::{Action, ReconcileContext, ReconcileError};
///
/// async fn reconcile(map: Arc<ConfigMap>, ctx: ReconcileContext) -> Result<Action, ReconcileError> {
///     ctx.event(&*map, "Reconciled", "nothing to do");
///     Ok(Action::Done)
/// }
///
/// fn main() -> ExitCode {
///     Operator::new("my-operator")
///         .controller(|setup| setup.controller::<ConfigMap>("configmaps").reconcile(reconcile).build())
///         .main()
/// }
/// ```
///
/// # Commands
///
/// | command | does |
/// |---|---|
/// | `run` | runs the operator in the cluster of the environment, until SIGTERM or SIGINT |
/// | `crds print` | prints the CRDs |
/// | `crds diff` | prints the changes of the CRDs in the cluster |
/// | `crds apply` | applies the CRDs, and migrates stored objects |
/// | `crds migrate NAME` | rewrites the stored objects of a CRD in its storage version |
/// | `manifests` | prints what the operator needs from a cluster, as JSON |
/// | `version` | prints the version |
/// | `local` | runs the operator on the [embedded](Self::embedded) API server; the default if there is one |
///
/// The flags of `run` are those of [`ProcessOptions`] and of `O`; each can be set by an environment variable.
///
/// # Guarantees
///
/// - informers and the event recorder run in every replica, controllers in the leader;
/// - the events of [`ReconcileContext::event`](kubewright_runtime::ReconcileContext::event) and the metrics of
///   controllers need no declaration;
/// - a reconciled kind with a status subresource can be updated and patched there, unless a controller allows other
///   verbs for it;
/// - a command that fails prints its error with all causes and ends with the exit code 1; an invalid command line with
///   2.
#[must_use = "an operator does nothing until its `main` is called"]
pub struct Operator<O = NoOptions> {
    name: &'static str,
    version: &'static str,
    about: &'static str,
    lease: &'static str,
    definitions: Option<Definitions>,
    informers: Option<Informers<O>>,
    webhooks: Option<BuildWebhooks>,
    parts: Vec<Part<O>>,
    routes: Vec<(&'static str, Route<O>)>,
    commands: Vec<(&'static str, &'static str, Print)>,
    embedded: Option<Embedded>,
}

impl Operator {
    /// Creates an operator without custom options. The name is that of its Lease, of its field manager and of the
    /// reporting controller of its events, and the prefix of the names of its objects.
    pub fn new(name: &'static str) -> Self {
        Self::with_options(name)
    }
}

impl<O: clap::Args + Clone + Send + Sync + 'static> Operator<O> {
    /// Creates an operator with custom options, which are flags of `run`.
    pub fn with_options(name: &'static str) -> Self {
        Operator {
            name,
            version: "unknown",
            about: "Runs the controllers of a Kubernetes operator",
            lease: name,
            definitions: None,
            informers: None,
            webhooks: None,
            parts: Vec::new(),
            routes: Vec::new(),
            commands: Vec::new(),
            embedded: None,
        }
    }

    /// Sets the version that `version` prints: `env!("CARGO_PKG_VERSION")`.
    pub fn version(mut self, version: &'static str) -> Self {
        self.version = version;
        self
    }

    /// Sets the description in the help of the program.
    pub fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    /// Sets the name of the Lease, such as that of an operator that this one replaces; by default the name of the
    /// operator.
    pub fn lease(mut self, name: &'static str) -> Self {
        self.lease = name;
        self
    }

    /// Sets the CRDs of the operator: a stream of YAML documents.
    pub fn definitions(self, yaml: &'static str) -> Self {
        self.definitions_from(move || Ok::<_, BoxError>(yaml.to_owned()))
    }

    /// Sets the function that generates the CRDs of the operator, such as `kubewright::codegen::definitions`.
    pub fn definitions_from<E: Into<BoxError>>(
        mut self,
        generate: impl Fn() -> Result<String, E> + Send + Sync + 'static,
    ) -> Self {
        self.definitions = Some(Box::new(move || generate().map_err(Into::into)));
        self
    }

    /// Changes the options of the informers, such as their selectors.
    pub fn informers(
        mut self,
        configure: impl Fn(InformerFactoryBuilder, &O) -> InformerFactoryBuilder + Send + Sync + 'static,
    ) -> Self {
        self.informers = Some(Box::new(configure));
        self
    }

    /// Adds a controller, which runs in the leader.
    pub fn controller(self, build: impl Fn(&Setup<O>) -> Controller + Send + Sync + 'static) -> Self {
        self.configure(move |manager, setup| {
            let controller = build(setup);
            let name = controller.name().to_owned();
            Ok::<_, BoxError>(manager.add(Replicas::Leader, name, controller))
        })
    }

    /// Adds a runnable.
    pub fn runnable<R: Runnable>(
        self,
        replicas: Replicas,
        name: &'static str,
        build: impl Fn(&Setup<O>) -> R + Send + Sync + 'static,
    ) -> Self {
        self.configure(move |manager, setup| Ok::<_, BoxError>(manager.add(replicas, name, build(setup))))
    }

    /// Sets the webhooks, which every replica serves.
    pub fn webhooks(mut self, build: impl Fn(&Client) -> Webhooks + Send + Sync + 'static) -> Self {
        self.webhooks = Some(Box::new(build));
        self
    }

    /// Serves a service, such as an axum `Router`, for this path and all paths below, on the server of the metrics in
    /// every replica. As for the metrics, the API server authenticates and authorizes the requests, by the rules for
    /// `nonResourceURLs`.
    ///
    /// ```
    /// use std::convert::Infallible;
    ///
    /// use bytes::Bytes;
    /// use http::{Request, Response};
    /// use http_body_util::Full;
    /// use kubewright_manager::{Operator, serving::Body};
    ///
    /// let operator = Operator::new("my-operator").route("/api", |_| {
    ///     tower::service_fn(|request: Request<Body>| async move {
    ///         let text = format!("hello {}", request.uri().path());
    ///         Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(text))))
    ///     })
    /// });
    /// ```
    pub fn route<S, B>(mut self, path: &'static str, build: impl Fn(&Setup<O>) -> S + Send + Sync + 'static) -> Self
    where
        S: Service<Request<Body>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        self.routes.push((path, Box::new(move |setup| BoxService::new(build(setup)))));
        self
    }

    /// Changes the manager, for what has no method here. It is called in the order of the other additions.
    pub fn configure<E: Into<BoxError>>(
        mut self,
        configure: impl Fn(ManagerBuilder, &Setup<O>) -> Result<ManagerBuilder, E> + Send + Sync + 'static,
    ) -> Self {
        self.parts.push(Box::new(move |manager, setup| configure(manager, setup).map_err(Into::into)));
        self
    }

    /// Adds a command that prints a text, such as a dashboard.
    pub fn command<E: Into<BoxError>>(
        mut self,
        name: &'static str,
        about: &'static str,
        print: impl Fn() -> Result<String, E> + Send + Sync + 'static,
    ) -> Self {
        self.commands.push((name, about, Box::new(move || print().map_err(Into::into))));
        self
    }

    /// Adds the command `local`, which is the default then: it runs the operator on an API server in this process. The
    /// function gets the CRDs as YAML, and returns a client of the server and a task that serves it, such as
    /// `kubewright::fake::serve::embedded`.
    pub fn embedded<S: Runnable, E: Into<BoxError>>(
        mut self,
        start: impl Fn(&str) -> Result<(Client, S), E> + Send + Sync + 'static,
    ) -> Self {
        self.embedded = Some(Embedded::new(start));
        self
    }

    /// Parses the command line of the process, and runs the command.
    pub fn main(self) -> ExitCode {
        let matches = self.clap_command().get_matches();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let result = runtime.map_err(BoxError::from).and_then(|runtime| runtime.block_on(self.execute(&matches)));
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {}", WithCauses(&*error));
                ExitCode::FAILURE
            }
        }
    }

    /// Adds the informers, the event recorder and the parts of the operator to a manager, such as that of a test or of
    /// another program. Without namespaces, all are watched.
    ///
    /// # Errors
    /// Fails if a part of the operator cannot be added.
    pub fn add_to(
        &self,
        manager: ManagerBuilder,
        options: O,
        namespaces: Vec<String>,
        metrics: Metrics,
    ) -> Result<ManagerBuilder, BoxError> {
        let (setup, events) = self.setup(manager.client(), options, namespaces, metrics)?;
        self.add_parts(manager, &setup, events)
    }

    /// Returns what the parts of the operator share, and the worker of its events.
    fn setup(
        &self,
        client: &Client,
        options: O,
        namespaces: Vec<String>,
        metrics: Metrics,
    ) -> Result<(Setup<O>, EventWorker), BoxError> {
        let config = EventConfig::default().metrics(metrics.clone());
        let (recorder, worker) = EventRecorder::new(client.clone(), self.name, config)?;
        let of_reflectors = metrics.clone();
        let factory = InformerFactory::builder(client.clone())
            .namespaces(namespaces.clone())
            .defaults(move |config| config.reflector(|reflector| reflector.metrics(of_reflectors)));
        let factory = match &self.informers {
            Some(configure) => configure(factory, &options),
            None => factory,
        };
        let (client, factory) = (client.clone(), factory.build());
        Ok((Setup { client, factory, metrics, recorder, options, namespaces }, worker))
    }

    fn add_parts(
        &self,
        manager: ManagerBuilder,
        setup: &Setup<O>,
        events: EventWorker,
    ) -> Result<ManagerBuilder, BoxError> {
        let mut manager =
            manager.add(Replicas::All, "informers", setup.factory.clone()).add(Replicas::All, "events", events);
        for part in &self.parts {
            manager = part(manager, setup)?;
        }
        Ok(manager)
    }
}

impl<O> fmt::Debug for Operator<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operator").field("name", &self.name).finish_non_exhaustive()
    }
}
