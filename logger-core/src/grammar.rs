//! What may be written in attributes and macros, as plain data: what the derives' parser takes, for people to look up.

/// Where keywords are written.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The attribute or macro, such as `genclient`; inside of a keyword's parentheses, that keyword.
    pub name: &'static str,
    /// How it is written, and on what, such as `#[genclient(..)] on a kind`.
    pub title: &'static str,
    /// What may be written there.
    pub keywords: &'static [Keyword],
}

/// What may be written in one place.
#[derive(Clone, Copy, Debug)]
pub struct Keyword {
    /// The keyword, such as `only_verbs`.
    pub word: &'static str,
    /// How it is written, such as `only_verbs = [get, list]`.
    pub form: &'static str,
    /// The words it takes, if it takes only some.
    pub values: &'static [&'static str],
    /// The tags and markers of the Go tools that say the same, such as `+genclient:onlyVerbs=`.
    pub go_tags: &'static [&'static str],
    /// What it does, in a sentence or two.
    pub meaning: &'static str,
    /// Its default, what it excludes, what it asks for; empty if there is nothing to know.
    pub rule: &'static str,
    /// How it looks in its place.
    pub example: &'static str,
}
