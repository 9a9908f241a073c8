//! `cargo xtask codegen explain`: documentation of attributes, found by attribute key or by Go tag.

mod find;
mod go_tags;
mod page;
mod rustdoc;
mod text;

pub(crate) use page::page;
pub(crate) use rustdoc::references;

use anyhow::{Result, bail};

use find::{closest, search};

/// Returns the documentation of every attribute, or of those whose key or Go tag contains the word, followed by the Go
/// tags without an attribute that contain it. A Go tag can be given as it is written in Go, including its value.
pub(crate) fn explain(word: Option<&str>) -> Result<String> {
    let Some(word) = word else { return Ok(text::all(find::SECTIONS)) };
    let wanted = word.trim_start_matches('/').trim().trim_matches(['#', '[', ']', '!', '=']);
    let without_value = wanted.split('=').next().unwrap_or_default();
    let Some(found) = [wanted, without_value].into_iter().map(search).find(|found| !found.is_empty()) else {
        let hint = closest(without_value).map_or_else(String::new, |known| format!("; did you mean `{known}`?"));
        bail!("no attribute, attribute key or Go tag matches `{word}`{hint}");
    };
    Ok(text::found(&found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_tags_are_found_as_written_in_go() {
        let keys = |word| -> Vec<&str> { search(word).keywords.iter().flat_map(|(_, k)| k).map(|k| k.key).collect() };
        assert_eq!(keys("nonNamespaced"), ["non_namespaced"]);
        assert_eq!(keys("updateStatus"), ["only_verbs", "skip_verbs", "only_verbs", "skip_verbs"]);
        let found = explain(Some("// +genclient:onlyVerbs=get,list")).unwrap();
        assert!(found.contains("only_verbs = [get, list]"), "{found}");
        let found = explain(Some("--plural-exceptions")).unwrap();
        assert!(found.contains("#[k8s(plural"), "{found}");
    }

    #[test]
    fn an_attribute_is_explained_with_its_keys() {
        let found = explain(Some("#[k8s]")).unwrap();
        for word in ["plural = ", "printcolumns = ", "#[k8s(..)] on a list"] {
            assert!(found.contains(word), "{found}");
        }
    }

    #[test]
    fn misspelt_words_get_a_suggestion() {
        for (written, meant) in
            [("nonNamspaced", "non_namespaced"), ("short_nams", "short_names"), ("deepcpy", "DeepCopy")]
        {
            let error = explain(Some(written)).unwrap_err().to_string();
            assert!(error.ends_with(&format!("`{written}`; did you mean `{meant}`?")), "{error}");
        }
        for unknown in ["qqq", "", "="] {
            assert!(!explain(Some(unknown)).unwrap_err().to_string().contains("did you mean"));
        }
    }
}
