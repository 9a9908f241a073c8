//! Checks the expressions of a policy with the schema of the objects that it applies to.
//!
//! The API server compiles expressions without schemas: a misspelled field fails when a request is evaluated, and a
//! controller reports it in the status of the policy at best.

use serde_json::Value;

use super::{
    compiler::ExpressionError,
    fields::{field, items, text},
    kind::PolicyKind,
    mutating::MutatingPolicy,
    validating::ValidatingPolicy,
};
use crate::cel::{
    Structural,
    policy::{Environment, ExpressionKind, ObjectTypes},
};

/// Checks expressions with the schemas of objects and parameters.
#[derive(Clone, Debug)]
pub struct TypeChecker {
    types: ObjectTypes,
}

/// What is wrong with the default of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefaultError {
    /// The schema has no such field. Contains the length of the part of the path that exists.
    UnknownField(usize),
    /// The expression does not compile.
    Expression(ExpressionError),
    /// The expression has another type than the field.
    Type {
        /// The type of the field.
        expected: String,
        /// The type of the expression.
        found: String,
    },
}

impl TypeChecker {
    /// Creates a checker for the schema of an object (the `openAPIV3Schema` of a version), and that of the parameters
    /// if it is known.
    pub fn new(schema: &Value, params: Option<&Value>) -> Self {
        let params = params.map(Structural::decode);
        TypeChecker { types: ObjectTypes::from_schemas(&Structural::decode(schema), params.as_ref()) }
    }

    /// Checks all expressions of a policy.
    pub fn check(&self, kind: PolicyKind, policy: &Value) -> Vec<ExpressionError> {
        match kind {
            PolicyKind::Validating => ValidatingPolicy::compile(policy, self.types.clone()).1,
            PolicyKind::Mutating => MutatingPolicy::compile(policy, self.types.clone()).1,
        }
    }

    /// Whether the field at a path is a map, whose keys the schema does not declare.
    pub fn is_map(&self, path: &[&str]) -> bool {
        self.types.field(path).is_ok_and(|t| ObjectTypes::is_map(&t))
    }

    /// Checks that the field at a path can have the value of an expression of a policy.
    ///
    /// # Errors
    /// There is no such field, or it has another type, or the expression does not compile.
    pub fn check_default(&self, policy: &Value, path: &[&str], expression: &str) -> Result<(), DefaultError> {
        let expected = self.types.field(path).map_err(DefaultError::UnknownField)?;
        let compiled = self.environment(policy).compile(expression, ExpressionKind::Variable).map_err(|error| {
            DefaultError::Expression(ExpressionError {
                field: path.join("."),
                expression: expression.to_owned(),
                detail: error.detail,
                report: error.report,
            })
        })?;
        let found = compiled.output_type();
        if ObjectTypes::is_assignable(found, &expected) {
            return Ok(());
        }
        Err(DefaultError::Type { expected: expected.to_string(), found: found.to_string() })
    }

    /// Whether an expression of a policy reads only the object, so that a rule of its definition can replace it.
    pub fn is_rule_of_definition(&self, policy: &Value, expression: &str) -> bool {
        let compiled = self.environment(policy).compile(expression, ExpressionKind::Condition);
        compiled.is_ok_and(|expression| expression.reads_only_object())
    }

    /// The environment of the expressions that follow the variables of a policy.
    fn environment(&self, policy: &Value) -> Environment {
        let spec = field(policy, "spec");
        let mut environment = Environment::new(self.types.clone(), !field(spec, "paramKind").is_null());
        for variable in items(spec, "variables") {
            let compiled = environment.compile(text(variable, "expression"), ExpressionKind::Variable);
            environment.declare(text(variable, "name"), compiled.as_ref().ok());
        }
        environment
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn checker() -> TypeChecker {
        let schema = json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "replicas": {"type": "integer"},
                "level": {"type": "string"},
                "ports": {"type": "array", "items": {"type": "object", "properties": {"port": {"type": "integer"}}}},
            }},
        }});
        TypeChecker::new(&schema, None)
    }

    fn policy(expression: &str) -> Value {
        json!({"spec": {
            "variables": [{"name": "limit", "expression": "object.spec.replicas + 1"}],
            "validations": [{"expression": expression}],
        }})
    }

    fn errors(expression: &str) -> Vec<String> {
        let errors = checker().check(PolicyKind::Validating, &policy(expression));
        errors.into_iter().map(|error| error.report).collect()
    }

    #[test]
    fn fields_of_the_schema_and_of_the_metadata_exist() {
        for expression in [
            "object.spec.replicas <= 5",
            "object.spec.ports.all(p, p.port > 0)",
            "object.metadata.labels['team'] == request.userInfo.username",
            "has(object.metadata.annotations) && 'a' in object.metadata.annotations",
            "oldObject == null || oldObject.spec.level == object.spec.level",
            "variables.limit < 10",
            "authorizer.requestResource.check('scale').allowed()",
            "namespaceObject.metadata.labels.exists(key, key == 'prod')",
        ] {
            assert_eq!(errors(expression), Vec::<String>::new(), "{expression}");
        }
    }

    #[test]
    fn misspelled_fields_and_wrong_types_are_errors() {
        for (expression, expected) in [
            ("object.spec.replcias <= 5", "help: did you mean `replicas`?"),
            ("spec.replicas <= 5", "help: did you mean `object.spec`?"),
            ("object.spec.level > 5", "found no matching overload for '_>_' applied to '(string, int)'"),
            ("variables.limits < 10", "help: did you mean `limit`?"),
            ("request.user.name == 'a'", "undefined field 'user'"),
            ("object.spec.replicas", "must evaluate to bool but got int"),
        ] {
            let errors = errors(expression);
            assert!(errors.len() == 1 && errors[0].contains(expected), "{expression}: {errors:?}");
        }
    }

    #[test]
    fn defaults_have_the_type_of_their_field() {
        let check = |path: &[&str], expression: &str| checker().check_default(&policy("true"), path, expression);
        assert_eq!(check(&["spec", "replicas"], "variables.limit"), Ok(()));
        assert_eq!(check(&["metadata", "labels", "example.com/team"], "request.userInfo.username"), Ok(()));
        let mismatch = DefaultError::Type { expected: "int".to_owned(), found: "string".to_owned() };
        assert_eq!(check(&["spec", "replicas"], "object.spec.level"), Err(mismatch));
        assert_eq!(check(&["spec", "size"], "1"), Err(DefaultError::UnknownField(1)));
        assert!(matches!(check(&["spec", "replicas"], "1 +"), Err(DefaultError::Expression(_))));
        assert!(checker().is_map(&["metadata", "labels"]) && !checker().is_map(&["spec"]));
    }

    #[test]
    fn expressions_that_read_only_the_object_belong_into_the_definition() {
        for (expression, expected) in [
            ("object.spec.replicas <= 5", true),
            ("object.metadata.name.size() < 10", true),
            ("!has(object.metadata.name) || has(object.spec.level)", true),
            ("object.metadata.labels['a'] == 'b'", false),
            ("has(object.metadata.labels)", false),
            ("object.spec.replicas <= oldObject.spec.replicas", false),
            ("object.spec.level == request.name", false),
            ("object.spec.replicas < variables.limit", false),
            ("object == null", false),
            ("true", false),
        ] {
            assert_eq!(checker().is_rule_of_definition(&policy("true"), expression), expected, "{expression}");
        }
    }
}
