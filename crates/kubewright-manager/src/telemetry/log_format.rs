//! The format of the log, as the value of a flag.

use std::{fmt, str::FromStr};

/// The format of the lines of the log. It can be parsed from the value of a flag, such as `--log-format json`.
///
/// ```
/// use kubewright_manager::telemetry::LogFormat;
///
/// assert_eq!("json".parse(), Ok(LogFormat::Json));
/// assert_eq!(LogFormat::default().to_string(), "text");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Text for people, with colors on a terminal.
    #[default]
    Text,
    /// One JSON object for each line.
    Json,
}

/// A value that is not a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown log format `{0}`: expected `text` or `json`")]
pub struct ParseLogFormatError(String);

impl FromStr for LogFormat {
    type Err = ParseLogFormatError;

    fn from_str(text: &str) -> Result<Self, ParseLogFormatError> {
        match text {
            "text" => Ok(LogFormat::Text),
            "json" => Ok(LogFormat::Json),
            _ => Err(ParseLogFormatError(text.to_owned())),
        }
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            LogFormat::Text => "text",
            LogFormat::Json => "json",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_parsed_from_their_names() {
        for format in [LogFormat::Text, LogFormat::Json] {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        let error = "JSON".parse::<LogFormat>().unwrap_err().to_string();
        assert_eq!(error, "unknown log format `JSON`: expected `text` or `json`");
    }
}
