//! Executes a plan: converts a JSON value, restores what is stored of the target, and stores what the target cannot
//! express.

mod variants;

use serde_json::{Map, Value};

use super::{
    ConversionError,
    fingerprint::fingerprint,
    plan::{Conversion, DefaultValue, Direction, Field, Function, Number, Struct},
    stored::{Identities, Item, Original, Stored, distinguishable, identity},
};

/// The options of one conversion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Engine {
    pub(super) direction: Direction,
    /// Whether the object is complete, so that defaults apply.
    pub(super) is_complete: bool,
    /// Whether values that do not fit are stored; not below a field that is declared as lost.
    pub(super) stores: bool,
}

/// What is stored: of the target, to be restored, and of the source, to be completed.
pub(super) struct Storage<'a> {
    pub(super) target: Option<&'a Stored>,
    pub(super) source: &'a mut Stored,
}

/// A step of the conversion of an object. All fields are taken before one is added: a field of the target can have the
/// name of another one of the source.
#[derive(Clone, Copy)]
enum Step {
    /// Removes the fields of the source that are not the same in the target.
    Take,
    /// Adds the fields that the source does not have.
    Add,
}

impl Engine {
    /// Converts a value. `None` is returned for a value that does not fit.
    ///
    /// # Errors
    /// A function of the user rejects a value of a partial object.
    pub(super) fn convert(
        &self,
        conversion: Conversion,
        value: Value,
        storage: Storage<'_>,
    ) -> Result<Option<Value>, ConversionError> {
        match (conversion, value) {
            (Conversion::Struct(plan), Value::Object(mut object)) => {
                self.convert_fields(plan, &mut object, storage)?;
                Ok(Some(Value::Object(object)))
            }
            (Conversion::List(item), Value::Array(items)) => self.convert_items(item, items, &[], storage).map(Some),
            (Conversion::Map(value), Value::Object(entries)) => self.convert_entries(value, entries, storage).map(Some),
            (Conversion::Enum(plan), value) => variants::convert(self, plan, value, storage).map(Some),
            (Conversion::Number { spoke, hub }, Value::Number(number)) => {
                let target = self.direction.order(spoke, hub).1;
                Ok(Some(self.convert_number(target, Value::Number(number), storage)))
            }
            (Conversion::Functions { .. }, Value::Null) => Ok(Some(Value::Null)),
            (Conversion::Functions { to_hub, from_hub }, value) => {
                self.call(self.direction.order(from_hub, to_hub), value, storage)
            }
            // The same type, or a value that is not of the declared type, which is carried for the server to reject.
            (_, value) => Ok(Some(value)),
        }
    }

    /// Converts the fields of an object in place. Fields with the same name and type remain untouched.
    pub(super) fn convert_fields(
        &self,
        plan: &Struct,
        object: &mut Map<String, Value>,
        storage: Storage<'_>,
    ) -> Result<(), ConversionError> {
        let Storage { target, source } = storage;
        let mut converted = Vec::new();
        for step in [Step::Take, Step::Add] {
            self.convert_step(step, plan, object, Storage { target, source: &mut *source }, &mut converted)?;
        }
        for (name, value) in converted {
            // What remains under the name of a target field is unknown to the plan.
            if let Some(unknown) = object.insert(name.to_owned(), value) {
                self.store(source, name, Original::Value(unknown), None);
            }
        }
        for (name, stored) in target.into_iter().flat_map(|target| &target.fields) {
            if let (Some(Original::Value(value)), None) = (&stored.original, &stored.seen)
                && !plan.has_target(name, self.direction)
                && !object.contains_key(name)
            {
                object.insert(name.clone(), value.clone());
            }
        }
        Ok(())
    }

