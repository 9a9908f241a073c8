//! Other programs: run to their end, with their time.

use std::fs;
use std::io::ErrorKind;
use std::ops::Add;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};

/// How much of a failed program's output is shown.
const SHOWN_LINES: usize = 30;

/// What a program took, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Taken {
    /// By the clock: on a busy machine what others do counts as well.
    pub(crate) elapsed: f64,
    /// What it and the programs it started computed, to a hundredth.
    pub(crate) computed: f64,
}

impl Add for Taken {
    type Output = Taken;

    fn add(self, other: Taken) -> Taken {
        Taken { elapsed: self.elapsed + other.elapsed, computed: self.computed + other.computed }
    }
}

/// Runs it to its end.
pub(crate) fn timed(command: &mut Command) -> Result<Taken> {
    let (start, before) = (Instant::now(), computed_by_children());
    output(command)?;
    Ok(Taken { elapsed: start.elapsed().as_secs_f64(), computed: computed_by_children() - before })
}

/// Seconds that ended children have computed, as Linux tells; 0 elsewhere.
fn computed_by_children() -> f64 {
    children_in(&fs::read_to_string("/proc/self/stat").unwrap_or_default()).unwrap_or_default()
}

/// The 16th and 17th field, in hundredths. The second, the program's name, is in parentheses and may have spaces.
fn children_in(stat: &str) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let hundredths = rest.split(' ').skip(13).take(2).map(|field| field.parse::<f64>().ok()).sum::<Option<f64>>()?;
    Some(hundredths / 100.0)
}

/// Runs it, and gives what it printed. One that fails is an error with the end of what it said.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.stdin(Stdio::null()).output() {
        Ok(Output { status, stdout, .. }) if status.success() => {
            String::from_utf8(stdout).with_context(|| format!("{name} prints something other than text"))
        }
        Ok(Output { status, stdout, stderr }) => {
            let said = [stdout, stderr].concat();
            bail!("{name} failed ({status}):\n{}", last_lines(&String::from_utf8_lossy(&said)))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Err(anyhow!("{name} is not installed")),
        Err(error) => Err(error).with_context(|| format!("cannot run {name}")),
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_with_what_the_program_said() {
        let error = output(Command::new("sh").args(["-c", "echo no such thing >&2; exit 3"])).unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.ends_with("no such thing"), "{error}");
        let error = output(&mut Command::new("no-such-program")).unwrap_err().to_string();
        assert_eq!(error, "no-such-program is not installed");
    }

    #[test]
    fn what_children_computed_is_read() {
        let stat = "7 (a ) b) S 4 5 6 7 8 9 10 11 12 13 14 15 150 25 18 19";
        assert_eq!(children_in(stat), Some(1.75));
        assert_eq!(children_in(""), None);
    }

    #[test]
    fn of_much_output_the_end_is_shown() {
        let text: String = (0..100).map(|i| format!("{i}\n")).collect();
        assert_eq!(last_lines(&text).lines().next(), Some("70"));
    }
}
