//! Compares two states of an object, field by field.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    path::PathElement,
    set::FieldSet,
    types::{Identity, List, Map, Shape, Type},
};

/// The fields that differ between two values.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Comparison {
    pub(crate) removed: FieldSet,
    pub(crate) modified: FieldSet,
    pub(crate) added: FieldSet,
}

impl Comparison {
    /// Excludes fields and their descendants.
    pub(crate) fn exclude(&mut self, ignored: &FieldSet) {
        for changed in [&mut self.removed, &mut self.modified, &mut self.added] {
            changed.subtract_recursively(ignored);
        }
    }

    /// Returns the fields that have a new value.
    pub(crate) fn written(&self) -> FieldSet {
        self.modified.union(&self.added)
    }
}

/// The depth from which on equal fields are compared as others. This bounds how often a value is compared.
const MAX_EQUAL_DEPTH: usize = 3;

/// Compares two values of a type.
pub(crate) fn compare(old: &Value, new: &Value, type_: &Type) -> Comparison {
    value(Some(old), Some(new), type_, 0).below
}

/// The differences of a field.
#[derive(Default)]
struct Change {
    /// Whether the field itself is a member of the sets.
    is_removed: bool,
    is_modified: bool,
    is_added: bool,
    /// The differences below the field.
    below: Comparison,
}

impl Change {
    fn is_empty(&self) -> bool {
        let Self { is_removed, is_modified, is_added, below: Comparison { removed, modified, added } } = self;
        !is_removed && !is_modified && !is_added && [removed, modified, added].iter().all(|set| set.is_empty())
    }

    /// Adds the differences of the same field in another shape.
    fn merge(&mut self, other: Self) {
        self.is_removed |= other.is_removed;
        self.is_modified |= other.is_modified;
        self.is_added |= other.is_added;
        self.below.removed.merge(other.below.removed);
        self.below.modified.merge(other.below.modified);
        self.below.added.merge(other.below.added);
    }
}

impl Comparison {
    fn insert(&mut self, element: &PathElement, change: Change) {
        if !change.is_empty() {
            let Change { is_removed, is_modified, is_added, below } = change;
            self.removed.insert_branch(element.clone(), is_removed, below.removed);
            self.modified.insert_branch(element.clone(), is_modified, below.modified);
            self.added.insert_branch(element.clone(), is_added, below.added);
        }
    }
}

fn value(old: Option<&Value>, new: Option<&Value>, type_: &Type, depth: usize) -> Change {
    let (old_shape, new_shape) = (type_.shape(old), type_.shape(new));
    let mut change = Change::default();
    let is_leaf = if new.is_none() {
        shape(old, new, old_shape, depth, &mut change)
    } else {
        // A change of shape removes the fields of the old shape.
        if old.is_some() && !old_shape.is(new_shape) {
            shape(old, new, old_shape, depth, &mut change);
        }
        shape(old, new, new_shape, depth, &mut change)
    };
    if !is_leaf {
        change.is_added |= old.is_none();
        change.is_removed |= old.is_some() && new.is_none();
    }
    change
}

/// Compares as one shape. Returns whether the field was compared as a leaf.
fn shape(old: Option<&Value>, new: Option<&Value>, shape: Shape<'_>, depth: usize, change: &mut Change) -> bool {
    let is_leaf = match shape {
        Shape::Scalar(_) => true,
        Shape::List(list) => list.identity == Identity::None || no_items(old) && no_items(new),
        Shape::Map(map) => map.atomic || no_fields(old) && no_fields(new),
    };
    change.merge(match shape {
        _ if is_leaf => leaf(old, new),
        Shape::List(list) => Change { below: items(old, new, list, depth), ..Change::default() },
        Shape::Map(map) => Change { below: fields(old, new, map, depth), ..Change::default() },
        Shape::Scalar(_) => Change::default(),
    });
    is_leaf
}

fn leaf(old: Option<&Value>, new: Option<&Value>) -> Change {
    match (old, new) {
        (None, _) => Change { is_added: true, ..Change::default() },
        (_, None) => Change { is_removed: true, ..Change::default() },
        (Some(old), Some(new)) => Change { is_modified: old != new, ..Change::default() },
    }
}

fn fields(old: Option<&Value>, new: Option<&Value>, map: &Map, depth: usize) -> Comparison {
    let maps = [old, new].map(|value| value.and_then(Value::as_object));
    let names: BTreeSet<&String> = maps.iter().copied().flatten().flat_map(|fields| fields.keys()).collect();
    let mut found = Comparison::default();
    for name in names {
        let [old, new] = maps.map(|fields| fields.and_then(|fields| fields.get(name)));
        // Most fields of an object are equal, and have no differences.
        if depth < MAX_EQUAL_DEPTH && old == new {
            continue;
        }
        let type_ = map.field(name).unwrap_or(&Type::Deduced);
        found.insert(&PathElement::field(name), value(old, new, type_, depth + 1));
    }
    found
}

fn items(old: Option<&Value>, new: Option<&Value>, list: &List, depth: usize) -> Comparison {
    let [old, new] = [old, new].map(|value| by_element(value, list));
    let elements: BTreeSet<&PathElement> = old.keys().chain(new.keys()).collect();
    let mut found = Comparison::default();
    for element in elements {
        let [old, new] = [&old, &new].map(|items| items.get(element).map_or(&[][..], Vec::as_slice));
        found.insert(element, items_of_element(old, new, list, depth + 1));
    }
    found
}

/// Compares the items with the same path element. Duplicates are compared as one value.
fn items_of_element(old: &[&Value], new: &[&Value], list: &List, depth: usize) -> Change {
    match (old, new) {
        ([] | [_], [] | [_]) => value(old.first().copied(), new.first().copied(), &list.item, depth),
        ([_, _, ..], [_, _, ..]) => Change { is_modified: old != new, ..Change::default() },
        (_, [] | [_]) => {
            let change = new.first().map(|new| value(None, Some(new), &list.item, depth));
            Change { is_removed: true, ..change.unwrap_or_default() }
        }
        ([] | [_], _) => {
            let change = old.first().map(|old| value(Some(old), None, &list.item, depth));
            Change { is_added: true, ..change.unwrap_or_default() }
        }
    }
}

fn by_element<'a>(value: Option<&'a Value>, list: &List) -> BTreeMap<PathElement, Vec<&'a Value>> {
    let mut items: BTreeMap<PathElement, Vec<&Value>> = BTreeMap::new();
    for item in value.and_then(Value::as_array).into_iter().flatten() {
        if let Ok(element) = list.element(item) {
            items.entry(element).or_default().push(item);
        }
    }
    items
}

fn no_fields(value: Option<&Value>) -> bool {
    value.and_then(Value::as_object).is_none_or(serde_json::Map::is_empty)
}

fn no_items(value: Option<&Value>) -> bool {
    value.and_then(Value::as_array).is_none_or(Vec::is_empty)
}
