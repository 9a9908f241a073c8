//! Which type an expression has, and what its calls mean.

use std::collections::HashMap;

use super::{
    escape,
    functions::{self, Overload},
    parser::Parsed,
    syntax::{Call, Comprehension, Element, Entry, Expr, ExprKind, Id, Literal, Mistake, Select, Struct, operator},
    types::{CIDR, IP, Substitutions, Type},
};

/// An expression that makes sense.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) root: Expr,
    /// By node: characters from the start.
    pub(super) offsets: Vec<usize>,
    /// By node.
    pub(super) types: Vec<Type>,
    /// The overloads a call may mean.
    pub(super) overloads: HashMap<Id, Vec<&'static str>>,
    /// Whether a variable of the name `oldSelf` is read.
    pub(super) uses_old_self: bool,
}

impl Checked {
    pub(super) fn type_of(&self, expr: &Expr) -> &Type {
        &self.types[expr.id]
    }

    pub(super) fn overloads_of(&self, expr: &Expr) -> &[&'static str] {
        self.overloads.get(&expr.id).map_or(&[], Vec::as_slice)
    }
}

/// Types an expression in which `variables` may be read.
pub(super) fn check(parsed: Parsed, variables: &[(&str, Type)]) -> Result<Checked, Vec<Mistake>> {
    let Parsed { mut root, offsets } = parsed;
    let mut checker = Checker {
        types: vec![Type::Error; offsets.len()],
        offsets,
        scope: variables.iter().map(|(name, t)| ((*name).to_owned(), t.clone())).collect(),
        known: Substitutions::default(),
        overloads: HashMap::new(),
        uses_old_self: false,
        mistakes: Vec::new(),
    };
    checker.check(&mut root);
    if !checker.mistakes.is_empty() {
        return Err(checker.mistakes);
    }
    let types = checker.types.iter().map(|t| checker.known.apply(t, true)).collect();
    let Checker { offsets, overloads, uses_old_self, .. } = checker;
    Ok(Checked { root, offsets, types, overloads, uses_old_self })
}

struct Checker {
    offsets: Vec<usize>,
    types: Vec<Type>,
    /// Innermost last.
    scope: Vec<(String, Type)>,
    known: Substitutions,
    overloads: HashMap<Id, Vec<&'static str>>,
    uses_old_self: bool,
    mistakes: Vec<Mistake>,
}

impl Checker {
    fn mistake(&mut self, id: Id, message: String) {
        self.mistakes.push(Mistake { offset: Some(self.offsets[id]), message });
    }

    fn mismatch(&mut self, id: Id, expected: &Type, found: &Type) {
        self.mistake(id, format!("expected type '{expected}' but found '{found}'"));
    }

