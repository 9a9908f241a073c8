//! The compile-time check that the keys of a map are strings in JSON.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    marker::PhantomData,
};

/// A type that cannot be the key of a map, because its JSON encoding is not a string.
///
/// `CrdSchema` implements it for structs with named fields and for enums with data. `serde_json` encodes integers as
/// strings, but not structs; `bool` is excluded because controller-gen and schemars do not support it as a key.
pub trait NotMapKey {}

/// Whether a type can be the key of a map, as a constant: `MapKey::<K>::IS_VALID`.
pub struct MapKey<K>(PhantomData<K>);

impl<K: NotMapKey> MapKey<K> {
    /// The type cannot be a key.
    pub const IS_VALID: bool = false;
}

/// The same constant of other types.
pub trait DefaultMapKey {
    /// The type can be a key.
    const IS_VALID: bool = true;
}

impl<K> DefaultMapKey for MapKey<K> {}

macro_rules! not_map_keys {
    ($([$($generics:tt)*] $ty:ty)*) => {$(
        impl<$($generics)*> NotMapKey for $ty {}
    )*};
}

not_map_keys! {
    [] bool
    [] ()
    [T] Vec<T>
    [T] VecDeque<T>
    [T] BTreeSet<T>
    [T, S] HashSet<T, S>
    [K, V] BTreeMap<K, V>
    [K, V, S] HashMap<K, V, S>
    [T, const N: usize] [T; N]
    [A, B] (A, B)
    [A, B, C] (A, B, C)
}
