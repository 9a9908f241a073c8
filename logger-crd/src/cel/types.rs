//! The types of expressions, and when one may stand for another.

use std::{collections::HashMap, fmt, sync::Arc};

/// A type. [`Type::Struct`] and [`Type::Opaque`] are of the libraries, [`Type::Object`] of a schema.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
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
    /// The type of types.
    OfTypes(Option<Arc<Type>>),
    /// What an overload leaves open, or what is not known yet.
    Param(usize),
}

/// An object of a schema: known by its name alone.
#[derive(Debug)]
pub(super) struct ObjectType {
    pub(super) name: String,
    pub(super) fields: HashMap<String, Type>,
}

impl PartialEq for ObjectType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

pub(super) const URL: Type = Type::Struct("kubernetes.URL");
pub(super) const QUANTITY: Type = Type::Struct("kubernetes.Quantity");
pub(super) const SEMVER: Type = Type::Struct("kubernetes.Semver");
pub(super) const FORMAT: Type = Type::Struct("kubernetes.NamedFormat");
pub(super) const IP: Type = Type::Opaque("net.IP");
pub(super) const CIDR: Type = Type::Opaque("net.CIDR");

impl Type {
    pub(super) fn list(item: Type) -> Self {
        Type::List(Arc::new(item))
    }

    pub(super) fn map(key: Type, value: Type) -> Self {
        Type::Map(Arc::new(key), Arc::new(value))
    }

    pub(super) fn optional(inner: Type) -> Self {
        Type::Optional(Arc::new(inner))
    }

    pub(super) fn of_type(inner: Type) -> Self {
        Type::OfTypes(Some(Arc::new(inner)))
    }

    pub(super) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Type::Dyn | Type::Error)
    }

    /// The type inside an optional one; the type itself otherwise.
    pub(super) fn unwrapped(&self) -> (&Type, bool) {
        match self {
            Type::Optional(inner) => (inner, true),
            other => (other, false),
        }
    }

    fn params(&self) -> Vec<&Type> {
        match self {
            Type::List(inner) | Type::Optional(inner) | Type::OfTypes(Some(inner)) => vec![inner],
            Type::Map(key, value) => vec![key, value],
            _ => Vec::new(),
        }
    }

    fn map_params(&self, change: &mut impl FnMut(&Type) -> Type) -> Type {
        match self {
            Type::List(inner) => Type::list(change(inner)),
            Type::Optional(inner) => Type::optional(change(inner)),
            Type::OfTypes(Some(inner)) => Type::of_type(change(inner)),
            Type::Map(key, value) => Type::map(change(key), change(value)),
            other => other.clone(),
        }
    }

    /// Puts types in place of the parameters of an overload, which count from 0.
    pub(super) fn instantiate(&self, params: &[Type]) -> Type {
        match self {
            Type::Param(index) => params.get(*index).cloned().unwrap_or(Type::Dyn),
            other => other.map_params(&mut |inner| inner.instantiate(params)),
        }
    }

    /// Whether a null may be given for it.
    fn takes_null(&self) -> bool {
        use Type::{Duration, Dyn, Null, Object, Opaque, Optional, Struct, Timestamp};
        matches!(self, Null | Dyn | Object(_) | Struct(_) | Opaque(_) | Optional(_) | Timestamp | Duration)
    }

    /// The kind and name alone, parameters left out.
    fn same_kind(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Object(one), Type::Object(two)) => one == two,
            (Type::Struct(one), Type::Struct(two)) | (Type::Opaque(one), Type::Opaque(two)) => one == two,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Whether this is the same or leaves more open.
    fn is_equal_or_less_specific(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Dyn | Type::Param(_), _) => true,
            (_, Type::Dyn | Type::Param(_)) => false,
            (Type::OfTypes(_), Type::OfTypes(_)) => true,
            _ => {
                self.same_kind(other)
                    && self.params().iter().zip(other.params()).all(|(one, two)| one.is_equal_or_less_specific(two))
            }
        }
    }

    /// The more general of two types that agree.
    pub(super) fn most_general(self, other: Type) -> Type {
        if self.is_equal_or_less_specific(&other) { self } else { other }
    }

    /// Whether the types are the same where neither leaves something open by another name.
    pub(super) fn is_equivalent(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Param(_), Type::Param(_)) => true,
            _ => {
                let (one, two) = (self.params(), other.params());
                self.same_kind(other) && one.len() == two.len() && one.iter().zip(two).all(|(a, b)| a.is_equivalent(b))
            }
        }
    }
}

