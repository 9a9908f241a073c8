//! What no two servers have in common: versions, uids, times, ages, addresses

use std::borrow::Cow;

use regex::Regex;

use crate::script::Script;

/// What is shown as what, in every script.
const COMMON: [(&str, &str); 11] = [
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    // As describe shows it, and as diff does.
    (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000", "TIME"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \+0000", "TIME"),
    (r#"((?i:resource ?version)"?: *"?)\d+"#, "${1}N"),
    // A column of ages is as wide as its widest.
    (r"(?m)(  |\t)(AGE|(?:\d+[smhd])+)( +|$)", "${1}AGE "),
    (r"https?://(127\.0\.0\.1|localhost):\d+", "HOST"),
    (r"\b(127\.0\.0\.1|localhost):\d+", "HOST"),
    // Where diff puts what it compares, and edit what was not taken.
    (r"\S*/(LIVE|MERGED)-\d+", "$1"),
    (r"\S*/kubectl-edit-\d+", "EDITED"),
    // What kubectl's own machinery logs, as it comes in time.
    (r"(?m)^[IWE]\d{4} \d\d:.*\n", ""),
];

/// The regular expressions of a script.
pub(crate) struct Masks(Vec<(Regex, String)>);

impl Masks {
    pub(crate) fn of(script: &Script) -> Result<Self, regex::Error> {
        let own = script.masks.iter().map(|(pattern, shown)| (pattern.as_str(), shown.as_str()));
        let all = COMMON.into_iter().chain(own).map(|(pattern, shown)| Ok((Regex::new(pattern)?, shown.to_owned())));
        all.collect::<Result<_, _>>().map(Self)
    }

    /// A text without what is of one server alone.
    pub(crate) fn hide(&self, text: &str) -> String {
        let hide = |text: Cow<'_, str>, (pattern, shown): &(Regex, String)| match pattern.replace_all(&text, shown) {
            Cow::Borrowed(_) => text.into_owned().into(),
            Cow::Owned(text) => text.into(),
        };
        self.0.iter().fold(Cow::Borrowed(text), hide).into_owned()
    }
}
