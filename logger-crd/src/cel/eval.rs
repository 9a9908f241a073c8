//! Runs a checked rule.

use std::rc::Rc;

use super::{
    checker::{self, Checked},
    library, run_cost,
    syntax::{ACCUMULATOR, Call, Comprehension, Element, Expr, ExprKind, Literal, Select, operator},
    types::Type,
    value::{Failure, List, Outcome, Value},
};

/// The most one rule may cost when it runs, in the units of the estimate.
const LIMIT: u64 = 1_000_000;
/// The cost of making a list and a map.
const LIST_CREATION: u64 = 10;
const MAP_CREATION: u64 = 30;

/// The value of a rule for `variables`, and what it cost.
pub(super) fn run<'a>(rule: &Checked, variables: &[(&str, Value<'a>)]) -> (Outcome<Value<'a>>, u64) {
    let scope = variables.iter().map(|(name, value)| ((*name).to_owned(), Ok(value.clone()))).collect();
    let mut run = Run { scope, cost: 0 };
    let outcome = run.eval(&rule.root);
    (outcome, run.cost)
}

struct Run<'a> {
    /// Innermost last. What a loop gathers may be a failure that the next step gets over.
    scope: Vec<(String, Outcome<Value<'a>>)>,
    cost: u64,
}

impl<'a> Run<'a> {
    fn spend(&mut self, cost: u64) -> Outcome<()> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > LIMIT {
            return Err(Failure::new("operation cancelled: actual cost limit exceeded"));
        }
        Ok(())
    }

    fn eval(&mut self, expr: &Expr) -> Outcome<Value<'a>> {
        match &expr.kind {
            ExprKind::Broken | ExprKind::Struct(_) => Err(Failure::no_such_overload()),
            ExprKind::Literal(literal) => Ok(literal_value(literal)),
            ExprKind::Ident(name) => self.ident(name),
            ExprKind::Select(select) => self.select(select),
            ExprKind::Call(call) => self.call(call),
            ExprKind::List(elements) => self.list(elements),
            ExprKind::Map(entries) => {
                self.spend(MAP_CREATION)?;
                let mut made = Vec::with_capacity(entries.len());
                for entry in entries {
                    let (key, value) = (self.eval(&entry.key)?, self.eval(&entry.value)?);
                    let value = if entry.is_optional { unwrap(value)? } else { Some(value) };
                    made = insert(made, key, value)?;
                }
                Ok(Value::map(made))
            }
            ExprKind::Comprehension(loops) => self.comprehension(loops),
        }
    }

    fn ident(&mut self, name: &str) -> Outcome<Value<'a>> {
        self.spend(1)?;
        let plain = name.strip_prefix('.').unwrap_or(name);
        match self.scope.iter().rev().find(|(variable, _)| variable == plain) {
            Some((_, value)) => value.clone(),
            None => match checker::named_type(plain) {
                Some(t) => Ok(Value::Type(type_name(&t))),
                None => Err(Failure::new(format!("no such attribute(s): {name}"))),
            },
        }
    }

    fn select(&mut self, select: &Select) -> Outcome<Value<'a>> {
        let operand = self.eval(&select.operand)?;
        let key = Value::text(&select.field);
        if select.is_test {
            let operand = match operand {
                Value::Optional(None) => return Ok(Value::Bool(false)),
                Value::Optional(Some(inner)) => Value::clone(&inner),
                other => other,
            };
            return Ok(Value::Bool(entry(&operand, &key)?.is_some()));
        }
        self.spend(1)?;
        match operand {
            Value::Optional(inner) => self.optional_entry(inner, &key),
            operand => entry(&operand, &key)?.ok_or_else(|| missing(&operand, &key)),
        }
    }

    fn optional_entry(&mut self, operand: Option<Rc<Value<'a>>>, key: &Value<'a>) -> Outcome<Value<'a>> {
        let found = operand.map(|operand| entry(&operand, key)).transpose()?.flatten();
        Ok(Value::Optional(found.map(Rc::new)))
    }

    fn call(&mut self, call: &Call) -> Outcome<Value<'a>> {
        match (call.function.as_str(), call.args.as_slice()) {
            (operator::AND, [left, right]) => self.logic(false, left, right),
            (operator::OR, [left, right]) => self.logic(true, left, right),
            (operator::CONDITIONAL, [condition, yes, no]) => match self.eval(condition)? {
                Value::Bool(true) => self.eval(yes),
                Value::Bool(false) => self.eval(no),
                _ => Err(Failure::no_such_overload()),
            },
            (operator::NOT_STRICTLY_FALSE, [arg]) => {
                self.spend(1)?;
                Ok(Value::Bool(!matches!(self.eval(arg), Ok(Value::Bool(false)))))
            }
            (operator::OPTIONAL_SELECT | operator::OPTIONAL_INDEX, [operand, key]) => {
                let operand = self.eval(operand)?;
                let key = self.eval(key)?;
                self.spend(1)?;
                let operand = match operand {
                    Value::Optional(inner) => inner,
                    other => Some(Rc::new(other)),
                };
                self.optional_entry(operand, &key)
            }
            (operator::INDEX, [operand, key]) => {
                let operand = self.eval(operand)?;
                let key = self.eval(key)?;
                self.spend(1)?;
                match operand {
                    Value::Optional(inner) => self.optional_entry(inner, &key),
                    operand => entry(&operand, &key)?.ok_or_else(|| missing(&operand, &key)),
                }
            }
            ("or" | "orValue", [other]) => self.or(call, other),
            _ => self.function(call),
        }
    }

    /// `||` where `decides` is true, else `&&`: a side that decides makes a failure of the other side moot.
    fn logic(&mut self, decides: bool, left: &Expr, right: &Expr) -> Outcome<Value<'a>> {
        let is_bool = |value: Outcome<Value<'a>>| match value {
            Ok(Value::Bool(flag)) => Ok(flag),
            Ok(_) => Err(Failure::no_such_overload()),
            Err(failure) => Err(failure),
        };
        let left = is_bool(self.eval(left));
        if left == Ok(decides) {
            return Ok(Value::Bool(decides));
        }
        let right = is_bool(self.eval(right));
        match (left, right) {
            (_, Ok(right)) if right == decides => Ok(Value::Bool(decides)),
            (Err(failure), _) | (_, Err(failure)) => Err(failure),
            (Ok(_), Ok(_)) => Ok(Value::Bool(!decides)),
        }
    }

    fn or(&mut self, call: &Call, other: &Expr) -> Outcome<Value<'a>> {
        let target = call.target.as_ref().ok_or_else(Failure::no_such_overload)?;
        match self.eval(target)? {
            Value::Optional(Some(inner)) if call.function == "orValue" => Ok(Value::clone(&inner)),
            Value::Optional(None) => self.eval(other),
            found @ Value::Optional(Some(_)) => Ok(found),
            _ => Err(Failure::no_such_overload()),
        }
    }

    fn function(&mut self, call: &Call) -> Outcome<Value<'a>> {
        let mut args = Vec::with_capacity(call.args.len() + 1);
        for arg in call.target.as_deref().into_iter().chain(&call.args) {
            args.push(self.eval(arg)?);
        }
        self.spend(run_cost::of_call(&call.function, &args))?;
        library::call(&call.function, call.target.is_some(), &args)
    }

    fn list(&mut self, elements: &[Element]) -> Outcome<Value<'a>> {
        self.spend(LIST_CREATION)?;
        let mut items = Vec::with_capacity(elements.len());
        for element in elements {
            let value = self.eval(&element.value)?;
            if element.is_optional {
                items.extend(unwrap(value)?);
            } else {
                items.push(value);
            }
        }
        Ok(Value::list(items))
    }

    fn comprehension(&mut self, loops: &Comprehension) -> Outcome<Value<'a>> {
        let outside = self.scope.len();
        let outcome = self.loop_through(loops);
        self.scope.truncate(outside);
        outcome
    }

    fn loop_through(&mut self, loops: &Comprehension) -> Outcome<Value<'a>> {
        if loops.is_binding() {
            let value = self.eval(&loops.start);
            self.scope.push((loops.accumulator.clone(), value));
            return self.eval(&loops.result);
        }
        let range = self.eval(&loops.range)?;
        let rounds = rounds(&range, loops.second_variable.is_some())?;
        if let Some((predicate, items)) = appending(loops) {
            return self.append(loops, rounds, predicate, items);
        }
        let start = self.eval(&loops.start);
        self.scope.push((loops.accumulator.clone(), start));
        let accumulator = self.scope.len() - 1;
        for (first, second) in rounds {
            self.enter(loops, first, second);
            if matches!(self.eval(&loops.condition), Ok(Value::Bool(false))) {
                self.scope.truncate(accumulator + 1);
                break;
            }
            let next = self.eval(&loops.step);
            self.scope.truncate(accumulator + 1);
            self.scope[accumulator].1 = next;
            self.spend(0)?;
        }
        self.eval(&loops.result)
    }

    fn enter(&mut self, loops: &Comprehension, first: Outcome<Value<'a>>, second: Outcome<Value<'a>>) {
        self.scope.push((loops.variable.clone(), first));
        if let Some(variable) = &loops.second_variable {
            self.scope.push((variable.clone(), second));
        }
    }

    /// A loop that only adds to a list: one list grows, instead of one more being made each round.
    fn append(
        &mut self,
        loops: &Comprehension,
        rounds: Vec<Round<'a>>,
        predicate: Option<&Expr>,
        items: &[Element],
    ) -> Outcome<Value<'a>> {
        let outside = self.scope.len();
        let mut gathered = Vec::new();
        for (first, second) in rounds {
            self.enter(loops, first, second);
            let holds = match predicate {
                None => true,
                Some(predicate) => match self.eval(predicate)? {
                    Value::Bool(holds) => holds,
                    _ => return Err(Failure::no_such_overload()),
                },
            };
            if holds {
                for item in items {
                    gathered.push(self.eval(&item.value)?);
                }
                self.spend(LIST_CREATION)?;
            }
            self.scope.truncate(outside);
        }
        Ok(Value::list(gathered))
    }
}

