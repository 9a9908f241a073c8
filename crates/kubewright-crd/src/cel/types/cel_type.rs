//! The types of expressions.

use std::{collections::HashMap, fmt, sync::Arc};

/// A type. Libraries declare [`Type::Struct`] and [`Type::Opaque`], schemas declare [`Type::Object`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    Dyn,
    Error,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Timestamp,
    Duration,
    List(Arc<Type>),
    Map(Arc<Type>, Arc<Type>),
    Object(Arc<ObjectType>),
    Struct(&'static str),
    Opaque(&'static str),
    Optional(Arc<Type>),
    /// The type of a type, such as that of `type(1)`; `None` is the type `type` itself.
    Metatype(Option<Arc<Type>>),
    /// A type parameter: of an overload, or of an expression whose type is not inferred yet.
    Param(usize),
}

/// An object of a schema. Types with the same name are equal.
#[derive(Debug)]
pub(crate) struct ObjectType {
    pub(crate) name: String,
    pub(crate) fields: HashMap<String, Type>,
    /// Whether it has any other field as well, of type `dyn`.
    pub(crate) is_open: bool,
}

impl ObjectType {
    /// Returns the type of a field; `None` if the object has no such field.
    pub(crate) fn field(&self, name: &str) -> Option<Type> {
        self.fields.get(name).cloned().or_else(|| self.is_open.then_some(Type::Dyn))
    }
}

impl PartialEq for ObjectType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

pub(crate) const URL: Type = Type::Struct("kubernetes.URL");
pub(crate) const QUANTITY: Type = Type::Struct("kubernetes.Quantity");
pub(crate) const SEMVER: Type = Type::Struct("kubernetes.Semver");
pub(crate) const NAMED_FORMAT: Type = Type::Struct("kubernetes.NamedFormat");
pub(crate) const AUTHORIZER: Type = Type::Struct("kubernetes.authorization.Authorizer");
pub(crate) const PATH_CHECK: Type = Type::Struct("kubernetes.authorization.PathCheck");
pub(crate) const GROUP_CHECK: Type = Type::Struct("kubernetes.authorization.GroupCheck");
pub(crate) const RESOURCE_CHECK: Type = Type::Struct("kubernetes.authorization.ResourceCheck");
pub(crate) const DECISION: Type = Type::Struct("kubernetes.authorization.Decision");
pub(crate) const IP: Type = Type::Opaque("net.IP");
pub(crate) const CIDR: Type = Type::Opaque("net.CIDR");

impl Type {
    /// Creates the type of an object with these fields and no others.
    pub(crate) fn object(name: impl Into<String>, fields: HashMap<String, Type>) -> Self {
        Type::Object(Arc::new(ObjectType { name: name.into(), fields, is_open: false }))
    }

    /// Creates the type of an object that has any field, of type `dyn` unless it is one of these.
    pub(crate) fn open_object(name: impl Into<String>, fields: HashMap<String, Type>) -> Self {
        Type::Object(Arc::new(ObjectType { name: name.into(), fields, is_open: true }))
    }

    pub(crate) fn list(item: Type) -> Self {
        Type::List(Arc::new(item))
    }

    pub(crate) fn map(key: Type, value: Type) -> Self {
        Type::Map(Arc::new(key), Arc::new(value))
    }

    pub(crate) fn optional(inner: Type) -> Self {
        Type::Optional(Arc::new(inner))
    }

    pub(crate) fn metatype(inner: Type) -> Self {
        Type::Metatype(Some(Arc::new(inner)))
    }

    pub(crate) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Type::Dyn | Type::Error)
    }

    /// The inner type of an optional type, and whether the type is optional.
    pub(crate) fn unwrap_optional(&self) -> (&Type, bool) {
        match self {
            Type::Optional(inner) => (inner, true),
            other => (other, false),
        }
    }

    pub(super) fn params(&self) -> Vec<&Type> {
        match self {
            Type::List(inner) | Type::Optional(inner) | Type::Metatype(Some(inner)) => vec![inner],
            Type::Map(key, value) => vec![key, value],
            _ => Vec::new(),
        }
    }

    pub(super) fn map_params(&self, change: &mut impl FnMut(&Type) -> Type) -> Type {
        match self {
            Type::List(inner) => Type::list(change(inner)),
            Type::Optional(inner) => Type::optional(change(inner)),
            Type::Metatype(Some(inner)) => Type::metatype(change(inner)),
            Type::Map(key, value) => Type::map(change(key), change(value)),
            other => other.clone(),
        }
    }

    /// Replaces the type parameters of an overload, which are numbered from 0.
    pub(crate) fn instantiate(&self, params: &[Type]) -> Type {
        match self {
            Type::Param(index) => params.get(*index).cloned().unwrap_or(Type::Dyn),
            other => other.map_params(&mut |inner| inner.instantiate(params)),
        }
    }

    /// Whether null is assignable to the type.
    pub(super) fn is_nullable(&self) -> bool {
        use Type::{Duration, Dyn, Null, Object, Opaque, Optional, Struct, Timestamp};
        matches!(self, Null | Dyn | Object(_) | Struct(_) | Opaque(_) | Optional(_) | Timestamp | Duration)
    }

    /// Whether the types are the same apart from their parameters.
    pub(super) fn same_kind(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Object(left), Type::Object(right)) => left == right,
            (Type::Struct(left), Type::Struct(right)) | (Type::Opaque(left), Type::Opaque(right)) => left == right,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Whether the type is equal to the other one or more general.
    fn is_equal_or_less_specific(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Dyn | Type::Param(_), _) => true,
            (_, Type::Dyn | Type::Param(_)) => false,
            (Type::Metatype(_), Type::Metatype(_)) => true,
            _ => {
                self.same_kind(other)
                    && self
                        .params()
                        .iter()
                        .zip(other.params())
                        .all(|(left, right)| left.is_equal_or_less_specific(right))
            }
        }
    }

    /// The more general of two types, one of which is assignable to the other.
    pub(crate) fn most_general(self, other: Type) -> Type {
        if self.is_equal_or_less_specific(&other) { self } else { other }
    }

    /// Whether the types are equal up to the names of type parameters.
    pub(crate) fn is_equivalent(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Param(_), Type::Param(_)) => true,
            _ => {
                let (left, right) = (self.params(), other.params());
                self.same_kind(other)
                    && left.len() == right.len()
                    && left.iter().zip(right).all(|(a, b)| a.is_equivalent(b))
            }
        }
    }

    /// The name of the type at run time, without parameters, as `type(x)` returns it; `None` if it depends on the
    /// schema.
    pub(crate) fn runtime_name(&self) -> Option<&'static str> {
        Some(match self {
            Type::Bool => "bool",
            Type::Bytes => "bytes",
            Type::Double => "double",
            Type::Int => "int",
            Type::Uint => "uint",
            Type::String => "string",
            Type::Null => "null_type",
            Type::Duration => "google.protobuf.Duration",
            Type::Timestamp => "google.protobuf.Timestamp",
            Type::List(_) => "list",
            Type::Map(..) => "map",
            Type::Opaque(name) | Type::Struct(name) => name,
            Type::Optional(_) => "optional_type",
            Type::Metatype(_) => "type",
            Type::Dyn | Type::Error | Type::Object(_) | Type::Param(_) => return None,
        })
    }

    /// The type with this name in source text, as in `type(x) == int`; `None` if the name is no type.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Type::Bool,
            "bytes" => Type::Bytes,
            "double" => Type::Double,
            "int" => Type::Int,
            "uint" => Type::Uint,
            "string" => Type::String,
            "null_type" => Type::Null,
            "duration" | "google.protobuf.Duration" => Type::Duration,
            "timestamp" | "google.protobuf.Timestamp" => Type::Timestamp,
            "list" => Type::list(Type::Dyn),
            "map" => Type::map(Type::Dyn, Type::Dyn),
            "type" => Type::Metatype(None),
            "net.IP" => IP,
            "net.CIDR" => CIDR,
            "optional_type" => Type::optional(Type::Dyn),
            _ => return None,
        })
    }
}

/// Formats a type as error messages do.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Dyn => f.write_str("dyn"),
            Type::Error => f.write_str("!error!"),
            Type::Null => f.write_str("null"),
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Uint => f.write_str("uint"),
            Type::Double => f.write_str("double"),
            Type::String => f.write_str("string"),
            Type::Bytes => f.write_str("bytes"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::Duration => f.write_str("duration"),
            Type::List(item) => write!(f, "list({item})"),
            Type::Map(key, value) => write!(f, "map({key}, {value})"),
            Type::Object(object) => f.write_str(&object.name),
            Type::Struct(name) | Type::Opaque(name) => f.write_str(name),
            Type::Optional(inner) => write!(f, "optional_type({inner})"),
            Type::Metatype(None) => f.write_str("type"),
            Type::Metatype(Some(inner)) => write!(f, "type({inner})"),
            Type::Param(index) => write!(f, "_var{index}"),
        }
    }
}
