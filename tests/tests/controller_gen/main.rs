//! The same CRDs as controller-gen: its definitions of Go types, ours of Rust types of the same shape, and why they differ
//! where they do.

mod difference;
mod twins;

use difference::{differences, reasons};
use twins::Twins;

#[test]
fn definitions_are_those_of_controller_gen_but_for_what_is_known() {
    let Some(Twins { ours, theirs }) = twins::find_or_skip() else { return };
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    let found = ours.iter().flat_map(|(name, ours)| differences(name, ours, &theirs[name])).collect::<Vec<_>>();
    let known = reasons();
    let unknown: Vec<String> =
        found.iter().filter(|found| !known.iter().any(|known| known.is(found))).map(ToString::to_string).collect();
    let gone: Vec<&str> = known
        .iter()
        .filter(|known| !found.iter().any(|found| known.is(found)))
        .map(|known| known.path.as_str())
        .collect();
    assert!(unknown.is_empty(), "{} have no reason in differences.yaml:\n{}", unknown.len(), unknown.join("\n"));
    assert!(gone.is_empty(), "these differ no more; take them out of differences.yaml: {gone:#?}");
}
