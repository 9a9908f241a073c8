//! The environment that the expressions of a policy are compiled in.

use super::{
    expression::Expression,
    object_types::{JSON_PATCH, ObjectTypes},
    request_types,
};
use crate::cel::{
    checker::{self, CheckedExpr, Declarations},
    interpreter,
    syntax::{self, CelError},
    types::{AUTHORIZER, RESOURCE_CHECK, Type},
    validation::CompilationError,
};

/// What an expression is used for, which determines its type and the variables it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpressionKind {
    /// The `expression` of a variable, of any type.
    Variable,
    /// The `expression` of a match condition or of a validation.
    Condition,
    /// A `messageExpression`, which has no authorizer.
    Message,
    /// The `valueExpression` of an audit annotation: a string or null.
    AuditAnnotation,
    /// The `expression` of a JSON patch: a list of operations.
    JsonPatch,
    /// The `expression` of an apply configuration: an object.
    ApplyConfiguration,
}

impl ExpressionKind {
    fn is_mutation(self) -> bool {
        matches!(self, ExpressionKind::JsonPatch | ExpressionKind::ApplyConfiguration)
    }

    /// Whether an expression may have a type.
    fn accepts(self, t: &Type) -> bool {
        match (self, t) {
            (ExpressionKind::Variable, _) => true,
            (ExpressionKind::Condition, t) => *t == Type::Bool,
            (ExpressionKind::Message, t) => *t == Type::String,
            (ExpressionKind::AuditAnnotation, t) => matches!(t, Type::String | Type::Null),
            (ExpressionKind::JsonPatch, Type::List(item)) => is_object(item, JSON_PATCH),
            (ExpressionKind::ApplyConfiguration, t) => is_object(t, "Object"),
            _ => false,
        }
    }

    /// The expected type, as the error of the API server names it.
    fn expected(self) -> &'static str {
        match self {
            ExpressionKind::Variable => "any",
            ExpressionKind::Condition => "bool",
            ExpressionKind::Message => "string",
            ExpressionKind::AuditAnnotation => "one of [string null_type]",
            ExpressionKind::JsonPatch => "list(JSONPatch)",
            ExpressionKind::ApplyConfiguration => "Object",
        }
    }
}

fn is_object(t: &Type, name: &str) -> bool {
    matches!(t, Type::Object(object) if object.name == name)
}

/// The environment that the expressions of a policy are compiled in.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    types: ObjectTypes,
    has_params: bool,
    /// The variables of the policy, with their types.
    variables: Vec<(String, Type)>,
}

impl Environment {
    /// Creates an environment without variables of the policy. `params` is declared if the policy has a `paramKind`.
    pub(crate) fn new(types: ObjectTypes, has_params: bool) -> Self {
        Environment { types, has_params, variables: Vec::new() }
    }

    /// Declares a variable of the policy for the expressions that follow. One that does not compile has the type `dyn`.
    pub(crate) fn declare(&mut self, name: &str, expression: Option<&Expression>) {
        let t = expression.map_or(Type::Dyn, |expression| expression.output_type().clone());
        self.variables.push((name.to_owned(), t));
    }

    /// Compiles an expression.
    ///
    /// # Errors
    /// The expression does not compile or has the wrong type.
    pub(crate) fn compile(&self, source: &str, kind: ExpressionKind) -> Result<Expression, CompilationError> {
        let checked = self
            .check(source, kind)
            .map_err(|errors| CompilationError::from_errors("compilation failed", source, &errors))?;
        let found = checked.type_of(&checked.root);
        if !kind.accepts(found) {
            let detail = format!("must evaluate to {} but got {}", kind.expected(), output_name(found));
            return Err(CompilationError::new(detail, source));
        }
        interpreter::instantiate(&checked.root)
            .map_err(|error| CompilationError::new(format!("program instantiation failed: {error}"), source))?;
        Ok(Expression::new(source, checked))
    }

    fn check(&self, source: &str, kind: ExpressionKind) -> Result<CheckedExpr, Vec<CelError>> {
        let qualified: Vec<String> = self.variables.iter().map(|(name, _)| format!("variables.{name}")).collect();
        let mut variables = vec![
            ("object", self.types.object.clone()),
            ("oldObject", self.types.object.clone()),
            ("request", request_types::admission_request()),
            ("namespaceObject", request_types::namespace()),
        ];
        if !self.variables.is_empty() {
            let fields = self.variables.iter().cloned().collect();
            variables.push(("variables", Type::object("kubernetes.variables", fields)));
        }
        variables.extend(qualified.iter().zip(&self.variables).map(|(name, (_, t))| (name.as_str(), t.clone())));
        if self.has_params {
            variables.push(("params", self.types.params.clone()));
        }
        if kind != ExpressionKind::Message {
            variables.extend([("authorizer", AUTHORIZER), ("authorizer.requestResource", RESOURCE_CHECK)]);
        }
        let message = |name: &str| self.types.message(name);
        let messages: Option<checker::FindMessage<'_>> = if kind.is_mutation() { Some(&message) } else { None };
        let declarations = Declarations { variables: &variables, messages };
        let checked = checker::check(syntax::parse(source)?, declarations)?;
        let errors = checker::validate_literals(&checked);
        if errors.is_empty() { Ok(checked) } else { Err(errors) }
    }
}

/// The name of a type in the error for a wrong one.
fn output_name(t: &Type) -> String {
    match t {
        Type::Null => "null_type".to_owned(),
        other => other.to_string(),
    }
}
