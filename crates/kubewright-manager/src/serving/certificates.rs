//! Certificates of servers: from files that are replaced at run time, self-signed, or from a Secret that the operator
//! manages.

mod client_ca;
mod files;
mod pair;
mod self_managed;
mod self_signed;

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use arc_swap::ArcSwapOption;
use jiff::Timestamp;
use kubewright_runtime::metrics::{Counter, Gauge, Metric, Metrics};
use parking_lot::Mutex;
use rustls::{
    pki_types::CertificateDer,
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use tokio::{task::spawn_blocking, time::sleep};

pub use client_ca::{ClientCa, ClientCertificate};
pub use self_managed::{SelfManaged, SelfManagedConfig, SelfManagedError, SelfManagedRotation};

pub(super) use client_ca::extensions;
use files::Files;
use pair::Pair;
use self_signed::SelfSigned;

const READS: Metric = Metric { name: "certwatcher_read_certificate_total", help: "Total number of certificate reads." };
const READ_ERRORS: Metric =
    Metric { name: "certwatcher_read_certificate_errors_total", help: "Total number of certificate read errors." };
const EXPIRATION: Metric = Metric {
    name: "certwatcher_certificate_expiration_timestamp_seconds",
    help: "Unix time at which the certificate in use expires.",
};

/// The interval of polls after a failure: files that are replaced one after the other match soon.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The certificate and key of servers. A clone is another handle to the same certificate.
///
/// Guarantees:
/// - The files are read every 10 seconds, or every second after a failure, and compared by their content. It does not
///   matter how they are replaced, such as by the symbolic link of a mounted Secret.
/// - A new pair is used for the next handshake. Connections remain.
/// - A pair that cannot be read or parsed, or whose key does not match, is never used: the old pair remains, the error
///   is logged once, and [`last_error`](Self::last_error) returns it until the files are valid.
/// - [`check`](Self::check) fails while the certificate in use is expired or not yet valid. Invalid files do not fail
///   it: all replicas read the same Secret, and would not be ready at the same time.
/// - A self-signed certificate is renewed after two thirds of its lifetime.
///
/// The files are polled while a [`Server`](super::Server) with the certificates runs. [`SelfManaged`] replaces the
/// certificate of a Secret while it runs.
#[derive(Clone)]
pub struct Certificates(Arc<Shared>);

struct Shared {
    source: Source,
    /// `None` until a managed certificate is issued.
    current: ArcSwapOption<Pair>,
    poll_interval: Duration,
    state: Mutex<State>,
}

enum Source {
    Files(Files),
    SelfSigned(SelfSigned),
    /// The namespace and the name of a Secret.
    Secret(String),
}

/// The result of the last poll, and the metrics.
struct State {
    /// The digest of the files in use.
    digest: u64,
    error: Option<CertificateError>,
    reads: Counter,
    errors: Counter,
    expiration: Gauge,
}

/// A certificate that cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file cannot be read.
    #[error("cannot read the {content} `{}`: {source}", .path.display())]
    Read {
        /// What the file contains.
        content: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: Arc<std::io::Error>,
    },
    /// A file contains no certificate or key.
    #[error("cannot parse the {content} `{}`: {reason}", .path.display())]
    Parse {
        /// What the file should contain.
        content: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The key is that of another certificate.
    #[error("the private key `{}` does not match the certificate `{}`", .key.display(), .certificate.display())]
    KeyMismatch {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
    /// The Secret contains no certificate yet.
    #[error("the Secret `{name}` has no certificate; it is issued when the operator can write the Secret")]
    NotIssued {
        /// The namespace and the name of the Secret.
        name: String,
    },
    /// The certificate in use is expired.
    #[error("the certificate `{name}` expired at {not_after}; replace it")]
    Expired {
        /// The file, the Secret, or `self-signed`.
        name: String,
        /// The end of its validity.
        not_after: Timestamp,
    },
    /// The certificate in use is not valid yet.
    #[error("the certificate `{name}` is not valid before {not_before}; check the clock of this host")]
    NotYetValid {
        /// The file, the Secret, or `self-signed`.
        name: String,
        /// The start of its validity.
        not_before: Timestamp,
    },
    /// A self-signed certificate cannot be created.
    #[error("cannot create a self-signed certificate: {reason}")]
    Generate {
        /// The error of the library.
        reason: String,
    },
}

impl Certificates {
    /// Reads a certificate chain and its private key from PEM files, such as `tls.crt` and `tls.key` of a Secret of
    /// type `kubernetes.io/tls`.
    ///
    /// # Errors
    /// Fails if a file cannot be read or parsed, or if the key does not match. An expired certificate is only an error
    /// of [`check`](Self::check), because it can be replaced at run time.
    pub fn from_files(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Result<Self, CertificateError> {
        let files = Files { certificate: certificate.into(), key: key.into() };
        let contents = files.read()?;
        let pair = files.parse(&contents)?;
        Ok(Self::new(Source::Files(files), Some(pair), contents.digest()))
    }

    /// Creates a self-signed certificate for these DNS names and IP addresses, for clients that do not verify it.
    ///
    /// # Errors
    /// Fails if a name is invalid.
    pub fn self_signed(names: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, CertificateError> {
        let source = SelfSigned { names: names.into_iter().map(Into::into).collect() };
        let pair = source.generate()?;
        Ok(Self::new(Source::SelfSigned(source), Some(pair), 0))
    }

    /// Creates a handle without a certificate, until one of this Secret is used.
    fn from_secret(name: String) -> Self {
        Self::new(Source::Secret(name), None, 0)
    }

    fn new(source: Source, pair: Option<Pair>, digest: u64) -> Self {
        let (reads, errors, expiration) = Default::default();
        let state = State { digest, error: None, reads, errors, expiration };
        Certificates(Arc::new(Shared {
            source,
            current: ArcSwapOption::from_pointee(pair),
            poll_interval: Duration::from_secs(10),
            state: Mutex::new(state),
        }))
    }

    /// Sets the interval in which the files are read, at least one millisecond; 10 s by default. Has no effect on a
    /// handle that was cloned before.
    #[must_use]
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.0) {
            shared.poll_interval = interval.max(Duration::from_millis(1));
        }
        self
    }

    /// Sets the receiver of the metrics: controller-runtime's counters of reads and errors, and the time of expiration
    /// with the label `name`, such as the name of the server.
    #[must_use]
    pub fn metrics(self, metrics: &Metrics, name: &str) -> Self {
        let mut state = self.0.state.lock();
        state.reads = metrics.counter(READS, &[]);
        state.errors = metrics.counter(READ_ERRORS, &[]);
        state.expiration = metrics.gauge(EXPIRATION, &[("name", name)]);
        state.reads.inc();
        state.observe_expiration(self.not_after());
        drop(state);
        self
    }

    /// Checks that the certificate in use is valid now: the check of readiness.
    ///
    /// # Errors
    /// Fails if the certificate is expired or not yet valid, or if there is none.
    pub fn check(&self) -> Result<(), CertificateError> {
        let (name, now) = (self.0.source.name(), Timestamp::now());
        let Some(pair) = self.0.current.load_full() else { return Err(CertificateError::NotIssued { name }) };
        let (not_before, not_after) = (pair.not_before, pair.not_after);
        if now > not_after {
            return Err(CertificateError::Expired { name, not_after });
        }
        if now < not_before {
            return Err(CertificateError::NotYetValid { name, not_before });
        }
        Ok(())
    }

    /// Returns the error of the last read or renewal; `None` if it succeeded.
    #[must_use]
    pub fn last_error(&self) -> Option<CertificateError> {
        self.0.state.lock().error.clone()
    }

    /// Returns the end of the validity of the certificate in use; `None` if there is none.
    #[must_use]
    pub fn not_after(&self) -> Option<Timestamp> {
        self.0.current.load().as_ref().map(|pair| pair.not_after)
    }

    /// Returns the certificate chain in use, such as for clients that are to trust a self-signed one.
    #[must_use]
    pub fn chain(&self) -> Vec<CertificateDer<'static>> {
        self.0.current.load().as_ref().map_or_else(Vec::new, |pair| pair.key.cert.clone())
    }

    /// Polls until dropped.
    pub(super) async fn poll(&self) {
        if matches!(self.0.source, Source::Secret(_)) {
            return std::future::pending().await;
        }
        loop {
            let interval = self.0.poll_interval;
            let failed = self.0.state.lock().error.is_some();
            sleep(if failed { interval.min(RETRY_INTERVAL) } else { interval }).await;
            let certificates = self.clone();
            // Reads block, and files can be on a slow file system.
            if let Err(error) = spawn_blocking(move || certificates.refresh()).await {
                tracing::error!(%error, "the poll of a certificate failed");
            }
        }
    }

    /// Replaces the pair in use if there is a new one.
    fn refresh(&self) {
        let result = match &self.0.source {
            Source::Files(files) => self.reload(files),
            Source::SelfSigned(source) => self.renew(source),
            Source::Secret(_) => Ok(()),
        };
        let mut state = self.0.state.lock();
        if let Err(error) = &result {
            // Each error is logged once, not at each poll.
            if state.error.as_ref().map(ToString::to_string) != Some(error.to_string()) {
                tracing::error!(%error, "the certificate was not replaced; the old one remains in use");
            }
            state.errors.inc();
        }
        state.error = result.err();
        state.observe_expiration(self.not_after());
    }

    fn reload(&self, files: &Files) -> Result<(), CertificateError> {
        self.0.state.lock().reads.inc();
        let contents = files.read()?;
        let digest = contents.digest();
        if self.0.state.lock().digest == digest {
            return Ok(());
        }
        let pair = files.parse(&contents)?;
        self.0.state.lock().digest = digest;
        self.replace(pair);
        Ok(())
    }

    fn renew(&self, source: &SelfSigned) -> Result<(), CertificateError> {
        match &*self.0.current.load() {
            Some(pair) if !source.is_due(pair, Timestamp::now()) => {}
            _ => self.replace(source.generate()?),
        }
        Ok(())
    }

    fn replace(&self, pair: Pair) {
        tracing::info!(certificate = self.0.source.name(), not_after = %pair.not_after, "the certificate was replaced");
        self.0.current.store(Some(Arc::new(pair)));
    }

    /// Uses the pair of a Secret from the next handshake on.
    fn replace_from_secret(&self, pair: Pair) {
        self.replace(pair);
        let state = self.0.state.lock();
        state.reads.inc();
        state.observe_expiration(self.not_after());
    }
}

impl State {
    /// Without a certificate, the value is not a number, so that it is not compared with a time.
    fn observe_expiration(&self, not_after: Option<Timestamp>) {
        self.expiration.set(not_after.map_or(f64::NAN, |not_after| not_after.as_second() as f64));
    }
}

impl Source {
    fn name(&self) -> String {
        match self {
            Source::Files(files) => files.certificate.display().to_string(),
            Source::SelfSigned(_) => "self-signed".to_owned(),
            Source::Secret(name) => name.clone(),
        }
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.current.load().as_ref().map(|pair| Arc::clone(&pair.key))
    }
}

/// Without the key.
impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates")
            .field("name", &self.0.source.name())
            .field("not_after", &self.not_after())
            .finish_non_exhaustive()
    }
}
