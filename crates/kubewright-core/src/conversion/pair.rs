//! The types of a field in both versions, compared by rustc's method resolution: an inherent method, which exists for
//! equal types only, takes precedence over that of a trait.

use std::marker::PhantomData;

use super::{
    ConvertTo, Flattens, HubField, Narrows,
    plan::{Conversion, Field},
};
use crate::{group_version::GroupVersion, object::Registered};

/// The type of a field in the spoke, and that in the hub.
pub struct Pair<Spoke, Hub>(PhantomData<(Spoke, Hub)>);

/// A type in the hub.
pub struct Is<Hub>(PhantomData<Hub>);

/// The type of a field that the hub does not have.
pub struct Absent;

/// Both types are the same, or the field is in the spoke only.
pub struct Same;

/// The types differ and have to convert without loss.
pub struct Exact<Spoke, Hub>(PhantomData<(Spoke, Hub)>);

/// The types differ and can convert with loss.
pub struct Lossy<Spoke, Hub>(PhantomData<(Spoke, Hub)>);

impl<Spoke, Hub> Pair<Spoke, Hub> {
    /// The pair.
    pub const NEW: Self = Pair(PhantomData);
}

impl<T> Pair<T, Is<T>> {
    /// Compares the types; they have to convert without loss.
    pub fn exact(self) -> Same {
        Same
    }

    /// Compares the types; they can convert with loss.
    pub fn lossy(self) -> Same {
        Same
    }
}

impl<Spoke> Pair<Spoke, Absent> {
    /// Compares the types; they have to convert without loss.
    pub fn exact(self) -> Same {
        Same
    }

    /// Compares the types; they can convert with loss.
    pub fn lossy(self) -> Same {
        Same
    }
}

/// The comparison of types that are not the same.
pub trait OtherPair {
    /// The type in the spoke.
    type Spoke;
    /// The type in the hub.
    type Hub;

    /// Compares the types; they have to convert without loss.
    fn exact(self) -> Exact<Self::Spoke, Self::Hub>;

    /// Compares the types; they can convert with loss.
    fn lossy(self) -> Lossy<Self::Spoke, Self::Hub>;
}

impl<Spoke, Hub> OtherPair for Pair<Spoke, Is<Hub>> {
    type Spoke = Spoke;
    type Hub = Hub;

    fn exact(self) -> Exact<Spoke, Hub> {
        Exact(PhantomData)
    }

    fn lossy(self) -> Lossy<Spoke, Hub> {
        Lossy(PhantomData)
    }
}

/// The result of a comparison of types.
pub trait HasConversion {
    /// Returns how values are converted.
    fn conversion(self) -> Conversion;
}

impl HasConversion for Same {
    fn conversion(self) -> Conversion {
        Conversion::Same
    }
}

impl<Spoke: ConvertTo<Hub>, Hub> HasConversion for Exact<Spoke, Hub> {
    fn conversion(self) -> Conversion {
        Spoke::conversion()
    }
}

impl<Spoke: Narrows<Hub>, Hub> HasConversion for Lossy<Spoke, Hub> {
    fn conversion(self) -> Conversion {
        Spoke::narrowing()
    }
}

/// The result of a comparison of flattened types.
pub trait HasFlattened: HasConversion {}

impl HasFlattened for Same {}

impl<Spoke: ConvertTo<Hub> + Flattens, Hub> HasFlattened for Exact<Spoke, Hub> {}

/// Returns how the fields of a flattened type are converted, by the comparison of the types.
pub fn flattened(comparison: impl HasFlattened) -> Conversion {
    comparison.conversion()
}

/// Returns how values are converted, by the comparison of their types.
pub fn conversion_of(comparison: impl HasConversion) -> Conversion {
    comparison.conversion()
}

/// A field that the hub may have. `NAME` is the hash of its name, as in [`HubField`].
pub struct Probe<Hub, const NAME: u64>(PhantomData<Hub>);

impl<Hub, const NAME: u64> Probe<Hub, NAME> {
    /// The probe.
    pub const NEW: Self = Probe(PhantomData);
}

impl<Hub: HubField<NAME>, const NAME: u64> Probe<Hub, NAME> {
    /// The JSON name in the hub, if the hub has the field.
    pub const JSON: Option<&'static str> = Some(Hub::JSON);
    /// Whether it can be absent in the hub, if the hub has the field.
    pub const MAY_BE_ABSENT: Option<bool> = Some(Hub::MAY_BE_ABSENT);

    /// Returns the pair of its types.
    pub fn pair<Spoke>(self) -> Pair<Spoke, Is<Hub::Value>> {
        Pair::NEW
    }
}

/// A field that the hub does not have.
pub trait NoCounterpart: Sized {
    /// The JSON name in the hub.
    const JSON: Option<&'static str> = None;
    /// Whether it can be absent in the hub.
    const MAY_BE_ABSENT: Option<bool> = None;

    /// Returns the pair of its types.
    fn pair<Spoke>(self) -> Pair<Spoke, Absent> {
        Pair::NEW
    }
}

impl<Hub, const NAME: u64> NoCounterpart for Probe<Hub, NAME> {}

/// A type that may be registered in a `group_version!`, as kinds are.
pub struct Root<T>(PhantomData<T>);

impl<T: Registered> Root<T> {
    /// Its group and version, if it is a kind.
    pub const GROUP_VERSION: Option<GroupVersion> = Some(T::GROUP_VERSION);
}

/// A type that is not registered.
pub trait NotRegistered {
    /// Its group and version.
    const GROUP_VERSION: Option<GroupVersion> = None;
}

impl<T> NotRegistered for Root<T> {}

impl Field {
    /// A field that is converted without further options, for the derive to complete.
    pub const DEFAULT: Field = Field {
        spoke: "",
        hub: None,
        conversion: || Conversion::Same,
        flatten: false,
        keys: &[],
        spoke_default: None,
        hub_default: None,
        lost: None,
    };
}
