//! What the agent and its operator agree on: environment variables, port, paths, metrics and the lines of readiness.

/// The port of the endpoints.
pub const PORT: u16 = 8080;

/// The start of the response of [`path::READYZ`] if the last attempt to make records durable failed. The error follows.
pub const NOT_DURABLE: &str = "records are not durable: ";

/// The start of a further line of [`path::READYZ`] if a segment has records that cannot be read. Its name follows. The
/// agent can be ready.
pub const CORRUPT_SEGMENT: &str = "corrupt segment: ";

/// The start of a further line of [`path::READYZ`] if the clock was set back recently. The name of the segment and the
/// times follow. The agent can be ready.
pub const CLOCK_STEPPED_BACK: &str = "clock stepped back: ";

/// The environment variables of options that depend on the log and on the Pod.
pub mod env {
    /// The name of the log.
    pub const NAME: &str = "LOGGER_NAME";
    /// The replica of the log.
    pub const REPLICA: &str = "POD_NAME";
    /// The directory of the files.
    pub const DIRECTORY: &str = "LOGGER_DIRECTORY";
    /// The interval of heartbeats and fsyncs, such as `60s`.
    pub const INTERVAL: &str = "LOGGER_TIME_INTERVAL";
    /// The address of the endpoints.
    pub const LISTEN: &str = "LOGGER_LISTEN";
    /// When records become durable: `interval` or `record`.
    pub const DURABILITY: &str = "LOGGER_DURABILITY";
    /// The sources whose records are accepted, such as `audit,activity`.
    pub const ACCEPT: &str = "LOGGER_ACCEPT";
    /// The number of records per second.
    pub const RECORDS_PER_SECOND: &str = "LOGGER_RECORDS_PER_SECOND";
    /// The file with the tokens of clients that send audit events.
    pub const AUDIT_TOKEN_FILE: &str = "LOGGER_AUDIT_TOKEN_FILE";
    /// The file with the tokens of clients that send records of applications.
    pub const ACTIVITY_TOKEN_FILE: &str = "LOGGER_ACTIVITY_TOKEN_FILE";
    /// The size from which a file is closed, in bytes.
    pub const SEGMENT_BYTES: &str = "LOGGER_SEGMENT_BYTES";
    /// The age from which a file is closed, such as `1h`.
    pub const SEGMENT_AGE: &str = "LOGGER_SEGMENT_AGE";
    /// The size of all files above which the oldest are removed, in bytes.
    pub const RETENTION_BYTES: &str = "LOGGER_RETENTION_BYTES";
    /// The age above which files are removed, such as `168h`.
    pub const RETENTION_AGE: &str = "LOGGER_RETENTION_AGE";
}

/// The paths of endpoints.
pub mod path {
    /// Whether the agent works at all.
    pub const LIVEZ: &str = "/livez";
    /// Whether records become durable.
    pub const READYZ: &str = "/readyz";
    /// The metrics.
    pub const METRICS: &str = "/metrics";
}

/// The names of metrics in alerts, dashboards and demonstrations.
pub mod metric {
    /// The number of written records, by source.
    pub const RECORDS: &str = "logger_agent_records_total";
    /// The number of written bytes.
    pub const BYTES: &str = "logger_agent_bytes_total";
    /// The number of records that were dropped, by reason.
    pub const DROPPED: &str = "logger_agent_dropped_total";
    /// The duration of fsyncs, as a histogram.
    pub const FSYNC: &str = "logger_agent_fsync_seconds";
    /// The Unix time of the last successful fsync.
    pub const LAST_FSYNC: &str = "logger_agent_last_fsync_timestamp_seconds";
}
