//! One rule, compiled: checked, priced, and refused if it is no rule.

use super::{
    checker::{self, Checked},
    cost,
    declared::Declared,
    literals, parser,
    schema::Rule,
    syntax::Source,
    types::Type,
};

/// What a rule compiled to. A rule without text compiles to nothing.
#[derive(Debug, Default)]
pub(super) struct Compiled {
    pub(super) rule: Option<Checked>,
    pub(super) message: Option<Checked>,
    /// The most one run may cost.
    pub(super) cost: u64,
    pub(super) message_cost: u64,
    pub(super) rule_error: Option<String>,
    pub(super) message_error: Option<String>,
}

impl Compiled {
    pub(super) fn uses_old_self(&self) -> bool {
        self.rule.as_ref().is_some_and(|rule| rule.uses_old_self)
    }
}

/// The values a node's rules read, as their types.
pub(super) struct Scope<'a> {
    pub(super) declared: &'a Declared,
    self_type: Type,
}

impl<'a> Scope<'a> {
    /// The server gives the type of `self` a new name for each rule; here it is `selfType`.
    pub(super) fn new(declared: &'a Declared) -> Self {
        Scope { declared, self_type: declared.named("selfType") }
    }

    pub(super) fn compile(&self, rule: &Rule) -> Compiled {
        let mut compiled = Compiled::default();
        if rule.rule.trim().is_empty() {
            return compiled;
        }
        let is_optional = rule.optional_old_self == Some(true);
        let checked = match self.check(&rule.rule, is_optional) {
            Err(mistakes) => {
                compiled.rule_error = Some(format!("compilation failed: {mistakes}"));
                return compiled;
            }
            Ok(checked) if *checked.type_of(&checked.root) != Type::Bool => {
                compiled.rule_error = Some("cel expression must evaluate to a bool".to_owned());
                return compiled;
            }
            Ok(checked) => checked,
        };
        if let Err(error) = literals::instantiate(&checked.root) {
            compiled.rule_error = Some(format!("program instantiation failed: {error}"));
            return compiled;
        }
        compiled.cost = cost::estimate(&checked, self.declared);
        compiled.rule = Some(checked);
        if !rule.message_expression.is_empty() {
            self.compile_message(rule, is_optional, &mut compiled);
        }
        compiled
    }

    fn compile_message(&self, rule: &Rule, is_optional: bool, compiled: &mut Compiled) {
        match self.check(&rule.message_expression, is_optional) {
            Err(mistakes) => {
                compiled.message_error = Some(format!("messageExpression compilation failed: {mistakes}"));
            }
            Ok(checked) if *checked.type_of(&checked.root) != Type::String => {
                compiled.message_error = Some("messageExpression must evaluate to a string".to_owned());
            }
            Ok(checked) => {
                if let Err(error) = literals::instantiate(&checked.root) {
                    compiled.message_error = Some(format!("messageExpression instantiation failed: {error}"));
                    return;
                }
                compiled.message_cost = cost::estimate(&checked, self.declared);
                compiled.message = Some(checked);
            }
        }
    }

    fn check(&self, text: &str, is_optional: bool) -> Result<Checked, String> {
        let old_self = if is_optional { Type::optional(self.self_type.clone()) } else { self.self_type.clone() };
        let variables = [("self", self.self_type.clone()), ("oldSelf", old_self)];
        parser::parse(text)
            .and_then(|parsed| checker::check(parsed, &variables))
            .and_then(|checked| match literals::check(&checked) {
                mistakes if mistakes.is_empty() => Ok(checked),
                mistakes => Err(mistakes),
            })
            .map_err(|mistakes| Source(text).show(&mistakes))
    }
}
