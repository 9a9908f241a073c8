//! The operator of the Logger API as a process: leader election, health checks, metrics, graceful stop.

use std::{io::Write, sync::Arc};

use anyhow::Result;
use clap::{Parser, Subcommand};
use http::Uri;
use kubewright_core::description::WebhookNames;
use kubewright_manager::{
    LeaderElectionConfig, Manager, ManagerBuilder, Replicas, Telemetry, WebhookCertificates,
    crds::{Definitions, migrate},
    serving::{Authenticator, Certificates, MetricsHandler, Router, Server, ServerConfig},
};
use kubewright_runtime::{
    kube::{Client, Config},
    leader_election::unique_identity,
    metrics::PrometheusMetrics,
};
use logger_operator::{
    DEFINITIONS, OperatorOptions, ProcessOptions, add_to,
    names::{CONTROLLER, CRDS_FIELD_MANAGER},
    observability, webhooks,
};

/// Run agents for Loggers, and report their observed state.
#[derive(Parser)]
#[command(name = "logger-operator", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the operator in the cluster of the environment.
    Run {
        #[command(flatten)]
        operator: OperatorOptions,
        #[command(flatten)]
        process: ProcessOptions,
    },
    /// Prints what the operator needs from a cluster, as JSON: its manifests are rendered from it.
    Manifests {
        #[command(flatten)]
        operator: OperatorOptions,
        #[command(flatten)]
        process: ProcessOptions,
    },
    /// Prints the alerts as a PrometheusRule.
    Alerts {
        /// Prints the groups only, which is the format of promtool and of Prometheus without its operator.
        #[arg(long)]
        groups: bool,
    },
    /// Prints the Grafana dashboard.
    Dashboard,
    /// Manages the definitions of the operator in the cluster of the environment.
    #[command(subcommand)]
    Crds(Crds),
}

#[derive(Subcommand)]
enum Crds {
    /// Prints the changes of the definitions, applies them, and migrates stored objects to the storage version.
    Apply {
        /// Applies breaking changes too.
        #[arg(long)]
        allow_breaking: bool,
        /// The prefix of the names of the objects of the conversion.
        #[arg(long, env, value_name = "PREFIX", default_value = CONTROLLER)]
        name_prefix: String,
        /// The namespace and the name of a Certificate of cert-manager, if it issues the certificate of the conversion.
        #[arg(long, value_name = "NAMESPACE/NAME")]
        inject_ca_from: Option<String>,
    },
    /// Rewrites the stored objects of a definition in its storage version.
    Migrate {
        /// The name of the definition, such as `loggers.example.com`.
        name: String,
    },
}

#[tokio::main]
async fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Run { operator, process } => run(&operator, &process).await,
        Command::Manifests { operator, process } => manifests(&operator, &process),
        Command::Alerts { groups: true } => print(&serde_saphyr::to_string(&observability::prometheus_rule().spec)?),
        Command::Alerts { groups: false } => print(&serde_saphyr::to_string(&observability::prometheus_rule())?),
        Command::Dashboard => print(&serde_json::to_string_pretty(&observability::dashboard())?),
        Command::Crds(Crds::Apply { allow_breaking, name_prefix, inject_ca_from }) => {
            apply_crds(allow_breaking, &name_prefix, inject_ca_from.as_deref()).await
        }
        Command::Crds(Crds::Migrate { name }) => migrate_crd(&name).await,
    }
}

fn print(text: &str) -> Result<()> {
    Ok(writeln!(std::io::stdout().lock(), "{}", text.trim_end())?)
}

async fn run(operator: &OperatorOptions, process: &ProcessOptions) -> Result<()> {
    let telemetry = Telemetry::new().log_format(process.log_format).install()?;
    let manager = manager(Config::infer().await?, operator, process, false)?;
    let manager = manager.add(Replicas::All, "telemetry", telemetry).build()?;
    Ok(manager.run_until_signal().await?)
}

