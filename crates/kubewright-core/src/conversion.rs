//! Conversion of objects between the versions of a kind, without loss, by plans that the derive of `Convert` declares.
//!
//! One version is the hub. The types of the hub derive [`Convert`](derive@crate::Convert) with `#[convert(hub)]`, those
//! of every other version (a spoke) with `#[convert(hub = v2::Widget)]`. A conversion between two spokes is one into
//! the hub and one out of it.
//!
//! # Design
//! - The derive emits data: a [`plan::Struct`] or [`plan::Enum`] for each spoke type. Generic code converts JSON by it.
//!   Fields with the same name and type are not in the way: they remain where they are.
//! - Types are compared by rustc: a field converts if both versions have the same type, or if `Spoke: ConvertTo<Hub>`.
//!   Fields and variants of the hub are compared in constants of the spoke, so that each error is on a token of the
//!   declaration and contains the solutions.
//! - Objects can be partial: patches, sets of managed fields, objects that are not validated yet. Absent fields remain
//!   absent; unknown fields and values of another JSON type are carried unchanged. Defaults apply only to complete
//!   objects, which have a UID or managed fields.
//! - What a version cannot express is stored in one annotation, `<group>/converted-<version>`, where `<version>` is the
//!   version with the value. An entry contains the value and a hash of what the other version shows in its place. On
//!   the way back the value is restored if the hash still matches; an edit in the other version always wins.
//! - Items of lists are identified by their `list_map_keys`, else by their content, else, in a list of the same length,
//!   by their position.

pub mod check;
mod converter;
mod engine;
mod error;
mod fingerprint;
mod pair;
pub mod plan;
mod stored;
#[cfg(feature = "validation")]
pub mod testing;
mod text;
mod typed;
mod types;

pub use converter::{Converter, ConverterBuilder, annotation};
pub use error::ConversionError;
#[doc(hidden)]
pub use pair::{
    Absent, Exact, HasConversion, HasFlattened, Is, Lossy, NoCounterpart, NotRegistered, OtherPair, Pair, Probe, Root,
    Same, conversion_of, flattened,
};
pub use text::TextObject;
#[doc(hidden)]
pub use typed::{call, from_hub, to_hub, value_of};
pub use types::NumberType;

use plan::Conversion;

/// A type of the hub version: its fields and variants, as the derive of `Convert` declares them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not declared as a type of the hub",
    label = "this type does not derive `Convert` with `#[convert(hub)]`",
    note = "derive it on the type of the hub: `#[derive(Convert)] #[convert(hub)]`"
)]
pub trait Hub {
    /// Its fields, in declaration order; those of a variant are named `Variant.field`.
    const FIELDS: &'static [plan::HubField];
    /// Its variants, if it is an enum.
    const VARIANTS: &'static [plan::HubVariant];
    /// The encoding of its variants.
    const TAGGING: plan::Tagging;
}

/// A field of a hub type. `NAME` is a hash of its Rust name, or of `Variant.field`.
#[diagnostic::on_unimplemented(
    message = "the hub type `{Self}` has no field of this name",
    label = "no field of the hub corresponds to it",
    note = "if the hub has it under another name, declare that: `#[convert(from = \"..\")]`",
    note = "if the hub does not have it, store its value in an annotation with `#[convert(store)]`, or accept the loss \
            with `#[convert(lost = \"reason\")]`"
)]
pub trait HubField<const NAME: u64> {
    /// Its type, or the type inside its `Option`.
    type Value;
    /// Its JSON name.
    const JSON: &'static str;
    /// Whether it can be absent.
    const MAY_BE_ABSENT: bool;
    /// Whether its fields are inlined.
    const FLATTEN: bool;
}

/// A type whose values convert into those of the hub type and back without loss.
///
/// The derive of `Convert` implements it for spoke types; `Vec`, `Box` and maps of them convert as well.
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{HubType}` do not convert into each other without loss",
    label = "this field has another type in the hub",
    note = "for a nested type, derive `Convert` on it with `#[convert(hub = ..)]`",
    note = "else convert with functions (`#[convert(with = module)]`), store what does not fit in an annotation \
            (`#[convert(store)]`), or accept the loss (`#[convert(lost = \"reason\")]`)"
)]
pub trait ConvertTo<HubType> {
    /// Returns how its values are converted.
    fn conversion() -> Conversion;
}

/// A type whose values can be converted into those of the hub type and back, some of them with loss: numbers of other
/// widths, and all types that convert without loss. A field of such a type declares `store` or `lost`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{HubType}` do not convert into each other",
    label = "this field has another type in the hub",
    note = "for a nested type, derive `Convert` on it with `#[convert(hub = ..)]`; else convert with functions: \
            `#[convert(with = module)]`"
)]
pub trait Narrows<HubType> {
    /// Returns how its values are converted.
    fn narrowing() -> Conversion;
}

/// A spoke type whose fields can be inlined in another type: a struct with named fields.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be flattened in a conversion",
    label = "this type is not a struct with named fields",
    note = "remove `#[serde(flatten)]` in both versions, or use the same type in both"
)]
pub trait Flattens {}

/// A type of a spoke version, with its hub type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not declared as a type of a spoke",
    label = "this type does not derive `Convert` with `#[convert(hub = ..)]`",
    note = "derive it on the type of the spoke: `#[derive(Convert)] #[convert(hub = v2::Widget)]`"
)]
pub trait Spoke: ConvertTo<<Self as Spoke>::Hub> {
    /// The type of the hub that it converts into.
    type Hub;
}