type Round<'a> = (Outcome<Value<'a>>, Outcome<Value<'a>>);

/// The values of the variables in each round of a loop.
fn rounds<'a>(range: &Value<'a>, has_two: bool) -> Outcome<Vec<Round<'a>>> {
    let nothing = || Ok(Value::Null);
    Ok(match range {
        Value::List(list) if has_two => list.iter().enumerate().map(|(i, item)| (Ok(Value::int(i)), item)).collect(),
        Value::List(list) => list.iter().map(|item| (item, nothing())).collect(),
        Value::Map(map) => {
            let value = |key: &Value<'a>| map.get(key).and_then(|value| value.ok_or_else(Failure::no_such_overload));
            map.keys().into_iter().map(|key| (Ok(key.clone()), if has_two { value(&key) } else { nothing() })).collect()
        }
        _ => return Err(Failure::no_such_overload()),
    })
}

/// What a loop adds to its list, and if what, where that is all it does.
fn appending(loops: &Comprehension) -> Option<(Option<&Expr>, &[Element])> {
    let is_accumulator = |expr: &Expr| matches!(&expr.kind, ExprKind::Ident(name) if name == ACCUMULATOR);
    let call = |expr: &'_ Expr, function: &str| match &expr.kind {
        ExprKind::Call(call) => call.function == function,
        _ => false,
    };
    if !matches!(&loops.start.kind, ExprKind::List(start) if start.is_empty()) || !is_accumulator(&loops.result) {
        return None;
    }
    let (predicate, step) = match &loops.step.kind {
        ExprKind::Call(Call { args, .. }) if call(&loops.step, operator::CONDITIONAL) => match args.as_slice() {
            [predicate, step, same] if is_accumulator(same) => (Some(predicate), step),
            _ => return None,
        },
        _ => (None, &loops.step),
    };
    match &step.kind {
        ExprKind::Call(Call { args, .. }) if call(step, operator::ADD) => match args.as_slice() {
            [so_far, Expr { kind: ExprKind::List(items), .. }] if is_accumulator(so_far) => Some((predicate, items)),
            _ => None,
        },
        _ => None,
    }
}

