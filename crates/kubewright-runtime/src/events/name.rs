//! Names of events, and texts cut to the length that the API server accepts.

use k8s_openapi::jiff::Timestamp;
use kubewright_names::validation::is_dns_1123_subdomain;
use uuid::Uuid;

/// The maximum length of a note, in bytes.
pub(super) const MAX_NOTE: usize = 1024;
/// The maximum length of a reason, an action or a reporting instance, in bytes.
pub(super) const MAX_WORD: usize = 128;

/// Cuts a text to at most `max` bytes, on a character boundary.
pub(super) fn cut(mut text: String, max: usize) -> String {
    text.truncate(text.floor_char_boundary(max));
    text
}

/// Creates names of events that differ from each other, even if the clock stands still or is set back.
#[derive(Debug, Default)]
pub(super) struct EventNames {
    /// The nanoseconds of the last name.
    last: i128,
}

impl EventNames {
    /// Returns `<object>.<nanoseconds in hexadecimal>`, or a UUID if that is not a valid name.
    pub(super) fn next(&mut self, object: &str, now: Timestamp) -> String {
        self.last = now.as_nanosecond().max(self.last + 1);
        let name = format!("{object}.{:x}", self.last);
        match is_dns_1123_subdomain(&name) {
            true => name,
            false => Uuid::new_v4().to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(nanoseconds: i128) -> Timestamp {
        Timestamp::from_nanosecond(nanoseconds).unwrap()
    }

    #[test]
    fn names_are_the_object_and_hexadecimal_nanoseconds() {
        assert_eq!(EventNames::default().next("web-0", at(0x1A2B)), "web-0.1a2b");
    }

    #[test]
    fn names_differ_if_the_clock_stands_still_or_is_set_back() {
        let mut names = EventNames::default();
        let names = [16, 16, 3].map(|now| names.next("web", at(now)));
        assert_eq!(names, ["web.10", "web.11", "web.12"]);
    }

    #[test]
    fn names_that_are_no_dns_subdomain_are_uuids() {
        let long = "a".repeat(250);
        for object in ["", "Upper", "system:role", long.as_str()] {
            let name = EventNames::default().next(object, at(0x1A2B));
            assert!(Uuid::parse_str(&name).is_ok(), "{object}: {name}");
        }
    }

    proptest! {
        #[test]
        fn texts_are_cut_on_a_character_boundary(text in "\\PC{0,400}", max in 0_usize..1200) {
            let cut = cut(text.clone(), max);
            prop_assert!(cut.len() <= max);
            prop_assert!(text.starts_with(&cut));
            // Nothing fits in addition: the next character would exceed the maximum.
            let next = text[cut.len()..].chars().next();
            prop_assert!(next.is_none_or(|next| cut.len() + next.len_utf8() > max));
        }

        #[test]
        fn names_of_any_object_are_valid_and_unique(object in "\\PC{0,300}", now in 0_i128..1 << 60) {
            let mut names = EventNames::default();
            let (first, second) = (names.next(&object, at(now)), names.next(&object, at(now)));
            prop_assert!(is_dns_1123_subdomain(&first) && is_dns_1123_subdomain(&second));
            prop_assert_ne!(first, second);
        }
    }
}
