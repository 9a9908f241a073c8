//! Masks values that differ between servers: versions, uids, times, ages, addresses.

use std::borrow::Cow;

use regex::Regex;

use crate::script::Script;

/// The patterns that are masked in every script, with their replacements.
const COMMON: [(&str, &str); 12] = [
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    // The formats of `describe` and of `diff`.
    (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000", "TIME"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \+0000", "TIME"),
    (r#"((?i:resource ?version)"?: *"?)\d+"#, "${1}N"),
    // The width of the column depends on the ages.
    (r"(?m)(  |\t)(?:(?:AGE|(?:\d+[smhd])+)(?: +|$))+", "${1}AGE "),
    (r"https?://(127\.0\.0\.1|localhost):\d+", "HOST"),
    (r"\b(127\.0\.0\.1|localhost):\d+", "HOST"),
    // Tokens of service accounts.
    (r"\beyJ[\w-]+\.[\w-]+\.[\w-]+", "TOKEN"),
    // Temporary files of `diff` and `edit`.
    (r"\S*/(LIVE|MERGED)-\d+", "$1"),
    (r"\S*/kubectl-edit-\d+", "EDITED"),
    // Log lines of kubectl's own libraries.
    (r"(?m)^[IWE]\d{4} \d\d:.*\n", ""),
];

/// The compiled masks of a script.
pub(crate) struct Masks(Vec<(Regex, String)>);

impl Masks {
    /// Compiles the common masks and those of a script.
    pub(crate) fn new(script: &Script) -> Result<Self, regex::Error> {
        let specific = script.masks.iter().map(|(pattern, replacement)| (pattern.as_str(), replacement.as_str()));
        let all = COMMON
            .into_iter()
            .chain(specific)
            .map(|(pattern, replacement)| Ok((Regex::new(pattern)?, replacement.to_owned())));
        all.collect::<Result<_, _>>().map(Self)
    }

    /// Masks a text.
    pub(crate) fn apply(&self, text: &str) -> String {
        let replace = |text: Cow<'_, str>, (pattern, replacement): &(Regex, String)| match pattern
            .replace_all(&text, replacement)
        {
            Cow::Borrowed(_) => text.into_owned().into(),
            Cow::Owned(text) => text.into(),
        };
        self.0.iter().fold(Cow::Borrowed(text), replace).into_owned()
    }
}
