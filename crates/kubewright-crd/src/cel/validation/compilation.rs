//! Compiles a rule: parses and checks its expressions, and estimates their cost.

use crate::cel::{
    checker::{self, CheckedExpr, Declarations},
    cost, interpreter,
    schema::ValidationRule,
    syntax::{self, CelError, Source},
    types::{DeclType, Type},
};

/// The result of compiling a rule. A rule without an expression has none.
#[derive(Debug, Default)]
pub(super) struct CompilationResult {
    pub(super) rule: Option<CheckedExpr>,
    pub(super) message_expression: Option<CheckedExpr>,
    /// The estimated maximum cost of one evaluation.
    pub(super) max_cost: u64,
    pub(super) max_message_cost: u64,
    pub(super) rule_error: Option<CompilationError>,
    pub(super) message_error: Option<CompilationError>,
}

impl CompilationResult {
    pub(super) fn uses_old_self(&self) -> bool {
        self.rule.as_ref().is_some_and(|rule| rule.uses_old_self)
    }
}

/// An expression that the server rejects.
#[derive(Debug)]
pub(crate) struct CompilationError {
    /// The detail of the server's message.
    pub(crate) detail: String,
    /// The same with the source text and suggestions on separate lines.
    pub(crate) report: String,
}

impl CompilationError {
    pub(crate) fn from_errors(message: &str, source: &str, errors: &[CelError]) -> Self {
        let source = Source(source);
        CompilationError {
            detail: format!("{message}: {}", source.format(errors)),
            report: format!("{message}:\n{}", source.format_with_suggestions(errors)),
        }
    }

    /// An error of the complete expression.
    pub(crate) fn new(detail: String, source: &str) -> Self {
        let lines: String = source.trim().lines().map(|line| format!("\n | {line}")).collect();
        CompilationError { report: format!("{detail}{lines}"), detail }
    }
}

/// The type that an expression must have, and the server's error texts.
struct ExpressionKind {
    output_type: Type,
    compilation_failed: &'static str,
    wrong_output_type: &'static str,
    instantiation_failed: &'static str,
}

const RULE: ExpressionKind = ExpressionKind {
    output_type: Type::Bool,
    compilation_failed: "compilation failed",
    wrong_output_type: "cel expression must evaluate to a bool",
    instantiation_failed: "program instantiation failed",
};

const MESSAGE_EXPRESSION: ExpressionKind = ExpressionKind {
    output_type: Type::String,
    compilation_failed: "messageExpression compilation failed",
    wrong_output_type: "messageExpression must evaluate to a string",
    instantiation_failed: "messageExpression instantiation failed",
};

/// The environment that the rules of a schema are compiled in: the variables `self` and `oldSelf`.
pub(super) struct RuleEnvironment<'a> {
    declared: &'a DeclType,
    self_type: Type,
}

impl<'a> RuleEnvironment<'a> {
    /// Creates an environment. The server gives the type of `self` a unique name for each rule; here it is `selfType`.
    pub(super) fn new(declared: &'a DeclType) -> Self {
        RuleEnvironment { declared, self_type: declared.to_type("selfType") }
    }

    pub(super) fn compile(&self, rule: &ValidationRule) -> CompilationResult {
        let mut result = CompilationResult::default();
        if rule.rule.trim().is_empty() {
            return result;
        }
        match self.compile_expression(&rule.rule, rule, &RULE) {
            Err(error) => {
                result.rule_error = Some(error);
                return result;
            }
            Ok(checked) => {
                result.max_cost = cost::estimate_cost(&checked, self.declared);
                result.rule = Some(checked);
            }
        }
        if rule.message_expression.is_empty() {
            return result;
        }
        match self.compile_expression(&rule.message_expression, rule, &MESSAGE_EXPRESSION) {
            Err(error) => result.message_error = Some(error),
            Ok(checked) => {
                result.max_message_cost = cost::estimate_cost(&checked, self.declared);
                result.message_expression = Some(checked);
            }
        }
        result
    }

    fn compile_expression(
        &self,
        source: &str,
        rule: &ValidationRule,
        kind: &ExpressionKind,
    ) -> Result<CheckedExpr, CompilationError> {
        let checked = self
            .check(source, rule)
            .map_err(|errors| CompilationError::from_errors(kind.compilation_failed, source, &errors))?;
        if *checked.type_of(&checked.root) != kind.output_type {
            return Err(CompilationError::new(kind.wrong_output_type.to_owned(), source));
        }
        interpreter::instantiate(&checked.root)
            .map_err(|error| CompilationError::new(format!("{}: {error}", kind.instantiation_failed), source))?;
        Ok(checked)
    }

    /// Parses and checks an expression of a rule.
    fn check(&self, source: &str, rule: &ValidationRule) -> Result<CheckedExpr, Vec<CelError>> {
        let self_type = self.self_type.clone();
        let is_optional = rule.optional_old_self == Some(true);
        let old_self_type = if is_optional { Type::optional(self_type.clone()) } else { self_type.clone() };
        let variables = [("self", self_type), ("oldSelf", old_self_type)];
        let declarations = Declarations { variables: &variables, messages: None };
        let checked = checker::check(syntax::parse(source)?, declarations)?;
        let errors = checker::validate_literals(&checked);
        if errors.is_empty() { Ok(checked) } else { Err(errors) }
    }
}
