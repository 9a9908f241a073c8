//! The files of admission policies, and the errors of their expressions.

use kubewright_codegen::{CrdOptions, File, Layout, generate, generate_with_warnings};
use kubewright_core::meta::{
    ApiGroup, ApiKind, Policy, PolicyDefault, PolicyParams, PolicyRule, PolicySettings, PolicyVariable, Scope, TypeMeta,
};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

fn schema(_: &mut SchemaGenerator) -> Schema {
    let spec = json_schema!({"type": "object", "properties": {
        "size": {"type": "integer"},
        "limit": {"type": "integer"},
        "level": {"type": "string"},
    }});
    json_schema!({"type": "object", "properties": {"spec": spec}})
}

const SETTINGS: PolicySettings = PolicySettings {
    name: "validation",
    operations: &["CREATE", "UPDATE"],
    condition: None,
    ignores_failures: false,
    params: None,
};

const RULE: PolicyRule = PolicyRule {
    policy: SETTINGS,
    expression: "object.spec.size <= variables.limit || 'admins' in request.userInfo.groups",
    message: Some("too large"),
    message_expression: None,
    reason: Some("Forbidden"),
    actions: &["Deny"],
};

const DEFAULT: PolicyDefault = PolicyDefault {
    policy: PolicySettings { name: "defaults", ..SETTINGS },
    expression: "object.spec.size * 2",
    field: Some("spec.limit"),
    reinvoked: false,
};

const LIMIT: Policy = Policy::Variable(PolicyVariable { name: "limit", expression: "5" });
const UNUSED: Policy = Policy::Variable(PolicyVariable { name: "unused", expression: "6" });

const PARAMS: PolicyParams =
    PolicyParams { api_version: "v1", kind: "ConfigMap", name: Some("limits"), namespace: None, required: true };

const WIDGET: ApiKind = ApiKind {
    kind: "Widget",
    rust_name: "Widget",
    plural: "widgets",
    singular: "widget",
    scope: Scope::Namespaced,
    schema: Some(schema),
    ..ApiKind::DEFAULT
};

const fn group(version: &'static str, types: &'static [TypeMeta]) -> ApiGroup {
    ApiGroup { group: "example.com", version, module: "my_types::v1", types, ..ApiGroup::DEFAULT }
}

/// The group of a kind with policies.
macro_rules! group_with {
    ($($policy:expr),* $(,)?) => {{
        const TYPES: &[TypeMeta] = &[TypeMeta::Kind(ApiKind { policies: &[$($policy),*], ..WIDGET })];
        group("v1", TYPES)
    }};
}

const PATH: &str = "config/policy/example.com_widgets.yaml";

fn files(group: ApiGroup) -> Vec<File> {
    generate(&[group], &Layout::for_types_crate("my_types")).unwrap()
}

fn documents(group: ApiGroup) -> Vec<Value> {
    let file = files(group).into_iter().find(|file| file.path == PATH).unwrap();
    file.contents.split("\n---\n").map(|document| serde_saphyr::from_str(document).unwrap()).collect()
}

fn error(group: ApiGroup) -> String {
    generate(&[group], &Layout::for_types_crate("my_types")).unwrap_err().to_string()
}

#[test]
fn rules_become_a_policy_and_its_binding() {
    let documents = documents(group_with![LIMIT, UNUSED, Policy::Rule(RULE)]);
    let [policy, binding] = documents.as_slice() else { panic!("two documents: {documents:#?}") };
    let rule = json!({
        "apiGroups": ["example.com"],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["widgets"],
    });
    let expected = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "validation.widgets.example.com"},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"matchPolicy": "Equivalent", "resourceRules": [rule]},
            "variables": [{"name": "limit", "expression": "5"}],
            "validations": [{"expression": RULE.expression, "message": "too large", "reason": "Forbidden"}],
        },
    });
    assert_eq!(*policy, expected);
    let expected = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "validation.widgets.example.com"},
        "spec": {"policyName": "validation.widgets.example.com", "validationActions": ["Deny"]},
    });
    assert_eq!(*binding, expected);
}

