//! `cargo xtask scorecard`: the checks of the Operator SDK, without a cluster.

use std::{path::PathBuf, process::ExitCode};

use super::{Output, bundle, failed, print};
use crate::{
    olm::{self, Bundle, ScorecardResult, State},
    workspace::Workspace,
};

/// Options of `scorecard`.
#[derive(Clone, Debug, clap::Args)]
pub struct ScorecardArgs {
    /// The directory of the bundle [default: `bundle` of the project].
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// The format of the results.
    #[arg(long, short, value_enum, default_value_t = Output::Text)]
    pub output: Output,
}

impl ScorecardArgs {
    /// Prints the results. The exit code is 1 if a check fails.
    #[must_use]
    pub fn run(&self, workspace: &Workspace<'_>) -> ExitCode {
        let results = match Bundle::read(&bundle::directory(self.directory.as_deref(), workspace)) {
            Ok(bundle) => olm::scorecard(&bundle),
            Err(error) => return failed(&error),
        };
        match self.output {
            Output::Text => {
                let lines: Vec<_> = results.iter().map(ScorecardResult::to_string).collect();
                print(&lines.join("\n"));
            }
            Output::Json => print(&format!("{:#}", serde_json::json!(results))),
        }
        ExitCode::from(u8::from(results.iter().any(|result| result.state == State::Fail)))
    }
}
