//! What a rule may cost at most, in the server's units.
//!
//! The numbers decide which definitions the server takes, so this follows cel-go's `checker/cost.go` step by step, with
//! its oddities: a variable of a loop over a literal list is sized like the root of the type, and a field read in the body
//! of a loop can be taken for the loop's range where Go's slices happen to share memory.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use super::{
    call_cost::{self, CallEstimate},
    checker::Checked,
    declared::{Declared, Shape},
    estimate::Range,
    syntax::{ACCUMULATOR, Call, Comprehension, Element, Entry, Expr, ExprKind, Id, Literal, Select},
    types::Type,
};

const LIST_CREATION: u64 = 10;
const MAP_CREATION: u64 = 30;
const STRUCT_CREATION: u64 = 40;

/// The most a rule on values of type `root` may cost.
pub(super) fn estimate(rule: &Checked, root: &Declared) -> u64 {
    let mut estimator = Estimator {
        rule,
        root,
        paths: HashMap::new(),
        sizes: HashMap::new(),
        entry_sizes: HashMap::new(),
        locals: Vec::new(),
    };
    estimator.cost(&rule.root).max
}

/// Sizes of the keys and values of a list or map.
#[derive(Clone, Copy)]
pub(super) struct EntrySize {
    is_list: bool,
    key: Range,
    value: Range,
}

impl EntrySize {
    fn union(self, other: EntrySize) -> Self {
        EntrySize { is_list: self.is_list, key: self.key.union(other.key), value: self.value.union(other.value) }
    }
}

/// The path of a value from a variable on, as a Go slice: appending to two copies of one may write to the same memory.
#[derive(Clone, Default)]
pub(super) struct Path {
    memory: Rc<RefCell<Vec<String>>>,
    capacity: usize,
    length: usize,
}

impl Path {
    fn of(name: &str) -> Self {
        Path::default().append(name)
    }

    pub(super) fn append(&self, segment: &str) -> Self {
        if self.length < self.capacity {
            let mut memory = self.memory.borrow_mut();
            match memory.get_mut(self.length) {
                Some(taken) => segment.clone_into(taken),
                None => memory.push(segment.to_owned()),
            }
            return Path { memory: Rc::clone(&self.memory), capacity: self.capacity, length: self.length + 1 };
        }
        let mut grown = self.memory.borrow()[..self.length].to_vec();
        grown.push(segment.to_owned());
        let capacity = (self.capacity * 2).max(1);
        Path { memory: Rc::new(RefCell::new(grown)), capacity, length: self.length + 1 }
    }

    fn segments(&self) -> Vec<String> {
        self.memory.borrow()[..self.length].to_vec()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    fn starts_with_accumulator(&self) -> bool {
        self.memory.borrow().first().is_some_and(|first| first == ACCUMULATOR)
    }
}

struct Local {
    name: String,
    path: Path,
    size: Option<Range>,
    entry_size: Option<EntrySize>,
}

/// An argument, as the estimates of calls see it.
pub(super) struct Argument<'a> {
    pub(super) expr: Option<&'a Expr>,
    pub(super) kind: Type,
    pub(super) path: Path,
    pub(super) computed: Option<Range>,
}

pub(super) struct Estimator<'a> {
    rule: &'a Checked,
    root: &'a Declared,
    paths: HashMap<Id, Path>,
    sizes: HashMap<Id, Range>,
    entry_sizes: HashMap<Id, EntrySize>,
    /// Innermost last.
    locals: Vec<Local>,
}

