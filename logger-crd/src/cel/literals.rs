//! Literals that could only fail when a rule runs: durations, timestamps, patterns, lists of mixed types.

use super::{
    checker::Checked,
    library::{pattern, time},
    syntax::{Expr, ExprKind, Literal, Mistake},
    types::Type,
};

/// The mistakes the server's checks of literals find, in their order.
pub(super) fn check(rule: &Checked) -> Vec<Mistake> {
    let mut all = Vec::new();
    gather(&rule.root, &mut all);
    let mut mistakes = Vec::new();
    for (function, is_valid) in
        [("duration", is_duration as fn(&Literal) -> bool), ("timestamp", is_timestamp), ("matches", is_pattern)]
    {
        for expr in &all {
            check_argument(rule, expr, function, is_valid, &mut mistakes);
        }
    }
    for expr in all {
        check_aggregate(rule, expr, &mut mistakes);
    }
    mistakes
}

fn gather<'a>(expr: &'a Expr, all: &mut Vec<&'a Expr>) {
    all.push(expr);
    for child in expr.children() {
        gather(child, all);
    }
}

fn is_duration(literal: &Literal) -> bool {
    match literal {
        Literal::String(text) => time::parse_duration(text).is_ok(),
        Literal::Int(_) => true,
        _ => false,
    }
}

fn is_timestamp(literal: &Literal) -> bool {
    match literal {
        Literal::String(text) => time::parse_timestamp(text).is_ok(),
        Literal::Int(seconds) => time::of_seconds(*seconds).is_ok(),
        _ => false,
    }
}

fn is_pattern(literal: &Literal) -> bool {
    matches!(literal, Literal::String(text) if pattern::compile(text).is_ok())
}

fn check_argument(
    rule: &Checked,
    expr: &Expr,
    function: &str,
    is_valid: fn(&Literal) -> bool,
    mistakes: &mut Vec<Mistake>,
) {
    let ExprKind::Call(call) = &expr.kind else { return };
    let Some(arg) = call.args.first().filter(|_| call.function == function) else { return };
    if let ExprKind::Literal(literal) = &arg.kind
        && !is_valid(literal)
    {
        let message = format!("invalid {function} argument");
        mistakes.push(Mistake { offset: Some(rule.offsets[arg.id]), message });
    }
}

/// All elements of a literal have one type; what is `dyn` differs from all others.
fn check_aggregate(rule: &Checked, expr: &Expr, mistakes: &mut Vec<Mistake>) {
    match &expr.kind {
        ExprKind::List(elements) => {
            let typed = elements
                .iter()
                .map(|element| (&element.value, element_type(rule, &element.value, element.is_optional)));
            check_same(rule, typed, true, mistakes);
        }
        ExprKind::Map(entries) => {
            let keys = entries.iter().map(|entry| (&entry.key, element_type(rule, &entry.key, false)));
            check_same(rule, keys, false, mistakes);
            let values =
                entries.iter().map(|entry| (&entry.value, element_type(rule, &entry.value, entry.is_optional)));
            check_same(rule, values, false, mistakes);
        }
        _ => {}
    }
}

fn element_type<'a>(rule: &'a Checked, expr: &Expr, is_optional: bool) -> &'a Type {
    let t = rule.type_of(expr);
    if is_optional { t.unwrapped().0 } else { t }
}

fn check_same<'a>(
    rule: &Checked,
    mut elements: impl Iterator<Item = (&'a Expr, &'a Type)>,
    only_first: bool,
    mistakes: &mut Vec<Mistake>,
) {
    let Some((_, expected)) = elements.next() else { return };
    for (expr, found) in elements.filter(|(_, found)| !expected.is_equivalent(found)) {
        let message = format!("expected type '{expected}' but found '{found}'");
        mistakes.push(Mistake { offset: Some(rule.offsets[expr.id]), message });
        if only_first {
            return;
        }
    }
}
