//! The plans of conversions: plain data that the derive of `Convert` declares, and that generic code executes.

use serde_json::Value;

/// A function that converts a JSON value.
pub type Function = fn(&Value) -> Result<Value, serde_json::Error>;

/// A function that returns a default as JSON.
pub type DefaultValue = fn() -> Result<Value, serde_json::Error>;

/// The direction of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From a spoke into the hub.
    ToHub,
    /// From the hub into a spoke.
    FromHub,
}

/// How a value is converted.
#[derive(Clone, Copy, Debug)]
pub enum Conversion {
    /// Both versions have the same type.
    Same,
    /// Numbers of different widths. A number that does not fit becomes the nearest one that does.
    Number {
        /// The type in the spoke.
        spoke: Number,
        /// The type in the hub.
        hub: Number,
    },
    /// Functions of the user.
    Functions {
        /// Converts a value of the spoke.
        to_hub: Function,
        /// Converts a value of the hub.
        from_hub: Function,
    },
    /// An object with fields.
    Struct(&'static Struct),
    /// A value with variants.
    Enum(&'static Enum),
    /// A list whose items are converted.
    List(fn() -> Conversion),
    /// A map whose values are converted.
    Map(fn() -> Conversion),
}

/// The range of a numeric type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer type, with its bounds.
    Integer(i128, i128),
    /// `f32`
    Single,
    /// `f64`
    Double,
}

/// The conversion of an object with fields.
#[derive(Clone, Copy, Debug)]
pub struct Struct {
    /// The fields of the spoke.
    pub fields: &'static [Field],
    /// The fields of the hub that the spoke does not have.
    pub hub_only: &'static [HubOnly],
}

/// A field of a spoke type.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The JSON name in the spoke.
    pub spoke: &'static str,
    /// The JSON name in the hub; `None` if the hub does not have it.
    pub hub: Option<&'static str>,
    /// Returns how its value is converted.
    pub conversion: fn() -> Conversion,
    /// Whether the fields of its type are inlined.
    pub flatten: bool,
    /// The JSON names, in the spoke, of the fields that identify items of the list.
    pub keys: &'static [&'static str],
    /// The value in the spoke if it is absent in the hub.
    pub spoke_default: Option<DefaultValue>,
    /// The value in the hub if it is absent in the spoke.
    pub hub_default: Option<DefaultValue>,
    /// Why values that do not fit are not stored.
    pub lost: Option<&'static str>,
}

/// A field of the hub that a spoke does not have.
#[derive(Clone, Copy, Debug)]
pub struct HubOnly {
    /// The JSON name.
    pub name: &'static str,
    /// The value in objects that were created in the spoke.
    pub default: Option<DefaultValue>,
    /// Why its value is not stored.
    pub lost: Option<&'static str>,
}

/// The conversion of a value with variants.
#[derive(Clone, Copy, Debug)]
pub struct Enum {
    /// The encoding in the spoke.
    pub spoke: Tagging,
    /// The encoding in the hub.
    pub hub: Tagging,
    /// Pairs of variants.
    pub variants: &'static [Variant],
}

/// The JSON encoding of variants, as serde has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tagging {
    /// A string, or an object with one field.
    External,
    /// A field of the object with this name.
    Internal(&'static str),
    /// Two fields, for the name and the content.
    Adjacent(&'static str, &'static str),
}

/// A variant of the spoke and one of the hub.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The JSON name in the spoke.
    pub spoke: &'static str,
    /// The JSON name in the hub.
    pub hub: &'static str,
    /// The content of the variant.
    pub payload: Payload,
    /// The only direction in which it is used, because the version it converts from has several variants for one.
    pub narrows: Option<Direction>,
    /// Why the variant is not stored in that direction.
    pub lost: Option<&'static str>,
}

/// The content of a variant.
#[derive(Clone, Copy, Debug)]
pub enum Payload {
    /// None.
    Unit,
    /// A value.
    Newtype(fn() -> Conversion),
    /// Named fields.
    Struct(&'static Struct),
}

/// A field of a hub type.
#[derive(Clone, Copy, Debug)]
pub struct HubField {
    /// The Rust name, or `Variant.field`.
    pub name: &'static str,
}

/// A variant of a hub type.
#[derive(Clone, Copy, Debug)]
pub struct HubVariant {
    /// The Rust name.
    pub name: &'static str,
    /// The JSON name.
    pub json: &'static str,
    /// Whether it has no content.
    pub is_unit: bool,
}

impl Direction {
    /// Returns the opposite direction.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Direction::ToHub => Direction::FromHub,
            Direction::FromHub => Direction::ToHub,
        }
    }

    /// Returns a pair of spoke and hub as source and target.
    pub(super) fn order<T>(self, spoke: T, hub: T) -> (T, T) {
        match self {
            Direction::ToHub => (spoke, hub),
            Direction::FromHub => (hub, spoke),
        }
    }
}

impl Field {
    /// Returns the JSON names in the source and in the target.
    pub(super) fn names(&self, direction: Direction) -> (Option<&'static str>, Option<&'static str>) {
        direction.order(Some(self.spoke), self.hub)
    }

    /// Returns the defaults in the source and in the target.
    pub(super) fn defaults(&self, direction: Direction) -> (Option<DefaultValue>, Option<DefaultValue>) {
        direction.order(self.spoke_default, self.hub_default)
    }
}

impl Struct {
    /// Returns how the field with this JSON name is converted, if it is converted in place: it has this name in both
    /// versions, and no defaults.
    pub(super) fn in_place(&self, name: &str) -> Option<Conversion> {
        let is_in_place = |field: &&Field| {
            field.spoke == name
                && field.hub == Some(name)
                && !field.flatten
                && field.spoke_default.is_none()
                && field.hub_default.is_none()
        };
        self.fields.iter().find(is_in_place).map(|field| (field.conversion)())
    }

    /// Whether the target has a field of this JSON name, also in flattened types.
    pub(super) fn has_target(&self, name: &str, direction: Direction) -> bool {
        let of_field = |field: &Field| match (field.flatten, (field.conversion)()) {
            (true, Conversion::Struct(nested)) => nested.has_target(name, direction),
            (true, _) => false,
            (false, _) => field.names(direction).1 == Some(name),
        };
        self.fields.iter().any(of_field)
            || direction == Direction::ToHub && self.hub_only.iter().any(|field| field.name == name)
    }

    /// Returns the JSON name of a field in the target, by that in the source; that of an unknown field is the same.
    pub(super) fn target_name<'a>(&self, source: &'a str, direction: Direction) -> Option<&'a str> {
        for field in self.fields {
            match (field.flatten, (field.conversion)()) {
                (true, Conversion::Struct(nested)) if nested.has_target(source, direction.reversed()) => {
                    return nested.target_name(source, direction);
                }
                (false, _) if field.names(direction).0 == Some(source) => return field.names(direction).1,
                _ => {}
            }
        }
        let is_hub_only = self.hub_only.iter().any(|field| field.name == source);
        if is_hub_only && direction == Direction::FromHub { None } else { Some(source) }
    }
}