impl<'a> Estimator<'a> {
    fn cost(&mut self, expr: &'a Expr) -> Range {
        match &expr.kind {
            ExprKind::Broken | ExprKind::Literal(_) => Range::ZERO,
            ExprKind::Ident(name) => self.ident(expr, name),
            ExprKind::Select(select) => self.select(expr, select),
            ExprKind::Call(call) => self.call(expr, call),
            ExprKind::List(elements) => self.list(expr, elements),
            ExprKind::Map(entries) => self.map(expr, entries),
            ExprKind::Struct(made) => {
                made.values.iter().fold(Range::fixed(STRUCT_CREATION), |sum, value| sum.plus(self.cost(value)))
            }
            ExprKind::Comprehension(loops) if loops.is_binding() => self.binding(expr, loops),
            ExprKind::Comprehension(loops) => self.comprehension(expr, loops),
        }
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn ident(&mut self, expr: &Expr, name: &str) -> Range {
        let path = self.local(name).map_or_else(|| Path::of(name), |local| local.path.clone());
        self.paths.insert(expr.id, path);
        Range::ONE
    }

    fn select(&mut self, expr: &Expr, select: &'a Select) -> Range {
        let mut sum = self.cost(&select.operand);
        // Whether a field is there costs nothing beyond its operand.
        if select.is_test {
            return sum;
        }
        if matches!(self.rule.type_of(&select.operand), Type::Map(..) | Type::Object(_) | Type::Struct(_)) {
            sum = sum.plus(Range::ONE);
        }
        let path = self.path(&select.operand).append(&select.field);
        self.paths.insert(expr.id, path);
        sum
    }

    fn call(&mut self, expr: &'a Expr, call: &'a Call) -> Range {
        if call.function == "dyn" {
            let cost = call.args.first().map_or(Range::ZERO, |arg| self.cost(arg));
            call.args.iter().for_each(|arg| self.copy_sizes(expr, arg));
            return cost.plus(Range::ONE);
        }
        let mut args = Vec::with_capacity(call.args.len());
        let mut costs = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            costs.push(self.cost(arg));
            args.push(self.argument(arg));
        }
        let overloads = self.rule.overloads_of(expr);
        if overloads.is_empty() {
            return Range::ZERO;
        }
        let target_cost = call.target.as_ref().map_or(Range::ZERO, |target| self.cost(target));
        let target = call.target.as_ref().map(|target| self.argument(target));
        let mut cost = Range::EMPTY;
        let mut size: Option<Range> = None;
        for overload in overloads {
            let estimate = self.overload(expr, &call.function, overload, target.as_ref(), &args, &costs);
            cost = cost.union(estimate.cost);
            if let Some(result) = estimate.size {
                size = Some(size.map_or(result, |size| size.union(result)));
            }
            let items = match *overload {
                "index_list" => "@items",
                "index_map" => "@values",
                _ => "",
            };
            if !items.is_empty()
                && let Some(container) = call.args.first()
            {
                size = self.entry_size(container).map(|entry| entry.value);
                let path = self.path(container).append(items);
                self.paths.insert(expr.id, path);
            }
            size = size.or_else(|| self.size(expr));
        }
        self.set_size(expr, size);
        target_cost.plus(cost)
    }

    fn list(&mut self, expr: &Expr, elements: &'a [Element]) -> Range {
        let mut sum = Range::fixed(LIST_CREATION);
        let mut value = if elements.is_empty() { Range::ZERO } else { Range::EMPTY };
        for element in elements {
            sum = sum.plus(self.cost(&element.value));
            value = value.union(self.size_or_unknown(&element.value));
        }
        self.entry_sizes.insert(expr.id, EntrySize { is_list: true, key: Range::ONE, value });
        sum
    }

    fn map(&mut self, expr: &Expr, entries: &'a [Entry]) -> Range {
        let mut sum = Range::fixed(MAP_CREATION);
        let none = if entries.is_empty() { Range::ZERO } else { Range::EMPTY };
        let (mut key, mut value) = (none, none);
        for entry in entries {
            sum = sum.plus(self.cost(&entry.key)).plus(self.cost(&entry.value));
            key = key.union(self.size_or_unknown(&entry.key));
            value = value.union(self.size_or_unknown(&entry.value));
        }
        self.entry_sizes.insert(expr.id, EntrySize { is_list: false, key, value });
        sum
    }

    fn binding(&mut self, expr: &Expr, loops: &'a Comprehension) -> Range {
        let sum = self.cost(&loops.range).plus(self.cost(&loops.start));
        self.push_value(&loops.accumulator, &loops.start);
        let sum = sum.plus(self.cost(&loops.result));
        self.locals.pop();
        self.copy_sizes(expr, &loops.result);
        sum
    }

