//! Runs programs and measures their time.

use std::{
    fs,
    io::ErrorKind,
    ops::Add,
    process::{Command, Output, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, anyhow, bail};

/// The number of lines that are shown of a failed program's output.
const SHOWN_LINES: usize = 30;

/// The time of a program in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Timing {
    /// The wall time, which includes other processes on a busy machine.
    pub(crate) elapsed: f64,
    /// The CPU time of the program and its children, in hundredths of a second.
    pub(crate) cpu_time: f64,
}

impl Add for Timing {
    type Output = Timing;

    fn add(self, other: Timing) -> Timing {
        Timing { elapsed: self.elapsed + other.elapsed, cpu_time: self.cpu_time + other.cpu_time }
    }
}

/// Runs a program and measures its time.
pub(crate) fn timed(command: &mut Command) -> Result<Timing> {
    let (start, before) = (Instant::now(), children_cpu_time());
    output(command)?;
    Ok(Timing { elapsed: start.elapsed().as_secs_f64(), cpu_time: children_cpu_time() - before })
}

/// Returns the CPU time of ended children in seconds on Linux, and 0 elsewhere.
fn children_cpu_time() -> f64 {
    parse_children_cpu_time(&fs::read_to_string("/proc/self/stat").unwrap_or_default()).unwrap_or_default()
}

/// Returns the CPU time of a process in seconds from its `/proc/PID/stat`: the sum of the 14th and 15th field.
pub(crate) fn parse_cpu_time(stat: &str) -> Option<f64> {
    parse_seconds(stat, 14)
}

/// Returns the sum of the 16th and 17th field.
fn parse_children_cpu_time(stat: &str) -> Option<f64> {
    parse_seconds(stat, 16)
}

/// Returns the sum of a field, counted from 1, and the next one, in seconds. The second field, the name of the program,
/// is in parentheses and can contain spaces.
fn parse_seconds(stat: &str, field: usize) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields = rest.split(' ').skip(field - 3).take(2);
    let hundredths = fields.map(|field| field.parse::<f64>().ok()).sum::<Option<f64>>()?;
    Some(hundredths / 100.0)
}

/// Runs a program and returns its standard output. A failure is an error with the last lines of both outputs.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.stdin(Stdio::null()).output() {
        Ok(Output { status, stdout, .. }) if status.success() => {
            String::from_utf8(stdout).with_context(|| format!("the output of {name} is not UTF-8"))
        }
        Ok(Output { status, stdout, stderr }) => {
            let printed = [stdout, stderr].concat();
            bail!("{name} failed ({status}):\n{}", last_lines(&String::from_utf8_lossy(&printed)))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Err(anyhow!("{name} is not installed")),
        Err(error) => Err(error).with_context(|| format!("cannot run {name}")),
    }
}

/// Returns the end of a long text.
pub(crate) fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_contains_the_output_of_the_program() {
        let error = output(Command::new("sh").args(["-c", "echo no such thing >&2; exit 3"])).unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.ends_with("no such thing"), "{error}");
        let error = output(&mut Command::new("no-such-program")).unwrap_err().to_string();
        assert_eq!(error, "no-such-program is not installed");
    }

    #[test]
    fn cpu_time_of_a_process_and_its_children_is_parsed() {
        let stat = "7 (a ) b) S 4 5 6 7 8 9 10 11 12 13 100 50 150 25 18 19";
        assert_eq!((parse_cpu_time(stat), parse_children_cpu_time(stat)), (Some(1.5), Some(1.75)));
        assert_eq!((parse_cpu_time(""), parse_children_cpu_time("")), (None, None));
    }

    #[test]
    fn long_output_is_truncated_to_its_end() {
        let text: String = (0..100).map(|i| format!("{i}\n")).collect();
        assert_eq!(last_lines(&text).lines().next(), Some("70"));
    }
}
