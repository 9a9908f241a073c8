//! Evaluation and validation of policies.

use std::cell::RefCell;

use serde_json::{Value, json};

use super::*;
use crate::cel::{AccessDecision, AccessRequest, AccessSubject, AccessTarget, Authorizer};

/// Creates a policy from a part of its spec.
fn policy(spec: Value) -> Value {
    let mut policy = json!({
        "metadata": {"name": "policy.example.com"},
        "spec": {"matchConstraints": {"resourceRules": [{
            "apiGroups": ["example.com"],
            "apiVersions": ["v1"],
            "operations": ["CREATE", "UPDATE"],
            "resources": ["widgets"],
        }]}},
    });
    if let (Value::Object(spec), Some(fields)) = (spec, policy["spec"].as_object_mut()) {
        fields.extend(spec);
    }
    policy
}

fn validate(spec: Value, request: &Request<'_>) -> Outcome {
    ValidatingPolicy::new(&policy(spec)).expect("a valid policy").validate(request)
}

fn messages(outcome: &Outcome) -> Vec<&str> {
    outcome.denials.iter().map(|denial| denial.message.as_str()).collect()
}

fn mutate(expression: &str, object: &Value) -> Result<Patch, String> {
    let patch_type = if expression.contains("JSONPatch{") { "JSONPatch" } else { "ApplyConfiguration" };
    let field = if patch_type == "JSONPatch" { "jsonPatch" } else { "applyConfiguration" };
    let mutation = json!({"patchType": patch_type, field: {"expression": expression}});
    let policy = policy(json!({"reinvocationPolicy": "Never", "mutations": [mutation]}));
    let policy = MutatingPolicy::new(&policy).map_err(|errors| errors[0].to_string())?;
    policy.mutate(0, &Request { object, ..Request::default() })
}

fn errors(kind: PolicyKind, spec: Value) -> Vec<String> {
    validate_policy(kind, &policy(spec)).iter().map(ToString::to_string).collect()
}

#[test]
fn failed_validations_have_their_message() {
    let spec = json!({
        "variables": [{"name": "limit", "expression": "params == null ? 5 : params.limit"}],
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "validations": [
            {"expression": "object.spec.replicas <= variables.limit", "message": " too many ", "reason": "Forbidden"},
            {
                "expression": "object.spec.replicas % 2 == 0",
                "message": "odd",
                "messageExpression": "'%d is odd, at most %d'.format([object.spec.replicas, variables.limit])",
            },
            {"expression": "object.spec.level != 'debug'"},
            {"expression": "true"},
        ],
    });
    let (object, params) = (json!({"spec": {"replicas": 7, "level": "debug"}}), json!({"limit": 6}));
    let outcome = validate(spec, &Request { object: &object, params: &params, ..Request::default() });
    let expected = ["too many", "7 is odd, at most 6", "failed expression: object.spec.level != 'debug'"];
    assert_eq!(messages(&outcome), expected);
    assert_eq!(outcome.denials[0].reason, DenialReason::Forbidden);
    assert_eq!(outcome.denials[2].reason.code(), 422);
}

#[test]
fn failures_deny_unless_they_are_ignored() {
    let spec = |failure_policy: &str| json!({"failurePolicy": failure_policy, "validations": [{"expression": "object.spec.replicas > 0"}]});
    let object = json!({"spec": {}});
    let request = Request { object: &object, ..Request::default() };
    let expected = "expression 'object.spec.replicas > 0' resulted in error: no such key: replicas";
    assert_eq!(messages(&validate(spec("Fail"), &request)), [expected]);
    assert_eq!(validate(spec("Ignore"), &request), Outcome::default());
}

#[test]
fn failed_variables_fail_the_expressions_that_need_them() {
    let spec = json!({
        "variables": [
            {"name": "size", "expression": "object.spec.size"},
            {"name": "double", "expression": "variables.size * 2"},
        ],
        "validations": [{"expression": "object.spec.free || variables.double < 9"}],
    });
    let (free, bound) = (json!({"spec": {"free": true}}), json!({"spec": {"free": false}}));
    let outcome = |object: &Value| validate(spec.clone(), &Request { object, ..Request::default() });
    assert_eq!(outcome(&free), Outcome::default());
    let expected = "expression 'object.spec.free || variables.double < 9' resulted in error: composited variable \
                    \"double\" fails to evaluate: composited variable \"size\" fails to evaluate: no such key: size";
    assert_eq!(messages(&outcome(&bound)), [expected]);
}

