//! Progress of long operations on stderr: a spinner on a terminal, otherwise a line at start and end.

use std::{
    io::{self, IsTerminal},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

const TICK: Duration = Duration::from_millis(120);

/// The progress of one operation. Dropping it without [`Progress::done`] removes the spinner.
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
