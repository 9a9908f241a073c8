//! Precedence, limits, and the errors of cel-go.

use super::*;
use crate::cel::syntax::error::Source;

fn errors(text: &str) -> String {
    parse(text).map_or_else(|errors| Source(text).format(&errors), |_| "parsed".to_owned())
}

#[test]
fn errors_show_the_source_line_and_a_caret() {
    assert_eq!(errors("self.a ==\n  for + 1"), "ERROR: <input>:2:3: reserved identifier: for\n |   for + 1\n | ..^");
}

#[test]
fn at_most_100_errors_are_shown() {
    for (text, truncated) in [("#".repeat(100_000), 1), (format!("[{}]", ["for"; 2_000].join(",")), 1_900)] {
        let errors = errors(&text);
        assert_eq!(errors.lines().count(), 301);
        assert!(errors.ends_with(&format!("\n{truncated} more errors were truncated")));
    }
}

#[test]
fn operators_have_the_precedence_of_the_grammar() {
    let parsed = parse("1 + 2 * 3 == 7 && !a.b || c ? d : e").expect("a valid expression");
    let ExprKind::Call(call) = parsed.root.kind else { panic!("expected a call") };
    assert_eq!(call.function, operator::CONDITIONAL);
}

#[test]
fn nesting_depth_is_limited_and_never_overflows_the_stack() {
    for (open, close) in [("(", ")"), ("[", "]"), ("f(", ")"), ("{1:", "}"), ("!(", ")"), ("a?b:", "")] {
        let deep = format!("{}1{}", open.repeat(20_000), close.repeat(20_000));
        assert!(errors(&deep).contains("expression"), "{open}");
        let shallow = format!("{}1{}", open.repeat(200), close.repeat(200));
        assert_eq!(errors(&shallow), "parsed", "{open}");
    }
    for chain in ["a.b", "+1", "[0]", " && a"] {
        errors(&format!("a{}", chain.repeat(5000)));
    }
    let chain = "+1".repeat(130);
    assert_eq!(errors(&format!("[(1{chain}), 1{chain}]")), "parsed");
    for nested in [
        format!("(1{chain}){chain} == 1"),
        format!("f(1{chain}).a{}", ".b".repeat(130)),
        format!("{}1{}", "(".repeat(249), format!("{})", "+1".repeat(190)).repeat(249)),
    ] {
        assert!(errors(&nested).contains("max recursion depth exceeded"), "{nested:.40}");
    }
}

/// Returns the places and the messages of the errors, without the sets of expected tokens.
fn messages(text: &str) -> Vec<String> {
    let errors = errors(text);
    let lines = errors.lines().filter_map(|line| line.strip_prefix("ERROR: <input>:"));
    lines.map(|line| line.split(" expecting {").next().unwrap_or(line).replace("Syntax error: ", "")).collect()
}

/// The expected errors are those of cel-go.
#[test]
fn parsing_continues_after_a_syntax_error() {
    let cases: &[(&str, &[&str])] = &[
        (
            "!(null(self.a) && has(self.a))",
            &["1:7: mismatched input '(' expecting ')'", "1:14: mismatched input ')' expecting <EOF>"],
        ),
        ("self.a [] self.a || (self.a == 0)", &["1:9: extraneous input ']'", "1:34: missing ']' at '<EOF>'"]),
        (
            "!has(self.a) || has(self.b || has(self.a)",
            &["1:28: invalid argument to has() macro", "1:42: missing ')' at '<EOF>'"],
        ),
        ("self == ==", &["1:9: mismatched input '=='", "1:11: mismatched input '<EOF>'"]),
        ("has(self.)", &["1:5: invalid argument to has() macro", "1:10: no viable alternative at input '.)'"]),
        ("self.true == 1", &["1:6: mismatched input 'true' expecting IDENTIFIER"]),
        (
            "- ) + !-x",
            &[
                "1:3: no viable alternative at input '- )'",
                "1:3: mismatched input ')'",
                "1:9: no viable alternative at input '-x'",
            ],
        ),
        ("! == 1", &["1:3: extraneous input '=='"]),
        ("[1, == 2]", &["1:5: missing ']' at '=='", "1:9: extraneous input ']' expecting <EOF>"]),
        ("[1 2]", &["1:4: extraneous input '2'"]),
        ("{1 2} == {3: , 4}", &["1:4: missing ':' at '2'", "1:14: extraneous input ','"]),
        (
            "{has(1) 2 3}",
            &["1:6: invalid argument to has() macro", "1:9: missing ':' at '2'", "1:11: extraneous input '3'"],
        ),
        ("A{b 1, ?`c`: has(1), d: 2}", &["1:3: unsupported syntax: '`'", "1:5: missing ':' at '1'"]),
        (
            "self.?1 == . for",
            &["1:7: mismatched input '1'", "1:7: unsupported ident kind", "1:12: reserved identifier: for"],
        ),
        (
            "f(, a ? b : ) + (1",
            &["1:3: extraneous input ','", "1:13: mismatched input ')'", "1:19: missing ')' at '<EOF>'"],
        ),
        ("a ? b c", &["1:7: missing ':' at 'c'"]),
        ("r'a", &["1:2: token recognition error at: ''a'"]),
        ("self. ä )", &["1:7: token recognition error at: 'ä'", "1:9: no viable alternative at input '.  )'"]),
        ("a '''b\tc'''", &["1:3: extraneous input ''''b\\tc'''' expecting <EOF>"]),
        ("a b c d", &["1:3: mismatched input 'b' expecting <EOF>"]),
    ];
    for (text, expected) in cases {
        assert_eq!(messages(text), *expected, "{text}");
    }
}
