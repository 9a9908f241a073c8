//! The compile errors of the derives: one for each invalid declaration, on its token, with a suggestion. The cases in
//! `hygiene` compile.

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    for topic in [
        "adoption",
        "apply",
        "attributes",
        "deep_copy",
        "defaults",
        "lifecycle",
        "list",
        "registration",
        "schema",
        "shape",
        "verbs",
    ] {
        cases.compile_fail(format!("ui/{topic}/*.rs"));
    }
    cases.pass("ui/hygiene/*.rs");
}