#[test]
fn match_conditions_select_requests() {
    let spec = |condition: &str| {
        json!({
            "matchConditions": [{"name": "condition", "expression": condition}],
            "validations": [{"expression": "false", "message": "denied"}],
        })
    };
    let (object, request) = (json!({"kind": "Widget"}), json!({"userInfo": {"username": "alice"}}));
    let request = Request { object: &object, request: &request, ..Request::default() };
    for (condition, expected) in [
        ("request.userInfo.username == 'alice'", vec!["denied"]),
        ("request.userInfo.username == 'bob'", Vec::new()),
        ("object.spec.x == 1", vec!["expression 'object.spec.x == 1' resulted in error: no such key: spec"]),
        ("namespaceObject != null", Vec::new()),
    ] {
        assert_eq!(messages(&validate(spec(condition), &request)), expected, "{condition}");
    }
}

#[test]
fn audit_annotations_are_strings_or_absent() {
    let spec = json!({"auditAnnotations": [
        {"key": "level", "valueExpression": "object.spec.level"},
        {"key": "none", "valueExpression": "null"},
        {"key": "empty", "valueExpression": "'  '"},
    ]});
    let errors = errors(PolicyKind::Validating, spec.clone());
    assert!(errors[0].contains("must evaluate to one of [string null_type] but got dyn"), "{errors:?}");
    let spec = json!({"auditAnnotations": [
        {"key": "level", "valueExpression": "string(object.spec.level)"},
        spec["auditAnnotations"][1],
        spec["auditAnnotations"][2],
    ]});
    let object = json!({"spec": {"level": "debug"}});
    let outcome = validate(spec, &Request { object: &object, ..Request::default() });
    assert_eq!(outcome.audit_annotations, [("level".to_owned(), "debug".to_owned())]);
}

/// Allows one verb, and records what it is asked.
#[derive(Debug, Default)]
struct OneVerb {
    requests: RefCell<Vec<AccessRequest>>,
}

impl Authorizer for OneVerb {
    fn authorize(&self, request: &AccessRequest) -> AccessDecision {
        self.requests.borrow_mut().push(request.clone());
        AccessDecision { allowed: request.verb == "approve", reason: "test".to_owned(), error: None }
    }
}

#[test]
fn the_authorizer_answers_checks() {
    let spec = json!({"validations": [
        {"expression": "authorizer.requestResource.check('approve').allowed()"},
        {"expression": "authorizer.group('apps').resource('deployments').subresource('scale').namespace('ns').name('d')\
                        .check('get').reason() == 'test'"},
        {"expression": "authorizer.serviceAccount('ns', 'robot').path('/healthz').check('get').allowed()",
         "message": "denied"},
        {"expression": "authorizer.path(' ').check('get').allowed()"},
    ]});
    let request = json!({
        "name": "w", "namespace": "default", "requestSubResource": "status",
        "requestResource": {"group": "example.com", "version": "v1", "resource": "widgets"},
    });
    let authorizer = OneVerb::default();
    let request = Request { request: &request, authorizer: Some(&authorizer), ..Request::default() };
    let outcome = validate(spec, &request);
    let empty = "expression 'authorizer.path(' ').check('get').allowed()' resulted in error: path must not be empty";
    assert_eq!(messages(&outcome), ["denied", empty]);
    let requests = authorizer.requests.borrow();
    let AccessTarget::Resource(target) = &requests[0].target else { panic!("a resource: {requests:?}") };
    let fields = [&target.group, &target.resource, &target.subresource, &target.namespace, &target.name];
    assert_eq!(fields, ["example.com", "widgets", "status", "default", "w"]);
    assert_eq!((&requests[1].verb, &requests[1].subject), (&"get".to_owned(), &AccessSubject::User));
    assert_eq!(requests[2].target, AccessTarget::Path("/healthz".to_owned()));
    assert!(matches!(&requests[2].subject, AccessSubject::ServiceAccount { name, .. } if name == "robot"));
}

#[test]
fn expensive_policies_run_out_of_budget() {
    let check = "authorizer.path('/a').check('get').allowed()";
    let twice = json!({"expression": format!("{check} || {check} || true")});
    let spec = json!({"validations": vec![twice; 20]});
    let authorizer = OneVerb::default();
    let outcome = validate(spec, &Request { authorizer: Some(&authorizer), ..Request::default() });
    let expected = "validation failed due to running out of cost budget, no further validation rules will be run";
    assert_eq!(messages(&outcome), [expected]);
}

