//! `bench queue-defects`: client-go's work queue where our rules promise better, shown by tests that fail once Go does, too.

use std::process::Command;

use anyhow::{Context, Result};

use crate::{go, paths, program};

/// Runs the Go tests, and prints what each shows.
pub(crate) fn run() -> Result<()> {
    let mut command = Command::new("go");
    command.args(["test", "-v", "-count=1", "./queue"]).current_dir(paths::crate_dir());
    let printed = program::output(&mut command).context("client-go does not do all of this any more")?;
    println!("{}", go::versions());
    shown(&printed).for_each(|line| println!("{line}"));
    Ok(())
}

/// Of the output of `go test`, what the tests say, without the places where they do.
fn shown(printed: &str) -> impl Iterator<Item = &str> {
    printed.lines().filter_map(|line| Some(line.trim().split_once(".go:")?.1.split_once(": ")?.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tests_say_is_shown() {
        let printed = "=== RUN   TestQ20\n    defects_test.go:58: Q20: it returned\n--- PASS: TestQ20 (0.00s)\nPASS\n";
        assert_eq!(shown(printed).collect::<Vec<_>>(), ["Q20: it returned"]);
    }
}
