//! Suggestions for misspelled names.

/// Returns the candidate that is most similar to a name: one that only differs in its case convention, or else a
/// similar one.
pub(super) fn suggestion<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let normalized = normalize(name);
    if let Some(candidate) = candidates.iter().find(|candidate| normalize(candidate) == normalized) {
        return Some(candidate);
    }
    let similarities = candidates.iter().map(|candidate| (strsim::jaro_winkler(name, candidate), *candidate));
    let similar = similarities.filter(|(similarity, _)| *similarity > 0.8);
    similar.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, candidate)| candidate)
}

/// Removes the case convention: `ready_replicas` and `readyReplicas` are equal.
fn normalize(name: &str) -> String {
    name.chars().filter(|c| *c != '_' && *c != '-').flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::suggestion;

    #[test]
    fn similar_names_are_suggested() {
        let fields = ["replicas", "readyReplicas", "size"];
        assert_eq!(suggestion("replcas", &fields), Some("replicas"));
        assert_eq!(suggestion("ready_replicas", &fields), Some("readyReplicas"));
        assert_eq!(suggestion("sizes", &fields), Some("size"));
        assert_eq!(suggestion("colour", &fields), None);
    }
}
