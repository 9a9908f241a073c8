//! The text of responses, in the format of kube-apiserver.

use std::{collections::BTreeSet, fmt::Write};

use http::StatusCode;

use super::endpoint::Endpoint;

/// Takes the place of a reason that is not disclosed.
const WITHHELD: &str = "reason withheld";

/// The options in the query of a request. The keys of unknown options are ignored, as kube-apiserver does.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    is_verbose: bool,
    excluded: BTreeSet<String>,
}

impl Options {
    pub(super) fn parse(query: &str) -> Self {
        let mut options = Options::default();
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            match key.as_ref() {
                "verbose" => options.is_verbose = true,
                "exclude" => {
                    options.excluded.insert(value.into_owned());
                }
                _ => {}
            }
        }
        options
    }

    /// Returns whether a check is excluded. What remains has no check.
    pub(super) fn exclude(&mut self, check: &str) -> bool {
        self.excluded.remove(check)
    }
}

/// The outcome of one check.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Ok,
    Excluded,
    Failed(String),
}

impl From<Result<(), String>> for Outcome {
    fn from(result: Result<(), String>) -> Self {
        result.map_or_else(Outcome::Failed, |()| Outcome::Ok)
    }
}

/// The lines of a response, one for each check.
pub(super) struct Report {
    endpoint: Endpoint,
    withholds_reasons: bool,
    lines: String,
    has_failed: bool,
}

impl Report {
    pub(super) fn new(endpoint: Endpoint, withholds_reasons: bool) -> Self {
        Report { endpoint, withholds_reasons, lines: String::new(), has_failed: false }
    }

    pub(super) fn add(&mut self, check: &str, outcome: &Outcome) {
        // Writing to a string cannot fail.
        let _ = match outcome {
            Outcome::Ok => writeln!(self.lines, "[+]{check} ok"),
            Outcome::Excluded => writeln!(self.lines, "[+]{check} excluded: ok"),
            Outcome::Failed(reason) => {
                self.has_failed = true;
                let reason = if self.withholds_reasons { WITHHELD } else { reason.as_str() };
                writeln!(self.lines, "[-]{check} failed: {reason}")
            }
        };
    }

    /// Returns the status and the text. A failure is verbose in any case.
    pub(super) fn finish(mut self, options: &Options) -> (StatusCode, String) {
        if !options.excluded.is_empty() {
            let quoted: Vec<_> = options.excluded.iter().map(|name| format!("\"{name}\"")).collect();
            let names = quoted.join(",");
            let _ = writeln!(self.lines, "warn: some health checks cannot be excluded: no matches for {names}");
        }
        let (lines, endpoint) = (self.lines, self.endpoint.name());
        match (self.has_failed, options.is_verbose) {
            (true, _) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{lines}{endpoint} check failed\n")),
            (false, true) => (StatusCode::OK, format!("{lines}{endpoint} check passed\n")),
            (false, false) => (StatusCode::OK, "ok".to_owned()),
        }
    }
}

/// Returns the response for a single check.
pub(super) fn single(result: Result<(), String>, withholds_reasons: bool) -> (StatusCode, String) {
    match result {
        Ok(()) => (StatusCode::OK, "ok".to_owned()),
        Err(reason) => {
            let reason = if withholds_reasons { WITHHELD } else { reason.as_str() };
            (StatusCode::INTERNAL_SERVER_ERROR, format!("internal server error: {reason}\n"))
        }
    }
}

/// Returns the response for an unknown endpoint or check.
pub(super) fn not_found() -> (StatusCode, String) {
    (StatusCode::NOT_FOUND, "404 page not found\n".to_owned())
}
