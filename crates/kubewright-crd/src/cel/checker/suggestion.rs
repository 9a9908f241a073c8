//! Finds the name that the author of a rule probably meant.

use crate::cel::syntax::unescape;

/// The candidate that is most similar to a name that does not exist; `None` if none is similar.
///
/// A candidate that differs only in case and separators wins, such as the JSON name `timeInterval` for the Rust name
/// `time_interval`. Otherwise a third of the characters may differ.
pub(super) fn most_similar<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = letters(name);
    let max_distance = (letters.len() / 3).max(1).min(letters.len().saturating_sub(1));
    let distance = |candidate: &'a str| (edit_distance(&letters, &self::letters(candidate)), candidate);
    let (distance, candidate) = candidates.map(distance).min()?;
    (distance <= max_distance).then_some(candidate)
}

/// The letters and digits of a name, in lower case.
fn letters(name: &str) -> Vec<char> {
    let name = unescape(name).unwrap_or_else(|| name.to_owned());
    name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// The number of insertions, deletions, substitutions and transpositions of neighbours that turn one word into the
/// other.
fn edit_distance(left: &[char], right: &[char]) -> usize {
    let mut before_previous = Vec::new();
    let mut previous: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut current = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let substituted = previous[j] + usize::from(a != b);
            let mut distance = substituted.min(previous[j + 1] + 1).min(current[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                distance = distance.min(before_previous[j - 1] + 1);
            }
            current.push(distance);
        }
        before_previous = std::mem::replace(&mut previous, current);
    }
    previous[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_another_case_and_near_spellings_are_similar() {
        let fields = ["timeInterval", "time", "log__dash__level", "replicas", "x"];
        for (name, expected) in [
            ("time_interval", Some("timeInterval")),
            ("TimeInterval", Some("timeInterval")),
            ("log_level", Some("log__dash__level")),
            ("replcias", Some("replicas")),
            ("replica", Some("replicas")),
            ("tiem", Some("time")),
            ("interval", None),
            ("y", None),
            ("", None),
        ] {
            assert_eq!(most_similar(name, fields.into_iter()), expected, "{name}");
        }
    }

    #[test]
    fn a_transposition_is_one_edit() {
        let distance = |left: &str, right: &str| edit_distance(&letters(left), &letters(right));
        assert_eq!(distance("abcd", "abdc"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
