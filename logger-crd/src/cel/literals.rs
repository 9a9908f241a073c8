//! Literals that could only fail when a rule runs: durations, timestamps, patterns, lists of mixed types.

use super::{
    checker::Checked,
    eval,
    library::{
        self,
        formatting::{self, Clause},
        pattern, time,
    },
    syntax::{Call, Expr, ExprKind, Literal, Mistake},
    types::Type,
    value::{Failure, Value},
};

type IsValid = fn(&Literal) -> bool;

/// The mistakes the server's checks of literals find, in their order.
pub(super) fn check(rule: &Checked) -> Vec<Mistake> {
    let mut all = Vec::new();
    gather(&rule.root, false, &mut all);
    let mut mistakes = Vec::new();
    // Only the arguments of `format` may be of several types.
    for (expr, _) in all.iter().filter(|(_, is_formatted)| !is_formatted) {
        check_aggregate(rule, expr, &mut mistakes);
    }
    let checks: [(&str, IsValid); 3] =
        [("duration", is_duration), ("timestamp", is_timestamp), ("matches", is_pattern)];
    for (function, is_valid) in checks {
        for (expr, _) in &all {
            check_argument(rule, expr, function, is_valid, &mut mistakes);
        }
    }
    for (expr, _) in all {
        check_format(rule, expr, &mut mistakes);
    }
    mistakes
}

fn gather<'a>(expr: &'a Expr, is_formatted: bool, all: &mut Vec<(&'a Expr, bool)>) {
    all.push((expr, is_formatted));
    let is_format = matches!(&expr.kind, ExprKind::Call(call) if call.function == "format");
    for child in expr.children() {
        gather(child, is_formatted || is_format, all);
    }
}

/// A format string that is there to read, and what it is to show.
fn check_format(rule: &Checked, expr: &Expr, mistakes: &mut Vec<Mistake>) {
    let ExprKind::Call(Call { function, target: Some(target), args }) = &expr.kind else { return };
    let (ExprKind::Literal(Literal::String(text)), [Expr { kind: ExprKind::List(elements), .. }]) =
        (&target.kind, args.as_slice())
    else {
        return;
    };
    if function != "format" {
        return;
    }
    let mut seen = 0;
    let shown = formatting::format(text, elements.len(), |clause, index| {
        seen += 1;
        let arg = &elements[index].value;
        match unshowable(rule, clause, arg) {
            None => Ok(String::new()),
            Some(wrong) => Err((wrong.id, clause.refuse(&formatting::runtime_name(rule.type_of(wrong))))),
        }
    });
    let mut report = |id: usize, message: String| mistakes.push(Mistake { offset: Some(rule.offsets[id]), message });
    match shown {
        Err(formatting::Failure::Clause((id, message))) => report(id, format!("error during formatting: {message}")),
        Err(formatting::Failure::Text(message)) => report(expr.id, message),
        Ok(_) if elements.len() > seen => {
            let given = elements.len();
            let message = format!("too many arguments supplied to string.format (expected {seen}, got {given})");
            report(expr.id, message);
        }
        Ok(_) => {}
    }
}

/// The expression a clause cannot show, if there is one.
fn unshowable<'a>(rule: &Checked, clause: Clause, arg: &'a Expr) -> Option<&'a Expr> {
    use Type::{Bool, Bytes, Double, Duration, Dyn, Int, List, Map, Null, String, Timestamp, Uint};
    let t = rule.type_of(arg);
    let fits = match clause {
        Clause::String => {
            matches!(
                t,
                Int | Uint
                    | Double
                    | Bool
                    | String
                    | Timestamp
                    | Bytes
                    | Duration
                    | Null
                    | List(_)
                    | Map(..)
                    | Type::OfTypes(_)
            )
        }
        Clause::Decimal | Clause::Octal => matches!(t, Int | Uint),
        Clause::Fixed(_) | Clause::Scientific(_) => matches!(t, Double | String),
        Clause::Binary => matches!(t, Int | Uint | Bool),
        Clause::Hex { .. } => matches!(t, Int | Uint | String | Bytes),
    };
    if !fits && *t != Dyn {
        return Some(arg);
    }
    match &arg.kind {
        ExprKind::List(_) | ExprKind::Map(_) if clause == Clause::String => {
            arg.children().into_iter().find_map(|child| unshowable(rule, clause, child))
        }
        _ => None,
    }
}

/// Conversions the server tries when it makes a program, if all they need is written down.
const CONVERSIONS: [&str; 10] =
    ["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"];

/// Why no program can be made of a rule: a conversion of a literal that fails, or a pattern that is none.
pub(super) fn instantiate(expr: &Expr) -> Result<(), String> {
    for child in expr.children() {
        instantiate(child)?;
    }
    constant(expr).transpose()?;
    let ExprKind::Call(call) = &expr.kind else { return Ok(()) };
    let pattern = match (call.function.as_str(), call.target.is_some(), call.args.as_slice()) {
        ("matches", false, [_, pattern]) | ("matches" | "find", true, [pattern]) | ("findAll", true, [pattern, ..]) => {
            pattern
        }
        _ => return Ok(()),
    };
    match &pattern.kind {
        ExprKind::Literal(Literal::String(text)) => pattern::compile(text).map(|_| ()),
        _ => Ok(()),
    }
}

/// The value of a literal, or of conversions of one.
fn constant(expr: &Expr) -> Option<Result<Value<'static>, String>> {
    match &expr.kind {
        ExprKind::Literal(literal) => Some(Ok(eval::literal_value(literal))),
        ExprKind::Call(Call { function, target: None, args }) if CONVERSIONS.contains(&function.as_str()) => {
            let value = constant(args.first().filter(|_| args.len() == 1)?)?;
            Some(value.and_then(|value| library::call(function, false, &[value]).map_err(|Failure(error)| error)))
        }
        _ => None,
    }
}

fn is_duration(literal: &Literal) -> bool {
    // Numbers type-check, but have no conversion.
    matches!(literal, Literal::String(text) if time::parse_duration(text).is_ok())
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

fn check_argument(rule: &Checked, expr: &Expr, function: &str, is_valid: IsValid, mistakes: &mut Vec<Mistake>) {
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
