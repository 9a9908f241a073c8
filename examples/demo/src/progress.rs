//! The output of the program: a line for each observed fact. On a terminal with colours and a spinner.

use std::{
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

use anyhow::Result;
use console::style;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const TICK: Duration = Duration::from_millis(120);

/// Prints lines. A closed pipe is ignored, so that the program continues and removes its objects.
#[derive(Clone)]
pub(crate) struct Printer {
    /// The spinner on a terminal.
    spinner: Option<ProgressBar>,
}

impl Printer {
    /// Creates a printer to the standard output.
    pub(crate) fn new() -> Self {
        Printer { spinner: io::stdout().is_terminal().then(spinner) }
    }

    /// Prints a line.
    pub(crate) fn line(&self, text: impl AsRef<str>) {
        match &self.spinner {
            Some(spinner) => spinner.suspend(|| print(text.as_ref())),
            None => print(text.as_ref()),
        }
    }

    /// Prints a fact that was observed in a step.
    pub(crate) fn fact(&self, text: impl AsRef<str>) {
        self.line(format!("  {}", text.as_ref()));
    }

    /// Prints what is not done.
    pub(crate) fn skipped(&self, reason: impl AsRef<str>) {
        self.line(format!("  {} {}", style("skipped:").yellow(), reason.as_ref()));
    }

    /// Runs something, with a spinner on a terminal.
    pub(crate) async fn during<T>(&self, title: &str, run: impl Future<Output = T>) -> T {
        let _spinning = Spinning::start(self.spinner.as_ref(), title);
        run.await
    }
}

/// A spinner that moves. It is removed on drop.
struct Spinning<'a>(Option<&'a ProgressBar>);

impl<'a> Spinning<'a> {
    fn start(spinner: Option<&'a ProgressBar>, title: &str) -> Self {
        if let Some(spinner) = spinner {
            spinner.reset();
            spinner.set_message(title.to_owned());
            spinner.enable_steady_tick(TICK);
        }
        Spinning(spinner)
    }
}

impl Drop for Spinning<'_> {
    fn drop(&mut self) {
        if let Some(spinner) = self.0 {
            spinner.disable_steady_tick();
            spinner.finish_and_clear();
        }
    }
}

/// The steps of the scenario.
pub(crate) struct Steps {
    printer: Printer,
    number: usize,
    total: usize,
}

impl Steps {
    pub(crate) fn new(printer: &Printer, total: usize) -> Self {
        Steps { printer: printer.clone(), number: 0, total }
    }

    /// Runs a step, and prints its facts and its duration.
    pub(crate) async fn run<T>(&mut self, title: &str, step: impl Future<Output = Result<T>>) -> Result<T> {
        self.number += 1;
        let (started, heading) = (Instant::now(), format!("[{}/{}] {title}", self.number, self.total));
        self.printer.line(style(&heading).bold().to_string());
        let outcome = self.printer.during(&heading, step).await;
        let seconds = started.elapsed().as_secs_f32();
        let result = match &outcome {
            Ok(_) => style("ok").green(),
            Err(_) => style("failed").red(),
        };
        self.printer.fact(format!("{} {}", result.bold(), style(format!("({seconds:.1} s)")).dim()));
        outcome
    }
}

fn print(text: &str) {
    drop(writeln!(io::stdout().lock(), "{text}"));
}

fn spinner() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout());
    // The template is a constant; without it the spinner has the default style.
    match ProgressStyle::with_template("{spinner} {msg} [{elapsed}]") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
