//! The keys of `#[policy(..)]` and of its parameters.

use super::{AttributeKey, EMPTY, Section};

pub(crate) const REASONS: [&str; 4] = ["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"];
pub(crate) const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];
pub(crate) const OPERATIONS: [&str; 4] = ["CREATE", "UPDATE", "DELETE", "CONNECT"];
pub(crate) const FAILURE_POLICIES: [&str; 2] = ["Fail", "Ignore"];
pub(crate) const REINVOCATIONS: [&str; 2] = ["IfNeeded", "Never"];
pub(crate) const NOT_FOUND: [&str; 2] = ["Allow", "Deny"];

pub(crate) const POLICY: Section = Section {
    name: "policy",
    nested: false,
    title: "#[policy(..)] on a kind",
    accepted_by: &["Object"],
    keys: &[
        AttributeKey {
            key: "rule",
            syntax: "rule = \"..\"",
            description: "A validation in CEL on the variables `object`, `oldObject`, `request`, `params`, \
                          `namespaceObject`, `authorizer` and `variables`: a ValidatingAdmissionPolicy and its \
                          binding.",
            constraints: "Can be repeated. The generator checks it with the schema of the kind. A rule about the \
                          object alone belongs in `#[schema(validation(..))]`.",
            example: "#[policy(rule = \"object.spec.size <= 5 || 'admins' in request.userInfo.groups\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "message",
            syntax: "message = \"..\"",
            description: "The message for a request that fails the rule.",
            constraints: "Default: `failed expression` and the rule. One line. With `rule`.",
            example: "#[policy(rule = \"object.spec.size <= 5\", message = \"at most 5\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "message_expression",
            syntax: "message_expression = \"..\"",
            description: "The message as a CEL expression, which has no `authorizer`. If it fails, `message` applies.",
            constraints: "With `rule`.",
            example: "#[policy(rule = \"object.spec.size <= 5\", message_expression = \"'%d is too \
                      large'.format([object.spec.size])\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "reason",
            syntax: "reason = \"Forbidden\"",
            values: || REASONS.to_vec(),
            description: "The reason of a denied request, which determines its HTTP status code.",
            constraints: "Default: `Invalid`. With `rule`.",
            example: "#[policy(rule = \"object.spec.size <= 5\", reason = \"Forbidden\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "actions",
            syntax: "actions = [\"Warn\", \"Audit\"]",
            values: || ACTIONS.to_vec(),
            description: "What happens to a request that fails the rule: it is denied, the client is warned, or the \
                          audit event records it.",
            constraints: "Default: `Deny`. `Deny` and `Warn` exclude each other. With `rule`.",
            example: "#[policy(rule = \"object.spec.size <= 5\", actions = [\"Warn\"])]",
            ..EMPTY
        },
        AttributeKey {
            key: "default",
            syntax: "default = \"..\"",
            description: "The value of the field in `field`, in CEL, if the field is absent; or a patch, if there is \
                          no `field`: a MutatingAdmissionPolicy and its binding.",
            constraints: "Can be repeated; later defaults see the values of earlier ones. A patch is an \
                          `Object{..}` or a list of `JSONPatch{..}`. A constant belongs in `#[default(..)]`.",
            example: "#[policy(default = \"object.spec.size * 2\", field = \"spec.limit\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "field",
            syntax: "field = \"spec.size\"",
            description: "The JSON path of the field that the default is for; `['..']` selects an entry of a map.",
            constraints: "The default applies if the object that contains the field exists; a map is created. With \
                          `default`.",
            example: "#[policy(default = \"request.userInfo.username\", field = \"metadata.labels['owner']\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "reinvocation",
            syntax: "reinvocation = \"IfNeeded\"",
            values: || REINVOCATIONS.to_vec(),
            description: "Whether defaults are evaluated once more if another policy or webhook changes the object.",
            constraints: "Default: `Never`. With `default`.",
            example: "#[policy(default = \"1\", field = \"spec.size\", reinvocation = \"IfNeeded\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "variable",
            syntax: "variable = \"limit\"",
            description: "The name of a variable, which rules and defaults read as `variables.limit`.",
            constraints: "Can be repeated. A variable can read those before it.",
            example: "#[policy(variable = \"limit\", value = \"params == null ? 5 : params.spec.limit\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "value",
            syntax: "value = \"..\"",
            description: "The value of the variable, in CEL.",
            constraints: "Required with `variable`.",
            example: "#[policy(variable = \"double\", value = \"object.spec.size * 2\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "when",
            syntax: "when = \"..\"",
            description: "The requests that the policy applies to, in CEL without `variables` and `namespaceObject`.",
            constraints: "Default: all. With `rule` or `default`.",
            example: "#[policy(rule = \"object.spec.size <= 5\", when = \"!('admins' in request.userInfo.groups)\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "operations",
            syntax: "operations = [\"CREATE\"]",
            values: || OPERATIONS.to_vec(),
            description: "The operations that the policy applies to.",
            constraints: "Default: `CREATE` and `UPDATE`. A default cannot apply to `DELETE`. With `rule` or `default`.",
            example: "#[policy(rule = \"oldObject.spec.size == 0\", operations = [\"DELETE\"], name = \"deletion\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "failure_policy",
            syntax: "failure_policy = \"Ignore\"",
            values: || FAILURE_POLICIES.to_vec(),
            description: "Whether a failed evaluation rejects the request, or the policy is ignored.",
            constraints: "Default: `Fail`. With `rule` or `default`.",
            example: "#[policy(rule = \"object.spec.size <= 5\", failure_policy = \"Ignore\")]",
            ..EMPTY
        },
        AttributeKey {
            key: "params",
            syntax: "params(api_version = \"v1\", kind = \"ConfigMap\")",
            description: "The objects that expressions read as `params`.",
            constraints: "With `rule` or `default`.",
            example: "#[policy(rule = \"object.spec.size <= int(params.data.max)\", params(api_version = \"v1\", kind \
                      = \"ConfigMap\", name = \"limits\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "name",
            syntax: "name = \"limits\"",
            description: "The first part of the name of the policy, which is followed by the name of the definition: \
                          `limits.widgets.example.com`.",
            constraints: "Default: `validation`, `warning` or `audit` by the actions of a rule, `defaults` for \
                          defaults. Attributes with the same name form one policy, and have the same operations, \
                          actions, parameters, `when`, `failure_policy` and `reinvocation`.",
            example: "#[policy(rule = \"object.spec.size <= 5\", name = \"limits\")]",
            ..EMPTY
        },
    ],
};

