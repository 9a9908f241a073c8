//! Evaluates a checked expression and tracks its actual cost.

use std::rc::Rc;

use super::{
    library, runtime_cost,
    value::{EvalError, EvalResult, List, Message, Value, insert_entry},
};
use crate::cel::{
    checker::CheckedExpr,
    cost::{LIST_CREATE_BASE_COST, MAP_CREATE_BASE_COST, STRUCT_CREATE_BASE_COST},
    syntax::{ACCUMULATOR, Call, Comprehension, Expr, ExprKind, ListElement, MapEntry, Select, StructExpr, operator},
    types::Type,
};

/// The maximum actual cost of one evaluation (`PerCallLimit` of the API server).
const PER_CALL_LIMIT: u64 = 1_000_000;

/// Evaluates an expression with these variables, and returns its value and its actual cost.
pub(crate) fn evaluate<'a>(rule: &CheckedExpr, variables: &[(&str, Value<'a>)]) -> (EvalResult<Value<'a>>, u64) {
    evaluate_in(rule, variables.iter().map(|(name, value)| ((*name).to_owned(), Ok(value.clone()))).collect())
}

/// Evaluates an expression with these variables, some of which can be errors, and returns its value and its actual
/// cost.
pub(crate) fn evaluate_in<'a>(rule: &CheckedExpr, activation: Activation<'a>) -> (EvalResult<Value<'a>>, u64) {
    let mut evaluator = Evaluator { activation, cost: 0 };
    let result = evaluator.eval(&rule.root);
    (result, evaluator.cost)
}

/// The values of the variables, innermost last. An accumulator may be an error that a later iteration absorbs.
pub(crate) type Activation<'a> = Vec<(String, EvalResult<Value<'a>>)>;

struct Evaluator<'a> {
    activation: Activation<'a>,
    cost: u64,
}

