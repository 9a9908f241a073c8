//! The command line. Each option of `run` is an environment variable as well, for the Pod of an agent.

use std::{
    net::{Ipv4Addr, SocketAddr},
    num::{NonZeroU32, NonZeroUsize},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::SignedDuration;

use crate::{
    agent::{AgentConfig, AgentError},
    interface::{PORT, env},
    journal::{Durability, JournalConfig},
    segment::Series,
    server::ServerConfig,
    sources::{Source, TokenError, Tokens},
};

/// Record user activity to files that survive crashes.
#[derive(Debug, Parser)]
#[command(name = "logger-agent", version)]
pub struct Cli {
    /// The format of the log on the standard error stream.
    #[arg(long, env = "LOGGER_LOG_FORMAT", value_enum, default_value_t, global = true)]
    pub log_format: LogFormat,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Record audit events, records of applications and heartbeats until SIGTERM or SIGINT.
    Run(Box<RunOptions>),
    /// Check the files of a directory: print gaps, duplicates, corrupt records and torn tails. Exit with 1 if there are
    /// any.
    Verify {
        /// The directory.
        directory: PathBuf,
    },
}

/// The options of `run`.
#[derive(Args, Debug)]
pub struct RunOptions {
    /// The name of the log, which is the prefix of its files.
    #[arg(long, env = env::NAME)]
    name: String,
    /// The replica of the log, such as the name of the Pod.
    #[arg(long, env = env::REPLICA, default_value = "0")]
    replica: String,
    /// The directory of the files.
    #[arg(long, env = env::DIRECTORY)]
    directory: PathBuf,
    /// The interval of heartbeats and fsyncs: seconds, or a duration such as `1m30s`.
    #[arg(long, env = env::INTERVAL, default_value = "60s", value_parser = parse_duration)]
    interval: Duration,
    /// When records become durable.
    #[arg(long, env = env::DURABILITY, value_enum, default_value_t)]
    durability: Durability,
    /// How long a client waits at most until its records are made durable, limited to half of the interval.
    #[arg(long, env = "LOGGER_ACKNOWLEDGEMENT_DELAY", default_value = "1s", value_parser = parse_duration)]
    acknowledgement_delay: Duration,
    /// The address of the endpoints.
    #[arg(long, env = env::LISTEN, default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)))]
    listen: SocketAddr,
    /// A source whose records are accepted; can be repeated. All by default. Heartbeats are always recorded.
    #[arg(long, env = env::ACCEPT, value_enum, value_name = "SOURCE", value_delimiter = ',')]
    #[arg(default_values_t = Source::ALL)]
    accept: Vec<Source>,
    /// A file with the tokens of API servers, one on each line. Audit events without a token are rejected with code
    /// 401.
    #[arg(long, env = env::AUDIT_TOKEN_FILE, value_name = "FILE")]
    audit_token_file: Option<PathBuf>,
    /// A file with the tokens of applications, one on each line. Records without a token are rejected with code 401.
    #[arg(long, env = env::ACTIVITY_TOKEN_FILE, value_name = "FILE")]
    activity_token_file: Option<PathBuf>,
    /// The size from which a file is closed: bytes, or a quantity such as `16Mi`.
    #[arg(long, env = env::SEGMENT_BYTES, default_value = "16Mi", value_parser = parse_bytes)]
    segment_bytes: u64,
    /// The age from which a file is closed.
    #[arg(long, env = env::SEGMENT_AGE, default_value = "1h", value_parser = parse_duration)]
    segment_age: Duration,
    /// The size of all files above which the oldest are removed.
    #[arg(long, env = env::RETENTION_BYTES, default_value = "1Gi", value_parser = parse_bytes)]
    retention_bytes: u64,
    /// The age above which files are removed.
    #[arg(long, env = env::RETENTION_AGE, default_value = "168h", value_parser = parse_duration)]
    retention_age: Duration,
    /// The size of the records that wait for their fsync. Further ones are rejected with code 503.
    #[arg(long, env = "LOGGER_MAX_UNACKNOWLEDGED_BYTES", default_value = "32Mi", value_parser = parse_bytes)]
    max_unacknowledged_bytes: u64,
    /// The number of requests that wait to be written. Further ones are rejected with code 503.
    #[arg(long, env = "LOGGER_MAX_UNACKNOWLEDGED_REQUESTS", default_value = "1024")]
    max_unacknowledged_requests: NonZeroUsize,
    /// The number of ids that are compared, so that a record is written once.
    #[arg(long, env = "LOGGER_REMEMBERED_IDS", default_value = "65536")]
    remembered_ids: NonZeroUsize,
    /// The size of the body of a request. A larger one is rejected with code 413.
    #[arg(long, env = "LOGGER_MAX_BODY_BYTES", default_value = "10Mi", value_parser = parse_bytes)]
    max_body_bytes: u64,
    /// The number of records per second of each source. Further ones are rejected with code 429.
    #[arg(long, env = env::RECORDS_PER_SECOND, default_value = "10000")]
    records_per_second: NonZeroU32,
    /// The size of records per second of each source. Further ones are rejected with code 429.
    #[arg(long, env = "LOGGER_BYTES_PER_SECOND", default_value = "16Mi", value_parser = parse_rate)]
    bytes_per_second: NonZeroU32,
    /// The number of connections, of which each address has at most half. Further ones are closed, except for health
    /// checks and metrics.
    #[arg(long, env = "LOGGER_MAX_CONNECTIONS", default_value = "256")]
    max_connections: NonZeroUsize,
}

impl RunOptions {
    /// Returns the options of an agent.
    ///
    /// # Errors
    /// Fails if the name of the log or of the replica cannot be part of a file name, or if tokens cannot be read.
    pub fn config(&self) -> Result<AgentConfig, AgentError> {
        let journal = JournalConfig {
            interval: self.interval,
            durability: self.durability,
            acknowledgement_delay: self.acknowledgement_delay,
            segment_bytes: self.segment_bytes,
            segment_age: self.segment_age,
            retention_bytes: self.retention_bytes,
            retention_age: self.retention_age,
            leaves_space: false,
            max_unacknowledged_bytes: usize::try_from(self.max_unacknowledged_bytes).unwrap_or(usize::MAX),
            max_unacknowledged_requests: self.max_unacknowledged_requests.get(),
            remembered_ids: self.remembered_ids,
        };
        let server = ServerConfig {
            max_body_bytes: usize::try_from(self.max_body_bytes).unwrap_or(usize::MAX),
            accept: self.accept.clone(),
            activity_tokens: tokens(self.activity_token_file.as_deref())?,
            audit_tokens: tokens(self.audit_token_file.as_deref())?,
            records_per_second: self.records_per_second,
            bytes_per_second: self.bytes_per_second,
            max_connections: self.max_connections.get(),
            ..ServerConfig::new(self.listen)
        };
        Ok(AgentConfig { series: Series::new(&self.directory, &self.name, &self.replica)?, journal, server })
    }
}

/// The format of the log of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object for each line.
    Json,
}

