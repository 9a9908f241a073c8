//! The agent: the journal, its sources and its server as one process.

use std::{net::SocketAddr, sync::Arc};

use tokio_util::sync::CancellationToken;

use crate::{
    file_system::FileSystem,
    health::Health,
    journal::{JournalConfig, JournalError, JournalThreads, Journals},
    metrics::Metrics,
    segment::{NameError, Series},
    server::{Endpoints, Server, ServerConfig, ServerError},
    sources::{Heartbeat, Source, TokenError},
};

/// The options of an agent.
#[derive(Clone, Debug)]
pub struct AgentConfig {
    /// The log and the replica that this agent writes.
    pub series: Series,
    /// The options of the segments.
    pub journal: JournalConfig,
    /// The options of the endpoints.
    pub server: ServerConfig,
}

/// An agent that cannot start, or ended with an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The name of the log or of the replica is invalid.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The tokens of a source cannot be read.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The journal cannot be opened, or its last records are not durable.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The server cannot start.
    #[error(transparent)]
    Server(#[from] ServerError),
}

/// An agent that has recovered its log and listens.
///
/// Guarantees:
/// - a heartbeat is recorded at the start and at each interval, so that the end of the agent is distinguishable from
///   silence;
/// - after a cancellation, requests in progress are completed, all records are made durable, and no task or thread of
///   the agent remains.
#[derive(Debug)]
#[must_use = "an agent works only while it runs"]
pub struct Agent {
    journals: Journals,
    threads: JournalThreads,
    server: Server,
    endpoints: Endpoints,
    heartbeat: Heartbeat,
}

impl Agent {
    /// Listens, recovers the log, and starts the thread of its journal. This blocks the calling thread.
    ///
    /// # Errors
    /// Fails if the address or the directory cannot be used, or if the options are invalid.
    pub fn start(config: AgentConfig, files: Arc<dyn FileSystem>) -> Result<Self, AgentError> {
        let AgentConfig { series, journal, server } = config;
        let (interval, metrics) = (journal.interval, Arc::new(Metrics::new()));
        let server_config = server.clone();
        let server = Server::bind(server)?;
        let accepts_all = Source::ALL.iter().all(|source| server_config.accept.contains(source));
        let (journals, threads) = match accepts_all {
            true => Journals::open_split(files, series, &journal, Arc::clone(&metrics))?,
            false => Journals::open(files, series, journal, Arc::clone(&metrics))?,
        };
        let health = Health::new(journals.clone(), interval);
        let endpoints = Endpoints::new(journals.clone(), health, Arc::clone(&metrics), server_config);
        let heartbeat = Heartbeat::new(journals.clone(), metrics, interval);
        Ok(Agent { journals, threads, server, endpoints, heartbeat })
    }

    /// Returns the address on which the agent listens.
    #[must_use]
    pub fn local_address(&self) -> SocketAddr {
        self.server.local_address()
    }

    /// Runs until cancelled, completes the requests in progress, and makes all records durable.
    ///
    /// # Errors
    /// Fails if the server or the journal failed, or if the last records are not durable.
    pub async fn run(self, cancelled: CancellationToken) -> Result<(), AgentError> {
        let Agent { journals, threads, server, endpoints, heartbeat } = self;
        let stopping = cancelled.child_token();
        let serve = async {
            let result = server.run(endpoints, stopping.clone()).await;
            stopping.cancel();
            result
        };
        let watch = async {
            tokio::select! {
                () = stopping.cancelled() => {}
                () = journals.stopped() => {
                    tracing::error!("the thread of a journal ended");
                    stopping.cancel();
                }
            }
        };
        let (served, (), ()) = tokio::join!(serve, heartbeat.run(stopping.clone()), watch);
        let stopped = threads.stop().await;
        served?;
        Ok(stopped?)
    }
}