impl<'a> Evaluator<'a> {
    /// Adds to the actual cost; an error if it exceeds the limit.
    fn charge(&mut self, cost: u64) -> EvalResult<()> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > PER_CALL_LIMIT {
            return Err(EvalError::cost_limit_exceeded());
        }
        Ok(())
    }

    fn eval(&mut self, expr: &Expr) -> EvalResult<Value<'a>> {
        match &expr.kind {
            ExprKind::Unspecified => Err(EvalError::no_such_overload()),
            ExprKind::Literal(literal) => Ok(Value::from_literal(literal)),
            ExprKind::Ident(name) => self.ident(name),
            ExprKind::Select(select) => self.select(select),
            ExprKind::Call(call) => self.call(call),
            ExprKind::List(elements) => self.list(elements),
            ExprKind::Map(entries) => self.map(entries),
            ExprKind::Struct(message) => self.message(message),
            ExprKind::Comprehension(comprehension) => self.comprehension(comprehension),
        }
    }

    fn ident(&mut self, name: &str) -> EvalResult<Value<'a>> {
        self.charge(1)?;
        let plain = name.strip_prefix('.').unwrap_or(name);
        match self.activation.iter().rev().find(|(variable, _)| variable == plain) {
            Some((_, value)) => value.clone(),
            None => match Type::by_name(plain).and_then(|t| t.runtime_name()) {
                Some(name) => Ok(Value::Type(name)),
                None => Err(EvalError::new(format!("no such attribute(s): {name}"))),
            },
        }
    }

    fn select(&mut self, select: &Select) -> EvalResult<Value<'a>> {
        let operand = self.eval(&select.operand)?;
        let key = Value::string(&select.field);
        if select.is_test_only {
            let operand = match operand {
                Value::Optional(None) => return Ok(Value::Bool(false)),
                Value::Optional(Some(inner)) => Value::clone(&inner),
                other => other,
            };
            return Ok(Value::Bool(entry(&operand, &key)?.is_some()));
        }
        self.charge(1)?;
        match operand {
            Value::Optional(inner) => self.optional_entry(inner, &key),
            operand => entry(&operand, &key)?.ok_or_else(|| no_such_key(&operand, &key)),
        }
    }

    fn optional_entry(&mut self, operand: Option<Rc<Value<'a>>>, key: &Value<'a>) -> EvalResult<Value<'a>> {
        let found = operand.map(|operand| entry(&operand, key)).transpose()?.flatten();
        Ok(Value::Optional(found.map(Rc::new)))
    }

    fn call(&mut self, call: &Call) -> EvalResult<Value<'a>> {
        match (call.function.as_str(), call.args.as_slice()) {
            (operator::AND, [left, right]) => self.logical(false, left, right),
            (operator::OR, [left, right]) => self.logical(true, left, right),
            (operator::CONDITIONAL, [condition, yes, no]) => match self.eval(condition)? {
                Value::Bool(true) => self.eval(yes),
                Value::Bool(false) => self.eval(no),
                _ => Err(EvalError::no_such_overload()),
            },
            (operator::NOT_STRICTLY_FALSE, [arg]) => {
                self.charge(1)?;
                Ok(Value::Bool(!matches!(self.eval(arg), Ok(Value::Bool(false)))))
            }
            (operator::OPTIONAL_SELECT | operator::OPTIONAL_INDEX, [operand, key]) => {
                let operand = self.eval(operand)?;
                let key = self.eval(key)?;
                self.charge(1)?;
                let operand = match operand {
                    Value::Optional(inner) => inner,
                    other => Some(Rc::new(other)),
                };
                self.optional_entry(operand, &key)
            }
            (operator::INDEX, [operand, key]) => {
                let operand = self.eval(operand)?;
                let key = self.eval(key)?;
                self.charge(1)?;
                match operand {
                    Value::Optional(inner) => self.optional_entry(inner, &key),
                    operand => entry(&operand, &key)?.ok_or_else(|| no_such_key(&operand, &key)),
                }
            }
            ("or" | "orValue", [other]) => self.optional_or(call, other),
            _ => self.function(call),
        }
    }

    /// Evaluates `||`, whose absorbing value is true, or `&&`, whose absorbing value is false. If one side has the
    /// absorbing value, an error of the other side is ignored.
    fn logical(&mut self, absorbing: bool, left: &Expr, right: &Expr) -> EvalResult<Value<'a>> {
        let as_bool = |value: EvalResult<Value<'a>>| match value {
            Ok(Value::Bool(flag)) => Ok(flag),
            Ok(_) => Err(EvalError::no_such_overload()),
            Err(error) => Err(error),
        };
        let left = as_bool(self.eval(left));
        if left == Ok(absorbing) {
            return Ok(Value::Bool(absorbing));
        }
        let right = as_bool(self.eval(right));
        match (left, right) {
            (_, Ok(right)) if right == absorbing => Ok(Value::Bool(absorbing)),
            (Err(error), _) | (_, Err(error)) => Err(error),
            (Ok(_), Ok(_)) => Ok(Value::Bool(!absorbing)),
        }
    }

    /// Evaluates `or` and `orValue`, whose argument is evaluated only if the target is none.
    fn optional_or(&mut self, call: &Call, other: &Expr) -> EvalResult<Value<'a>> {
        let target = call.target.as_ref().ok_or_else(EvalError::no_such_overload)?;
        match self.eval(target)? {
            Value::Optional(Some(inner)) if call.function == "orValue" => Ok(Value::clone(&inner)),
            Value::Optional(None) => self.eval(other),
            found @ Value::Optional(Some(_)) => Ok(found),
            _ => Err(EvalError::no_such_overload()),
        }
    }

    fn function(&mut self, call: &Call) -> EvalResult<Value<'a>> {
        let mut args = Vec::with_capacity(call.args.len() + 1);
        for arg in call.target.as_deref().into_iter().chain(&call.args) {
            args.push(self.eval(arg)?);
        }
        self.charge(runtime_cost::call_cost(&call.function, &args))?;
        library::call(&call.function, call.target.is_some(), &args)
    }

    fn list(&mut self, elements: &[ListElement]) -> EvalResult<Value<'a>> {
        self.charge(LIST_CREATE_BASE_COST)?;
        let mut items = Vec::with_capacity(elements.len());
        for element in elements {
            let value = self.eval(&element.value)?;
            if element.is_optional {
                items.extend(unwrap_optional(value)?);
            } else {
                items.push(value);
            }
        }
        Ok(Value::list(items))
    }

    fn map(&mut self, entries: &[MapEntry]) -> EvalResult<Value<'a>> {
        self.charge(MAP_CREATE_BASE_COST)?;
        let mut inserted = Vec::with_capacity(entries.len());
        for entry in entries {
            let (key, value) = (self.eval(&entry.key)?, self.eval(&entry.value)?);
            let value = if entry.is_optional { unwrap_optional(value)? } else { Some(value) };
            if let Some(value) = value {
                inserted = insert_entry(inserted, key, value)?;
            }
        }
        Ok(Value::map(inserted))
    }

    fn message(&mut self, message: &StructExpr) -> EvalResult<Value<'a>> {
        self.charge(STRUCT_CREATE_BASE_COST)?;
        let mut fields: Vec<(String, Value<'a>)> = Vec::with_capacity(message.fields.len());
        for field in &message.fields {
            let value = self.eval(&field.value)?;
            let value = if field.is_optional { unwrap_optional(value)? } else { Some(value) };
            let Some(value) = value else { continue };
            // The last initializer of a field wins.
            match fields.iter_mut().find(|(name, _)| *name == field.name) {
                Some((_, previous)) => *previous = value,
                None => fields.push((field.name.clone(), value)),
            }
        }
        Ok(Value::Message(Rc::new(Message { type_name: message.type_name.clone(), fields })))
    }

    fn comprehension(&mut self, comprehension: &Comprehension) -> EvalResult<Value<'a>> {
        let outside = self.activation.len();
        let result = self.fold(comprehension);
        self.activation.truncate(outside);
        result
    }

    /// Evaluates a comprehension, and leaves its variables in the activation.
    fn fold(&mut self, comprehension: &Comprehension) -> EvalResult<Value<'a>> {
        if comprehension.is_binding() {
            let value = self.eval(&comprehension.accu_init);
            self.activation.push((comprehension.accu_var.clone(), value));
            return self.eval(&comprehension.result);
        }
        let range = self.eval(&comprehension.iter_range)?;
        let iterations = iterations(&range, comprehension.iter_var2.is_some())?;
        if let Some((predicate, items)) = as_append(comprehension) {
            return self.append(comprehension, iterations, predicate, items);
        }
        let accu_init = self.eval(&comprehension.accu_init);
        self.activation.push((comprehension.accu_var.clone(), accu_init));
        let accumulator = self.activation.len() - 1;
        for (first, second) in iterations {
            self.enter(comprehension, first, second);
            if matches!(self.eval(&comprehension.loop_condition), Ok(Value::Bool(false))) {
                self.activation.truncate(accumulator + 1);
                break;
            }
            let next = self.eval(&comprehension.loop_step);
            self.activation.truncate(accumulator + 1);
            self.activation[accumulator].1 = next;
            // The loop step may have absorbed the error of an exceeded cost limit.
            self.charge(0)?;
        }
        self.eval(&comprehension.result)
    }

    /// Declares the iteration variables.
    fn enter(&mut self, comprehension: &Comprehension, first: EvalResult<Value<'a>>, second: EvalResult<Value<'a>>) {
        self.activation.push((comprehension.iter_var.clone(), first));
        if let Some(variable) = &comprehension.iter_var2 {
            self.activation.push((variable.clone(), second));
        }
    }

    /// Evaluates a comprehension that only appends to a list: one list grows, where a fold would copy it in each
    /// iteration.
    fn append(
        &mut self,
        comprehension: &Comprehension,
        iterations: Vec<Iteration<'a>>,
        predicate: Option<&Expr>,
        items: &[ListElement],
    ) -> EvalResult<Value<'a>> {
        let outside = self.activation.len();
        let mut appended = Vec::new();
        for (first, second) in iterations {
            self.enter(comprehension, first, second);
            let holds = match predicate {
                None => true,
                Some(predicate) => match self.eval(predicate)? {
                    Value::Bool(holds) => holds,
                    _ => return Err(EvalError::no_such_overload()),
                },
            };
            if holds {
                for item in items {
                    appended.push(self.eval(&item.value)?);
                }
                self.charge(LIST_CREATE_BASE_COST)?;
            }
            self.activation.truncate(outside);
        }
        Ok(Value::list(appended))
    }
}

