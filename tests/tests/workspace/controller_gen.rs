//! CRDs and roles compared with controller-gen's: its definitions of Go types, ours of equivalent Rust types, and the
//! known differences with their reasons; its roles of random markers, and our normalized rules.

mod difference;
mod roles;
mod twins;

use difference::{differences, known_differences};
use twins::Twins;

#[test]
fn definitions_equal_those_of_controller_gen_except_for_known_differences() {
    let Some(Twins { ours, theirs }) = twins::find_or_skip() else { return };
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    let found = ours.iter().flat_map(|(name, ours)| differences(name, ours, &theirs[name])).collect::<Vec<_>>();
    let known = known_differences();
    let unknown: Vec<String> =
        found.iter().filter(|found| !known.iter().any(|known| known.matches(found))).map(ToString::to_string).collect();
    let gone: Vec<&str> = known
        .iter()
        .filter(|known| !found.iter().any(|found| known.matches(found)))
        .map(|known| known.path.as_str())
        .collect();
    assert!(unknown.is_empty(), "{} have no reason in differences.yaml:\n{}", unknown.len(), unknown.join("\n"));
    assert!(gone.is_empty(), "these differ no longer; remove them from differences.yaml: {gone:#?}");
}
