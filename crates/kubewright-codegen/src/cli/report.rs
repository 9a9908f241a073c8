//! The reports of `codegen` and `docs`: one line per file and a summary.

use similar::TextDiff;

use crate::output::{Drift, WriteResult};

/// Reports what was written.
pub(super) fn written(results: &[(String, WriteResult)]) -> String {
    let mut lines: Vec<_> = results.iter().map(|(path, result)| format!("{:>9} {path}", label(*result))).collect();
    let counts = [WriteResult::Created, WriteResult::Updated, WriteResult::Unchanged, WriteResult::Removed]
        .map(|wanted| (results.iter().filter(|(_, result)| *result == wanted).count(), label(wanted)))
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, label)| format!("{count} {label}"));
    lines.push(format!("{}: {}", files(results.len()), counts.collect::<Vec<_>>().join(", ")));
    lines.join("\n")
}

fn label(result: WriteResult) -> &'static str {
    match result {
        WriteResult::Created => "created",
        WriteResult::Updated => "updated",
        WriteResult::Unchanged => "unchanged",
        WriteResult::Removed => "removed",
    }
}

/// Reports how the tree differs from `total` generated files, and the command that updates it.
pub(super) fn drift(drift: &[Drift], total: usize, command: &str) -> String {
    if drift.is_empty() {
        return format!("{}: up to date", files(total));
    }
    let mut lines: Vec<_> = drift.iter().map(drift_of_file).collect();
    lines.push(format!("{} out of date; run `cargo xtask {command}`", files(drift.len())));
    lines.join("\n")
}

fn drift_of_file(drift: &Drift) -> String {
    match drift {
        Drift::Missing(path) => format!("missing: {path}"),
        Drift::Stray(path) => format!("  stray: {path} (not generated any more)"),
        Drift::Changed { path, found, generated } => {
            let diff = TextDiff::from_lines(found.as_str(), generated.as_str());
            let diff = diff.unified_diff().context_radius(2).header("in the tree", "generated").to_string();
            format!("changed: {path}\n{}", diff.trim_end())
        }
    }
}

fn files(count: usize) -> String {
    match count {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    }
}
