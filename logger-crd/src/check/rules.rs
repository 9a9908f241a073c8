//! `x-kubernetes-validations`: the form of rules. The expressions themselves are [`cel`](crate::cel)'s.

use super::{definition::Fields, field_path, path::Path, structural};
use crate::cel::{self, FindingReason, RuleFinding};
use crate::finding::{Finding, Place, Reason};
use crate::schema::Schema;

const RULES: &str = "x-kubernetes-validations";

/// The reasons a rule may give, sorted.
const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// The form of the rules of one schema.
pub(super) fn check(schema: Schema<'_>, at: &Path<'_>, findings: &mut Vec<Finding>) {
    let list = at.child(RULES);
    for (index, rule) in schema.list(RULES).enumerate() {
        let at = list.index(index);
        findings.extend(check_message(rule, &at));
        if !rule.text("messageExpression").is_empty() && rule.text("messageExpression").trim().is_empty() {
            let why = "messageExpression must be non-empty if specified";
            findings.push(Finding::required(at.child("messageExpression"), why));
        }
        if let Some(reason) =
            rule.get("reason").and_then(|reason| reason.as_str()).filter(|reason| !REASONS.contains(reason))
        {
            findings.push(Finding::not_supported(at.child("reason"), reason, REASONS));
        }
        findings.extend(check_field_path(rule.text("fieldPath"), schema, &at.child("fieldPath")));
    }
}

fn check_message(rule: Fields<'_>, at: &Path<'_>) -> Option<Finding> {
    let (expression, message) = (rule.text("rule").trim(), rule.text("message"));
    let has_line_breaks = |text: &str| text.contains(['\n', '\r']);
    if expression.is_empty() {
        return Some(Finding::required(at.child("rule"), "rule is not specified"));
    }
    let at = at.child("message");
    if !message.is_empty() && message.trim().is_empty() {
        return Some(Finding::invalid(at, message, "must be non-empty if specified"));
    }
    if has_line_breaks(message.trim()) {
        return Some(Finding::invalid(at, message, "must not contain line breaks"));
    }
    let is_unsaid = has_line_breaks(expression) && message.trim().is_empty();
    is_unsaid.then(|| Finding::required(at, "message must be specified if rule contains line breaks"))
}

fn check_field_path(path: &str, schema: Schema<'_>, at: &Path<'_>) -> Vec<Finding> {
    if path.is_empty() {
        return Vec::new();
    }
    let leads_nowhere = || structural::convert(schema).is_ok() && field_path::resolve(path, schema, true).is_err();
    let rules = [
        (path.trim().is_empty(), "must be non-empty if specified"),
        (path.contains(['\n', '\r']), "must not contain line breaks"),
        (leads_nowhere(), "must be a valid path"),
    ];
    let broken = rules.into_iter().filter(|(is_broken, _)| *is_broken);
    broken.map(|(_, why)| Finding::invalid(at, path, why)).collect()
}

/// What is wrong with the expressions of all rules in a schema that is structural and has valid defaults. What is already
/// said in `broken` is not said again.
pub(super) fn expressions(schema: Schema<'_>, broken: &[Finding], at: &Path<'_>) -> Vec<Finding> {
    let found = cel::check_schema(schema.0).into_iter().map(|rule| finding(&rule, at));
    found.filter(|found| !broken.iter().any(|said| said.path == found.path && said.reason == found.reason)).collect()
}

/// A finding of a rule, at its place in the definition.
fn finding(rule: &RuleFinding, at: &Path<'_>) -> Finding {
    let root = at.place();
    let (reason, value) = match rule.reason {
        FindingReason::Invalid => (Reason::Invalid, rule.value.clone()),
        FindingReason::Forbidden => (Reason::Forbidden, None),
        FindingReason::Required => (Reason::Required, None),
        FindingReason::NotSupported => (Reason::NotSupported, rule.value.clone()),
        FindingReason::Internal => (Reason::Internal, None),
    };
    let schema = root.schema.map(|(version, _)| (version, rule.keywords()));
    let place = Place { path: rule.field(&root.path), schema };
    let finding = Finding::new(place, reason, value.clone().map(Into::into), rule.detail_at(&root.path));
    match value {
        Some(shown) => finding.showing(shown),
        None => finding,
    }
}
