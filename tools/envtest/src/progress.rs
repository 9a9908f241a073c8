//! Says on stderr that something long is under way: a spinner on a terminal, a line at each end elsewhere.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

const TICK: Duration = Duration::from_millis(120);

/// Something long under way; dropping it without [`Progress::done`] takes the spinner away.
pub(crate) struct Progress {
    since: Instant,
    spinner: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn start(message: String) -> Progress {
        let spinner = io::stderr().is_terminal().then(|| spinner(&message));
        if spinner.is_none() {
            eprintln!("{message}");
        }
        Progress { since: Instant::now(), spinner }
    }

    pub(crate) fn done(self, message: &str) {
        let seconds = self.since.elapsed().as_secs_f32();
        drop(self);
        eprintln!("{message} ({seconds:.1} s)");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }
}

fn spinner(message: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]").expect("the template is valid");
    let spinner = ProgressBar::new_spinner().with_style(style).with_message(message.to_owned());
    spinner.enable_steady_tick(TICK);
    spinner
}
