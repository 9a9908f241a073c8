//! Estimates the maximum cost of an expression in the server's units.
//!
//! The estimate determines which CRDs the server accepts, so this follows `checker/cost.go` of cel-go step by step,
//! including its quirks: an iteration variable over a literal list has the size of the root type, and a field that is
//! read in the body of a loop can be mistaken for the range of the loop where Go slices share memory.

use std::collections::HashMap;

use super::{
    ast_node::{AstNode, Path},
    calls::{self, CallEstimate},
    constants::{LIST_CREATE_BASE_COST, MAP_CREATE_BASE_COST, STRUCT_CREATE_BASE_COST},
    estimate::Estimate,
    schema_sizes::SchemaSizes,
};
use crate::cel::{
    checker::CheckedExpr,
    syntax::{Call, Comprehension, Expr, ExprKind, Id, ListElement, Literal, MapEntry, Select},
    types::{DeclType, Type},
};

/// Estimates the maximum cost of a rule, where `root` is the type of `self`.
pub(crate) fn estimate_cost(rule: &CheckedExpr, root: &DeclType) -> u64 {
    let mut estimator = CostEstimator {
        rule,
        schema_sizes: SchemaSizes { root },
        paths: HashMap::new(),
        computed_sizes: HashMap::new(),
        entry_sizes: HashMap::new(),
        local_vars: Vec::new(),
    };
    estimator.cost(&rule.root).max
}

/// The sizes of the keys and values of a list or map.
#[derive(Clone, Copy)]
struct EntrySize {
    is_list: bool,
    key: Estimate,
    value: Estimate,
}

impl EntrySize {
    fn union(self, other: EntrySize) -> Self {
        EntrySize { is_list: self.is_list, key: self.key.union(other.key), value: self.value.union(other.value) }
    }
}

/// A variable of a comprehension or binding.
struct LocalVar {
    name: String,
    path: Path,
    size: Option<Estimate>,
    entry_size: Option<EntrySize>,
}

struct CostEstimator<'a> {
    rule: &'a CheckedExpr,
    schema_sizes: SchemaSizes<'a>,
    paths: HashMap<Id, Path>,
    computed_sizes: HashMap<Id, Estimate>,
    entry_sizes: HashMap<Id, EntrySize>,
    /// Innermost last.
    local_vars: Vec<LocalVar>,
}

impl<'a> CostEstimator<'a> {
    fn cost(&mut self, expr: &'a Expr) -> Estimate {
        match &expr.kind {
            ExprKind::Unspecified | ExprKind::Literal(_) => Estimate::ZERO,
            ExprKind::Ident(name) => self.ident(expr, name),
            ExprKind::Select(select) => self.select(expr, select),
            ExprKind::Call(call) => self.call(expr, call),
            ExprKind::List(elements) => self.list(expr, elements),
            ExprKind::Map(entries) => self.map(expr, entries),
            ExprKind::Struct(message) => {
                let base = Estimate::fixed(STRUCT_CREATE_BASE_COST);
                message.fields.iter().fold(base, |sum, field| sum.add(self.cost(&field.value)))
            }
            ExprKind::Comprehension(comprehension) if comprehension.is_binding() => self.binding(expr, comprehension),
            ExprKind::Comprehension(comprehension) => self.comprehension(expr, comprehension),
        }
    }

    fn local_var(&self, name: &str) -> Option<&LocalVar> {
        self.local_vars.iter().rev().find(|local| local.name == name)
    }

    fn ident(&mut self, expr: &Expr, name: &str) -> Estimate {
        let path = self.local_var(name).map_or_else(|| Path::from_name(name), |local| local.path.clone());
        self.paths.insert(expr.id, path);
        Estimate::ONE
    }

    fn select(&mut self, expr: &Expr, select: &'a Select) -> Estimate {
        let mut sum = self.cost(&select.operand);
        // A presence test costs no more than its operand.
        if select.is_test_only {
            return sum;
        }
        if matches!(self.rule.type_of(&select.operand), Type::Map(..) | Type::Object(_) | Type::Struct(_)) {
            sum = sum.add(Estimate::ONE);
        }
        let path = self.path(&select.operand).append(&select.field);
        self.paths.insert(expr.id, path);
        sum
    }

