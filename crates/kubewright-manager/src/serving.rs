//! HTTP and HTTPS servers with limits, certificates, the metrics endpoint, and authentication by the API server.
//!
//! A [`Server`] serves a [`Router`] on one address. Health checks, metrics and webhooks are [`Handler`]s. A router also
//! serves any [`tower_service::Service`], such as an axum `Router`.
//!
//! ```no_run
//! use kubewright_manager::serving::{MetricsHandler, Router, Server, ServerConfig};
//! use kubewright_runtime::{CancellationToken, metrics::Metrics};
//!
//! # async fn example(stop: CancellationToken) -> Result<(), kubewright_manager::serving::ServerError> {
//! let metrics = Metrics::default();
//! let router = Router::new().get("/metrics", MetricsHandler::from(metrics));
//! let server = Server::bind(ServerConfig::new("metrics", 8080), router)?;
//! server.run(stop).await
//! # }
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`handler`], [`router`] | requests to responses, by path and method |
//! | [`server`] | a router on an address, with the limits of [`kubewright_http`] |
//! | [`certificates`] | certificates that are replaced at run time |
//! | [`metrics`] | the metrics endpoint with the metrics of the process |
//! | [`authentication`] | bearer tokens that the API server authenticates and authorizes |

pub mod authentication;
pub mod certificates;
pub mod handler;
mod health;
pub mod metrics;
pub mod router;
pub mod server;

pub use authentication::{Authenticated, Authenticator};
pub use certificates::{
    CertificateError, Certificates, ClientCa, ClientCertificate, SelfManaged, SelfManagedConfig, SelfManagedError,
    SelfManagedRotation,
};
pub use handler::Handler;
pub use kubewright_http::{Body, BodyError, BoxService, Peer};
pub use metrics::{MetricsHandler, ProcessCollector};
pub use router::{RouteError, Router};
pub use server::{Server, ServerConfig, ServerError, ServerStatus, StatusError};
