//! An HTTP/1.1 server for untrusted peers, which serves any [`tower_service::Service`], such as an axum `Router`.
//!
//! ```
//! use std::convert::Infallible;
//!
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_body_util::Full;
//! use kubewright_http::{Body, Limits, Peer, Server, listen};
//!
//! # async fn example(stop: tokio_util::sync::CancellationToken) -> Result<(), Box<dyn std::error::Error>> {
//! let listener = tokio::net::TcpListener::from_std(listen("[::]:8080".parse()?)?)?;
//! let service = tower::service_fn(|request: Request<Body>| async move {
//!     let peer = request.extensions().get::<Peer>().map(|peer| peer.address);
//!     Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(format!("hello {peer:?}\n")))))
//! });
//! let limits = Limits { max_body_bytes: 1 << 20, ..Limits::default() };
//! Server::new("hello", listener).limits(limits).serve(service, stop.cancelled_owned()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Guarantees, each with a test of that name:
//!
//! - Connections: with the maximum number of connections, a further one replaces the one that has been idle for the
//!   longest time, of the peer with the most. If none is idle, it replaces the oldest stream of the client with the
//!   most streams. A connection with a request in progress is never replaced: further ones wait. With a reserve,
//!   further connections serve one request each, such as a probe.
//! - Time: the TLS handshake, the headers of a request, its body, its response until it is written, and the idle time
//!   between requests are limited. A client that sends or reads slowly does not extend a limit. A stream may take any
//!   time while its client reads it.
//! - Memory: the headers, a body and all bodies together are limited. A body is not received until the service reads
//!   it, and is rejected by its declared length before it is sent. One peer cannot use the memory of others.
//! - A response is not lost if the request was not received completely: the connection is closed after the client had
//!   time to read it.
//! - A panic of the service is answered with code 500. The connection and the server continue.
//! - A new certificate is used from the next handshake on. Connections remain.
//! - After the stop, no connection is accepted, idle connections are closed, and requests in progress are completed
//!   within the drain timeout. All connections end with [`Server::serve`]: no task is detached.
//! - An upgraded connection belongs to the service: it has no timeouts, is never replaced, and counts as a connection
//!   until it is dropped. The service ends it, and its streams, when the server stops.
//!
//! The server supports HTTP/1.1 only: HTTP/2 has no use for webhooks, metrics and probes, and its multiplexing enables
//! attacks such as Rapid Reset.
//!
//! The extensions of a request have its [`Peer`]. [`Tls::identify`] adds what a service needs of client certificates.
//! [`Status`] is the readiness of a server, and [`Observer`] receives events for metrics.

mod admission;
mod body;
mod budget;
mod connection;
mod exchange;
mod limits;
mod listener;
mod observer;
mod peer;
mod server;
mod service;
mod status;
mod timed_stream;
#[cfg(feature = "tls")]
mod tls;
mod tracked_body;

pub use body::{Body, BodyError};
pub use budget::{Budget, Share};
pub use limits::Limits;
pub use listener::listen;
pub use observer::Observer;
pub use peer::{Client, Peer};
pub use server::{DrainError, Server};
pub use service::{BoxService, ResponseBody};
pub use status::{Status, StatusError};
#[cfg(feature = "tls")]
pub use tls::Tls;
