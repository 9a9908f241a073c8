//! Values under schemas are defaulted, pruned and validated as the real server's recorded answers.

use tests::values::{cases, recorded, schema};

#[test]
fn values_agree_with_the_recorded_answers() {
    let (schema, mut recorded) = (schema(false), recorded());
    let cases = cases();
    let mut wrong = Vec::new();
    for case in &cases {
        match recorded.remove(&case.name) {
            Some(answer) => wrong.extend(case.difference(&schema, &answer)),
            None => wrong.push(format!("{}: no answer is recorded, or two values have this name", case.name)),
        }
    }
    wrong.extend(recorded.keys().map(|name| format!("{name}: an answer is recorded, but there is no value")));
    let how = "RECORD_VALUES=1 cargo test -p tests --test e2e values";
    assert!(wrong.is_empty(), "{} of {} (record again with {how}):\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
