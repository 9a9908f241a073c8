//! Values under schemas come out as the real server had them when it was asked last.

use tests::values::{cases, recorded, schema};

#[test]
fn values_come_out_as_recorded() {
    let (schema, mut recorded) = (schema(false), recorded());
    let cases = cases();
    let mut wrong = Vec::new();
    for case in &cases {
        match recorded.remove(&case.name) {
            Some(answer) => wrong.extend(case.disagreement(&schema, &answer)),
            None => wrong.push(format!("{}: no answer is recorded, or there are two of this name", case.name)),
        }
    }
    wrong.extend(recorded.keys().map(|name| format!("{name}: there is an answer, but no case")));
    let how = "RECORD_VALUES=1 cargo test -p tests --test e2e values";
    assert!(wrong.is_empty(), "{} of {} (recorded anew by {how}):\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