/// What a list or map has at a key, if it has something there.
fn entry<'a>(container: &Value<'a>, key: &Value<'a>) -> Outcome<Option<Value<'a>>> {
    match (container, key) {
        (Value::List(list), key) => index(list, key),
        (Value::Map(map), key) => map.get(key),
        _ => Err(Failure::no_such_overload()),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn index<'a>(list: &List<'a>, key: &Value<'a>) -> Outcome<Option<Value<'a>>> {
    let at = match key {
        Value::Int(number) => usize::try_from(*number).ok(),
        Value::Uint(number) => usize::try_from(*number).ok(),
        Value::Double(number) if number.fract() == 0.0 && *number >= 0.0 => Some(*number as usize),
        _ => return Err(Failure::no_such_overload()),
    };
    at.and_then(|at| list.get(at)).transpose()
}

fn missing(container: &Value<'_>, key: &Value<'_>) -> Failure {
    match container {
        Value::List(_) => Failure::new(format!("index out of bounds: {key}")),
        _ => Failure::new(format!("no such key: {key}")),
    }
}

/// What is in an optional value.
fn unwrap(value: Value<'_>) -> Outcome<Option<Value<'_>>> {
    match value {
        Value::Optional(inner) => Ok(inner.map(|inner| Value::clone(&inner))),
        _ => Err(Failure::no_such_overload()),
    }
}

/// A map with one more entry.
pub(super) fn insert<'a>(
    mut entries: Vec<(Value<'a>, Value<'a>)>,
    key: Value<'a>,
    value: Option<Value<'a>>,
) -> Outcome<Vec<(Value<'a>, Value<'a>)>> {
    let Some(value) = value else { return Ok(entries) };
    for (taken, _) in &entries {
        if taken.equals(&key)? {
            return Err(Failure::new(format!("insert failed: key {key} already exists")));
        }
    }
    entries.push((key, value));
    Ok(entries)
}

pub(super) fn literal_value<'a>(literal: &Literal) -> Value<'a> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(flag) => Value::Bool(*flag),
        Literal::Int(number) => Value::Int(*number),
        Literal::Uint(number) => Value::Uint(*number),
        Literal::Double(number) => Value::Double(*number),
        Literal::String(text) => Value::text(text),
        Literal::Bytes(bytes) => Value::Bytes(bytes.as_slice().into()),
    }
}

fn type_name(t: &Type) -> &'static str {
    match t {
        Type::Bool => "bool",
        Type::Bytes => "bytes",
        Type::Double => "double",
        Type::Int => "int",
        Type::Uint => "uint",
        Type::String => "string",
        Type::Null => "null_type",
        Type::Duration => "google.protobuf.Duration",
        Type::Timestamp => "google.protobuf.Timestamp",
        Type::List(_) => "list",
        Type::Map(..) => "map",
        Type::Opaque(name) | Type::Struct(name) => name,
        Type::Optional(_) => "optional_type",
        _ => "type",
    }
}