    /// Executes a step for all fields, also of flattened types, and adds values to those of the target.
    fn convert_step(
        &self,
        step: Step,
        plan: &Struct,
        object: &mut Map<String, Value>,
        storage: Storage<'_>,
        converted: &mut Vec<(&'static str, Value)>,
    ) -> Result<(), ConversionError> {
        let Storage { target: stored, source } = storage;
        // Unknown fields, which are in the way of added ones, are never lost.
        let engine = |lost: Option<&str>| match step {
            Step::Take => self.storing(lost),
            Step::Add => *self,
        };
        for field in plan.fields {
            let engine = engine(field.lost);
            let storage = Storage { target: stored, source: &mut *source };
            match (step, field.names(self.direction)) {
                _ if field.flatten => {
                    if let Conversion::Struct(nested) = (field.conversion)() {
                        engine.convert_step(step, nested, object, storage, converted)?;
                    }
                }
                (Step::Take, (Some(name), Some(target))) => {
                    let value = engine.convert_field(field, [name, target], object, storage)?;
                    converted.extend(value.map(|value| (target, value)));
                }
                (Step::Take, (Some(name), None)) => {
                    engine.remove(name, field.defaults(self.direction).0, object, storage.source)?;
                }
                (Step::Add, (None, Some(target))) => {
                    let value = engine.add(target, field.defaults(self.direction).1, object, storage)?;
                    converted.extend(value.map(|value| (target, value)));
                }
                _ => {}
            }
        }
        for field in plan.hub_only {
            let engine = engine(field.lost);
            let storage = Storage { target: stored, source: &mut *source };
            match (step, self.direction) {
                (Step::Take, Direction::FromHub) => engine.remove(field.name, field.default, object, storage.source)?,
                (Step::Add, Direction::ToHub) => {
                    let value = engine.add(field.name, field.default, object, storage)?;
                    converted.extend(value.map(|value| (field.name, value)));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the options for a field that may be declared as lost.
    fn storing(&self, lost: Option<&str>) -> Self {
        Engine { stores: self.stores && lost.is_none(), ..*self }
    }

    /// Removes a field that both versions have, and returns its value in the target. A field that needs no conversion
    /// remains in the object.
    fn convert_field(
        &self,
        field: &Field,
        [name, target]: [&'static str; 2],
        object: &mut Map<String, Value>,
        storage: Storage<'_>,
    ) -> Result<Option<Value>, ConversionError> {
        let Storage { target: stored, source } = storage;
        let (conversion, defaults) = ((field.conversion)(), field.defaults(self.direction));
        let stored = stored.and_then(|stored| stored.field(target));
        let has_default = defaults.0.is_some() || defaults.1.is_some();
        if matches!(conversion, Conversion::Same) && name == target && !has_default && stored.is_none() {
            return Ok(None);
        }
        let value = object.remove(name);
        if let Some(original) = stored.and_then(|stored| stored.restore(value.as_ref())) {
            return Ok(original.value().cloned());
        }
        let mut child = Stored::default();
        let storage = Storage { target: stored, source: &mut child };
        let shown = match (conversion, value) {
            (_, None) => None,
            (Conversion::List(item), Some(Value::Array(items))) => {
                Some(self.convert_items(item, items, field.keys, storage).map_err(|error| error.below(name))?)
            }
            (_, Some(value)) => self.convert(conversion, value, storage).map_err(|error| error.below(name))?,
        };
        let shown = match shown {
            Some(shown) => Some(shown),
            None => self.default(defaults, name, &mut child)?,
        };
        source.add_field(name, child);
        Ok(shown)
    }

    /// Returns the default of a field that is absent in a complete object, and stores that it is absent, unless a value
    /// that does not fit is stored.
    fn default(
        &self,
        (source, target): (Option<DefaultValue>, Option<DefaultValue>),
        name: &str,
        child: &mut Stored,
    ) -> Result<Option<Value>, ConversionError> {
        let value = self.value_of(target, name)?;
        if self.stores && self.is_complete && (source.is_some() || target.is_some()) {
            let original = child.original.take().unwrap_or(Original::Absent);
            child.store(original, value.as_ref());
        }
        Ok(value)
    }

    /// Returns the default if the object is complete.
    fn value_of(&self, default: Option<DefaultValue>, name: &str) -> Result<Option<Value>, ConversionError> {
        let default = default.filter(|_| self.is_complete);
        default.map(|default| default().map_err(|error| invalid(&error).below(name))).transpose()
    }

    /// Removes a field that the target does not have, and stores it. With a default the field is stored if it differs
    /// from that.
    fn remove(
        &self,
        name: &'static str,
        default: Option<DefaultValue>,
        object: &mut Map<String, Value>,
        source: &mut Stored,
    ) -> Result<(), ConversionError> {
        let (value, default) = (object.remove(name), self.value_of(default, name)?);
        if value != default {
            self.store(source, name, value.map_or(Original::Absent, Original::Value), None);
        }
        Ok(())
    }

    /// Returns a field that the source does not have: what is stored of it, or its default.
    fn add(
        &self,
        target: &'static str,
        default: Option<DefaultValue>,
        object: &mut Map<String, Value>,
        storage: Storage<'_>,
    ) -> Result<Option<Value>, ConversionError> {
        if let Some(unknown) = object.remove(target) {
            self.store(storage.source, target, Original::Value(unknown), None);
        }
        let stored = storage.target.and_then(|stored| stored.field(target));
        match stored.and_then(|stored| stored.restore(None)) {
            Some(original) => Ok(original.value().cloned()),
            None => self.value_of(default, target),
        }
    }

    fn store(&self, source: &mut Stored, name: &str, original: Original, shown: Option<&Value>) {
        if self.stores {
            let mut child = Stored::default();
            child.store(original, shown);
            source.add_field(name, child);
        }
    }

    /// Converts the items of a list. `keys` are the names, in the spoke, of the fields that identify an item.
    fn convert_items(
        &self,
        item: fn() -> Conversion,
        items: Vec<Value>,
        keys: &[&'static str],
        storage: Storage<'_>,
    ) -> Result<Value, ConversionError> {
        let Storage { target, source } = storage;
        let (conversion, length) = (item(), items.len());
        let (source_keys, target_keys) = self.direction.order(keys.to_vec(), hub_keys(keys, conversion));
        let mut identities = Identities::new(&items, &source_keys, target);
        let (mut converted, mut all_stored) = (Vec::with_capacity(length), Vec::with_capacity(length));
        for (index, value) in items.into_iter().enumerate() {
            let mut stored = Stored::default();
            let storage = Storage { target: identities.stored(index), source: &mut stored };
            let value = self.convert_item(conversion, value, storage).map_err(|e| e.below(&format!("[{index}]")))?;
            converted.push(value);
            all_stored.push(stored);
        }
        if all_stored.iter().any(|stored| !stored.is_empty()) {
            let item = |(index, (value, stored)): (usize, (&Value, Stored))| Item {
                index,
                length,
                id: identity(value, &target_keys),
                stored,
            };
            source.items = distinguishable(converted.iter().zip(all_stored).enumerate().map(item).collect());
        }
        Ok(Value::Array(converted))
    }

    fn convert_entries(
        &self,
        value: fn() -> Conversion,
        entries: Map<String, Value>,
        storage: Storage<'_>,
    ) -> Result<Value, ConversionError> {
        let Storage { target, source } = storage;
        let conversion = value();
        let mut converted = Map::new();
        for (key, value) in entries {
            let mut child = Stored::default();
            let stored = target.and_then(|target| target.field(&key));
            let storage = Storage { target: stored, source: &mut child };
            let value = self.convert_item(conversion, value, storage).map_err(|error| error.below(&key))?;
            source.add_field(&key, child);
            converted.insert(key, value);
        }
        Ok(Value::Object(converted))
    }

    /// Converts an item of a list or an entry of a map, which is never absent.
    fn convert_item(
        &self,
        conversion: Conversion,
        value: Value,
        storage: Storage<'_>,
    ) -> Result<Value, ConversionError> {
        let restored = storage.target.and_then(|stored| stored.restore(Some(&value))).and_then(Original::value);
        match restored {
            Some(original) => Ok(original.clone()),
            None => Ok(self.convert(conversion, value, storage)?.unwrap_or_default()),
        }
    }

    fn convert_number(&self, target: Number, value: Value, storage: Storage<'_>) -> Value {
        let shown = target.nearest(&value);
        if shown != value && self.stores {
            storage.source.store(Original::Value(value), Some(&shown));
        }
        shown
    }

    /// Calls the function for this direction. The value is stored if the other function does not return it again.
    fn call(
        &self,
        (backward, forward): (Function, Function),
        value: Value,
        storage: Storage<'_>,
    ) -> Result<Option<Value>, ConversionError> {
        let shown = match forward(&value) {
            Ok(shown) => Some(shown),
            Err(_) if self.is_complete => None,
            Err(error) => return Err(invalid(&error)),
        };
        if self.stores {
            let again = shown.as_ref().and_then(|shown| backward(shown).ok());
            if !again.is_some_and(|again| again == value || fingerprint(&again) == fingerprint(&value)) {
                storage.source.store(Original::Value(value), shown.as_ref());
            }
        }
        Ok(shown)
    }
}

fn invalid(error: &serde_json::Error) -> ConversionError {
    ConversionError::Value { path: String::new(), message: error.to_string() }
}

/// Returns the names in the hub of the fields that identify an item.
fn hub_keys(keys: &[&'static str], item: Conversion) -> Vec<&'static str> {
    let of_hub = |&key: &&'static str| match item {
        Conversion::Struct(plan) => plan.target_name(key, Direction::ToHub).unwrap_or(key),
        _ => key,
    };
    keys.iter().map(of_hub).collect()
}

impl Number {
    /// Returns the value of this type that is nearest to a number.
    fn nearest(self, value: &Value) -> Value {
        let integer = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
        match (self, integer, value.as_f64()) {
            (Number::Integer(min, max), Some(integer), _) => from_integer(integer.clamp(min, max)),
            // The conversion of a float saturates, and rounds towards zero.
            (Number::Integer(min, max), None, Some(float)) => from_integer((float as i128).clamp(min, max)),
            (Number::Double, Some(integer), _) if integer.unsigned_abs() <= 1 << 53 => value.clone(),
            (Number::Single, Some(integer), _) if integer.unsigned_abs() <= 1 << 24 => value.clone(),
            (Number::Double, _, Some(float)) => from_float(float),
            (Number::Single, _, Some(float)) => from_float(f64::from(float as f32)),
            (_, _, None) => value.clone(),
        }
    }
}

fn from_integer(integer: i128) -> Value {
    match (i64::try_from(integer), u64::try_from(integer)) {
        (Ok(integer), _) => integer.into(),
        (_, Ok(integer)) => integer.into(),
        _ => Value::Null,
    }
}

fn from_float(float: f64) -> Value {
    if float.is_finite() { float.into() } else { Value::from(f64::MAX.copysign(float)) }
}