#[test]
fn defaults_become_a_mutating_policy() {
    const OWNER: PolicyDefault = PolicyDefault {
        expression: "Object{spec: Object.spec{level: request.userInfo.username}}",
        field: None,
        ..DEFAULT
    };
    let documents = documents(group_with![Policy::Default(DEFAULT), Policy::Default(OWNER)]);
    let [policy, binding] = documents.as_slice() else { panic!("two documents: {documents:#?}") };
    assert_eq!(policy["kind"], "MutatingAdmissionPolicy");
    assert_eq!(policy["spec"]["reinvocationPolicy"], "Never");
    let patch = "has(object.spec) && !has(object.spec.limit) ? [JSONPatch{op: \"add\", path: \"/spec/limit\", value: \
                 object.spec.size * 2}] : []";
    let expected = json!([
        {"patchType": "JSONPatch", "jsonPatch": {"expression": patch}},
        {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": OWNER.expression}},
    ]);
    assert_eq!(policy["spec"]["mutations"], expected);
    assert_eq!(binding["spec"], json!({"policyName": "defaults.widgets.example.com"}));
}

#[test]
fn names_and_actions_separate_policies() {
    const WARNING: PolicyRule = PolicyRule {
        policy: PolicySettings {
            name: "warning",
            condition: Some("request.operation == 'CREATE'"),
            ignores_failures: true,
            params: Some(PARAMS),
            ..SETTINGS
        },
        expression: "object.spec.size < int(params.data.max)",
        actions: &["Warn", "Audit"],
        ..RULE
    };
    let documents = documents(group_with![LIMIT, Policy::Rule(RULE), Policy::Rule(WARNING), Policy::Rule(RULE)]);
    let names: Vec<&str> = documents.iter().map(|object| object["metadata"]["name"].as_str().unwrap()).collect();
    let (validation, warning) = ("validation.widgets.example.com", "warning.widgets.example.com");
    assert_eq!(names, [validation, validation, warning, warning]);
    assert_eq!(documents[0]["spec"]["validations"].as_array().unwrap().len(), 2);
    let spec = &documents[2]["spec"];
    assert_eq!(spec["failurePolicy"], "Ignore");
    assert_eq!(spec["paramKind"], json!({"apiVersion": "v1", "kind": "ConfigMap"}));
    assert_eq!(spec["matchConditions"][0]["expression"], "request.operation == 'CREATE'");
    assert_eq!(spec.get("variables"), None);
    let reference = json!({"name": "limits", "parameterNotFoundAction": "Deny"});
    let expected = json!({
        "policyName": warning,
        "validationActions": ["Warn", "Audit"],
        "paramRef": reference,
    });
    assert_eq!(documents[3]["spec"], expected);
}

#[test]
fn kinds_without_policies_have_no_file() {
    assert!(files(group_with![]).iter().all(|file| !file.path.contains("policy")));
}

#[test]
fn a_kustomization_lists_the_files_if_it_is_enabled() {
    let options = CrdOptions { kustomization: true, ..CrdOptions::default() };
    let layout = Layout { crd: options, ..Layout::for_types_crate("my_types") };
    let files = generate(&[group_with![LIMIT, Policy::Rule(RULE)]], &layout).unwrap();
    let kustomization = files.iter().find(|file| file.path == "config/policy/kustomization.yaml").unwrap();
    assert!(kustomization.contents.ends_with("resources:\n- example.com_widgets.yaml\n"), "{kustomization:?}");
}

#[test]
fn expressions_are_checked_with_the_schema() {
    const MISSPELLED: PolicyRule = PolicyRule { expression: "object.spec.sise <= oldObject.spec.size", ..RULE };
    let found = error(group_with![Policy::Rule(MISSPELLED)]);
    assert!(found.starts_with("`my_types::v1::Widget`: policy `validation.widgets.example.com`: "), "{found}");
    assert!(found.contains("undefined field 'sise'") && found.contains("did you mean `size`?"), "{found}");
    const NO_BOOL: PolicyRule = PolicyRule { expression: "request.name", ..RULE };
    assert!(error(group_with![Policy::Rule(NO_BOOL)]).contains("must evaluate to bool but got string"));
    const WRONG: PolicyDefault =
        PolicyDefault { field: None, expression: "Object{spec: Object.spec{sise: 1}}", ..DEFAULT };
    assert!(error(group_with![Policy::Default(WRONG)]).contains("undefined field 'sise'"));
}

#[test]
fn defaults_have_a_field_of_their_type() {
    const NO_FIELD: PolicyDefault = PolicyDefault { field: Some("spec.sise"), ..DEFAULT };
    let found = error(group_with![Policy::Default(NO_FIELD)]);
    assert!(found.ends_with("the default of `spec.sise`: unknown field: `spec` has no `sise`"), "{found}");
    const NO_NUMBER: PolicyDefault = PolicyDefault { field: Some("spec.level"), ..DEFAULT };
    let found = error(group_with![Policy::Default(NO_NUMBER)]);
    assert!(found.ends_with("the field has the type `string`, but the expression has `int`"), "{found}");
    const NO_PATH: PolicyDefault = PolicyDefault { field: Some("spec..size"), ..DEFAULT };
    assert!(error(group_with![Policy::Default(NO_PATH)]).contains("the default of `spec..size`: invalid path"));
}

#[test]
fn two_versions_with_policies_are_an_error() {
    const TYPES: &[TypeMeta] = &[TypeMeta::Kind(ApiKind {
        policies: &[LIMIT, Policy::Rule(RULE)],
        definition: kubewright_core::meta::Definition { storage: true, ..kubewright_core::meta::Definition::DEFAULT },
        ..WIDGET
    })];
    let groups = [group("v1", TYPES), group_with![LIMIT, Policy::Rule(RULE)]];
    let groups = [groups[0], ApiGroup { version: "v2", module: "my_types::v2", ..groups[1] }];
    let found = generate(&groups, &Layout::for_types_crate("my_types")).unwrap_err().to_string();
    let expected = "`my_types::v2::Widget`: `my_types::v1::Widget` has policies as well";
    assert!(found.starts_with(expected), "{found}");
}

#[test]
fn rules_about_the_object_alone_are_warnings() {
    const OF_DEFINITION: PolicyRule = PolicyRule { expression: "object.spec.size <= 5", ..RULE };
    let group = group_with![LIMIT, Policy::Rule(RULE), Policy::Rule(OF_DEFINITION)];
    let generated = generate_with_warnings(&[group], &Layout::for_types_crate("my_types")).unwrap();
    let warnings: Vec<String> = generated.warnings.iter().map(ToString::to_string).collect();
    let expected = "`my_types::v1::Widget`: the policy rule `object.spec.size <= 5` reads only the object";
    assert!(matches!(warnings.as_slice(), [one] if one.starts_with(expected)), "{warnings:?}");
}
