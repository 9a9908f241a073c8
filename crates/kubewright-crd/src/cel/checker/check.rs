//! Infers the types of an expression and resolves the overloads of its calls (`checker/checker.go` of cel-go).

mod literals;

use std::{collections::HashMap, iter, sync::Arc};

use super::{
    functions::{self, Overload},
    suggestion::most_similar,
};
use crate::cel::{
    syntax::{Call, CelError, Comprehension, Expr, ExprKind, Id, Literal, ParsedExpr, Select, is_reserved, operator},
    types::{ObjectType, Substitutions, Type},
};

/// A type-checked expression.
#[derive(Debug)]
pub(crate) struct CheckedExpr {
    pub(crate) root: Expr,
    /// Indexed by node: characters from the start.
    offsets: Vec<usize>,
    /// Indexed by node.
    types: Vec<Type>,
    /// The overloads that the arguments of a call match.
    overloads: HashMap<Id, Vec<&'static str>>,
    /// Whether the expression reads the variable `oldSelf`.
    pub(crate) uses_old_self: bool,
}

impl CheckedExpr {
    pub(crate) fn type_of(&self, expr: &Expr) -> &Type {
        &self.types[expr.id]
    }

    /// The offset of a node in characters from the start.
    pub(crate) fn offset_of(&self, expr: &Expr) -> usize {
        self.offsets[expr.id]
    }

    /// The ids of the overloads that a call may resolve to.
    pub(crate) fn overloads_of(&self, expr: &Expr) -> &[&'static str] {
        self.overloads.get(&expr.id).map_or(&[], Vec::as_slice)
    }
}

/// Finds the type of the messages with a name.
pub(crate) type FindMessage<'a> = &'a dyn Fn(&str) -> Option<Arc<ObjectType>>;

/// The declarations of an environment, in addition to those of the libraries.
#[derive(Clone, Copy)]
pub(crate) struct Declarations<'a> {
    /// The variables, which can have qualified names.
    pub(crate) variables: &'a [(&'a str, Type)],
    /// The messages that an expression can construct, and thereby the functions of patches; `None` without them.
    pub(crate) messages: Option<FindMessage<'a>>,
}

/// Checks an expression in an environment.
pub(crate) fn check(parsed: ParsedExpr, declarations: Declarations<'_>) -> Result<CheckedExpr, Vec<CelError>> {
    let ParsedExpr { mut root, offsets } = parsed;
    let mut checker = Checker {
        types: vec![Type::Error; offsets.len()],
        offsets,
        scope: declarations.variables.iter().map(|(name, t)| ((*name).to_owned(), t.clone())).collect(),
        messages: declarations.messages,
        substitutions: Substitutions::default(),
        overloads: HashMap::new(),
        uses_old_self: false,
        errors: Vec::new(),
    };
    checker.check(&mut root);
    if !checker.errors.is_empty() {
        return Err(checker.errors);
    }
    let types = checker.types.iter().map(|t| checker.substitutions.apply(t, true)).collect();
    let Checker { offsets, overloads, uses_old_self, .. } = checker;
    Ok(CheckedExpr { root, offsets, types, overloads, uses_old_self })
}

struct Checker<'a> {
    offsets: Vec<usize>,
    types: Vec<Type>,
    /// The declared variables, innermost last.
    scope: Vec<(String, Type)>,
    messages: Option<FindMessage<'a>>,
    substitutions: Substitutions,
    overloads: HashMap<Id, Vec<&'static str>>,
    uses_old_self: bool,
    errors: Vec<CelError>,
}

