//! The shapes of types for the generator of apply configurations: plain data that the derive emits.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    fmt::Debug,
    marker::PhantomData,
};

use k8s_openapi::apimachinery::pkg::{
    api::resource::Quantity,
    apis::meta::v1::{
        Condition, LabelSelector, LabelSelectorRequirement, ListMeta, ManagedFieldsEntry, ObjectMeta, OwnerReference,
    },
    runtime::RawExtension,
    util::intstr::IntOrString,
};
use serde::{Serialize, de::DeserializeOwned};

use crate::nullable::Nullable;

/// A type that can be part of an apply configuration.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of an apply configuration",
    label = "this type does not derive `ApplyConfiguration`",
    note = "derive `ApplyConfiguration` on it, or use `#[apply(atomic)]` on the field to apply it atomically"
)]
pub trait Applied {
    /// The type of its values inside `Option`, lists and maps.
    type Leaf;

    /// Returns the shape of the type.
    fn shape() -> Shape;
}

/// A field of a type that derives `ApplyConfiguration`, by its index.
pub trait AppliedField<const N: usize> {
    /// Its type, in [`Atomic`] if it is applied atomically.
    type Type: Applied;

    /// Returns the shape of its type.
    fn shape() -> Shape {
        Self::Type::shape()
    }
}

/// The type of the values of a field inside `Option`, lists and maps: refers to the type without its path.
pub type FieldOf<T, const N: usize> = <<T as AppliedField<N>>::Type as Applied>::Leaf;

/// The type of a field that is applied atomically.
pub struct Atomic<T>(PhantomData<T>);

impl<T: AtomicValue> Applied for Atomic<T> {
    type Leaf = T;

    fn shape() -> Shape {
        Shape::Atomic(None)
    }
}

/// A type that can be applied atomically.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be applied atomically",
    note = "it must implement `Clone`, `Debug`, `PartialEq`, `Deserialize` and `Serialize`; derive those that are missing"
)]
pub trait AtomicValue: Clone + Debug + PartialEq + DeserializeOwned + Serialize {}

impl<T: Clone + Debug + PartialEq + DeserializeOwned + Serialize> AtomicValue for T {}

/// The shape of a type.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A struct with a dedicated apply configuration.
    Struct(Struct),
    /// A type of k8s-openapi, by the name of its schema, such as `io.k8s.api.core.v1.Container`.
    Kubernetes(Cow<'static, str>),
    /// A type that generated code can refer to by its name, such as `i32`.
    Named(&'static str),
    /// A type that is applied atomically.
    Atomic(Option<Type>),
    /// A list.
    List(Box<Shape>),
    /// A map with string keys.
    Map(Box<Shape>),
    /// A field that is absent, null or a value.
    Nullable(Box<Shape>),
}

/// A type that derives `ApplyConfiguration`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    /// The name, such as `WidgetSpec`.
    pub name: &'static str,
    /// The module that declares it, which distinguishes types of the same name.
    pub module: &'static str,
}

/// A struct that derives `ApplyConfiguration`.
#[derive(Clone, Copy, Debug)]
pub struct Struct {
    /// The struct itself.
    pub rust_type: Type,
    /// The doc comment, lines joined by newlines.
    pub docs: &'static str,
    /// The case convention of `#[serde(rename_all = "..")]`.
    pub rename_all: Option<&'static str>,
    /// The serialised fields, in declaration order.
    pub fields: &'static [Field],
}

/// A field of such a struct.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The Rust name.
    pub name: &'static str,
    /// The index: `N` of its [`AppliedField`].
    pub index: usize,
    /// The JSON name of `#[serde(rename = "..")]`.
    pub rename: Option<&'static str>,
    /// Whether it has `#[serde(flatten)]`.
    pub flatten: bool,
    /// The doc comment, lines joined by newlines.
    pub docs: &'static str,
    /// The shape of its type; a function, because types can be recursive.
    pub shape: fn() -> Shape,
}

/// The shape of a kind if it derives `ApplyConfiguration`, as a constant: `DerivedShape::<Widget>::SHAPE`.
pub struct DerivedShape<T>(PhantomData<T>);

impl<T: Applied> DerivedShape<T> {
    /// The shape of the type.
    pub const SHAPE: Option<fn() -> Shape> = Some(T::shape);
}

