//! Validators of checked expressions (`cel/validator.go` of cel-go): literals that would only fail when a rule runs.
//!
//! They cover durations, timestamps, regular expressions, format strings, and lists and maps of mixed types.

use super::check::CheckedExpr;
use crate::cel::{
    formats::{
        format_string::{self, Clause, FormatError},
        regex, time,
    },
    syntax::{Call, CelError, Expr, ExprKind, Literal},
    types::Type,
};

type IsValid = fn(&Literal) -> bool;

/// Validates the literals of an expression. The order of the errors is the server's.
pub(crate) fn validate_literals(rule: &CheckedExpr) -> Vec<CelError> {
    let mut nodes = Vec::new();
    collect(&rule.root, false, &mut nodes);
    let mut errors = Vec::new();
    // The arguments of `format` may have mixed types.
    for (expr, _) in nodes.iter().filter(|(_, is_formatted)| !is_formatted) {
        validate_aggregate(rule, expr, &mut errors);
    }
    let validators: [(&str, IsValid); 3] =
        [("duration", is_duration), ("timestamp", is_timestamp), ("matches", is_regex)];
    for (function, is_valid) in validators {
        for (expr, _) in &nodes {
            validate_argument(rule, expr, function, is_valid, &mut errors);
        }
    }
    for (expr, _) in nodes {
        validate_format(rule, expr, &mut errors);
    }
    errors
}

/// Collects all nodes in pre-order, and whether each is within a call of `format`.
fn collect<'a>(expr: &'a Expr, is_formatted: bool, nodes: &mut Vec<(&'a Expr, bool)>) {
    nodes.push((expr, is_formatted));
    let is_format = matches!(&expr.kind, ExprKind::Call(call) if call.function == "format");
    for child in expr.children() {
        collect(child, is_formatted || is_format, nodes);
    }
}

/// Validates a literal format string against the types of its arguments.
fn validate_format(rule: &CheckedExpr, expr: &Expr, errors: &mut Vec<CelError>) {
    let ExprKind::Call(Call { function, target: Some(target), args }) = &expr.kind else { return };
    let (ExprKind::Literal(Literal::String(text)), [Expr { kind: ExprKind::List(elements), .. }]) =
        (&target.kind, args.as_slice())
    else {
        return;
    };
    if function != "format" {
        return;
    }
    let mut clauses = 0;
    let formatted = format_string::format(text, elements.len(), |clause, index| {
        clauses += 1;
        match unsupported_argument(rule, clause, &elements[index].value) {
            None => Ok(String::new()),
            Some(arg) => Err((arg, clause.unsupported_type(&runtime_name(rule.type_of(arg))))),
        }
    });
    let mut report = |at: &Expr, message: String| errors.push(CelError::at(rule.offset_of(at), message));
    match formatted {
        Err(FormatError::Clause((arg, message))) => report(arg, format!("error during formatting: {message}")),
        Err(FormatError::Syntax(message)) => report(expr, message),
        Ok(_) if elements.len() > clauses => {
            let given = elements.len();
            let message = format!("too many arguments supplied to string.format (expected {clauses}, got {given})");
            report(expr, message);
        }
        Ok(_) => {}
    }
}

/// The name of a type in the messages of `format`.
fn runtime_name(t: &Type) -> String {
    t.runtime_name().map_or_else(|| t.to_string(), str::to_owned)
}

/// The argument, or the element of it, that a clause cannot format.
fn unsupported_argument<'a>(rule: &CheckedExpr, clause: Clause, arg: &'a Expr) -> Option<&'a Expr> {
    let t = rule.type_of(arg);
    if !supports(clause, t) && *t != Type::Dyn {
        return Some(arg);
    }
    match &arg.kind {
        ExprKind::List(_) | ExprKind::Map(_) if clause == Clause::String => {
            arg.children().into_iter().find_map(|child| unsupported_argument(rule, clause, child))
        }
        _ => None,
    }
}

fn supports(clause: Clause, t: &Type) -> bool {
    use Type::{Bool, Bytes, Double, Duration, Int, List, Map, Metatype, Null, String, Timestamp, Uint};
    match clause {
        Clause::String => matches!(
            t,
            Int | Uint | Double | Bool | String | Timestamp | Bytes | Duration | Null | List(_) | Map(..) | Metatype(_)
        ),
        Clause::Decimal | Clause::Octal => matches!(t, Int | Uint),
        Clause::Fixed(_) | Clause::Scientific(_) => matches!(t, Double | String),
        Clause::Binary => matches!(t, Int | Uint | Bool),
        Clause::Hex { .. } => matches!(t, Int | Uint | String | Bytes),
    }
}

fn is_duration(literal: &Literal) -> bool {
    // An integer passes the checker, but the server has no conversion for it.
    matches!(literal, Literal::String(text) if time::parse_duration(text).is_ok())
}

fn is_timestamp(literal: &Literal) -> bool {
    match literal {
        Literal::String(text) => time::parse_timestamp(text).is_ok(),
        Literal::Int(seconds) => time::timestamp_from_seconds(*seconds).is_ok(),
        _ => false,
    }
}

fn is_regex(literal: &Literal) -> bool {
    matches!(literal, Literal::String(text) if regex::compile(text).is_ok())
}

fn validate_argument(rule: &CheckedExpr, expr: &Expr, function: &str, is_valid: IsValid, errors: &mut Vec<CelError>) {
    let ExprKind::Call(call) = &expr.kind else { return };
    let Some(arg) = call.args.first().filter(|_| call.function == function) else { return };
    if let ExprKind::Literal(literal) = &arg.kind
        && !is_valid(literal)
    {
        errors.push(CelError::at(rule.offset_of(arg), format!("invalid {function} argument")));
    }
}

/// Validates that all elements of a list or map literal have the same type; `dyn` differs from every other type.
fn validate_aggregate(rule: &CheckedExpr, expr: &Expr, errors: &mut Vec<CelError>) {
    match &expr.kind {
        ExprKind::List(elements) => {
            let typed = elements
                .iter()
                .map(|element| (&element.value, element_type(rule, &element.value, element.is_optional)));
            validate_homogeneous(rule, typed, true, errors);
        }
        ExprKind::Map(entries) => {
            let keys = entries.iter().map(|entry| (&entry.key, element_type(rule, &entry.key, false)));
            validate_homogeneous(rule, keys, false, errors);
            let values =
                entries.iter().map(|entry| (&entry.value, element_type(rule, &entry.value, entry.is_optional)));
            validate_homogeneous(rule, values, false, errors);
        }
        _ => {}
    }
}

fn element_type<'a>(rule: &'a CheckedExpr, expr: &Expr, is_optional: bool) -> &'a Type {
    let t = rule.type_of(expr);
    if is_optional { t.unwrap_optional().0 } else { t }
}

fn validate_homogeneous<'a>(
    rule: &CheckedExpr,
    mut elements: impl Iterator<Item = (&'a Expr, &'a Type)>,
    only_first: bool,
    errors: &mut Vec<CelError>,
) {
    let Some((_, expected)) = elements.next() else { return };
    for (expr, found) in elements.filter(|(_, found)| !expected.is_equivalent(found)) {
        let message = format!("expected type '{expected}' but found '{found}'");
        errors.push(CelError::at(rule.offset_of(expr), message));
        if only_first {
            return;
        }
    }
}