impl Checker<'_> {
    fn report(&mut self, id: Id, message: String) {
        self.report_with_suggestion(id, message, None);
    }

    fn report_with_suggestion(&mut self, id: Id, message: String, suggestion: Option<String>) {
        self.errors.push(CelError::at(self.offsets[id], message).with_suggestion(suggestion));
    }

    fn type_mismatch(&mut self, id: Id, expected: &Type, found: &Type) {
        self.report(id, format!("expected type '{expected}' but found '{found}'"));
    }

    fn undeclared_reference(&mut self, id: Id, name: &str, suggestion: Option<String>) {
        self.report_with_suggestion(id, format!("undeclared reference to '{name}' (in container '')"), suggestion);
    }

    fn undeclared_variable(&mut self, id: Id, name: &str) {
        let suggestion = self.similar_variable(name);
        self.undeclared_reference(id, name, suggestion);
    }

    fn undeclared_function(&mut self, id: Id, name: &str) {
        let is_operator = |name: &str| name.contains(['@', '_']);
        let is_declared = |name: &&str| !is_operator(name) && self.overloads(name).is_some();
        let suggestion = most_similar(name, functions::names().filter(is_declared));
        self.undeclared_reference(id, name, suggestion.map(str::to_owned));
    }

    fn undefined_field(&mut self, id: Id, field: &str, object: &ObjectType) {
        let suggestion = most_similar(field, object.fields.keys().map(String::as_str)).map(str::to_owned);
        self.report_with_suggestion(id, format!("undefined field '{field}'"), suggestion);
    }

    /// The overloads of a function; `None` if it is not declared.
    fn overloads(&self, function: &str) -> Option<&'static [Overload]> {
        functions::overloads(function).filter(|_| self.messages.is_some() || !functions::is_of_patches(function))
    }

    /// A variable with a similar name, or a field of `self` or `object`.
    fn similar_variable(&self, name: &str) -> Option<String> {
        let variables = self.scope.iter().map(|(variable, _)| variable.as_str());
        if let Some(variable) = most_similar(name, variables.filter(|variable| !variable.starts_with(['@', '#']))) {
            return Some(variable.to_owned());
        }
        let (root, root_type) = self.scope.iter().find(|(variable, _)| variable == "self" || variable == "object")?;
        let Type::Object(object) = root_type else { return None };
        most_similar(name, object.fields.keys().map(String::as_str)).map(|field| format!("{root}.{field}"))
    }

    fn type_of(&self, expr: &Expr) -> Type {
        self.types[expr.id].clone()
    }

    fn check(&mut self, expr: &mut Expr) {
        if let Some(name) = expr.qualified_name()
            && let Some(t) = self.lookup(&name)
        {
            expr.kind = ExprKind::Ident(name);
            self.types[expr.id] = t;
            return;
        }
        let id = expr.id;
        let t = match &mut expr.kind {
            ExprKind::Unspecified => Type::Error,
            ExprKind::Literal(literal) => literal_type(literal),
            ExprKind::Ident(name) => {
                let name = name.clone();
                self.undeclared_variable(id, &name);
                Type::Error
            }
            ExprKind::Select(select) => self.select(id, select),
            ExprKind::Call(call) => self.call(id, call),
            ExprKind::List(elements) => self.list(elements),
            ExprKind::Map(entries) => self.map(entries),
            ExprKind::Struct(message) => self.struct_expr(id, message),
            ExprKind::Comprehension(comprehension) => self.comprehension(comprehension),
        };
        self.types[id] = t;
    }

    /// The type of a variable, or of a type name that is used as a value.
    fn lookup(&mut self, name: &str) -> Option<Type> {
        let plain = name.strip_prefix('.').unwrap_or(name);
        if let Some((_, t)) = self.scope.iter().rev().find(|(variable, _)| variable == plain) {
            self.uses_old_self |= plain == "oldSelf";
            return Some(t.clone());
        }
        Type::by_name(plain).map(Type::metatype)
    }

    fn select(&mut self, id: Id, select: &mut Select) -> Type {
        let t = self.field(id, &mut select.operand, &select.field, false);
        if select.is_test_only { Type::Bool } else { self.substitutions.apply(&t, false) }
    }

    /// Checks an operand and returns the type of its field.
    fn field(&mut self, id: Id, operand: &mut Expr, field: &str, is_optional: bool) -> Type {
        self.check(operand);
        let operand_type = self.substitutions.apply(&self.type_of(operand), false);
        let (target, was_optional) = operand_type.unwrap_optional();
        let t = match target {
            Type::Map(_, value) => Type::clone(value),
            // A field selection does not require reserved words to be escaped.
            Type::Object(object) => {
                let escaped = || object.fields.get(&escaped_keyword(field)?).cloned();
                match object.fields.get(field).cloned().or_else(escaped).or_else(|| object.field(field)) {
                    Some(t) => t,
                    None => {
                        self.undefined_field(id, field, object);
                        Type::Error
                    }
                }
            }
            Type::Struct(_) => {
                self.report(id, format!("undefined field '{field}'"));
                Type::Error
            }
            Type::Param(_) => {
                self.substitutions.assign(&Type::Dyn, target);
                Type::Dyn
            }
            other => {
                if !other.is_dyn_or_error() {
                    self.report(id, format!("type '{other}' does not support field selection"));
                }
                Type::Dyn
            }
        };
        if was_optional || is_optional { Type::optional(t) } else { t }
    }

    fn call(&mut self, id: Id, call: &mut Call) -> Type {
        if call.function == operator::OPTIONAL_SELECT {
            return self.optional_select(id, call);
        }
        for arg in &mut call.args {
            self.check(arg);
        }
        let Some(target) = &mut call.target else {
            let Some(overloads) = self.overloads(&call.function) else {
                self.undeclared_function(id, &call.function);
                return Type::Error;
            };
            return self.resolve(id, overloads, call);
        };
        let qualified = target.qualified_name().map(|prefix| format!("{prefix}.{}", call.function));
        if let Some(name) = qualified
            && let Some(overloads) = self.overloads(&name)
        {
            call.function = name;
            call.target = None;
            return self.resolve(id, overloads, call);
        }
        self.check(target);
        match self.overloads(&call.function) {
            Some(overloads) => self.resolve(id, overloads, call),
            None => {
                self.undeclared_function(id, &call.function);
                Type::Error
            }
        }
    }

    fn optional_select(&mut self, id: Id, call: &mut Call) -> Type {
        let [operand, Expr { kind: ExprKind::Literal(Literal::String(field)), .. }] = call.args.as_mut_slice() else {
            self.report(id, "unsupported optional field selection".to_owned());
            return Type::Error;
        };
        let t = self.field(id, operand, field, true);
        self.overloads.insert(id, vec!["select_optional_field"]);
        self.substitutions.apply(&t, false)
    }

    /// Resolves the overloads that match the arguments. The result is `dyn` if their result types differ.
    fn resolve(&mut self, id: Id, overloads: &'static [Overload], call: &Call) -> Type {
        if matches!(call.function.as_str(), operator::AND | operator::OR) {
            return self.logical(id, &overloads[0], call);
        }
        let args: Vec<Type> =
            call.target.iter().map(|target| &**target).chain(&call.args).map(|arg| self.type_of(arg)).collect();
        let mut result: Option<Type> = None;
        let mut matching = Vec::new();
        for overload in overloads.iter().filter(|overload| overload.is_member == call.target.is_some()) {
            let type_params: Vec<Type> =
                iter::repeat_with(|| self.substitutions.new_param()).take(overload.type_params).collect();
            let params: Vec<Type> = overload.params.iter().map(|param| param.instantiate(&type_params)).collect();
            if !self.substitutions.assign_all(&args, &params) {
                continue;
            }
            matching.push(overload.id.as_str());
            let t = self.substitutions.apply(&overload.result.instantiate(&type_params), false);
            result = Some(match result {
                None => t,
                Some(first) if first == Type::Dyn || first == t => first,
                Some(_) => Type::Dyn,
            });
        }
        let Some(result) = result else {
            let message = self.no_matching_overload(call, &args);
            self.report(id, message);
            return Type::Error;
        };
        self.overloads.insert(id, matching);
        result
    }

    fn logical(&mut self, id: Id, overload: &'static Overload, call: &Call) -> Type {
        for arg in &call.args {
            let t = self.type_of(arg);
            if !self.substitutions.assign(&t, &Type::Bool) {
                self.type_mismatch(arg.id, &Type::Bool, &t);
            }
        }
        self.overloads.insert(id, vec![&overload.id]);
        Type::Bool
    }

    fn no_matching_overload(&self, call: &Call, args: &[Type]) -> String {
        let mut args = args.iter().map(|arg| self.substitutions.apply(arg, true).to_string());
        let target =
            call.target.as_ref().and_then(|_| args.next()).map(|target| format!("{target}.")).unwrap_or_default();
        let args: Vec<String> = args.collect();
        format!("found no matching overload for '{}' applied to '{target}({})'", call.function, args.join(", "))
    }

    fn comprehension(&mut self, comprehension: &mut Comprehension) -> Type {
        self.check(&mut comprehension.iter_range);
        self.check(&mut comprehension.accu_init);
        let range = self.substitutions.apply(&self.type_of(&comprehension.iter_range), false);
        let accumulated = self.type_of(&comprehension.accu_init);
        let outside = self.scope.len();
        self.scope.push((comprehension.accu_var.clone(), accumulated.clone()));
        let inside = self.scope.len();
        let (first, second) = self.iter_var_types(&range, comprehension);
        self.scope.push((comprehension.iter_var.clone(), first));
        if let Some(variable) = &comprehension.iter_var2 {
            self.scope.push((variable.clone(), second));
        }
        self.check(&mut comprehension.loop_condition);
        self.expect(&comprehension.loop_condition, &Type::Bool);
        self.check(&mut comprehension.loop_step);
        self.expect(&comprehension.loop_step, &accumulated);
        self.scope.truncate(inside);
        self.check(&mut comprehension.result);
        self.scope.truncate(outside);
        self.substitutions.apply(&self.type_of(&comprehension.result), false)
    }

    /// The types of the iteration variables.
    fn iter_var_types(&mut self, range: &Type, comprehension: &Comprehension) -> (Type, Type) {
        match range {
            Type::List(item) if comprehension.iter_var2.is_some() => (Type::Int, Type::clone(item)),
            Type::List(item) => (Type::clone(item), Type::Error),
            Type::Map(key, value) => (Type::clone(key), Type::clone(value)),
            Type::Dyn | Type::Error | Type::Param(_) => {
                self.substitutions.assign(&Type::Dyn, range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.report(comprehension.iter_range.id, message);
                (Type::Error, Type::Error)
            }
        }
    }

    fn expect(&mut self, expr: &Expr, expected: &Type) {
        let found = self.type_of(expr);
        if !self.substitutions.assign(expected, &found) {
            self.type_mismatch(expr.id, expected, &found);
        }
    }
}

/// The escaped name of a field whose name is a reserved word.
fn escaped_keyword(field: &str) -> Option<String> {
    is_reserved(field).then(|| format!("__{field}__"))
}

fn literal_type(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}