    fn undeclared(&mut self, id: Id, name: &str) {
        self.mistake(id, format!("undeclared reference to '{name}' (in container '')"));
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
            ExprKind::Broken => Type::Error,
            ExprKind::Literal(literal) => literal_type(literal),
            ExprKind::Ident(name) => {
                let name = name.clone();
                self.undeclared(id, &name);
                Type::Error
            }
            ExprKind::Select(select) => self.select(id, select),
            ExprKind::Call(call) => self.call(id, call),
            ExprKind::List(elements) => self.list(elements),
            ExprKind::Map(entries) => self.map(entries),
            ExprKind::Struct(made) => self.make(id, made),
            ExprKind::Comprehension(loops) => self.comprehension(loops),
        };
        self.types[id] = t;
    }

    /// The type of a variable, or of the name of a type.
    fn lookup(&mut self, name: &str) -> Option<Type> {
        let plain = name.strip_prefix('.').unwrap_or(name);
        if let Some((_, t)) = self.scope.iter().rev().find(|(variable, _)| variable == plain) {
            self.uses_old_self |= plain == "oldSelf";
            return Some(t.clone());
        }
        named_type(plain).map(Type::of_type)
    }

    fn select(&mut self, id: Id, select: &mut Select) -> Type {
        let t = self.field(id, &mut select.operand, &select.field, false);
        if select.is_test { Type::Bool } else { self.known.apply(&t, false) }
    }

    /// The type of a field of an operand.
    fn field(&mut self, id: Id, operand: &mut Expr, field: &str, is_optional: bool) -> Type {
        self.check(operand);
        let operand_type = self.known.apply(&self.type_of(operand), false);
        let (target, was_optional) = operand_type.unwrapped();
        let t = match target {
            Type::Map(_, value) => Type::clone(value),
            // Where a keyword stands for a field, it needs no escape.
            Type::Object(object) => match object.fields.get(field).or_else(|| object.fields.get(&keyword(field)?)) {
                Some(t) => t.clone(),
                None => {
                    self.mistake(id, format!("undefined field '{field}'"));
                    Type::Error
                }
            },
            Type::Struct(_) => {
                self.mistake(id, format!("undefined field '{field}'"));
                Type::Error
            }
            Type::Param(_) => {
                self.known.assign(&Type::Dyn, target);
                Type::Dyn
            }
            other => {
                if !other.is_dyn_or_error() {
                    self.mistake(id, format!("type '{other}' does not support field selection"));
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
            let Some(found) = functions::overloads(&call.function) else {
                self.undeclared(id, &call.function);
                return Type::Error;
            };
            return self.resolve(id, found, call);
        };
        let qualified = target.qualified_name().map(|prefix| format!("{prefix}.{}", call.function));
        if let Some(name) = qualified
            && let Some(found) = functions::overloads(&name)
        {
            call.function = name;
            call.target = None;
            return self.resolve(id, found, call);
        }
        self.check(target);
        match functions::overloads(&call.function) {
            Some(found) => self.resolve(id, found, call),
            None => {
                self.undeclared(id, &call.function);
                Type::Error
            }
        }
    }

    fn optional_select(&mut self, id: Id, call: &mut Call) -> Type {
        let [operand, Expr { kind: ExprKind::Literal(Literal::String(field)), .. }] = call.args.as_mut_slice() else {
            self.mistake(id, "unsupported optional field selection".to_owned());
            return Type::Error;
        };
        let t = self.field(id, operand, field, true);
        self.overloads.insert(id, vec!["select_optional_field"]);
        self.known.apply(&t, false)
    }

    /// The overloads the arguments fit; the type of the result is `dyn` where they differ.
    fn resolve(&mut self, id: Id, found: &'static [Overload], call: &Call) -> Type {
        if matches!(call.function.as_str(), operator::AND | operator::OR) {
            return self.logic(id, &found[0], call);
        }
        let args: Vec<Type> =
            call.target.iter().map(|target| &**target).chain(&call.args).map(|arg| self.type_of(arg)).collect();
        let mut result: Option<Type> = None;
        let mut fitting = Vec::new();
        for overload in found.iter().filter(|overload| overload.is_member == call.target.is_some()) {
            let open: Vec<Type> = (0..overload.open).map(|_| self.known.fresh()).collect();
            let params: Vec<Type> = overload.params.iter().map(|param| param.instantiate(&open)).collect();
            if !self.known.assign_all(&args, &params) {
                continue;
            }
            fitting.push(overload.id.as_str());
            let t = self.known.apply(&overload.result.instantiate(&open), false);
            result = Some(match result {
                None => t,
                Some(first) if first == Type::Dyn || first == t => first,
                Some(_) => Type::Dyn,
            });
        }
        let Some(result) = result else {
            let message = self.no_overload(call, &args);
            self.mistake(id, message);
            return Type::Error;
        };
        self.overloads.insert(id, fitting);
        result
    }

    fn logic(&mut self, id: Id, overload: &'static Overload, call: &Call) -> Type {
        for arg in &call.args {
            let t = self.type_of(arg);
            if !self.known.assign(&t, &Type::Bool) {
                self.mismatch(arg.id, &Type::Bool, &t);
            }
        }
        self.overloads.insert(id, vec![&overload.id]);
        Type::Bool
    }

    fn no_overload(&self, call: &Call, args: &[Type]) -> String {
        let mut args = args.iter().map(|arg| self.known.apply(arg, true).to_string());
        let target =
            call.target.as_ref().and_then(|_| args.next()).map(|target| format!("{target}.")).unwrap_or_default();
        let args: Vec<String> = args.collect();
        format!("found no matching overload for '{}' applied to '{target}({})'", call.function, args.join(", "))
    }

    fn list(&mut self, elements: &mut [Element]) -> Type {
        let mut joined = None;
        for element in elements {
            self.check(&mut element.value);
            let t = self.element_type(&element.value, element.is_optional);
            joined = Some(self.join(joined, t));
        }
        Type::list(joined.unwrap_or_else(|| self.known.fresh()))
    }

    /// The type of an element, which is inside an optional one if it may be left out.
    fn element_type(&mut self, value: &Expr, is_optional: bool) -> Type {
        let t = self.type_of(value);
        if !is_optional {
            return t;
        }
        match t.unwrapped() {
            (inner, true) => inner.clone(),
            (Type::Dyn, false) => t,
            _ => {
                self.mismatch(value.id, &Type::optional(t.clone()), &t);
                t
            }
        }
    }

    fn map(&mut self, entries: &mut [Entry]) -> Type {
        let (mut keys, mut values) = (None, None);
        for entry in entries {
            self.check(&mut entry.key);
            let key = self.type_of(&entry.key);
            keys = Some(self.join(keys, key));
            self.check(&mut entry.value);
            let value = self.element_type(&entry.value, entry.is_optional);
            values = Some(self.join(values, value));
        }
        let key = keys.unwrap_or_else(|| self.known.fresh());
        Type::map(key, values.unwrap_or_else(|| self.known.fresh()))
    }

    /// The type of the elements so far and one more. Mixed literals are found later, as they are allowed for `format`.
    fn join(&mut self, so_far: Option<Type>, next: Type) -> Type {
        match so_far {
            None => next,
            Some(so_far) if self.known.assign(&so_far, &next) => so_far.most_general(next),
            Some(_) => Type::Dyn,
        }
    }

    /// No type of a schema can be made, and no message.
    fn make(&mut self, id: Id, made: &mut Struct) -> Type {
        for value in &mut made.values {
            self.check(value);
        }
        let name = made.name.clone();
        match self.lookup(&name) {
            None => self.undeclared(id, &name),
            Some(Type::OfTypes(Some(t))) => self.mistake(id, format!("'{t}' is not a message type")),
            Some(t) => self.mistake(id, format!("'{t}' is not a type")),
        }
        Type::Error
    }

    fn comprehension(&mut self, loops: &mut Comprehension) -> Type {
        self.check(&mut loops.range);
        self.check(&mut loops.start);
        let range = self.known.apply(&self.type_of(&loops.range), false);
        let accumulated = self.type_of(&loops.start);
        let outside = self.scope.len();
        self.scope.push((loops.accumulator.clone(), accumulated.clone()));
        let inside = self.scope.len();
        let (first, second) = self.loop_types(&range, loops);
        self.scope.push((loops.variable.clone(), first));
        if let Some(variable) = &loops.second_variable {
            self.scope.push((variable.clone(), second));
        }
        self.check(&mut loops.condition);
        self.expect(&loops.condition, &Type::Bool);
        self.check(&mut loops.step);
        self.expect(&loops.step, &accumulated);
        self.scope.truncate(inside);
        self.check(&mut loops.result);
        self.scope.truncate(outside);
        self.known.apply(&self.type_of(&loops.result), false)
    }

    /// The types of the variables of a loop.
    fn loop_types(&mut self, range: &Type, loops: &Comprehension) -> (Type, Type) {
        match range {
            Type::List(item) if loops.second_variable.is_some() => (Type::Int, Type::clone(item)),
            Type::List(item) => (Type::clone(item), Type::Error),
            Type::Map(key, value) => (Type::clone(key), Type::clone(value)),
            Type::Dyn | Type::Error | Type::Param(_) => {
                self.known.assign(&Type::Dyn, range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.mistake(loops.range.id, message);
                (Type::Error, Type::Error)
            }
        }
    }

    fn expect(&mut self, expr: &Expr, expected: &Type) {
        let found = self.type_of(expr);
        if !self.known.assign(expected, &found) {
            self.mismatch(expr.id, expected, &found);
        }
    }
}

/// The escaped name of a field that is named as a keyword is.
fn keyword(field: &str) -> Option<String> {
    escape::is_reserved(field).then(|| format!("__{field}__"))
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

/// The types that may be written as values, as in `type(x) == int`.
pub(super) fn named_type(name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::Bool,
        "bytes" => Type::Bytes,
        "double" => Type::Double,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "string" => Type::String,
        "null_type" => Type::Null,
        "duration" | "google.protobuf.Duration" => Type::Duration,
        "timestamp" | "google.protobuf.Timestamp" => Type::Timestamp,
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "type" => Type::OfTypes(None),
        "net.IP" => IP,
        "net.CIDR" => CIDR,
        "optional_type" => Type::optional(Type::Dyn),
        _ => return None,
    })
}