/// Parses seconds, as in the field `timeInterval` of a Logger, or a duration such as `1m30s`.
fn parse_duration(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    let parsed = text.parse::<SignedDuration>().map_err(|error| error.to_string());
    let duration = parsed.and_then(|duration| Duration::try_from(duration).map_err(|error| error.to_string()));
    duration.map_err(|reason| format!("expected seconds or a duration such as `1m30s`: {reason}"))
}

/// Parses a size in bytes, with the binary suffixes of Kubernetes quantities.
fn parse_bytes(text: &str) -> Result<u64, String> {
    let (digits, factor) = [("Ki", 1 << 10), ("Mi", 1 << 20), ("Gi", 1 << 30), ("Ti", 1 << 40)]
        .into_iter()
        .find_map(|(suffix, factor)| Some((text.strip_suffix(suffix)?, factor)))
        .unwrap_or((text, 1_u64));
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    bytes.ok_or_else(|| "expected bytes, or a quantity such as `16Mi`".to_owned())
}

/// Reads the tokens of a source, if they are configured.
fn tokens(path: Option<&Path>) -> Result<Tokens, TokenError> {
    path.map_or_else(|| Ok(Tokens::default()), Tokens::read)
}

/// Parses a number of bytes per second.
fn parse_rate(text: &str) -> Result<NonZeroU32, String> {
    let bytes = parse_bytes(text)?;
    u32::try_from(bytes).ok().and_then(NonZeroU32::new).ok_or_else(|| "expected 1 byte to less than `4Gi`".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_definition_is_valid() {
        Cli::command().debug_assert();
    }

    #[test]
    fn durations_are_seconds_or_have_units() {
        for (text, seconds) in [("60", 60), ("60s", 60), ("1m30s", 90), ("1h", 3600), ("1m0s", 60), ("0", 0)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        for text in ["", "-1s", "1 fortnight"] {
            let error = parse_duration(text).unwrap_err();
            assert!(error.starts_with("expected seconds or a duration such as `1m30s`: "), "{error}");
        }
    }

    #[test]
    fn sizes_have_binary_suffixes() {
        for (text, bytes) in [("1024", 1024), ("16Mi", 16 << 20), ("1Gi", 1 << 30)] {
            assert_eq!(parse_bytes(text), Ok(bytes));
        }
        for text in ["", "Mi", "1.5Gi", "-1", "16777216Ti"] {
            assert_eq!(parse_bytes(text).unwrap_err(), "expected bytes, or a quantity such as `16Mi`", "{text}");
        }
    }

    #[test]
    fn sources_are_a_list() {
        let accepted = |sources: &str| {
            let arguments = ["logger-agent", "run", "--name", "access", "--directory", "/data", "--accept", sources];
            let cli = Cli::try_parse_from(arguments).map_err(|error| error.to_string())?;
            let Command::Run(options) = cli.command else { panic!("another command") };
            Ok::<_, String>(options.config().unwrap().server.accept)
        };
        assert_eq!(accepted("audit,activity"), Ok(Source::ALL.to_vec()));
        assert_eq!(accepted("activity"), Ok(vec![Source::Activity]));
        assert!(accepted("heartbeat").unwrap_err().contains("[possible values: audit, activity]"));
    }

    #[test]
    fn the_defaults_are_those_of_the_library() {
        let cli = Cli::try_parse_from(["logger-agent", "run", "--name", "access", "--directory", "/data"]).unwrap();
        let Command::Run(options) = cli.command else { panic!("another command") };
        let config = options.config().unwrap();
        let expected = JournalConfig::new(Duration::from_secs(60));
        assert_eq!(format!("{:?}", config.journal), format!("{expected:?}"));
        let expected = ServerConfig::new((Ipv4Addr::LOCALHOST, PORT).into());
        assert_eq!(format!("{:?}", config.server), format!("{expected:?}"));
    }
}