fn manifests(operator: &OperatorOptions, process: &ProcessOptions) -> Result<()> {
    let unused = Config::new(Uri::from_static("http://localhost"));
    print(&serde_json::to_string_pretty(&manager(unused, operator, process, true)?.describe()?)?)
}

/// Applies the definitions. The webhook of the operator in the same namespace converts their objects.
async fn apply_crds(allow_breaking: bool, name_prefix: &str, ca_from: Option<&str>) -> Result<()> {
    let client = Client::try_from(Config::infer().await?)?;
    let (conversions, names) = (webhooks().describe().conversion_webhooks, WebhookNames::new(name_prefix));
    let definitions = Definitions::parse(DEFINITIONS)?;
    let definitions = definitions.convert(&conversions, client.default_namespace(), &names, ca_from);
    let plan = definitions.plan(client).await?;
    print(&plan.to_string())?;
    for migration in plan.apply(CRDS_FIELD_MANAGER, allow_breaking).await? {
        print(&migration.to_string())?;
    }
    Ok(())
}

async fn migrate_crd(name: &str) -> Result<()> {
    print(&migrate(Client::try_from(Config::infer().await?)?, name).await?.to_string())
}

/// Returns the manager, to be run or to be described.
fn manager(
    config: Config,
    operator: &OperatorOptions,
    process: &ProcessOptions,
    describes_only: bool,
) -> Result<ManagerBuilder> {
    let metrics = PrometheusMetrics::default();
    let health = ServerConfig::new("health", 0).address(process.health_probe_bind_address);
    let manager = Manager::for_config(config)?
        .metrics(Arc::new(metrics.clone()))
        .serve_health(health.describes_only(describes_only));
    let manager = serve_metrics(manager, process, &metrics, describes_only)?;
    let manager = serve_webhooks(manager, process, &metrics, describes_only)?;
    let manager = match process.leader_elect {
        true => {
            let election = LeaderElectionConfig::new(CONTROLLER, unique_identity());
            manager.leader_election(election.metrics(Arc::new(metrics.clone())))
        }
        false => manager,
    };
    Ok(add_to(manager, operator, Arc::new(metrics))?)
}

/// Serves the metrics over HTTPS, to clients that the API server authenticates and authorizes.
fn serve_metrics(
    manager: ManagerBuilder,
    process: &ProcessOptions,
    metrics: &PrometheusMetrics,
    describes_only: bool,
) -> Result<ManagerBuilder> {
    let handler = Authenticator::new(manager.client().clone()).protect(MetricsHandler::from(metrics.clone()));
    let certificates = match &process.metrics_cert_path {
        Some(directory) => Certificates::from_files(directory.join("tls.crt"), directory.join("tls.key"))?,
        None => Certificates::self_signed(["localhost"])?,
    };
    let config = ServerConfig::new("metrics", 0).address(process.metrics_bind_address).max_body_size(0);
    let config = config.describes_only(describes_only);
    let server = Server::bind(config, Router::new().get("/metrics", handler))?.tls(certificates);
    Ok(manager.add(Replicas::All, "metrics", server))
}

/// Serves the conversion of Loggers, with a mounted certificate or with one that the operator issues.
fn serve_webhooks(
    manager: ManagerBuilder,
    process: &ProcessOptions,
    metrics: &PrometheusMetrics,
    describes_only: bool,
) -> Result<ManagerBuilder> {
    let metrics = Arc::new(metrics.clone());
    let webhooks = webhooks().metrics(metrics.clone());
    let (directory, url) = (process.webhook_cert_path.clone(), process.webhook_url.clone());
    let source = WebhookCertificates::select(directory, url, &process.name_prefix);
    let (manager, certificates) = manager.webhook_certificates(&source, &webhooks.describe(), metrics)?;
    let config = ServerConfig::new("webhook", 0).address(process.webhook_bind_address);
    Ok(manager.serve_webhooks(config.describes_only(describes_only), certificates, &webhooks))
}
