//! Conversions of Rust values, by the plans of their JSON encodings.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    ConversionError, ConvertTo,
    converter::Hop,
    engine::{Engine, Storage},
    plan::Direction,
    stored::Stored,
};
use crate::{group_version::GroupVersion, wire::OmitNone};

/// Calls a function of the user with a JSON value.
///
/// # Errors
/// The value is not an argument of the function, or its result has no JSON encoding.
pub fn call<A: DeserializeOwned, B: Serialize>(
    function: fn(A) -> B,
    value: &Value,
) -> Result<Value, serde_json::Error> {
    value_of(&function(<A as Deserialize<'_>>::deserialize(value)?))
}

/// Returns the JSON encoding of a value, without unset fields.
///
/// # Errors
/// The value has no JSON encoding.
pub fn value_of<T: Serialize>(value: &T) -> Result<Value, serde_json::Error> {
    serde_json::to_value(OmitNone(value))
}

/// Converts a value of a spoke into the hub. `versions` are those of spoke and hub, for kinds.
///
/// # Errors
/// A field does not fit and the value has no metadata to store it in, or an encoder, a decoder or a function fails.
pub fn to_hub<Spoke, Hub>(spoke: &Spoke, versions: [Option<GroupVersion>; 2]) -> Result<Hub, ConversionError>
where
    Spoke: ConvertTo<Hub> + Serialize,
    Hub: DeserializeOwned,
{
    let [spoke_version, hub_version] = versions;
    let conversion = Typed { versions: spoke_version.zip(hub_version), direction: Direction::ToHub };
    conversion.convert::<_, Hub>(Spoke::conversion(), spoke)
}

/// Converts a value of the hub into a spoke. `versions` are those of spoke and hub, for kinds.
///
/// # Errors
/// A field does not fit and the value has no metadata to store it in, or an encoder, a decoder or a function fails.
pub fn from_hub<Spoke, Hub>(hub: &Hub, versions: [Option<GroupVersion>; 2]) -> Result<Spoke, ConversionError>
where
    Spoke: ConvertTo<Hub> + DeserializeOwned,
    Hub: Serialize,
{
    let [spoke_version, hub_version] = versions;
    let conversion = Typed { versions: hub_version.zip(spoke_version), direction: Direction::FromHub };
    conversion.convert::<_, Spoke>(Spoke::conversion(), hub)
}

/// A conversion of Rust values, which are always complete.
struct Typed {
    /// The versions of source and target, for kinds.
    versions: Option<(GroupVersion, GroupVersion)>,
    direction: Direction,
}

impl Typed {
    fn convert<Source: Serialize, Target: DeserializeOwned>(
        &self,
        conversion: super::Conversion,
        source: &Source,
    ) -> Result<Target, ConversionError> {
        let mut value = value_of(source).map_err(ConversionError::Encode)?;
        let converted = match (self.versions, &mut value) {
            (Some((source, target)), Value::Object(object)) => {
                let hop = Hop { source, target, direction: self.direction, is_complete: Some(true) };
                hop.convert(conversion, object)?;
                value
            }
            _ => self.convert_value(conversion, value)?,
        };
        serde_json::from_value(converted).map_err(ConversionError::Decode)
    }

    /// Converts a value that has no metadata to store fields in.
    fn convert_value(&self, conversion: super::Conversion, value: Value) -> Result<Value, ConversionError> {
        let mut stored = Stored::default();
        let engine = Engine { direction: self.direction, is_complete: true, stores: true };
        let storage = Storage { target: None, source: &mut stored };
        let converted = engine.convert(conversion, value, storage)?.unwrap_or_default();
        match stored.is_empty() {
            true => Ok(converted),
            false => Err(ConversionError::DoesNotFit(stored.paths())),
        }
    }
}
