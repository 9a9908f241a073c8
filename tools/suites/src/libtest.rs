//! The output of Rust's test harness, and of libtest-mimic: the outcomes of the tests.

use crate::outcome::{Outcome, Outcomes};

/// Returns the outcomes of the tests in the standard output of a test binary.
pub(crate) fn parse(output: &str) -> Outcomes {
    let mut outcomes = Outcomes::default();
    for line in output.lines() {
        let Some((name, result)) = line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ")) else {
            continue;
        };
        // `ok`, `FAILED` or `ignored, reason`.
        match result.split([',', ' ']).next().unwrap_or_default() {
            "ok" => outcomes.add(name.trim(), Outcome::Passed),
            "ignored" => outcomes.add(name.trim(), Outcome::Skipped),
            "FAILED" => outcomes.add(name.trim(), Outcome::failed(failure(output, name.trim()))),
            _ => {}
        }
    }
    outcomes
}

/// Returns the output of a failed test, which the harness repeats at the end.
fn failure<'a>(output: &'a str, name: &str) -> &'a str {
    let titles = [format!("\n---- {name} stdout ----\n"), format!("\n---- {name} ----\n")];
    let text = titles.iter().find_map(|title| output.split_once(title.as_str())).map_or("", |(_, text)| text);
    let end = text.find("\n---- ").into_iter().chain(text.find("\nfailures:\n")).min();
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBTEST: &str = "
running 4 tests
test api::entry::tests::create ... ok
test client::tests::exec ... FAILED
test client::tests::logs ... FAILED
test client::tests::windows ... ignored, fails on windows

failures:

---- client::tests::exec stdout ----
thread 'exec' panicked at src/lib.rs:1:
no kubelet

---- client::tests::logs stdout ----
Error: 404

failures:
    client::tests::exec
    client::tests::logs

test result: FAILED. 1 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.00s
";

    #[test]
    fn the_outcomes_of_libtest_are_read() {
        let outcomes = parse(LIBTEST);
        let found: Vec<(&str, &Outcome)> = outcomes.iter().collect();
        let exec = "thread 'exec' panicked at src/lib.rs:1:\nno kubelet";
        let expected = [
            ("api::entry::tests::create", &Outcome::Passed),
            ("client::tests::exec", &Outcome::Failed(exec.to_owned())),
            ("client::tests::logs", &Outcome::Failed("Error: 404".to_owned())),
            ("client::tests::windows", &Outcome::Skipped),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_outcomes_of_libtest_mimic_are_read() {
        let output = "
running 3 tests
test control_plane::scale    ... ok
test control_plane::roll_out ... FAILED
test control_plane::drain    ... ignored, no control plane

failures:

---- control_plane::roll_out ----
2 differences

failures:
    control_plane::roll_out

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.00s
";
        let outcomes = parse(output);
        assert_eq!(outcomes.get("control_plane::scale"), Some(&Outcome::Passed));
        assert_eq!(outcomes.get("control_plane::roll_out"), Some(&Outcome::Failed("2 differences".to_owned())));
        assert_eq!(outcomes.get("control_plane::drain"), Some(&Outcome::Skipped));
    }

    #[test]
    fn other_lines_are_ignored() {
        assert!(parse("test result: ok. 0 passed\ntest a ... \nrunning 1 test\n").is_empty());
    }
}