    fn comprehension(&mut self, expr: &Expr, loops: &'a Comprehension) -> Range {
        let sum = self.cost(&loops.range).plus(self.cost(&loops.start));
        self.push_value(&loops.accumulator, &loops.start);
        let outside = self.locals.len();
        let is_list = self.is_list(&loops.range);
        match &loops.second_variable {
            None => self.push_entry(&loops.variable, &loops.range, is_list, if is_list { "@items" } else { "@keys" }),
            Some(second) => {
                self.push_entry(&loops.variable, &loops.range, false, if is_list { "@indices" } else { "@keys" });
                self.push_entry(second, &loops.range, true, if is_list { "@items" } else { "@values" });
            }
        }
        let condition = self.cost(&loops.condition);
        let each = self.cost(&loops.step).plus(condition);
        self.locals.truncate(outside);
        let sum = sum.plus(self.cost(&loops.result));
        self.locals.pop();
        let count = self.size_or_unknown(&loops.range);
        match &loops.start.kind {
            ExprKind::Literal(_) => {
                let size = self.size(&loops.start);
                self.set_size(expr, size);
            }
            ExprKind::List(_) | ExprKind::Map(_) => {
                self.set_size(expr, Some(count));
                if let Some(entry) = self.entry_size(&loops.step) {
                    self.entry_sizes.insert(expr.id, entry);
                }
            }
            _ => {}
        }
        sum.plus(count.times(each))
    }

    fn is_list(&self, range: &Expr) -> bool {
        match self.entry_size(range) {
            Some(entry) => entry.is_list,
            None => matches!(self.rule.type_of(range), Type::List(_)),
        }
    }

    /// A loop's variable for the keys or the values of its range.
    fn push_entry(&mut self, name: &str, range: &Expr, is_value: bool, segment: &str) {
        let size = self.entry_size(range).map(|entry| if is_value { entry.value } else { entry.key });
        let path = self.path(range).append(segment);
        self.locals.push(Local { name: name.to_owned(), path, size, entry_size: None });
    }

    fn push_value(&mut self, name: &str, value: &Expr) {
        let path = self.path(value);
        let entry_size = self.entry_size(value);
        let size = self.size(value);
        self.locals.push(Local { name: name.to_owned(), path, size, entry_size });
    }

