//! Rules of the corpus, judged and run here and, as recorded, by a real kube-apiserver 1.36.
//!
//! `cargo test -p tests --test e2e cel` asks the server again.

mod cel_corpus {
    pub(crate) mod cases;
}

use std::fmt::Write;

use cel_corpus::cases::{self, Cause};
use logger_crd::cel::{FindingReason, Program, RuleFinding, check_schema};
use serde_json::{Value, json};

/// Rules the server judges otherwise, and why.
const KNOWN: [(&str, &str); 1] = [(
    "google.protobuf.Int64Value{value: 1} == 1",
    "messages of protocol buffers cannot be made here: no rule needs one, as all they wrap can be written plainly",
)];

fn cause(finding: &RuleFinding) -> Cause {
    let reason = match finding.reason {
        FindingReason::Invalid => "FieldValueInvalid",
        FindingReason::Forbidden => "FieldValueForbidden",
        FindingReason::Required => "FieldValueRequired",
        FindingReason::NotSupported => "FieldValueNotSupported",
        FindingReason::Internal => "InternalError",
    };
    (finding.field("$"), reason.to_owned(), finding.message("$"))
}

/// Where two answers differ in a field, a reason or the first line of a message.
fn compare(case: &Value, ours: &[Cause], theirs: &[Cause], differences: &mut String) {
    let first_lines = |causes: &[Cause]| -> Vec<Cause> {
        let first_line = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        causes.iter().map(|(field, reason, text)| (field.clone(), reason.clone(), first_line(text))).collect()
    };
    let (ours, theirs) = (first_lines(ours), first_lines(theirs));
    let mut found = String::new();
    for (who, causes, others) in [("server", &theirs, &ours), ("ours", &ours, &theirs)] {
        for (field, reason, text) in causes.iter().filter(|cause| !others.contains(cause)) {
            let _ = writeln!(found, "  {who} alone: {field} {reason} {text}");
        }
    }
    if !found.is_empty() {
        let _ = writeln!(differences, "{case}\n{found}");
    }
}

#[test]
fn rules_are_judged_as_on_the_server() {
    let (mut differences, mut count) = (String::new(), 0);
    for file in cases::FILES {
        let (cases, answers) = (cases::cases(file), cases::answers(file));
        assert_eq!(cases.len(), answers.len(), "{file}: each case has an answer; record them anew");
        for (case, theirs) in cases.iter().zip(answers) {
            count += 1;
            let is_known = KNOWN.iter().any(|(rule, _)| case.written == *rule);
            let ours: Vec<Cause> = check_schema(&case.schema).iter().map(cause).collect();
            if !is_known {
                compare(&case.written, &ours, &theirs, &mut differences);
            }
        }
    }
    assert!(count >= 600, "{count} cases are too few");
    assert!(differences.is_empty(), "of {count} cases:\n{differences}");
}

#[test]
fn rules_have_the_outcome_they_have_on_the_server() {
    let mut answers = cases::answers(cases::RUNS).into_iter();
    let (mut differences, mut count) = (String::new(), 0);
    for group in cases::groups() {
        let schema = json!({"type": "object", "properties": {"spec": group.schema}});
        let program = Program::compile(&schema).expect("the server takes it");
        for run in group.runs {
            count += 1;
            let old = run.old.map(|spec| json!({"spec": spec}));
            let ours: Vec<Cause> = program
                .validate(&json!({"spec": run.new}), old.as_ref())
                .iter()
                .map(|violation| (violation.path.clone(), violation.reason.name().to_owned(), violation.message()))
                .collect();
            let theirs = answers.next().expect("each run has an answer; record them anew");
            compare(&run.new, &ours, &theirs, &mut differences);
        }
    }
    assert_eq!(answers.next(), None, "each answer has a run; record them anew");
    assert!(count >= 60, "{count} runs are too few");
    assert!(differences.is_empty(), "of {count} runs:\n{differences}");
}

#[test]
fn broken_rules_are_refused_and_nothing_panics() {
    for file in cases::FILES {
        for case in cases::cases(file).iter().step_by(3) {
            let Some(rule) = case.schema["properties"]["spec"]["x-kubernetes-validations"][0]["rule"].as_str() else {
                continue;
            };
            let chars: Vec<char> = rule.chars().collect();
            for cut in (0..chars.len()).step_by(4) {
                let truncated: String = chars[..cut].iter().collect();
                let without: String = chars[..cut].iter().chain(&chars[cut + 1..]).collect();
                let doubled: String = chars[..=cut].iter().chain(&chars[cut..]).collect();
                for text in [truncated, without, doubled] {
                    let mut schema = case.schema.clone();
                    schema["properties"]["spec"]["x-kubernetes-validations"][0]["rule"] = json!(text);
                    let program = Program::compile_unchecked(&schema);
                    let spec =
                        json!({"s": "a", "i": 1, "l": [1, 2], "map": {"a": "b"}, "things": [{"k": "a", "v": 1}]});
                    let violations = program.validate(&json!({"spec": spec}), None);
                    assert!(violations.iter().all(|violation| !violation.message().is_empty()), "{text}");
                    let refused = !check_schema(&schema).is_empty();
                    assert!(refused || !text.trim().is_empty());
                }
            }
        }
    }
}
