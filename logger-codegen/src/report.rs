//! What the command prints: one line per file and a summary.

use similar::TextDiff;

use crate::file::{Drift, Written};

/// What was written, for people.
pub(crate) fn written(done: &[(String, Written)]) -> String {
    let mut lines: Vec<_> = done.iter().map(|(path, written)| format!("{:>9} {path}", word(*written))).collect();
    let counts = [Written::Created, Written::Updated, Written::Unchanged, Written::Removed]
        .map(|wanted| (done.iter().filter(|(_, written)| *written == wanted).count(), word(wanted)))
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"));
    lines.push(format!("{}: {}", files(done.len()), counts.collect::<Vec<_>>().join(", ")));
    lines.join("\n")
}

fn word(written: Written) -> &'static str {
    match written {
        Written::Created => "created",
        Written::Updated => "updated",
        Written::Unchanged => "unchanged",
        Written::Removed => "removed",
    }
}

/// How the tree differs from `total` generated files, for people, and which command mends it.
pub(crate) fn drift(drift: &[Drift], total: usize, command: &str) -> String {
    if drift.is_empty() {
        return format!("{}: all as generated", files(total));
    }
    let mut lines: Vec<_> = drift.iter().map(one_drift).collect();
    lines.push(format!("{} not as generated; run `cargo xtask {command}`", files(drift.len())));
    lines.join("\n")
}

fn one_drift(drift: &Drift) -> String {
    match drift {
        Drift::Missing(path) => format!("missing: {path}"),
        Drift::Stray(path) => format!("  stray: {path} (generated once, not any more)"),
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
