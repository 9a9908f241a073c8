//! The operator as a process of a cluster: servers, webhooks, leader election, and its description.

use clap::Args;
use http::Uri;
use kube::{Client, Config};
use kubewright_core::description::{OperatorDescription, Permission, Verb};
use kubewright_runtime::{
    LeaderElectionConfig, leader_election::unique_identity, metrics::Metrics, retry::client_from_config,
};

use super::{Operator, ProcessOptions, Setup};
use crate::{
    crds::Definitions,
    manager::{BoxError, Manager, ManagerBuilder, Replicas, WebhookCertificates},
    serving::{Authenticator, Certificates, ClientCa, MetricsHandler, Router, Server, ServerConfig},
};

/// Returns a configuration for clients that send no request.
pub(super) fn unused_config() -> Config {
    Config::new(Uri::from_static("http://localhost"))
}

/// Returns a client of the cluster of the environment.
pub(super) async fn client() -> Result<Client, BoxError> {
    Ok(client_from_config(Config::infer().await?)?)
}

impl<O: Args + Clone + Send + Sync + 'static> Operator<O> {
    /// Describes what the operator needs from a cluster.
    pub(super) fn describe(&self, options: O, process: &ProcessOptions) -> Result<OperatorDescription, BoxError> {
        let mut description = self.process_manager(unused_config(), options, process, true)?.describe()?;
        let writes = self.status_permissions(&description)?;
        description.permissions.extend(writes);
        Ok(description)
    }

    /// Returns the permissions to write the status of reconciled kinds, if their CRD has the subresource and no
    /// controller declares them.
    fn status_permissions(&self, description: &OperatorDescription) -> Result<Vec<Permission>, BoxError> {
        let definitions = Definitions::parse(&self.definitions_yaml()?)?;
        let reconciled = description.controllers.iter().map(|controller| &controller.reconciles);
        let with_status = reconciled.filter(|kind| definitions.has_status(&kind.group, &kind.plural, &kind.version));
        let permissions = with_status.map(|kind| kind.subresource_permission("status", [Verb::Patch, Verb::Update]));
        let is_new = |permission: &Permission| {
            let (groups, resources) = (&permission.rule.api_groups, &permission.rule.resources);
            let mut declared = description.permissions.iter().map(|declared| &declared.rule);
            declared.all(|rule| (&rule.api_groups, &rule.resources) != (groups, resources))
        };
        Ok(permissions.filter(is_new).collect())
    }

    /// Returns the manager of the process, to be run or to be described.
    pub(super) fn process_manager(
        &self,
        config: Config,
        options: O,
        process: &ProcessOptions,
        describes_only: bool,
    ) -> Result<ManagerBuilder, BoxError> {
        let metrics = Metrics::default();
        let health = ServerConfig::new("health", 0).address(process.health_probe_bind_address);
        let manager = Manager::for_config(config)?
            .metrics(metrics.clone())
            .start_timeout(process.cache_sync_timeout)
            .shutdown_delay(process.shutdown_delay)
            .serve_health(health.describes_only(describes_only));
        let namespaces = process.watched_namespaces();
        let (setup, events) = self.setup(manager.client(), options, namespaces, metrics.clone())?;
        let manager = self.serve_metrics(manager, process, &metrics, &setup, describes_only)?;
        let manager = self.serve_webhooks(manager, process, &metrics, describes_only)?;
        let manager = self.elect_leader(manager, process, &metrics);
        self.add_parts(manager, &setup, events)
    }

    /// Serves the metrics and the routes over HTTPS, to clients that the API server authenticates and authorizes.
    fn serve_metrics(
        &self,
        manager: ManagerBuilder,
        process: &ProcessOptions,
        metrics: &Metrics,
        setup: &Setup<O>,
        describes_only: bool,
    ) -> Result<ManagerBuilder, BoxError> {
        let certificates = match &process.metrics_cert_path {
            Some(directory) => Certificates::from_files(directory.join("tls.crt"), directory.join("tls.key"))?,
            None => Certificates::self_signed(["localhost"])?,
        };
        let config = ServerConfig::new("metrics", 0).address(process.metrics_bind_address);
        let config = if self.routes.is_empty() { config.max_body_size(0) } else { config };
        let router = self.metrics_router(metrics, setup);
        let server = Server::bind(config.describes_only(describes_only), router)?.tls(certificates);
        Ok(manager.add(Replicas::All, "metrics", server))
    }

    fn metrics_router(&self, metrics: &Metrics, setup: &Setup<O>) -> Router {
        let authenticator = Authenticator::new(setup.client().clone());
        let metrics = authenticator.protect(MetricsHandler::from(metrics.clone()));
        let router = Router::new().get("/metrics", metrics);
        let routes = self.routes.iter().map(|(path, build)| (*path, authenticator.protect(build(setup))));
        routes.fold(router, |router, (path, service)| router.mount(path, service))
    }

    fn elect_leader(&self, manager: ManagerBuilder, process: &ProcessOptions, metrics: &Metrics) -> ManagerBuilder {
        if !process.leader_elect {
            return manager;
        }
        let election = LeaderElectionConfig::new(self.lease, unique_identity())
            .lease_duration(process.leader_elect_lease_duration)
            .renew_deadline(process.leader_elect_renew_deadline)
            .retry_period(process.leader_elect_retry_period)
            .metrics(metrics.clone());
        manager.leader_election(election)
    }

    /// Serves the webhooks, if there are any, with a mounted certificate or with one that the operator issues.
    fn serve_webhooks(
        &self,
        manager: ManagerBuilder,
        process: &ProcessOptions,
        metrics: &Metrics,
        describes_only: bool,
    ) -> Result<ManagerBuilder, BoxError> {
        let Some(webhooks) = &self.webhooks else { return Ok(manager) };
        let metrics = metrics.clone();
        let webhooks = webhooks(manager.client()).metrics(metrics.clone());
        let description = webhooks.describe();
        if description.admission_webhooks.is_empty() && description.conversion_webhooks.is_empty() {
            return Ok(manager);
        }
        let (directory, url) = (process.webhook_cert_path.clone(), process.webhook_url.clone());
        let prefix = process.name_prefix.as_deref().unwrap_or(self.name);
        let source = WebhookCertificates::select(directory, url, prefix);
        let (manager, certificates) = manager.webhook_certificates(&source, &description, metrics)?;
        let mut config = ServerConfig::new("webhook", 0).address(process.webhook_bind_address);
        if let Some(path) = process.webhook_client_ca.as_ref().filter(|_| !describes_only) {
            config = config.client_ca(ClientCa::from_file(path)?);
        }
        Ok(manager.serve_webhooks(config.describes_only(describes_only), certificates, &webhooks))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use clap::{Command, FromArgMatches};
    use http::{Request, Response};
    use http_body_util::Full;
    use k8s_openapi::{
        api::core::v1::ConfigMap, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    };
    use kubewright_runtime::controller::Allow;

    use super::*;
    use crate::{
        operator::NoOptions,
        serving::BoxService,
        webhooks::{AdmissionRequest, Denied, Webhooks},
    };

    fn process(args: &[&str]) -> ProcessOptions {
        let command = ProcessOptions::augment_args(Command::new("test").no_binary_name(true));
        ProcessOptions::from_arg_matches(&command.try_get_matches_from(args).unwrap()).unwrap()
    }

    async fn nothing(
        _: std::sync::Arc<CustomResourceDefinition>,
        _: kubewright_runtime::ReconcileContext,
    ) -> Result<(), std::convert::Infallible> {
        Ok(())
    }

    const DEFINITION: &str = r#"
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "customresourcedefinitions.apiextensions.k8s.io"},
        "spec": {"versions": [{"name": "v1", "subresources": {"status": {}}}]}}"#;

    fn operator() -> Operator {
        let operator = Operator::new("test-operator").definitions(DEFINITION);
        operator
            .controller(|setup| setup.controller::<CustomResourceDefinition>("definitions").reconcile(nothing).build())
    }

    fn status_verbs(description: &OperatorDescription) -> Vec<Vec<String>> {
        let status = "customresourcedefinitions/status";
        let rules = description.permissions.iter().map(|permission| &permission.rule);
        let of_status = rules.filter(|rule| rule.resources.iter().flatten().any(|name| name == status));
        of_status.map(|rule| rule.verbs.clone()).collect()
    }

    #[tokio::test]
    async fn the_status_of_reconciled_kinds_needs_no_declaration() {
        let description = operator().describe(NoOptions {}, &process(&[])).unwrap();
        assert_eq!(status_verbs(&description), [["patch", "update"]]);
        assert!(description.lease.is_none());
    }

    #[tokio::test]
    async fn declared_verbs_for_the_status_replace_the_default() {
        let patch = |setup: &Setup| {
            let controller = setup.controller::<CustomResourceDefinition>("definitions");
            let allowed = Allow::<CustomResourceDefinition>::verbs([Verb::Patch]).status();
            controller.allow(allowed).reconcile(nothing).build()
        };
        let operator = Operator::new("test-operator").definitions(DEFINITION).controller(patch);
        let description = operator.describe(NoOptions {}, &process(&[])).unwrap();
        assert_eq!(status_verbs(&description), [["patch"]]);
    }

    #[tokio::test]
    async fn an_operator_is_described_with_its_servers_and_lease() {
        let description = Operator::new("test-operator").describe(NoOptions {}, &process(&["--leader-elect"])).unwrap();
        assert_eq!(description.lease.as_deref(), Some("test-operator"));
        let replacement = Operator::new("test-operator").lease("4a1b.example.com");
        let replacement = replacement.describe(NoOptions {}, &process(&["--leader-elect"])).unwrap();
        assert_eq!(replacement.lease.as_deref(), Some("4a1b.example.com"));
        let names: Vec<_> = description.servers.iter().map(|server| (server.name.as_str(), server.port)).collect();
        assert_eq!(names, [("health", 8081), ("metrics", 8443)]);
    }

    #[tokio::test]
    async fn a_route_is_served_to_authorized_clients_with_the_metrics() {
        let service = |_: &Setup| BoxService::from_fn(|_| async { Response::new(Full::new(Bytes::from("hello"))) });
        let operator = Operator::new("test-operator").route("/api", service);
        let description = operator.describe(NoOptions {}, &process(&[])).unwrap();
        let metrics = description.servers.iter().find(|server| server.name == "metrics").unwrap();
        assert_eq!(metrics.paths, ["/metrics", "/api"]);
        let metrics = Metrics::default();
        let client = Client::try_from(unused_config()).unwrap();
        let (setup, _) = operator.setup(&client, NoOptions {}, Vec::new(), metrics.clone()).unwrap();
        let request = Request::get("/api/greetings").body(Bytes::new()).unwrap();
        let response = operator.metrics_router(&metrics, &setup).respond(request).await;
        assert_eq!((response.status().as_u16(), &response.body()[..]), (401, &b"Unauthorized\n"[..]));
    }

    #[tokio::test]
    async fn the_authorities_of_clients_are_read_when_the_process_starts() {
        let addresses = ["health-probe", "metrics", "webhook"].map(|name| format!("--{name}-bind-address=127.0.0.1:0"));
        let mut args: Vec<_> = addresses.iter().map(String::as_str).collect();
        args.extend(["--webhook-client-ca", "/missing/ca.crt"]);
        let webhooks = |_: &Client| {
            Webhooks::new().defaulter::<ConfigMap>(|_: &mut ConfigMap, _: &AdmissionRequest| Ok::<_, Denied>(()))
        };
        let operator = Operator::new("test-operator").webhooks(webhooks);
        operator.describe(NoOptions {}, &process(&args)).unwrap();
        let Err(error) = operator.process_manager(unused_config(), NoOptions {}, &process(&args), false) else {
            panic!("there is no such file");
        };
        assert!(error.to_string().starts_with("cannot read the certificate `/missing/ca.crt`: "), "{error}");
    }

    #[test]
    fn the_command_line_has_the_documented_commands() {
        let command = operator().command("dashboard", "Prints it", || Ok::<_, BoxError>(String::new())).clap_command();
        command.clone().debug_assert();
        let names: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        assert_eq!(names, ["run", "manifests", "crds", "version", "dashboard"]);
        let times = ["--leader-elect-lease-duration", "15", "run"];
        assert!(command.try_get_matches_from(times).is_err());
    }
}
