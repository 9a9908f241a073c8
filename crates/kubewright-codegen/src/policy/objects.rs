//! The objects of the policies of a kind: policies and their bindings.

use kubewright_core::meta::{
    ApiGroup, ApiKind, Policy, PolicyDefault, PolicyParams, PolicyRule, PolicySettings, PolicyVariable,
};
use kubewright_crd::policy::{PolicyKind, TypeChecker};
use serde_json::{Map, Value, json};

use super::default::FieldPath;

/// A policy with its binding.
pub(super) struct PolicyObjects {
    pub(super) kind: PolicyKind,
    pub(super) policy: Value,
    pub(super) binding: Value,
}

/// Returns the policies of a kind: the validating ones, and then the mutating ones, each in order of declaration.
pub(super) fn objects(group: &ApiGroup, kind: &ApiKind, types: &TypeChecker) -> Vec<PolicyObjects> {
    let rules: Vec<&PolicyRule> = kind
        .policies
        .iter()
        .filter_map(|policy| if let Policy::Rule(rule) = policy { Some(rule) } else { None })
        .collect();
    let validating = by_name(&rules, |rule| rule.policy.name);
    let validating = validating.iter().filter_map(|rules| self::validating(group, kind, rules));
    let defaults = defaults(kind);
    let mutating = by_name(&defaults, |default| default.policy.name);
    let mutating = mutating.iter().filter_map(|defaults| self::mutating(group, kind, defaults, types));
    validating.chain(mutating).collect()
}

/// Returns the defaults of a kind.
pub(super) fn defaults(kind: &ApiKind) -> Vec<&'static PolicyDefault> {
    let default = |policy: &'static Policy| if let Policy::Default(default) = policy { Some(default) } else { None };
    kind.policies.iter().filter_map(default).collect()
}

/// Groups items by the name of their policy, in order of first occurrence.
fn by_name<'a, T>(items: &[&'a T], name: impl Fn(&T) -> &'static str) -> Vec<Vec<&'a T>> {
    let mut groups: Vec<Vec<&'a T>> = Vec::new();
    for &item in items {
        match groups.iter_mut().find(|group| group.first().is_some_and(|first| name(first) == name(item))) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

fn validating(group: &ApiGroup, kind: &ApiKind, rules: &[&PolicyRule]) -> Option<PolicyObjects> {
    let first = rules.first()?;
    let expressions = rules.iter().flat_map(|rule| [Some(rule.expression), rule.message_expression]).flatten();
    let variables = variables(kind, expressions);
    let validations: Vec<Value> = rules.iter().map(|rule| validation(rule)).collect();
    let mut spec = spec(group, kind, &first.policy, &variables);
    spec.insert("validations".to_owned(), validations.into());
    let mut binding = binding(group, kind, &first.policy);
    binding.insert("validationActions".to_owned(), json!(first.actions));
    Some(PolicyObjects::new(PolicyKind::Validating, &name(group, kind, &first.policy), spec, binding))
}

fn mutating(
    group: &ApiGroup,
    kind: &ApiKind,
    defaults: &[&PolicyDefault],
    types: &TypeChecker,
) -> Option<PolicyObjects> {
    let first = defaults.first()?;
    let variables = variables(kind, defaults.iter().map(|default| default.expression));
    let mutations: Vec<Value> = defaults.iter().map(|default| mutation(default, types)).collect();
    let mut spec = spec(group, kind, &first.policy, &variables);
    spec.insert("mutations".to_owned(), mutations.into());
    spec.insert("reinvocationPolicy".to_owned(), if first.reinvoked { "IfNeeded" } else { "Never" }.into());
    let binding = binding(group, kind, &first.policy);
    Some(PolicyObjects::new(PolicyKind::Mutating, &name(group, kind, &first.policy), spec, binding))
}

impl PolicyObjects {
    fn new(kind: PolicyKind, name: &str, spec: Map<String, Value>, binding: Map<String, Value>) -> Self {
        let object = |kind: &str, spec: Map<String, Value>| {
            let api_version = "admissionregistration.k8s.io/v1";
            json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name }, "spec": spec })
        };
        let (policy, binding) = (object(kind.name(), spec), object(kind.binding_name(), binding));
        PolicyObjects { kind, policy, binding }
    }

    /// The name of the policy and of its binding.
    pub(super) fn name(&self) -> &str {
        self.policy["metadata"]["name"].as_str().unwrap_or_default()
    }
}