pub(crate) const PARAMS: Section = Section {
    name: "params",
    nested: true,
    title: "#[policy(params(..))], the parameters of a policy",
    accepted_by: &["Object"],
    keys: &[
        AttributeKey {
            key: "api_version",
            syntax: "api_version = \"example.com/v1\"",
            description: "Group and version of the parameters.",
            constraints: "Required.",
            example: "#[policy(rule = \"params != null\", params(api_version = \"example.com/v1\", kind = \"Limit\"))]",
            required: true,
            ..EMPTY
        },
        AttributeKey {
            key: "kind",
            syntax: "kind = \"ConfigMap\"",
            description: "The kind of the parameters.",
            constraints: "Required.",
            example: "#[policy(rule = \"params != null\", params(api_version = \"v1\", kind = \"ConfigMap\"))]",
            required: true,
            ..EMPTY
        },
        AttributeKey {
            key: "name",
            syntax: "name = \"limits\"",
            description: "The name of the object.",
            constraints: "Default: the policy is evaluated for each object of the kind.",
            example: "#[policy(rule = \"params != null\", params(api_version = \"v1\", kind = \"ConfigMap\", name = \
                      \"limits\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "namespace",
            syntax: "namespace = \"widgets\"",
            description: "The namespace of the object.",
            constraints: "Default: the namespace of the request.",
            example: "#[policy(rule = \"params != null\", params(api_version = \"v1\", kind = \"ConfigMap\", name = \
                      \"limits\", namespace = \"widgets\"))]",
            ..EMPTY
        },
        AttributeKey {
            key: "not_found",
            syntax: "not_found = \"Deny\"",
            values: || NOT_FOUND.to_vec(),
            description: "What happens to a request if there is no such object.",
            constraints: "Default: `Allow`.",
            example: "#[policy(rule = \"params != null\", params(api_version = \"v1\", kind = \"ConfigMap\", name = \
                      \"limits\", not_found = \"Deny\"))]",
            ..EMPTY
        },
    ],
};
