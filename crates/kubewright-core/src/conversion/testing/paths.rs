//! Paths of values in an object, and the paths of the same values in the other version.

use std::fmt;

use serde_json::Value;

use crate::conversion::plan::{Conversion, Direction, Struct};

/// A field of an object or an item of a list.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Segment {
    Field(String),
    Item(usize),
}

/// The path of a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Path(pub(super) Vec<Segment>);

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|segment| match segment {
            Segment::Field(name) => write!(f, ".{name}"),
            Segment::Item(index) => write!(f, "[{index}]"),
        })
    }
}

impl Path {
    fn with(&self, segment: Segment) -> Self {
        Path(self.0.iter().cloned().chain([segment]).collect())
    }

    /// Whether this is the path of the other value, of one that contains it, or of one in it.
    pub(super) fn overlaps(&self, other: &Path) -> bool {
        self.0.iter().zip(&other.0).all(|(left, right)| left == right)
    }

    /// Whether the conversion of the value at this path is a reason for a value at the other path in the target. A
    /// field that the target does not have leaves what contains it, which can be empty then.
    pub(super) fn explains(&self, target: &Path, conversion: Conversion, direction: Direction) -> bool {
        if let Some(converted) = self.converted(conversion, direction) {
            return converted.overlaps(target);
        }
        let mut parents = (0..self.0.len()).rev().map(|len| Path(self.0[..len].to_vec()));
        let remaining = parents.find_map(|parent| parent.converted(conversion, direction));
        remaining.is_some_and(|remaining| remaining.0.starts_with(&target.0))
    }

    /// Returns the value at this path, to be changed.
    pub(super) fn get_mut<'a>(&self, object: &'a mut Value) -> Option<&'a mut Value> {
        self.0.iter().try_fold(object, |value, segment| match segment {
            Segment::Field(name) => value.get_mut(name),
            Segment::Item(index) => value.get_mut(index),
        })
    }

    /// Removes the value at this path; an item of a list becomes null, so that the others remain at their positions.
    pub(super) fn remove(&self, object: &mut Value) {
        let Some((last, parents)) = self.0.split_last() else { return };
        match (Path(parents.to_vec()).get_mut(object), last) {
            (Some(Value::Object(fields)), Segment::Field(name)) => drop(fields.remove(name)),
            (Some(Value::Array(items)), Segment::Item(index)) => {
                if let Some(item) = items.get_mut(*index) {
                    *item = Value::Null;
                }
            }
            _ => {}
        }
    }

    /// Returns the schema of the value at this path.
    pub(super) fn schema<'a>(&self, schema: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(schema, |schema, segment| match segment {
            Segment::Field(name) => {
                let property = schema.get("properties").and_then(|properties| properties.get(name));
                property.or_else(|| schema.get("additionalProperties").filter(|entries| entries.is_object()))
            }
            Segment::Item(_) => schema.get("items"),
        })
    }

    /// Whether the value is one of the keys that identify the item of a list.
    pub(super) fn is_key(&self, schema: &Value) -> bool {
        let is_key = |position: usize| match &self.0[position..] {
            [Segment::Item(_), Segment::Field(name), ..] => {
                let list = Path(self.0[..position].to_vec());
                let keys = list.schema(schema).and_then(|list| list["x-kubernetes-list-map-keys"].as_array());
                keys.is_some_and(|keys| keys.iter().any(|key| key == name))
            }
            _ => false,
        };
        (0..self.0.len()).any(is_key)
    }

    /// Returns the path of the value in the other version, or of the value around it that is converted as a whole.
    /// `None` is returned for a field that the other version does not have.
    pub(super) fn converted(&self, conversion: Conversion, direction: Direction) -> Option<Path> {
        let mut path = Path::default();
        let mut conversion = conversion;
        let mut segments = self.0.iter();
        while let Some(segment) = segments.next() {
            match (conversion, segment) {
                (Conversion::Struct(plan), Segment::Field(name)) => {
                    path = path.with(Segment::Field(plan.target_name(name, direction)?.to_owned()));
                    conversion = plan.conversion_of(name, direction);
                }
                (Conversion::List(item), Segment::Item(_)) => {
                    path = path.with(segment.clone());
                    conversion = item();
                }
                (Conversion::Map(value), Segment::Field(_)) => {
                    path = path.with(segment.clone());
                    conversion = value();
                }
                (Conversion::Same, _) => {
                    path.0.push(segment.clone());
                    path.0.extend(segments.cloned());
                    return Some(path);
                }
                _ => return Some(path),
            }
        }
        Some(path)
    }
}

impl Struct {
    /// Returns the conversion of a field of the source, also in flattened types.
    fn conversion_of(&self, source: &str, direction: Direction) -> Conversion {
        for field in self.fields {
            match (field.flatten, (field.conversion)()) {
                (true, Conversion::Struct(nested)) if nested.has_target(source, direction.reversed()) => {
                    return nested.conversion_of(source, direction);
                }
                (false, conversion) if field.names(direction).0 == Some(source) => return conversion,
                _ => {}
            }
        }
        Conversion::Same
    }
}

/// Returns the paths of all values that contain no others, except for the type and the metadata of the object.
pub(super) fn leaves(object: &Value) -> Vec<Path> {
    let mut paths = Vec::new();
    for (name, value) in object.as_object().into_iter().flatten() {
        if !["apiVersion", "kind", "metadata"].contains(&name.as_str()) {
            add_leaves(&Path(vec![Segment::Field(name.clone())]), value, &mut paths);
        }
    }
    paths
}

fn add_leaves(path: &Path, value: &Value, paths: &mut Vec<Path>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            fields.iter().for_each(|(name, value)| add_leaves(&path.with(Segment::Field(name.clone())), value, paths));
        }
        Value::Array(items) if !items.is_empty() => {
            let items = items.iter().enumerate();
            items.for_each(|(index, value)| add_leaves(&path.with(Segment::Item(index)), value, paths));
        }
        _ => paths.push(path.clone()),
    }
}
