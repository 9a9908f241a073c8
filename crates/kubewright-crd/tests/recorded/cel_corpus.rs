//! Compares the validation and evaluation of rules with the recorded answers of a kube-apiserver 1.36.
//!
//! `cargo test -p tests --test e2e cel` compares the recorded answers with a running server.

mod cases;

use std::fmt::Write;

use kubewright_crd::cel::{Program, RuleError, RuleErrorReason, check_schema};
use serde_json::{Value, json};

use cases::Cause;

/// Rules that the server validates differently, and why.
const DIFFERENCES: [(&str, &str); 1] = [(
    "google.protobuf.Int64Value{value: 1} == 1",
    "protocol buffer messages cannot be constructed here: no rule needs them, because literals have the same values",
)];

fn cause(error: &RuleError) -> Cause {
    let reason = match error.reason {
        RuleErrorReason::Invalid => "FieldValueInvalid",
        RuleErrorReason::Forbidden => "FieldValueForbidden",
        RuleErrorReason::Required => "FieldValueRequired",
        RuleErrorReason::NotSupported => "FieldValueNotSupported",
        RuleErrorReason::Internal => "InternalError",
    };
    (error.field("$"), reason.to_owned(), error.message("$"))
}

/// Adds the causes that only one side has. Of a message, only the first line counts.
fn compare(case: &Value, ours: &[Cause], theirs: &[Cause], differences: &mut String) {
    let first_lines = |causes: &[Cause]| -> Vec<Cause> {
        let first_line = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        causes.iter().map(|(field, reason, text)| (field.clone(), reason.clone(), first_line(text))).collect()
    };
    let (ours, theirs) = (first_lines(ours), first_lines(theirs));
    let mut found = String::new();
    for (side, causes, others) in [("server", &theirs, &ours), ("ours", &ours, &theirs)] {
        for (field, reason, text) in causes.iter().filter(|cause| !others.contains(cause)) {
            let _ = writeln!(found, "  {side} only: {field} {reason} {text}");
        }
    }
    if !found.is_empty() {
        let _ = writeln!(differences, "{case}\n{found}");
    }
}