#[test]
fn mutations_evaluate_to_patches() {
    let object = json!({"spec": {"replicas": 3}, "metadata": {"labels": {}}});
    let json_patch = mutate(
        "has(object.spec.max) ? [] : [JSONPatch{op: 'add', path: '/spec/max', value: object.spec.replicas * 2}, \
         JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b~c'), value: {'x': [1]}}, \
         JSONPatch{op: 'move', from: '/a', path: '/b'}]",
        &object,
    );
    let expected = vec![
        json!({"op": "add", "path": "/spec/max", "value": 6}),
        json!({"op": "add", "path": "/metadata/labels/a~1b~0c", "value": {"x": [1]}}),
        json!({"op": "move", "from": "/a", "path": "/b"}),
    ];
    assert_eq!(json_patch, Ok(Patch::Json(expected)));
    let applied =
        mutate("Object{spec: Object.spec{max: object.spec.replicas, list: [Object.spec.list{a: 'b'}]}}", &object);
    let expected = json!({"spec": {"max": 3, "list": [{"a": "b"}]}});
    assert_eq!(applied.map(|patch| patch_json(&patch)), Ok(expected));
}

fn patch_json(patch: &Patch) -> Value {
    match patch {
        Patch::Json(operations) => Value::Array(operations.clone()),
        Patch::Apply(fields) => Value::Object(fields.clone()),
    }
}

#[test]
fn results_that_are_no_patches_are_errors() {
    let object = json!({"spec": {}});
    for (expression, expected) in [
        ("object", "must evaluate to Object but got dyn"),
        ("Object{spec: Object.status{}}", "type mismatch: unexpected type name \"Object.status\""),
        ("Widget{}", "undeclared reference to 'Widget' (in container '')"),
        ("[JSONPatch{op: 1, path: ''}]", "expected type of field 'op' is 'string' but provided type is 'int'"),
        ("[JSONPatch{operation: 'add'}]", "undefined field 'operation'"),
        ("[JSONPatch{op: 'add', path: '/a', value: b'a'.size}]", "type 'bytes' does not support field selection"),
        ("Object{spec: object.missing}", "no such key: missing"),
    ] {
        let error = mutate(expression, &object).expect_err(expression);
        assert!(error.contains(expected), "{expression}: {error}");
    }
}

#[test]
fn invalid_policies_have_the_errors_of_the_api_server() {
    let spec = json!({
        "failurePolicy": "Maybe",
        "matchConditions": [{"name": "a b", "expression": "variables.x"}],
        "variables": [{"name": "in", "expression": " "}],
        "validations": [{"expression": "1", "message": "a\nb", "reason": "Gone"}],
    });
    let found = errors(PolicyKind::Validating, spec);
    let fields: Vec<&str> = found.iter().filter_map(|error| error.split(": ").next()).collect();
    let expected = [
        "spec.failurePolicy",
        "spec.matchConditions[0].expression",
        "spec.matchConditions[0].name",
        "spec.variables[0].name",
        "spec.variables[0].expression",
        "spec.validations[0].expression",
        "spec.validations[0].message",
        "spec.validations[0].reason",
    ];
    assert_eq!(fields, expected, "{found:#?}");
    assert_eq!(found[0], r#"spec.failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore""#);
    assert_eq!(found[5], r#"spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int"#);
}

#[test]
fn mutating_policies_do_not_match_deletions() {
    let mut policy = policy(json!({"mutations": []}));
    policy["spec"]["matchConstraints"]["resourceRules"][0]["operations"] = json!(["DELETE", "*"]);
    let errors: Vec<String> =
        validate_policy(PolicyKind::Mutating, &policy).iter().map(|error| error.field.clone()).collect();
    let operations = "spec.matchConstraints.resourceRules[0].operations";
    let expected = [
        operations.to_owned(),
        format!("{operations}[0]"),
        format!("{operations}[1]"),
        "spec.mutations".to_owned(),
        "spec.reinvocationPolicy".to_owned(),
    ];
    assert_eq!(errors, expected);
}

#[test]
fn invalid_bindings_have_the_errors_of_the_api_server() {
    let binding = json!({"spec": {
        "policyName": "No",
        "paramRef": {"name": "a", "selector": {}},
        "validationActions": ["Deny", "Warn", "Warn", "Log"],
    }});
    let found = validate_binding(PolicyKind::Validating, &binding);
    let fields: Vec<&str> = found.iter().map(|error| error.field.as_str()).collect();
    let expected = [
        "spec.policyName",
        "spec.paramRef.name",
        "spec.paramRef.selector",
        "spec.paramRef.parameterNotFoundAction",
        "spec.validationActions[2]",
        "spec.validationActions[3]",
        "spec.validationActions",
    ];
    assert_eq!(fields, expected);
}
