//! What the derives say of a mistake: one error for each, on its token, with the way out; `hygiene` is what they accept.

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