/// Returns the name of a policy: that of its definition after its own.
fn name(group: &ApiGroup, kind: &ApiKind, settings: &PolicySettings) -> String {
    let group = if group.group.is_empty() { String::new() } else { format!(".{}", group.group) };
    format!("{}.{}{group}", settings.name, kind.plural)
}

/// Returns the part of a spec that does not depend on the kind of the policy.
fn spec(
    group: &ApiGroup,
    kind: &ApiKind,
    settings: &PolicySettings,
    variables: &[&PolicyVariable],
) -> Map<String, Value> {
    let rule = json!({
        "apiGroups": [group.group],
        "apiVersions": [group.version],
        "operations": settings.operations,
        "resources": [kind.plural],
    });
    let mut spec = Map::new();
    spec.insert("failurePolicy".to_owned(), if settings.ignores_failures { "Ignore" } else { "Fail" }.into());
    // Requests for other versions of the kind are converted to this one.
    let constraints = json!({ "matchPolicy": "Equivalent", "resourceRules": [rule] });
    spec.insert("matchConstraints".to_owned(), constraints);
    if let Some(condition) = settings.condition {
        spec.insert("matchConditions".to_owned(), json!([{ "name": "when", "expression": condition }]));
    }
    if let Some(PolicyParams { api_version, kind, .. }) = settings.params {
        spec.insert("paramKind".to_owned(), json!({ "apiVersion": api_version, "kind": kind }));
    }
    if !variables.is_empty() {
        let variable = |variable: &&PolicyVariable| json!({ "name": variable.name, "expression": variable.expression });
        spec.insert("variables".to_owned(), variables.iter().map(variable).collect());
    }
    spec
}

fn binding(group: &ApiGroup, kind: &ApiKind, settings: &PolicySettings) -> Map<String, Value> {
    let mut spec = Map::new();
    spec.insert("policyName".to_owned(), name(group, kind, settings).into());
    if let Some(params) = settings.params {
        let not_found = if params.required { "Deny" } else { "Allow" };
        let mut reference = json!({ "parameterNotFoundAction": not_found });
        match params.name {
            Some(name) => reference["name"] = name.into(),
            None => reference["selector"] = json!({}),
        }
        if let Some(namespace) = params.namespace {
            reference["namespace"] = namespace.into();
        }
        spec.insert("paramRef".to_owned(), reference);
    }
    spec
}

/// Returns the variables that expressions read, directly or through other variables.
fn variables<'a>(kind: &ApiKind, expressions: impl Iterator<Item = &'a str>) -> Vec<&'static PolicyVariable> {
    let mut texts: Vec<&str> = expressions.collect();
    let variable =
        |policy: &'static Policy| if let Policy::Variable(variable) = policy { Some(variable) } else { None };
    let mut found = Vec::new();
    // A variable reads only those that are declared before it.
    for variable in kind.policies.iter().filter_map(variable).rev() {
        if texts.iter().any(|text| text.contains(&format!("variables.{}", variable.name))) {
            texts.push(variable.expression);
            found.push(variable);
        }
    }
    found.reverse();
    found
}

fn validation(rule: &PolicyRule) -> Value {
    let mut validation = json!({ "expression": rule.expression });
    let optional = [("message", rule.message), ("messageExpression", rule.message_expression), ("reason", rule.reason)];
    for (field, value) in optional {
        if let Some(value) = value {
            validation[field] = value.into();
        }
    }
    validation
}

fn mutation(default: &PolicyDefault, types: &TypeChecker) -> Value {
    if let Some(path) = default.field.and_then(FieldPath::parse) {
        let expression = path.patch(default.expression, types);
        return json!({ "patchType": "JSONPatch", "jsonPatch": { "expression": expression } });
    }
    let expression = json!({ "expression": default.expression });
    match default.expression.contains("JSONPatch{") {
        true => json!({ "patchType": "JSONPatch", "jsonPatch": expression }),
        false => json!({ "patchType": "ApplyConfiguration", "applyConfiguration": expression }),
    }
}