/// The same constant of a type without the derive.
pub trait NoShape {
    /// No shape.
    const SHAPE: Option<fn() -> Shape> = None;
}

impl<T> NoShape for DerivedShape<T> {}

macro_rules! transparent {
    ($($ty:ident)*) => {$(
        impl<T: Applied> Applied for $ty<T> {
            type Leaf = T::Leaf;

            fn shape() -> Shape {
                T::shape()
            }
        }
    )*};
}

transparent! { Box Option }

impl<T: Applied> Applied for Nullable<T> {
    type Leaf = T::Leaf;

    fn shape() -> Shape {
        Shape::Nullable(Box::new(T::shape()))
    }
}

macro_rules! lists {
    ($([$($generics:tt)*] $ty:ty)*) => {$(
        impl<T: Applied, $($generics)*> Applied for $ty {
            type Leaf = T::Leaf;

            fn shape() -> Shape {
                Shape::List(Box::new(T::shape()))
            }
        }
    )*};
}

lists! { [] Vec<T> [] VecDeque<T> [] BTreeSet<T> [S] HashSet<T, S> [const N: usize] [T; N] }

macro_rules! maps {
    ($([$($generics:tt)*] $ty:ty)*) => {$(
        impl<T: Applied, $($generics)*> Applied for $ty {
            type Leaf = T::Leaf;

            fn shape() -> Shape {
                Shape::Map(Box::new(T::shape()))
            }
        }
    )*};
}

maps! { [] BTreeMap<String, T> [S] HashMap<String, T, S> }

macro_rules! named {
    ($($ty:ty)*) => {$(
        impl Applied for $ty {
            type Leaf = $ty;

            fn shape() -> Shape {
                Shape::Named(stringify!($ty))
            }
        }
    )*};
}

named! { bool char i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64 String }

macro_rules! named_by_path {
    ($($ty:ty: $path:literal)*) => {$(
        impl Applied for $ty {
            type Leaf = $ty;

            fn shape() -> Shape {
                Shape::Named($path)
            }
        }
    )*};
}

named_by_path! {
    serde_json::Value: "kubewright_core::k8s_openapi::serde_json::Value"
    k8s_openapi::ByteString: "kubewright_core::k8s_openapi::ByteString"
    std::num::NonZeroU8: "std::num::NonZeroU8"
    std::num::NonZeroU16: "std::num::NonZeroU16"
    std::num::NonZeroU32: "std::num::NonZeroU32"
    std::num::NonZeroU64: "std::num::NonZeroU64"
    std::num::NonZeroUsize: "std::num::NonZeroUsize"
    std::num::NonZeroI8: "std::num::NonZeroI8"
    std::num::NonZeroI16: "std::num::NonZeroI16"
    std::num::NonZeroI32: "std::num::NonZeroI32"
    std::num::NonZeroI64: "std::num::NonZeroI64"
    std::num::NonZeroIsize: "std::num::NonZeroIsize"
    std::net::IpAddr: "std::net::IpAddr"
    std::net::Ipv4Addr: "std::net::Ipv4Addr"
    std::net::Ipv6Addr: "std::net::Ipv6Addr"
    k8s_openapi::jiff::Timestamp: "kubewright_core::k8s_openapi::jiff::Timestamp"
}

/// Implements `Applied` for types of k8s-openapi, which the generator identifies by the names of their schemas.
macro_rules! applied_by_schema {
    ($($ty:ty),* $(,)?) => {$(
        impl $crate::apply::Applied for $ty {
            type Leaf = Self;

            fn shape() -> $crate::apply::Shape {
                $crate::apply::Shape::Kubernetes(<Self as schemars::JsonSchema>::schema_name())
            }
        }
    )*};
}

pub(crate) use applied_by_schema;

// The types that are copied in place; the other types have their impls in `deep_copy`.
applied_by_schema!(
    Condition,
    IntOrString,
    LabelSelector,
    LabelSelectorRequirement,
    ListMeta,
    ManagedFieldsEntry,
    ObjectMeta,
    OwnerReference,
    Quantity,
    RawExtension,
);

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name),*> Applied for ($($name,)*) {
            type Leaf = Self;

            fn shape() -> Shape {
                Shape::Atomic(None)
            }
        }
    };
}

tuples! { A }
tuples! { A B }
tuples! { A B C }
tuples! { A B C D }
