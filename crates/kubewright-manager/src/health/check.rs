//! A check: a named function that reports whether something works.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicBool, Ordering},
};

use kubewright_runtime::error::panic_message;

/// A named check.
pub(super) struct Check {
    name: String,
    run: Box<dyn Fn() -> Result<(), String> + Send + Sync>,
    is_failing: AtomicBool,
}

impl Check {
    pub(super) fn new(name: String, run: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Self {
        Check { name, run: Box::new(run), is_failing: AtomicBool::new(false) }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Runs the check and returns the reason of a failure, on one line.
    pub(super) fn run(&self) -> Result<(), String> {
        let result = catch_unwind(AssertUnwindSafe(|| (self.run)()));
        let result =
            result.unwrap_or_else(|panic| Err(format!("the check panicked: {}", panic_message(panic.as_ref()))));
        result.map_err(|reason| reason.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Stores whether the check fails, and returns whether it failed before.
    pub(super) fn replace_failing(&self, is_failing: bool) -> bool {
        self.is_failing.swap(is_failing, Ordering::Relaxed)
    }
}