/// The values of the iteration variables.
type Iteration<'a> = (EvalResult<Value<'a>>, EvalResult<Value<'a>>);

/// The values of the iteration variables in each iteration over a range.
fn iterations<'a>(range: &Value<'a>, has_two: bool) -> EvalResult<Vec<Iteration<'a>>> {
    let unused = || Ok(Value::Null);
    Ok(match range {
        Value::List(list) if has_two => list.iter().enumerate().map(|(i, item)| (Ok(Value::int(i)), item)).collect(),
        Value::List(list) => list.iter().map(|item| (item, unused())).collect(),
        Value::Map(map) => {
            let value = |key: &Value<'a>| map.get(key).and_then(|value| value.ok_or_else(EvalError::no_such_overload));
            map.keys().into_iter().map(|key| (Ok(key.clone()), if has_two { value(&key) } else { unused() })).collect()
        }
        _ => return Err(EvalError::no_such_overload()),
    })
}

/// The predicate and the appended items of a comprehension that only appends to a list; `None` for any other.
fn as_append(comprehension: &Comprehension) -> Option<(Option<&Expr>, &[ListElement])> {
    let is_accumulator = |expr: &Expr| matches!(&expr.kind, ExprKind::Ident(name) if name == ACCUMULATOR);
    let is_call = |expr: &'_ Expr, function: &str| match &expr.kind {
        ExprKind::Call(call) => call.function == function,
        _ => false,
    };
    let starts_empty = matches!(&comprehension.accu_init.kind, ExprKind::List(accu_init) if accu_init.is_empty());
    if !starts_empty || !is_accumulator(&comprehension.result) {
        return None;
    }
    let (predicate, step) = match &comprehension.loop_step.kind {
        ExprKind::Call(Call { args, .. }) if is_call(&comprehension.loop_step, operator::CONDITIONAL) => {
            match args.as_slice() {
                [predicate, step, unchanged] if is_accumulator(unchanged) => (Some(predicate), step),
                _ => return None,
            }
        }
        _ => (None, &comprehension.loop_step),
    };
    match &step.kind {
        ExprKind::Call(Call { args, .. }) if is_call(step, operator::ADD) => match args.as_slice() {
            [accumulator, Expr { kind: ExprKind::List(items), .. }] if is_accumulator(accumulator) => {
                Some((predicate, items))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The item of a list or the value of a map at a key; `None` if there is none.
fn entry<'a>(container: &Value<'a>, key: &Value<'a>) -> EvalResult<Option<Value<'a>>> {
    match (container, key) {
        (Value::List(list), key) => index(list, key),
        (Value::Map(map), key) => map.get(key),
        (Value::Message(message), Value::String(field)) => Ok(message.get(field).cloned()),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn index<'a>(list: &List<'a>, key: &Value<'a>) -> EvalResult<Option<Value<'a>>> {
    let at = match key {
        Value::Int(number) => usize::try_from(*number).ok(),
        Value::Uint(number) => usize::try_from(*number).ok(),
        Value::Double(number) if number.fract() == 0.0 && *number >= 0.0 => Some(*number as usize),
        _ => return Err(EvalError::no_such_overload()),
    };
    at.and_then(|at| list.get(at)).transpose()
}

fn no_such_key(container: &Value<'_>, key: &Value<'_>) -> EvalError {
    match container {
        Value::List(_) => EvalError::new(format!("index out of bounds: {key}")),
        _ => EvalError::new(format!("no such key: {key}")),
    }
}

/// The inner value of an optional.
fn unwrap_optional(value: Value<'_>) -> EvalResult<Option<Value<'_>>> {
    match value {
        Value::Optional(inner) => Ok(inner.map(|inner| Value::clone(&inner))),
        _ => Err(EvalError::no_such_overload()),
    }
}
