//! The properties of a conversion, each for one random object.

use serde_json::{Value, json};

use super::{
    Failure, Generator, Version, Versions,
    difference::{first_difference, forget_lost},
    paths::{Path, Segment, leaves},
};
use crate::conversion::{ConversionError, plan::Direction};

impl Versions {
    /// Verifies all properties with the objects of a seed: first that nothing is lost, which explains most other
    /// failures.
    pub(super) fn verify(&self, seed: u64) -> Result<(), Failure> {
        const DIRECTIONS: [Direction; 2] = [Direction::FromHub, Direction::ToHub];
        DIRECTIONS.into_iter().try_for_each(|direction| self.there_and_back(seed, direction))?;
        self.edited(seed)?;
        DIRECTIONS.into_iter().try_for_each(|direction| {
            self.partial(seed, direction)?;
            self.without_spec(seed, direction)
        })
    }

    /// Returns the source and the target of a direction.
    fn source_and_target(&self, direction: Direction) -> (&Version, &Version) {
        direction.order(&self.spoke, &self.hub)
    }

    fn convert(&self, object: &Value, version: &Version) -> Result<Value, Failure> {
        self.converter.convert(object.clone(), version.group_version.api_version).map_err(|error| {
            Failure::new(format!("an object does not convert into {}: {error}", version.group_version.api_version))
                .with("object", object)
        })
    }

    fn there_and_back(&self, seed: u64, direction: Direction) -> Result<(), Failure> {
        let (source, target) = self.source_and_target(direction);
        let object = source.object(seed, true);
        let converted = self.convert(&object, target)?;
        let mut back = self.convert(&converted, source)?;
        self.check_metadata(&object, &converted, source)?;
        let mut expected = object.clone();
        forget_lost(self.conversion, &mut expected, direction);
        forget_lost(self.conversion, &mut back, direction);
        match first_difference(&expected, &back) {
            None => Ok(()),
            Some(difference) => {
                let (source, target) = (source.group_version.api_version, target.group_version.api_version);
                let property = format!("an object of {source} differs after a conversion into {target} and back");
                Err(Failure::new(property)
                    .with("difference", difference)
                    .with("object", object)
                    .with("converted", converted))
            }
        }
    }

    /// Only the annotation with what is stored can be added to the metadata.
    fn check_metadata(&self, object: &Value, converted: &Value, source: &Version) -> Result<(), Failure> {
        let mut converted = converted.clone();
        remove_annotation(&mut converted, &source.annotation());
        match first_difference(&object["metadata"], &converted["metadata"]) {
            None => Ok(()),
            Some(difference) => {
                Err(Failure::new("a conversion changes metadata").with("difference", difference).with("object", object))
            }
        }
    }

    /// A field that is changed in the spoke is changed in the hub, and no other.
    fn edited(&self, seed: u64) -> Result<(), Failure> {
        let object = self.hub.object(seed, true);
        let shown = self.convert(&object, &self.spoke)?;
        let Some((path, edited)) = self.edit(&shown, seed) else { return Ok(()) };
        let after = self.convert(&edited, &self.hub)?;
        let failure = |property: &str, difference: String| {
            Failure::new(property)
                .with("field", &path)
                .with("difference", difference)
                .with("object", &object)
                .with("edited", &edited)
                .with("after", &after)
        };
        let (mut expected, mut found) = (object.clone(), after.clone());
        for value in [&mut expected, &mut found] {
            remove_annotation(value, &self.spoke.annotation());
            forget_lost(self.conversion, value, Direction::FromHub);
            if let Some(path) = path.converted(self.conversion, Direction::ToHub) {
                path.remove(value);
            }
        }
        if let Some(difference) = first_difference(&expected, &found) {
            return Err(failure("a change of one field in the spoke changes others in the hub", difference));
        }
        let (mut expected, mut shown) = (edited.clone(), self.convert(&after, &self.spoke)?);
        for value in [&mut expected, &mut shown] {
            remove_annotation(value, &self.hub.annotation());
            forget_lost(self.conversion, value, Direction::ToHub);
        }
        match first_difference(&expected, &shown) {
            None => Ok(()),
            Some(difference) => Err(failure("a change of one field in the spoke is not visible in it", difference)),
        }
    }

    /// Changes one value of the spoke, if there is one that can be changed. Keys identify the items of a list, so that
    /// a change of a key is one of the list.
    fn edit(&self, shown: &Value, seed: u64) -> Option<(Path, Value)> {
        let mut generator = Generator::new(seed ^ 0x5eed);
        let mut paths = leaves(shown);
        paths.retain(|path| !path.is_key(&self.spoke.schema) && path.schema(&self.spoke.schema).is_some());
        for _ in 0..10 {
            let path = paths.get(generator.below(paths.len()))?;
            let schema = path.schema(&self.spoke.schema)?;
            let mut edited = shown.clone();
            let value = path.get_mut(&mut edited)?;
            let new = generator.value(schema);
            if new != *value && !new.is_null() {
                *value = new;
                return Some((path.clone(), edited));
            }
        }
        None
    }

    /// No field is added to a partial object, except for the annotation.
    fn partial(&self, seed: u64, direction: Direction) -> Result<(), Failure> {
        let (source, target) = self.source_and_target(direction);
        let mut generator = Generator::new(seed ^ 0xba5e);
        let mut object = source.object(seed, false);
        for path in leaves(&object) {
            if generator.one_in(2) && !is_item(&path) {
                path.remove(&mut object);
            }
        }
        let converted = match self.converter.convert(object.clone(), target.group_version.api_version) {
            Ok(converted) => converted,
            // A function of the declaration rejects a random value.
            Err(ConversionError::Value { .. }) => return Ok(()),
            Err(error) => return Err(Failure::new(error.to_string()).with("object", object)),
        };
        let given = leaves(&object);
        let is_given = |path: &Path| given.iter().any(|given| given.explains(path, self.conversion, direction));
        match leaves(&converted).into_iter().find(|path| !is_given(path)) {
            None => Ok(()),
            Some(path) => Err(Failure::new("a conversion adds a field to a partial object")
                .with("field", path)
                .with("object", object)
                .with("converted", converted)),
        }
    }

    fn without_spec(&self, seed: u64, direction: Direction) -> Result<(), Failure> {
        let (source, target) = self.source_and_target(direction);
        let object = json!({
            "apiVersion": source.group_version.api_version,
            "kind": source.kind,
            "metadata": source.object(seed, true)["metadata"],
        });
        let converted = self.convert(&object, target)?;
        let back = self.convert(&converted, source)?;
        match first_difference(&object, &back) {
            None => Ok(()),
            Some(difference) => Err(Failure::new("an object without spec differs after a conversion and back")
                .with("difference", difference)
                .with("object", object)
                .with("converted", converted)),
        }
    }
}

/// Whether the path is that of an item of a list.
fn is_item(path: &Path) -> bool {
    matches!(path.0.last(), Some(Segment::Item(_)))
}

/// Removes an annotation, and the annotations if it is the only one.
fn remove_annotation(object: &mut Value, key: &str) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    annotations.remove(key);
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
}