    fn call(&mut self, expr: &'a Expr, call: &'a Call) -> Estimate {
        if call.function == "dyn" {
            let cost = call.args.first().map_or(Estimate::ZERO, |arg| self.cost(arg));
            call.args.iter().for_each(|arg| self.copy_sizes(expr, arg));
            return cost.add(Estimate::ONE);
        }
        let mut args = Vec::with_capacity(call.args.len());
        let mut costs = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            costs.push(self.cost(arg));
            args.push(self.ast_node(arg));
        }
        let overloads = self.rule.overloads_of(expr);
        if overloads.is_empty() {
            return Estimate::ZERO;
        }
        let target_cost = call.target.as_ref().map_or(Estimate::ZERO, |target| self.cost(target));
        let target = call.target.as_ref().map(|target| self.ast_node(target));
        let mut cost = Estimate::EMPTY;
        let mut size: Option<Estimate> = None;
        for overload in overloads {
            let estimate = self.estimate_call(expr, &call.function, overload, target.as_ref(), &args, &costs);
            cost = cost.union(estimate.cost);
            if let Some(result) = estimate.result_size {
                size = Some(size.map_or(result, |size| size.union(result)));
            }
            let segment = match *overload {
                "index_list" => "@items",
                "index_map" => "@values",
                _ => "",
            };
            if !segment.is_empty()
                && let Some(container) = call.args.first()
            {
                size = self.entry_size(container).map(|entry| entry.value);
                let path = self.path(container).append(segment);
                self.paths.insert(expr.id, path);
            }
            size = size.or_else(|| self.size(expr));
        }
        self.set_size(expr, size);
        target_cost.add(cost)
    }

    fn list(&mut self, expr: &Expr, elements: &'a [ListElement]) -> Estimate {
        let mut sum = Estimate::fixed(LIST_CREATE_BASE_COST);
        let mut value = if elements.is_empty() { Estimate::ZERO } else { Estimate::EMPTY };
        for element in elements {
            sum = sum.add(self.cost(&element.value));
            value = value.union(self.size_or_unknown(&element.value));
        }
        self.entry_sizes.insert(expr.id, EntrySize { is_list: true, key: Estimate::ONE, value });
        sum
    }

    fn map(&mut self, expr: &Expr, entries: &'a [MapEntry]) -> Estimate {
        let mut sum = Estimate::fixed(MAP_CREATE_BASE_COST);
        let none = if entries.is_empty() { Estimate::ZERO } else { Estimate::EMPTY };
        let (mut key, mut value) = (none, none);
        for entry in entries {
            sum = sum.add(self.cost(&entry.key)).add(self.cost(&entry.value));
            key = key.union(self.size_or_unknown(&entry.key));
            value = value.union(self.size_or_unknown(&entry.value));
        }
        self.entry_sizes.insert(expr.id, EntrySize { is_list: false, key, value });
        sum
    }

    fn binding(&mut self, expr: &Expr, comprehension: &'a Comprehension) -> Estimate {
        let sum = self.cost(&comprehension.iter_range).add(self.cost(&comprehension.accu_init));
        self.push_value(&comprehension.accu_var, &comprehension.accu_init);
        let sum = sum.add(self.cost(&comprehension.result));
        self.local_vars.pop();
        self.copy_sizes(expr, &comprehension.result);
        sum
    }

    fn comprehension(&mut self, expr: &Expr, comprehension: &'a Comprehension) -> Estimate {
        let Comprehension { iter_range, iter_var, iter_var2, .. } = comprehension;
        let sum = self.cost(iter_range).add(self.cost(&comprehension.accu_init));
        self.push_value(&comprehension.accu_var, &comprehension.accu_init);
        let outside = self.local_vars.len();
        let is_list = self.is_list(iter_range);
        match iter_var2 {
            None => self.push_entry(iter_var, iter_range, is_list, if is_list { "@items" } else { "@keys" }),
            Some(iter_var2) => {
                self.push_entry(iter_var, iter_range, false, if is_list { "@indices" } else { "@keys" });
                self.push_entry(iter_var2, iter_range, true, if is_list { "@items" } else { "@values" });
            }
        }
        let condition = self.cost(&comprehension.loop_condition);
        let iteration = self.cost(&comprehension.loop_step).add(condition);
        self.local_vars.truncate(outside);
        let sum = sum.add(self.cost(&comprehension.result));
        self.local_vars.pop();
        let count = self.size_or_unknown(iter_range);
        match &comprehension.accu_init.kind {
            ExprKind::Literal(_) => {
                let size = self.size(&comprehension.accu_init);
                self.set_size(expr, size);
            }
            ExprKind::List(_) | ExprKind::Map(_) => {
                self.set_size(expr, Some(count));
                if let Some(entry) = self.entry_size(&comprehension.loop_step) {
                    self.entry_sizes.insert(expr.id, entry);
                }
            }
            _ => {}
        }
        sum.add(count.multiply(iteration))
    }

    fn is_list(&self, range: &Expr) -> bool {
        match self.entry_size(range) {
            Some(entry) => entry.is_list,
            None => matches!(self.rule.type_of(range), Type::List(_)),
        }
    }

    /// Declares an iteration variable for the keys or the values of a range.
    fn push_entry(&mut self, name: &str, range: &Expr, is_value: bool, segment: &str) {
        let size = self.entry_size(range).map(|entry| if is_value { entry.value } else { entry.key });
        let path = self.path(range).append(segment);
        self.local_vars.push(LocalVar { name: name.to_owned(), path, size, entry_size: None });
    }

    /// Declares a variable with the path and sizes of an expression.
    fn push_value(&mut self, name: &str, value: &Expr) {
        let path = self.path(value);
        let entry_size = self.entry_size(value);
        let size = self.size(value);
        self.local_vars.push(LocalVar { name: name.to_owned(), path, size, entry_size });
    }

    fn estimate_call(
        &mut self,
        expr: &Expr,
        function: &str,
        overload: &str,
        target: Option<&AstNode<'a>>,
        args: &[AstNode<'a>],
        costs: &[Estimate],
    ) -> CallEstimate {
        let args_cost = costs.iter().fold(Estimate::ZERO, |sum, cost| sum.add(*cost));
        if let Some(estimate) = calls::library_call(&self.schema_sizes, function, overload, target, args) {
            return CallEstimate { cost: estimate.cost.add(args_cost), ..estimate };
        }
        match (overload, args) {
            ("logical_or" | "logical_and", [_, _]) => {
                let cost = Estimate::new(costs[0].min, costs[0].max.saturating_add(costs[1].max));
                CallEstimate { cost, result_size: None }
            }
            ("conditional", [_, yes, no]) => {
                let size = yes.size_or_unknown().union(no.size_or_unknown());
                if let (Some(yes), Some(no)) = (self.entry_size(yes.expr), self.entry_size(no.expr)) {
                    self.entry_sizes.insert(expr.id, yes.union(no));
                }
                CallEstimate { cost: costs[0].add(costs[1].union(costs[2])), result_size: Some(size) }
            }
            ("add_string" | "add_bytes" | "add_list", [left, right]) => {
                if let (Some(left), Some(right)) = (self.entry_size(left.expr), self.entry_size(right.expr)) {
                    self.entry_sizes.insert(expr.id, left.union(right));
                }
                let size = left.size_or_unknown().add(right.size_or_unknown());
                let cost = if overload == "add_list" { Estimate::ONE } else { size.traversal_cost() };
                CallEstimate { cost: cost.add(args_cost), result_size: Some(size) }
            }
            _ => {
                let estimate = calls::standard_call(overload, target, args);
                CallEstimate { cost: estimate.cost.add(args_cost), ..estimate }
            }
        }
    }

    fn path(&self, expr: &Expr) -> Path {
        if let ExprKind::Ident(name) = &expr.kind
            && let Some(local) = self.local_var(name)
        {
            return local.path.clone();
        }
        self.paths.get(&expr.id).cloned().unwrap_or_default()
    }

    fn ast_node(&mut self, expr: &'a Expr) -> AstNode<'a> {
        let path = self.path(expr);
        let path = if path.starts_with_accumulator() { Path::default() } else { path };
        let computed_size = self.size(expr);
        AstNode { expr, node_type: self.rule.type_of(expr).clone(), path, computed_size }
    }

    fn set_size(&mut self, expr: &Expr, size: Option<Estimate>) {
        if let Some(size) = size {
            self.computed_sizes.insert(expr.id, size);
        }
    }

    fn copy_sizes(&mut self, to: &Expr, from: &Expr) {
        let size = self.size(from);
        self.set_size(to, size);
        if let Some(entry) = self.entry_size(from) {
            self.entry_sizes.insert(to.id, entry);
        }
    }

    fn size_or_unknown(&mut self, expr: &Expr) -> Estimate {
        self.size(expr).unwrap_or(Estimate::UNKNOWN)
    }

    fn size(&mut self, expr: &Expr) -> Option<Estimate> {
        if let Some(size) = self.computed_sizes.get(&expr.id) {
            return Some(*size);
        }
        if let Some(size) = literal_size(expr) {
            return Some(size);
        }
        if let Some(size) = self.schema_sizes.declared_size(&self.path(expr)) {
            self.computed_sizes.insert(expr.id, size);
            return Some(size);
        }
        if is_scalar(self.rule.type_of(expr)) {
            return Some(Estimate::ONE);
        }
        match &expr.kind {
            ExprKind::Ident(name) => self.local_var(name)?.size,
            _ => None,
        }
    }

    fn entry_size(&self, expr: &Expr) -> Option<EntrySize> {
        if let Some(size) = self.entry_sizes.get(&expr.id) {
            return Some(*size);
        }
        match &expr.kind {
            ExprKind::Ident(name) => self.local_var(name)?.entry_size,
            _ => None,
        }
    }
}

fn literal_size(expr: &Expr) -> Option<Estimate> {
    let size = match &expr.kind {
        ExprKind::Literal(Literal::String(text)) => text.chars().count(),
        ExprKind::Literal(Literal::Bytes(bytes)) => bytes.len(),
        ExprKind::Literal(_) => 1,
        ExprKind::List(elements) => elements.len(),
        ExprKind::Map(entries) => entries.len(),
        _ => return None,
    };
    Some(Estimate::fixed(u64::try_from(size).unwrap_or(u64::MAX)))
}

fn is_scalar(t: &Type) -> bool {
    match t {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
        Type::Optional(inner) => is_scalar(inner),
        _ => false,
    }
}

/// The error for a cost that exceeds a limit.
pub(crate) fn budget_exceeded(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and \
         maxLength where arrays, maps, and strings are declared)"
    )
}
