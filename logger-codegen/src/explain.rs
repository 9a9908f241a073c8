//! `cargo xtask codegen explain`: what may be written in attributes, found by keyword or by Go tag.

mod elsewhere;
mod page;
mod text;

use anyhow::{Result, bail};
use logger_core::grammar::{Keyword, Place};

use elsewhere::{Elsewhere, TOOLS, Tool};

pub(crate) use page::page;

/// All that the derives' parser takes, from its own table.
const PLACES: &[Place] = logger_core::grammar!();

/// Every keyword, or those that have the word in their name or in a Go tag; then Go's tags without an attribute that have
/// it are told too. A Go tag may be given as it stands in Go, with its value.
pub(crate) fn explain(word: Option<&str>) -> Result<String> {
    let Some(word) = word else { return Ok(text::all(PLACES)) };
    let wanted = word.trim_start_matches('/').trim().trim_matches(['#', '[', ']', '!', '=']);
    let without_value = wanted.split('=').next().unwrap_or_default();
    let Some(found) = [wanted, without_value].into_iter().map(find).find(|found| !found.is_empty()) else {
        let hint = likeliest(without_value).map_or_else(String::new, |known| format!("; did you mean `{known}`?"));
        bail!("nothing of this name among attributes, keywords and Go tags: `{word}`{hint}");
    };
    Ok(text::found(&found))
}

/// What has a word in it.
struct Found {
    keywords: Vec<(&'static Place, Vec<&'static Keyword>)>,
    elsewhere: Vec<(&'static Tool, &'static Elsewhere)>,
}

impl Found {
    fn is_empty(&self) -> bool {
        self.keywords.is_empty() && self.elsewhere.is_empty()
    }
}

fn find(word: &str) -> Found {
    let word = plain(word);
    let has_it = |text: &str| !word.is_empty() && plain(text).contains(&word);
    let is_meant = |keyword: &&Keyword| {
        has_it(keyword.word)
            || keyword.go_tags.iter().any(|tag| has_it(tag))
            || keyword.values.iter().any(|value| plain(value) == word)
    };
    let in_place = |place: &'static Place| {
        let whole = plain(place.name) == word;
        let keywords: Vec<_> = place.keywords.iter().filter(|keyword| whole || is_meant(keyword)).collect();
        (!keywords.is_empty()).then_some((place, keywords))
    };
    let rows = TOOLS.iter().flat_map(|tool| tool.rows.iter().map(move |row| (tool, row)));
    Found {
        keywords: PLACES.iter().filter_map(in_place).collect(),
        elsewhere: rows.filter(|(_, row)| row.tags.iter().any(|tag| has_it(tag))).collect(),
    }
}

/// A name as it is compared: Go's `nonNamespaced` is our `non_namespaced`.
fn plain(name: &str) -> String {
    name.to_lowercase().replace('_', "")
}

/// The name that was meant, if one is near.
fn likeliest(word: &str) -> Option<&'static str> {
    let keywords = PLACES.iter().flat_map(|place| place.keywords);
    let names = keywords.flat_map(|keyword| [&[keyword.word], keyword.values, keyword.go_tags].concat());
    let elsewhere = TOOLS.iter().flat_map(|tool| tool.rows).flat_map(|row| row.tags.iter().copied());
    let word = plain(word);
    let short = |name: &'static str| name.trim_end_matches('=').rsplit([':', '+', '=']).next().unwrap_or(name);
    names
        .chain(elsewhere)
        .flat_map(|name| [name, short(name)])
        .filter(|name| !name.is_empty())
        .map(|name| (strsim::jaro_winkler(&plain(name), &word), name))
        .filter(|(near, _)| *near > 0.85)
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_go_tag_is_an_attribute_and_something_else_too() {
        let attributes: Vec<_> = PLACES.iter().flat_map(|place| place.keywords).flat_map(|k| k.go_tags).collect();
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for tool in TOOLS {
            for tag in tool.rows.iter().flat_map(|row| row.tags) {
                assert!(!attributes.contains(&tag), "{tag} is an attribute");
                assert!(!seen.contains(&(tool.name, tag)), "{}: {tag} is there twice", tool.name);
                seen.push((tool.name, tag));
            }
        }
    }

    #[test]
    fn every_row_ends_in_a_full_stop() {
        for row in TOOLS.iter().flat_map(|tool| tool.rows) {
            assert!(row.here.ends_with('.') && !row.tags.is_empty(), "{:?}: {}", row.tags, row.here);
        }
    }

    #[test]
    fn a_tag_is_found_as_it_stands_in_go() {
        let words = |word| -> Vec<&str> { find(word).keywords.iter().flat_map(|(_, k)| k).map(|k| k.word).collect() };
        assert_eq!(words("nonNamespaced"), ["non_namespaced"]);
        assert_eq!(words("updateStatus"), ["only_verbs", "skip_verbs", "only_verbs", "skip_verbs"]);
        let found = explain(Some("// +genclient:onlyVerbs=get,list")).unwrap();
        assert!(found.contains("only_verbs = [get, list]"), "{found}");
        let found = explain(Some("--plural-exceptions")).unwrap();
        assert!(found.contains("#[k8s(plural"), "{found}");
    }

    #[test]
    fn an_attribute_is_explained_with_what_stands_in_it() {
        let found = explain(Some("#[k8s]")).unwrap();
        for word in ["plural = ", "printcolumns = ", "#[k8s(..)] on a list"] {
            assert!(found.contains(word), "{found}");
        }
    }

    #[test]
    fn what_is_misspelt_is_near_and_what_is_not_there_is_not() {
        for (written, meant) in
            [("nonNamspaced", "non_namespaced"), ("short_nams", "short_names"), ("deepcpy", "DeepCopy")]
        {
            let error = explain(Some(written)).unwrap_err().to_string();
            assert!(error.ends_with(&format!("`{written}`; did you mean `{meant}`?")), "{error}");
        }
        for nothing in ["qqq", "", "="] {
            assert!(!explain(Some(nothing)).unwrap_err().to_string().contains("did you mean"));
        }
    }
}
