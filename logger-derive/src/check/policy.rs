//! The checks of `#[policy(..)]`.

use kubewright_names::{cel::is_identifier, validation::is_dns_1123_subdomain};
use syn::LitStr;

use crate::{
    attr::policy::{DefaultValue, PolicyKeys},
    errors::Errors,
    grammar::{
        self,
        policy::{ACTIONS, FAILURE_POLICIES, NOT_FOUND, OPERATIONS, REASONS, REINVOCATIONS},
    },
    model::{Kind, Policy},
};

/// What an attribute declares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Declared {
    Rule,
    Default,
    Variable,
}

impl Declared {
    fn key(self) -> &'static str {
        match self {
            Declared::Rule => "rule",
            Declared::Default => "default",
            Declared::Variable => "variable",
        }
    }
}

/// Checks each attribute, and then those of the same policy together.
pub(super) fn check(kind: &Kind, errors: &mut Errors) {
    for (i, policy) in kind.policies.iter().enumerate() {
        let Some(declared) = declared(policy, errors) else { continue };
        check_keys(&policy.keys, declared, errors);
        check_values(&policy.keys, errors);
        match declared {
            Declared::Rule => check_rule(policy, errors),
            Declared::Default => check_default(&policy.keys, errors),
            Declared::Variable => check_variable(policy, &kind.policies[..i], errors),
        }
        check_same_policy(policy, declared, &kind.policies[..i], errors);
    }
}

/// An attribute declares exactly one rule, default or variable.
fn declared(policy: &Policy, errors: &mut Errors) -> Option<Declared> {
    let PolicyKeys { rule, variable, .. } = &policy.keys;
    let found = [
        (Declared::Rule, rule.as_ref()),
        (Declared::Default, policy.default_value()),
        (Declared::Variable, variable.as_ref()),
    ];
    let mut found = found.into_iter().filter_map(|(declared, text)| Some((declared, text?)));
    let Some((first, _)) = found.next() else {
        if !policy.incomplete {
            errors.push(&policy.attribute, "expected one of `rule = \"..\"`, `default = \"..\"`, `variable = \"..\"`");
        }
        return None;
    };
    for (_, text) in found {
        errors.push(text, format_args!("conflicts with `{}`; use a `#[policy(..)]` for each", first.key()));
    }
    Some(first)
}

/// A key belongs to rules, defaults or variables.
fn check_keys(keys: &PolicyKeys, declared: Declared, errors: &mut Errors) {
    use Declared::{Default, Rule, Variable};
    let policies = [Rule, Default].as_slice();
    let params = keys.params.as_ref().map(|params| &params.api_version);
    let known: [(&str, Option<&LitStr>, &[Declared]); 12] = [
        ("message", keys.message.as_ref(), &[Rule]),
        ("message_expression", keys.message_expression.as_ref(), &[Rule]),
        ("reason", keys.reason.as_ref(), &[Rule]),
        ("actions", keys.actions.first(), &[Rule]),
        ("field", keys.field.as_ref(), &[Default]),
        ("reinvocation", keys.reinvocation.as_ref(), &[Default]),
        ("value", keys.value.as_ref(), &[Variable]),
        ("when", keys.when.as_ref(), policies),
        ("operations", keys.operations.first(), policies),
        ("failure_policy", keys.failure_policy.as_ref(), policies),
        ("params", params, policies),
        ("name", keys.name.as_ref(), policies),
    ];
    for (key, text, accepted_by) in known {
        if let Some(text) = text.filter(|_| !accepted_by.contains(&declared)) {
            let with: Vec<String> = accepted_by.iter().map(|declared| format!("`{}`", declared.key())).collect();
            let message = format!("`{key}` has no effect on a `{}`; use it with {}", declared.key(), with.join(" or "));
            errors.push(text, message);
        }
    }
}

/// Values of a fixed set, and texts that must not be empty.
fn check_values(keys: &PolicyKeys, errors: &mut Errors) {
    let not_found = keys.params.as_ref().and_then(|params| params.not_found.as_ref());
    let choices: [(Option<&LitStr>, &[&str]); 4] = [
        (keys.reason.as_ref(), &REASONS),
        (keys.reinvocation.as_ref(), &REINVOCATIONS),
        (keys.failure_policy.as_ref(), &FAILURE_POLICIES),
        (not_found, &NOT_FOUND),
    ];
    choices.into_iter().for_each(|(text, known)| check_choice(text, known, errors));
    for (list, known) in [(&keys.actions, ACTIONS.as_slice()), (&keys.operations, OPERATIONS.as_slice())] {
        for (i, text) in list.iter().enumerate() {
            check_choice(Some(text), known, errors);
            if list[..i].iter().any(|earlier| earlier.value() == text.value()) {
                errors.push(text, "duplicate value; keep one");
            }
        }
    }
    let default = keys.default_value.as_ref().map(|DefaultValue(text)| text);
    let texts = [&keys.rule, &keys.message, &keys.message_expression, &keys.value, &keys.when];
    for text in texts.into_iter().flatten().chain(default) {
        if text.value().trim().is_empty() {
            errors.push(text, "empty text; remove the key, or set its value");
        }
    }
    if let Some(name) = keys.name.as_ref().filter(|name| !is_dns_1123_subdomain(&name.value())) {
        errors.push(
            name,
            "invalid name: expected lower-case letters, digits, `-` and `.`, starting and ending with a letter or a \
             digit",
        );
    }
}