/// As messages name types.
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
            Type::OfTypes(None) => f.write_str("type"),
            Type::OfTypes(Some(inner)) => write!(f, "type({inner})"),
            Type::Param(index) => write!(f, "_var{index}"),
        }
    }
}

/// What is known of types left open.
#[derive(Clone, Debug, Default)]
pub(super) struct Substitutions {
    known: HashMap<usize, Type>,
    fresh: usize,
}

impl Substitutions {
    /// A type of which nothing is known.
    pub(super) fn fresh(&mut self) -> Type {
        self.fresh += 1;
        Type::Param(self.fresh - 1)
    }

    /// The type with all that is known put in; what stays open is `dyn` if `finally`.
    pub(super) fn apply(&self, t: &Type, finally: bool) -> Type {
        match t {
            Type::Param(index) => match self.known.get(index) {
                Some(known) => self.apply(known, finally),
                None if finally => Type::Dyn,
                None => t.clone(),
            },
            other => other.map_params(&mut |inner| self.apply(inner, finally)),
        }
    }

    /// Whether each type may be given where the other list has its counterpart. What is learned is kept only if so.
    pub(super) fn assign_all(&mut self, from: &[Type], to: &[Type]) -> bool {
        let mut learned = self.clone();
        let agree = learned.all_agree(from.iter().zip(to), from.len() == to.len());
        if agree {
            *self = learned;
        }
        agree
    }

    pub(super) fn assign(&mut self, from: &Type, to: &Type) -> bool {
        self.assign_all(std::slice::from_ref(from), std::slice::from_ref(to))
    }

    fn all_agree<'a>(&mut self, mut pairs: impl Iterator<Item = (&'a Type, &'a Type)>, same_length: bool) -> bool {
        same_length && pairs.all(|(one, two)| self.agree(one, two))
    }

    fn agree(&mut self, one: &Type, two: &Type) -> bool {
        if let Type::Param(index) = two {
            let (valid, had_one) = self.substitute(one, *index);
            if valid || had_one {
                return valid;
            }
        }
        if let Type::Param(index) = one {
            return self.substitute(two, *index).0;
        }
        if one.is_dyn_or_error() || two.is_dyn_or_error() {
            return true;
        }
        if matches!(one, Type::Null) {
            return two.takes_null();
        }
        if matches!(two, Type::Null) {
            return one.takes_null();
        }
        if matches!((one, two), (Type::OfTypes(_), Type::OfTypes(_))) {
            return true;
        }
        let (inner, others) = (one.params(), two.params());
        one.same_kind(two)
            && self.all_agree(inner.iter().copied().zip(others.iter().copied()), inner.len() == others.len())
    }

    /// Whether an open type may be `t`, and whether it was known to be something already.
    fn substitute(&mut self, t: &Type, open: usize) -> (bool, bool) {
        if *t == Type::Param(open) {
            return (true, true);
        }
        if let Some(known) = self.known.get(&open).cloned() {
            if *t == known {
                return (true, true);
            }
            if self.agree(t, &known) {
                let general = t.clone().most_general(known);
                if self.is_free_of(open, &general) {
                    self.known.insert(open, general);
                }
                return (true, true);
            }
            return (false, true);
        }
        let free = self.is_free_of(open, t);
        if free {
            self.known.insert(open, t.clone());
        }
        (free, false)
    }

    /// Whether the open type occurs nowhere within `t`.
    fn is_free_of(&self, open: usize, t: &Type) -> bool {
        match t {
            Type::Param(index) if *index == open => false,
            Type::Param(index) => self.known.get(index).is_none_or(|known| self.is_free_of(open, known)),
            other => other.params().iter().all(|inner| self.is_free_of(open, inner)),
        }
    }
}
