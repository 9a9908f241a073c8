//! What types look like to the generator of apply configurations: plain data, left by the derive.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt::Debug;
use std::marker::PhantomData;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    Condition, LabelSelector, LabelSelectorRequirement, ListMeta, ManagedFieldsEntry, ObjectMeta, OwnerReference,
};
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::nullable::Nullable;

/// A type that can be part of an apply configuration.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of an apply configuration",
    label = "this type does not derive `ApplyConfiguration`",
    note = "derive `ApplyConfiguration` on it, or say `#[apply(atomic)]` on the field to apply it as a whole"
)]
pub trait Applied {
    /// What its values are below `Option`, lists and maps.
    type Leaf;

    /// What it looks like.
    fn shape() -> Shape;
}

/// A field of a type that derives `ApplyConfiguration`, by its place.
pub trait AppliedField<const N: usize> {
    /// Its type, in [`Atomic`] if it is applied as a whole.
    type Type: Applied;

    /// What its type looks like.
    fn shape() -> Shape {
        Self::Type::shape()
    }
}

/// What the values of a field are below `Option`, lists and maps: a name for a type that needs no path.
pub type FieldOf<T, const N: usize> = <<T as AppliedField<N>>::Type as Applied>::Leaf;

/// Stands for a field that is applied as a whole.
pub struct Atomic<T>(PhantomData<T>);

impl<T: Whole> Applied for Atomic<T> {
    type Leaf = T;

    fn shape() -> Shape {
        Shape::Whole(None)
    }
}

/// What is applied as a whole.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be applied as a whole",
    note = "derive what is missing: `Clone`, `Debug`, `PartialEq`, `Deserialize` and `Serialize`"
)]
pub trait Whole: Clone + Debug + PartialEq + DeserializeOwned + Serialize {}

impl<T: Clone + Debug + PartialEq + DeserializeOwned + Serialize> Whole for T {}

/// What a type looks like.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A struct with an apply configuration of its own.
    Struct(Struct),
    /// A type of k8s-openapi's, by the name of its schema, such as `io.k8s.api.core.v1.Container`.
    Kubernetes(Cow<'static, str>),
    /// A type that generated code can name, such as `i32`.
    Named(&'static str),
    /// A type that is applied as a whole.
    Whole(Option<Type>),
    /// A list.
    List(Box<Shape>),
    /// A map whose keys are strings.
    Map(Box<Shape>),
    /// A field that is absent, null or this.
    Nullable(Box<Shape>),
}

/// A type that derives `ApplyConfiguration`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    /// Its name, such as `WidgetSpec`.
    pub name: &'static str,
    /// The module it is declared in: two types of one name are told apart by it.
    pub module: &'static str,
}

/// A struct that derives `ApplyConfiguration`.
#[derive(Clone, Copy, Debug)]
pub struct Struct {
    /// The struct itself.
    pub of: Type,
    /// The doc comment, lines joined by newlines.
    pub docs: &'static str,
    /// Its `#[serde(rename_all = "..")]`.
    pub rename_all: Option<&'static str>,
    /// The fields that are written, in the order they are declared.
    pub fields: &'static [Field],
}

/// A field of such a struct.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in Rust.
    pub name: &'static str,
    /// Its place: `N` of its [`AppliedField`].
    pub place: usize,
    /// Its `#[serde(rename = "..")]`.
    pub rename: Option<&'static str>,
    /// `#[serde(flatten)]`
    pub flatten: bool,
    /// The doc comment, lines joined by newlines.
    pub docs: &'static str,
    /// What its type looks like; a function, since types may be recursive.
    pub shape: fn() -> Shape,
}

/// The shape of a kind if it derives `ApplyConfiguration`, as a constant: `DerivedShape::<Widget>::SHAPE`.
pub struct DerivedShape<T>(PhantomData<T>);

impl<T: Applied> DerivedShape<T> {
    /// What it looks like.
    pub const SHAPE: Option<fn() -> Shape> = Some(T::shape);
}

/// The same constant where the derive is not there.
pub trait NoShape {
    /// Nothing is known.
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

named! { bool char i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 String }

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
    serde_json::Value: "logger_core::k8s_openapi::serde_json::Value"
    k8s_openapi::ByteString: "logger_core::k8s_openapi::ByteString"
    k8s_openapi::jiff::Timestamp: "logger_core::k8s_openapi::jiff::Timestamp"
}

/// For types of k8s-openapi's: the generator knows them by the names of their schemas.
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

// Those that are copied in place; the others say it where they are listed, in `deep_copy`.
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
                Shape::Whole(None)
            }
        }
    };
}

tuples! { A }
tuples! { A B }
tuples! { A B C }
tuples! { A B C D }