    fn overload(
        &mut self,
        expr: &Expr,
        function: &str,
        overload: &str,
        target: Option<&Argument<'a>>,
        args: &[Argument<'a>],
        costs: &[Range],
    ) -> CallEstimate {
        let args_cost = costs.iter().fold(Range::ZERO, |sum, cost| sum.plus(*cost));
        if let Some(estimate) = call_cost::of_library(self, function, overload, target, args) {
            return CallEstimate { cost: estimate.cost.plus(args_cost), size: estimate.size };
        }
        match (overload, args) {
            ("logical_or" | "logical_and", [_, _]) => {
                let cost = Range::new(costs[0].min, costs[0].max.saturating_add(costs[1].max));
                CallEstimate { cost, size: None }
            }
            ("conditional", [_, yes, no]) => {
                let size = yes.known_size().union(no.known_size());
                if let (Some(yes), Some(no)) = (self.entry_of(yes), self.entry_of(no)) {
                    self.entry_sizes.insert(expr.id, yes.union(no));
                }
                CallEstimate { cost: costs[0].plus(costs[1].union(costs[2])), size: Some(size) }
            }
            ("add_string" | "add_bytes" | "add_list", [left, right]) => {
                if let (Some(left), Some(right)) = (self.entry_of(left), self.entry_of(right)) {
                    self.entry_sizes.insert(expr.id, left.union(right));
                }
                let size = left.known_size().plus(right.known_size());
                let cost = if overload == "add_list" { Range::ONE } else { size.scaled(call_cost::STRING) };
                CallEstimate { cost: cost.plus(args_cost), size: Some(size) }
            }
            _ => {
                let estimate = call_cost::of_standard(overload, target, args);
                CallEstimate { cost: estimate.cost.plus(args_cost), size: estimate.size }
            }
        }
    }

    fn entry_of(&self, argument: &Argument<'_>) -> Option<EntrySize> {
        self.entry_size(argument.expr?)
    }

    fn path(&self, expr: &Expr) -> Path {
        if let ExprKind::Ident(name) = &expr.kind
            && let Some(local) = self.local(name)
        {
            return local.path.clone();
        }
        self.paths.get(&expr.id).cloned().unwrap_or_default()
    }

    fn argument(&mut self, expr: &'a Expr) -> Argument<'a> {
        let path = self.path(expr);
        let path = if path.starts_with_accumulator() { Path::default() } else { path };
        let computed = self.size(expr);
        Argument { expr: Some(expr), kind: self.rule.type_of(expr).clone(), path, computed }
    }

    fn set_size(&mut self, expr: &Expr, size: Option<Range>) {
        if let Some(size) = size {
            self.sizes.insert(expr.id, size);
        }
    }

    fn copy_sizes(&mut self, to: &Expr, from: &Expr) {
        let size = self.size(from);
        self.set_size(to, size);
        if let Some(entry) = self.entry_size(from) {
            self.entry_sizes.insert(to.id, entry);
        }
    }

    fn size_or_unknown(&mut self, expr: &Expr) -> Range {
        self.size(expr).unwrap_or(Range::UNKNOWN)
    }

    fn size(&mut self, expr: &Expr) -> Option<Range> {
        if let Some(size) = self.sizes.get(&expr.id) {
            return Some(*size);
        }
        if let Some(size) = literal_size(expr) {
            return Some(size);
        }
        if let Some(size) = self.declared_size(&self.path(expr)) {
            self.sizes.insert(expr.id, size);
            return Some(size);
        }
        if is_scalar(self.rule.type_of(expr)) {
            return Some(Range::ONE);
        }
        match &expr.kind {
            ExprKind::Ident(name) => self.local(name)?.size,
            _ => None,
        }
    }

    /// The size the schema allows the value at a path. Whichever variable begins it, it counts from the root.
    pub(super) fn declared_size(&self, path: &Path) -> Option<Range> {
        if path.is_empty() {
            return None;
        }
        let mut node = self.root;
        for segment in path.segments().iter().skip(1) {
            node = match (segment.as_str(), &node.shape) {
                ("@items" | "@values", Shape::List(inner) | Shape::Map(inner)) => inner,
                // Keys are of the plain string type, which counts no elements.
                ("@keys", Shape::Map(_)) => return Some(Range::ZERO),
                (field, Shape::Object(fields)) => fields.get(field)?,
                _ => return None,
            };
        }
        Some(Range::new(0, node.max_elements))
    }

    fn entry_size(&self, expr: &Expr) -> Option<EntrySize> {
        if let Some(size) = self.entry_sizes.get(&expr.id) {
            return Some(*size);
        }
        match &expr.kind {
            ExprKind::Ident(name) => self.local(name)?.entry_size,
            _ => None,
        }
    }
}

impl Argument<'_> {
    pub(super) fn known_size(&self) -> Range {
        self.computed.unwrap_or(Range::UNKNOWN)
    }
}

fn literal_size(expr: &Expr) -> Option<Range> {
    let size = match &expr.kind {
        ExprKind::Literal(Literal::String(text)) => text.chars().count(),
        ExprKind::Literal(Literal::Bytes(bytes)) => bytes.len(),
        ExprKind::Literal(_) => 1,
        ExprKind::List(elements) => elements.len(),
        ExprKind::Map(entries) => entries.len(),
        _ => return None,
    };
    Some(Range::fixed(u64::try_from(size).unwrap_or(u64::MAX)))
}

fn is_scalar(t: &Type) -> bool {
    match t {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
        Type::Optional(inner) => is_scalar(inner),
        _ => false,
    }
}

/// What the server says of a cost above a limit.
#[must_use]
#[allow(clippy::cast_precision_loss)]
pub(super) fn excess(what: &str, cost: u64, limit: u64) -> String {
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
