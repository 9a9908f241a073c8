//! `bench queue-defects`: defects of client-go's work queue, shown by Go tests that fail once client-go fixes them.

use std::process::Command;

use anyhow::{Context, Result};

use crate::{go, paths, program};

/// Runs the Go tests and prints the defect that each shows.
pub(crate) fn run() -> Result<()> {
    let mut command = Command::new("go");
    command.args(["test", "-v", "-count=1", "./queue"]).current_dir(paths::crate_dir());
    let output = program::output(&mut command).context("client-go has fixed some of these defects")?;
    println!("{}", go::versions());
    messages(&output).for_each(|line| println!("{line}"));
    Ok(())
}

/// Returns the messages of the tests in the output of `go test`, without their positions.
fn messages(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| Some(line.trim().split_once(".go:")?.1.split_once(": ")?.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_tests_are_returned() {
        let output = "=== RUN   TestQ20\n    defects_test.go:58: Q20: it returned\n--- PASS: TestQ20 (0.00s)\nPASS\n";
        assert_eq!(messages(output).collect::<Vec<_>>(), ["Q20: it returned"]);
    }
}
