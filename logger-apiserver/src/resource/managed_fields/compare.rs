//! Compares two states of an object, field by field.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    path::{Path, PathElement},
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

/// The length of a path from which on equal fields are compared as others. This bounds how often a value is compared.
const MAX_EQUAL_DEPTH: usize = 3;

/// Compares two values of a type.
pub(crate) fn compare(old: &Value, new: &Value, type_: &Type) -> Comparison {
    let mut walk = Walk { found: Comparison::default(), path: Path::new() };
    walk.value(Some(old), Some(new), type_);
    walk.found
}

struct Walk {
    found: Comparison,
    path: Path,
}

impl Walk {
    fn value(&mut self, old: Option<&Value>, new: Option<&Value>, type_: &Type) {
        let (old_shape, new_shape) = (type_.shape(old), type_.shape(new));
        let is_leaf = if new.is_none() {
            self.shape(old, new, old_shape)
        } else {
            // A change of shape removes the fields of the old shape.
            if old.is_some() && !old_shape.is(new_shape) {
                self.shape(old, new, old_shape);
            }
            self.shape(old, new, new_shape)
        };
        if is_leaf {
            return;
        }
        if old.is_none() {
            self.found.added.insert(&self.path);
        } else if new.is_none() {
            self.found.removed.insert(&self.path);
        }
    }

    /// Compares as one shape. Returns whether the field was compared as a leaf.
    fn shape(&mut self, old: Option<&Value>, new: Option<&Value>, shape: Shape<'_>) -> bool {
        let is_leaf = match shape {
            Shape::Scalar(_) => true,
            Shape::List(list) => list.identity == Identity::None || no_items(old) && no_items(new),
            Shape::Map(map) => map.atomic || no_fields(old) && no_fields(new),
        };
        match shape {
            _ if is_leaf => self.leaf(old, new),
            Shape::List(list) => self.items(old, new, list),
            Shape::Map(map) => self.fields(old, new, map),
            Shape::Scalar(_) => {}
        }
        is_leaf
    }

    fn leaf(&mut self, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (None, _) => self.found.added.insert(&self.path),
            (_, None) => self.found.removed.insert(&self.path),
            (Some(old), Some(new)) if old != new => self.found.modified.insert(&self.path),
            (Some(_), Some(_)) => {}
        }
    }

    fn fields(&mut self, old: Option<&Value>, new: Option<&Value>, map: &Map) {
        let maps = [old, new].map(|value| value.and_then(Value::as_object));
        let names: BTreeSet<&String> = maps.iter().copied().flatten().flat_map(|fields| fields.keys()).collect();
        for name in names {
            let [old, new] = maps.map(|fields| fields.and_then(|fields| fields.get(name)));
            // Most fields of an object are equal, and have no differences.
            if self.path.len() < MAX_EQUAL_DEPTH && old == new {
                continue;
            }
            self.path.push(PathElement::field(name));
            self.value(old, new, map.field(name).unwrap_or(&Type::Deduced));
            self.path.pop();
        }
    }

    fn items(&mut self, old: Option<&Value>, new: Option<&Value>, list: &List) {
        let [old, new] = [old, new].map(|value| by_element(value, list));
        let elements: BTreeSet<&PathElement> = old.keys().chain(new.keys()).collect();
        for element in elements {
            let [old, new] = [&old, &new].map(|items| items.get(element).map_or(&[][..], Vec::as_slice));
            self.path.push(element.clone());
            self.items_of_element(old, new, list);
            self.path.pop();
        }
    }

    /// Compares the items with the same path element. Duplicates are compared as one value.
    fn items_of_element(&mut self, old: &[&Value], new: &[&Value], list: &List) {
        match (old, new) {
            ([] | [_], [] | [_]) => self.value(old.first().copied(), new.first().copied(), &list.item),
            ([_, _, ..], [_, _, ..]) => {
                if old != new {
                    self.found.modified.insert(&self.path);
                }
            }
            (_, [] | [_]) => {
                if let [new] = new {
                    self.value(None, Some(new), &list.item);
                }
                self.found.removed.insert(&self.path);
            }
            ([] | [_], _) => {
                if let [old] = old {
                    self.value(Some(old), None, &list.item);
                }
                self.found.added.insert(&self.path);
            }
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