fn check_choice(text: Option<&LitStr>, known: &[&str], errors: &mut Errors) {
    if let Some(text) = text.filter(|text| !known.contains(&text.value().as_str())) {
        let expected: Vec<String> = known.iter().map(|value| format!("`{value}`")).collect();
        errors.push(text, format_args!("unknown value; expected one of {}", expected.join(", ")));
    }
}

/// A message has one line, and a request is not both denied and warned about.
fn check_rule(policy: &Policy, errors: &mut Errors) {
    let keys = &policy.keys;
    if let Some(message) = keys.message.as_ref().filter(|message| message.value().trim().contains(['\n', '\r'])) {
        errors.push(message, "the API server rejects a message of several lines; use one line");
    }
    let warn = keys.actions.iter().find(|action| action.value() == "Warn");
    if let Some(warn) = warn.filter(|_| policy.has_action("Deny")) {
        errors.push(warn, "conflicts with `Deny`: a denied request has the message already; keep one of the two");
    }
}

/// A default has a field outside of the status, and does not apply to deletions.
fn check_default(keys: &PolicyKeys, errors: &mut Errors) {
    if let Some(operation) = keys.operations.iter().find(|operation| operation.value() == "DELETE") {
        errors.push(operation, "a deleted object has no defaults; remove this operation");
    }
    let Some(field) = &keys.field else { return };
    let path = field.value();
    let first = path.split(['.', '[']).next().unwrap_or_default();
    match first {
        "" => errors.push(field, "expected the path of a field, such as `spec.size` or `metadata.labels['owner']`"),
        "status" => errors.push(field, "a status is written by its own endpoint; use a field outside of it"),
        "apiVersion" | "kind" => errors.push(field, "every object has this field; use another one"),
        _ if path == first && first == "metadata" => {
            errors.push(field, "every object has this field; use a field below it");
        }
        _ => {}
    }
}

/// A variable has an identifier that no other one has, and a value.
fn check_variable(policy: &Policy, earlier: &[Policy], errors: &mut Errors) {
    let PolicyKeys { variable: Some(name), value, .. } = &policy.keys else { return };
    let is_same = |other: &Policy| other.keys.variable.as_ref().is_some_and(|other| other.value() == name.value());
    if !is_identifier(&name.value()) {
        errors.push(name, "invalid name of a variable: expected letters, digits and `_`, and no reserved word of CEL");
    } else if earlier.iter().any(is_same) {
        errors.push(name, "duplicate variable; rename one");
    }
    if value.is_none() && !policy.incomplete {
        errors.push(&policy.attribute, grammar::missing(None, "value"));
    }
}

/// The attributes of one policy have the same settings, because they are those of the complete policy.
fn check_same_policy(policy: &Policy, declared: Declared, earlier: &[Policy], errors: &mut Errors) {
    if declared == Declared::Variable {
        return;
    }
    let keys = &policy.keys;
    let name = policy.name();
    let is_same = |other: &&Policy| {
        let is_kind = match declared {
            Declared::Rule => other.keys.rule.is_some(),
            _ => other.keys.rule.is_none() && other.keys.default_value.is_some(),
        };
        is_kind && other.name() == name
    };
    let Some(first) = earlier.iter().find(is_same) else { return };
    if let Some(key) = different_key(policy, first) {
        let at = keys.name.as_ref().or(keys.rule.as_ref()).or(policy.default_value());
        let message = format!(
            "its `{key}` differs from that of an earlier attribute of the policy `{name}`; set the same, or another \
             `name = \"..\"`"
        );
        match at {
            Some(at) => errors.push(at, message),
            None => errors.push(&policy.attribute, message),
        }
    }
}

/// Returns the first setting that differs.
fn different_key(left: &Policy, right: &Policy) -> Option<&'static str> {
    let sorted = |mut values: Vec<String>| {
        values.sort();
        values
    };
    let (left_keys, right_keys) = (&left.keys, &right.keys);
    let text = |text: &Option<LitStr>, default: &str| text.as_ref().map_or_else(|| default.to_owned(), LitStr::value);
    let params = |keys: &PolicyKeys| {
        keys.params.as_ref().map(|params| {
            let [name, namespace] = [&params.name, &params.namespace].map(|text| text.as_ref().map(LitStr::value));
            let not_found = text(&params.not_found, "Allow");
            (params.api_version.value(), params.kind.value(), name, namespace, not_found)
        })
    };
    let differs = |key: fn(&PolicyKeys) -> &Option<LitStr>, default: &str| {
        text(key(left_keys), default) != text(key(right_keys), default)
    };
    let settings = [
        ("operations", sorted(left.operations()) != sorted(right.operations())),
        ("actions", sorted(left.actions()) != sorted(right.actions())),
        ("when", differs(|keys| &keys.when, "")),
        ("failure_policy", differs(|keys| &keys.failure_policy, "Fail")),
        ("reinvocation", differs(|keys| &keys.reinvocation, "Never")),
        ("params", params(left_keys) != params(right_keys)),
    ];
    settings.into_iter().find(|(_, differs)| *differs).map(|(key, _)| key)
}
