//! Flags of patterns.

/// The flags that `(?i)`, `(?m)` and `(?s)` set. `(?U)` does not change whether a pattern matches.
#[derive(Clone, Copy, Default)]
pub(super) struct Flags {
    pub(super) fold_case: bool,
    pub(super) multi_line: bool,
    pub(super) dot_matches_newline: bool,
}

impl Flags {
    /// Makes a translated pattern case-insensitive, if the flag is set.
    pub(super) fn fold(self, translated: &str) -> String {
        if self.fold_case { format!("(?i:{translated})") } else { translated.to_owned() }
    }
}
