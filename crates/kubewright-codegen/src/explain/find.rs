//! Searches attribute keys and Go tags.

use kubewright_core::grammar::{AttributeKey, Section};

use super::go_tags::{GoTags, TOOLS, Tool};

/// All attributes, from the table of the parser of the derives.
pub(super) const SECTIONS: &[Section] = kubewright_core::grammar!();

/// The results of a search.
pub(super) struct Found {
    pub(super) keywords: Vec<(&'static Section, Vec<&'static AttributeKey>)>,
    pub(super) go_tags: Vec<(&'static Tool, &'static GoTags)>,
}

impl Found {
    pub(super) fn is_empty(&self) -> bool {
        self.keywords.is_empty() && self.go_tags.is_empty()
    }
}

/// Finds all attribute keys and Go tags that contain a word.
pub(super) fn search(word: &str) -> Found {
    let word = normalized(word);
    let contains = |text: &str| !word.is_empty() && normalized(text).contains(&word);
    let matches = |keyword: &&AttributeKey| {
        contains(keyword.key)
            || keyword.go_tags.iter().any(|tag| contains(tag))
            || keyword.values.iter().any(|value| normalized(value) == word)
    };
    let in_place = |place: &'static Section| {
        let is_place = normalized(place.name) == word;
        let keywords: Vec<_> = place.keys.iter().filter(|keyword| is_place || matches(keyword)).collect();
        (!keywords.is_empty()).then_some((place, keywords))
    };
    let rows = TOOLS.iter().flat_map(|tool| tool.rows.iter().map(move |row| (tool, row)));
    Found {
        keywords: SECTIONS.iter().filter_map(in_place).collect(),
        go_tags: rows.filter(|(_, row)| row.tags.iter().any(|tag| contains(tag))).collect(),
    }
}

/// Returns a name without case and underscores, so that Go's `nonNamespaced` equals `non_namespaced`.
fn normalized(name: &str) -> String {
    name.to_lowercase().replace('_', "")
}

/// Returns the most similar name, if one is similar enough for a suggestion.
pub(super) fn closest(word: &str) -> Option<&'static str> {
    let keywords = SECTIONS.iter().flat_map(|place| place.keys);
    let names = keywords.flat_map(|keyword| [&[keyword.key], keyword.values, keyword.go_tags].concat());
    let go_tags = TOOLS.iter().flat_map(|tool| tool.rows).flat_map(|row| row.tags.iter().copied());
    let word = normalized(word);
    let short = |name: &'static str| name.trim_end_matches('=').rsplit([':', '+', '=']).next().unwrap_or(name);
    names
        .chain(go_tags)
        .flat_map(|name| [name, short(name)])
        .filter(|name| !name.is_empty())
        .map(|name| (strsim::jaro_winkler(&normalized(name), &word), name))
        .filter(|(similarity, _)| *similarity > 0.85)
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, name)| name)
}
