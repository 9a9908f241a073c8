//! The compile errors of the derives: one for each invalid declaration, on its token, with a suggestion. Cargo checks
//! them all in one command, which trybuild does only if no case has to compile.

#[test]
fn ui() {
    trybuild::TestCases::new().compile_fail("cases/*/*.rs");
}