#[test]
fn rules_are_validated_as_on_the_server() {
    let (mut differences, mut count) = (String::new(), 0);
    for file in cases::FILES {
        let (cases, answers) = (cases::cases(file), cases::answers(file));
        assert_eq!(cases.len(), answers.len(), "{file}: a case has no answer; record them with CEL_RECORD=1");
        for (case, theirs) in cases.iter().zip(answers) {
            count += 1;
            let is_known = DIFFERENCES.iter().any(|(rule, _)| case.written == *rule);
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
fn rules_have_the_same_result_as_on_the_server() {
    let mut answers = cases::answers(cases::RUNS).into_iter();
    let (mut differences, mut count) = (String::new(), 0);
    for group in cases::groups() {
        let schema = json!({"type": "object", "properties": {"spec": group.schema}});
        let program = Program::compile(&schema).expect("the server accepts the rules");
        for run in group.runs {
            count += 1;
            let old = run.old.map(|spec| json!({"spec": spec}));
            let ours: Vec<Cause> = program
                .validate(&json!({"spec": run.new}), old.as_ref())
                .iter()
                .map(|violation| (violation.path.clone(), violation.reason.name().to_owned(), violation.message()))
                .collect();
            let theirs = answers.next().expect("every run has an answer; record them with CEL_RECORD=1");
            compare(&run.new, &ours, &theirs, &mut differences);
        }
    }
    assert_eq!(answers.next(), None, "an answer has no run; record them with CEL_RECORD=1");
    assert!(count >= 60, "{count} runs are too few");
    assert!(differences.is_empty(), "of {count} runs:\n{differences}");
}

#[test]
fn mutated_rules_never_panic() {
    for file in cases::FILES {
        for case in cases::cases(file).iter().step_by(3) {
            let Some(rule) = case.schema["properties"]["spec"]["x-kubernetes-validations"][0]["rule"].as_str() else {
                continue;
            };
            let chars: Vec<char> = rule.chars().collect();
            for cut in (0..chars.len()).step_by(4) {
                let truncated: String = chars[..cut].iter().collect();
                let removed: String = chars[..cut].iter().chain(&chars[cut + 1..]).collect();
                let doubled: String = chars[..=cut].iter().chain(&chars[cut..]).collect();
                for text in [truncated, removed, doubled] {
                    validate_with_rule(&case.schema, &text);
                }
            }
        }
    }
}

/// Checks and runs a rule in place of the first one of `spec`.
fn validate_with_rule(schema: &Value, rule: &str) {
    let mut schema = schema.clone();
    schema["properties"]["spec"]["x-kubernetes-validations"][0]["rule"] = json!(rule);
    let program = Program::compile_unchecked(&schema);
    let spec = json!({"s": "a", "i": 1, "l": [1, 2], "map": {"a": "b"}, "things": [{"k": "a", "v": 1}]});
    let violations = program.validate(&json!({"spec": spec}), None);
    assert!(violations.iter().all(|violation| !violation.message().is_empty()), "{rule}");
    let is_rejected = !check_schema(&schema).is_empty();
    assert!(is_rejected || !rule.trim().is_empty());
}

/// A schema with fields in the spelling of `rename_all = "camelCase"`, and this rule on `spec`.
fn camel_case(rule: Value) -> Value {
    json!({"type": "object", "properties": {"spec": {
        "type": "object",
        "properties": {
            "timeInterval": {"type": "integer"},
            "log-level": {"type": "string"},
            "template": {"type": "object", "properties": {"nodeName": {"type": "string"}}},
            "items": {"type": "array", "maxItems": 3, "items": {
                "type": "object",
                "properties": {"hostPort": {"type": "integer"}},
            }},
        },
        "x-kubernetes-validations": [rule],
    }}})
}

/// The suggestions in the reports of a rule.
fn suggestions(rule: &str) -> Vec<String> {
    let errors = check_schema(&camel_case(json!({"rule": rule})));
    let reports: Vec<String> = errors.iter().filter_map(RuleError::report).collect();
    reports
        .iter()
        .flat_map(|report| report.lines())
        .filter_map(|line| line.strip_prefix(" = help: did you mean `")?.strip_suffix("`?"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn reports_suggest_the_json_name_of_a_field() {
    let errors = check_schema(&camel_case(json!({"rule": "self.time_interval > 0\n&& true", "message": "m"})));
    let [error] = errors.as_slice() else { panic!("expected one error: {errors:?}") };
    let expected = "Invalid value: compilation failed:\n\
                    ERROR: <input>:1:5: undefined field 'time_interval'\n \
                    | self.time_interval > 0\n \
                    | ....^\n \
                    = help: did you mean `timeInterval`?";
    assert_eq!(error.report().as_deref(), Some(expected));
    assert!(!error.message("$").contains("help"), "the server's message has no suggestion");
}

#[test]
fn names_in_another_case_and_near_spellings_are_suggested() {
    for (rule, expected) in [
        ("self.time_interval > 0", &["timeInterval"][..]),
        ("self.timeIntervall > 0", &["timeInterval"]),
        ("has(self.time_interval) && has(self.template.node_name)", &["timeInterval", "nodeName"]),
        ("self.log_level == 'a'", &["log__dash__level"]),
        ("self.?template.node_name.orValue('') == ''", &["nodeName"]),
        ("self.items.all(item, item.host_port > 1)", &["hostPort"]),
        ("self.items.all(item, itm.hostPort > 1)", &["item"]),
        ("time_interval > 0", &["self.timeInterval"]),
        ("oldself.timeInterval > 0", &["oldSelf"]),
        ("self.template.nodeName.startswith('a')", &["startsWith"]),
        ("self.unrelated > 0", &[]),
        ("self.timeInterval > 'a'", &[]),
    ] {
        assert_eq!(suggestions(rule), expected, "{rule}");
    }
}

#[test]
fn errors_of_a_message_expression_are_reported_with_their_source() {
    let rule = json!({"rule": "self.timeInterval > 0", "messageExpression": "'is ' + string(self.time_interval)"});
    let errors = check_schema(&camel_case(rule));
    let report = errors.first().and_then(RuleError::report).unwrap_or_default();
    assert!(
        report.starts_with("Invalid value: messageExpression compilation failed:\nERROR: <input>:1:20: "),
        "{report}"
    );
    assert!(report.ends_with("\n = help: did you mean `timeInterval`?"), "{report}");
}

#[test]
fn an_expression_of_the_wrong_type_is_reported_with_its_source() {
    let errors = check_schema(&camel_case(json!({"rule": "self.timeInterval"})));
    let report = errors.first().and_then(RuleError::report);
    let expected = "Invalid value: cel expression must evaluate to a bool\n | self.timeInterval";
    assert_eq!(report.as_deref(), Some(expected));
}

#[test]
fn errors_outside_of_expressions_have_no_report() {
    let errors = check_schema(&camel_case(json!({"rule": "true", "reason": "Unknown"})));
    let [error] = errors.as_slice() else { panic!("expected one error: {errors:?}") };
    assert_eq!((error.reason, error.report()), (RuleErrorReason::NotSupported, None));
}
