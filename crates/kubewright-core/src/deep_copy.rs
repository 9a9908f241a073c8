//! Deep copies, with impls for types of std and k8s-openapi.
//!
//! `Rc`, `Arc` and `&T` share what they point to. They do not implement `DeepCopy`, so that a type that contains one
//! does not compile.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    hash::{BuildHasher, Hash},
    marker::PhantomData,
};

/// A type whose copies share nothing with the original.
///
/// Guarantees:
/// - A change of the copy never changes the original, and vice versa.
/// - `deep_copy_into` makes the target equal to the result of `deep_copy`, and reuses the target's buffers where
///   possible.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be deep-copied",
    label = "this type does not implement `DeepCopy`",
    note = "derive `DeepCopy` on it; `Rc`, `Arc` and references share what they point to and never implement it: use `Box` or the value itself",
    note = "for a type of another crate, use its counterpart in Kubernetes, such as `String` for a `Cow<str>` and k8s-openapi's `Time` for an `Instant` or a `Timestamp`, or copy the field with `#[deep_copy(clone)]` if its `Clone` shares nothing"
)]
pub trait DeepCopy: Sized {
    /// Returns a deep copy.
    fn deep_copy(&self) -> Self;

    /// Overwrites `target` with a deep copy, and reuses its buffers where the structures match.
    fn deep_copy_into(&self, target: &mut Self) {
        *target = self.deep_copy();
    }

    /// Returns a copy of a map with keys of this type. The key type decides whether the map can be cloned, which is
    /// twice as fast as building a new map.
    #[doc(hidden)]
    fn deep_copy_keyed<V: DeepCopy>(map: &BTreeMap<Self, V>) -> BTreeMap<Self, V>
    where
        Self: Ord,
    {
        rebuild_map(map)
    }

    /// Returns a copy of a map with values of this type, whose keys can be cloned.
    #[doc(hidden)]
    fn deep_copy_values<K: Clone + DeepCopy + Ord>(map: &BTreeMap<K, Self>) -> BTreeMap<K, Self> {
        rebuild_map(map)
    }
}

/// Implements `deep_copy` for a type whose `Clone` is a deep copy.
macro_rules! deep_copy_by_clone {
    () => {
        fn deep_copy(&self) -> Self {
            self.clone()
        }

        fn deep_copy_values<K: Clone + DeepCopy + Ord>(
            map: &std::collections::BTreeMap<K, Self>,
        ) -> std::collections::BTreeMap<K, Self> {
            map.clone()
        }
    };
}

/// Implements `DeepCopy` for types whose `Clone` is a deep copy.
macro_rules! clone_is_deep {
    ($($ty:ty),* $(,)?) => {$(
        impl DeepCopy for $ty {
            deep_copy_by_clone!();

            fn deep_copy_into(&self, target: &mut Self) {
                target.clone_from(self);
            }
        }
    )*};
}

clone_is_deep! {
    (), bool, char, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, Box<str>,
    std::num::NonZeroU8, std::num::NonZeroU16, std::num::NonZeroU32, std::num::NonZeroU64, std::num::NonZeroUsize,
    std::num::NonZeroI8, std::num::NonZeroI16, std::num::NonZeroI32, std::num::NonZeroI64, std::num::NonZeroIsize,
    std::time::Duration, std::time::SystemTime, std::path::PathBuf, std::net::IpAddr,
    std::net::Ipv4Addr, std::net::Ipv6Addr, std::net::SocketAddr,
}

impl DeepCopy for String {
    deep_copy_by_clone!();

    fn deep_copy_into(&self, target: &mut Self) {
        target.clone_from(self);
    }

    fn deep_copy_keyed<V: DeepCopy>(map: &BTreeMap<Self, V>) -> BTreeMap<Self, V> {
        V::deep_copy_values(map)
    }
}

mod in_place;
mod json;
mod kubernetes;

impl<T: DeepCopy> DeepCopy for Box<T> {
    fn deep_copy(&self) -> Self {
        Box::new((**self).deep_copy())
    }

    fn deep_copy_into(&self, target: &mut Self) {
        (**self).deep_copy_into(target);
    }
}

impl<T: DeepCopy> DeepCopy for Option<T> {
    fn deep_copy(&self) -> Self {
        self.as_ref().map(T::deep_copy)
    }

    fn deep_copy_into(&self, target: &mut Self) {
        match (self, target) {
            (Some(from), Some(to)) => from.deep_copy_into(to),
            (_, target) => *target = self.deep_copy(),
        }
    }
}

impl<T: DeepCopy> DeepCopy for Vec<T> {
    fn deep_copy(&self) -> Self {
        self.iter().map(T::deep_copy).collect()
    }

    fn deep_copy_into(&self, target: &mut Self) {
        target.truncate(self.len());
        let (common, rest) = self.split_at(target.len());
        common.iter().zip(target.iter_mut()).for_each(|(from, to)| from.deep_copy_into(to));
        target.extend(rest.iter().map(T::deep_copy));
    }
}

impl<T: DeepCopy> DeepCopy for VecDeque<T> {
    fn deep_copy(&self) -> Self {
        self.iter().map(T::deep_copy).collect()
    }
}

impl<T: DeepCopy, const N: usize> DeepCopy for [T; N] {
    fn deep_copy(&self) -> Self {
        std::array::from_fn(|i| self[i].deep_copy())
    }

    fn deep_copy_into(&self, target: &mut Self) {
        self.iter().zip(target).for_each(|(from, to)| from.deep_copy_into(to));
    }
}

impl<K: DeepCopy + Ord, V: DeepCopy> DeepCopy for BTreeMap<K, V> {
    fn deep_copy(&self) -> Self {
        K::deep_copy_keyed(self)
    }

    fn deep_copy_into(&self, target: &mut Self) {
        if self.len() == target.len() && copy_pairwise(self.iter(), target.iter_mut()) {
            return;
        }
        target.retain(|key, _| self.contains_key(key));
        for (key, from) in self {
            match target.get_mut(key) {
                Some(to) => from.deep_copy_into(to),
                None => drop(target.insert(key.deep_copy(), from.deep_copy())),
            }
        }
    }
}

fn rebuild_map<K: DeepCopy + Ord, V: DeepCopy>(map: &BTreeMap<K, V>) -> BTreeMap<K, V> {
    map.iter().map(|(key, value)| (key.deep_copy(), value.deep_copy())).collect()
}

/// Copies the values of one map over those of another as long as the keys are equal, and returns whether all keys were.
fn copy_pairwise<'a, K: PartialEq + 'a, V: DeepCopy + 'a>(
    from: impl Iterator<Item = (&'a K, &'a V)>,
    to: impl Iterator<Item = (&'a K, &'a mut V)>,
) -> bool {
    from.zip(to).all(|((key, value), (target_key, target))| {
        let same = key == target_key;
        if same {
            value.deep_copy_into(target);
        }
        same
    })
}

impl<T: DeepCopy + Ord> DeepCopy for BTreeSet<T> {
    fn deep_copy(&self) -> Self {
        self.iter().map(T::deep_copy).collect()
    }
}

impl<K: DeepCopy + Eq + Hash, V: DeepCopy, S: BuildHasher + Default> DeepCopy for HashMap<K, V, S> {
    fn deep_copy(&self) -> Self {
        self.iter().map(|(key, value)| (key.deep_copy(), value.deep_copy())).collect()
    }
}

impl<T: DeepCopy + Eq + Hash, S: BuildHasher + Default> DeepCopy for HashSet<T, S> {
    fn deep_copy(&self) -> Self {
        self.iter().map(T::deep_copy).collect()
    }
}

macro_rules! tuples {
    ($($name:ident $index:tt),*) => {
        impl<$($name: DeepCopy),*> DeepCopy for ($($name,)*) {
            fn deep_copy(&self) -> Self {
                ($(self.$index.deep_copy(),)*)
            }

            fn deep_copy_into(&self, target: &mut Self) {
                $(self.$index.deep_copy_into(&mut target.$index);)*
            }
        }
    };
}

tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
tuples!(A 0, B 1, C 2, D 3, E 4);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);

impl<T: DeepCopy> DeepCopy for Box<[T]> {
    fn deep_copy(&self) -> Self {
        self.iter().map(T::deep_copy).collect()
    }
}

impl<T: ?Sized> DeepCopy for PhantomData<T> {
    fn deep_copy(&self) -> Self {
        PhantomData
    }
}

/// Implements `DeepCopy` for the boxed objects of a trait, by a method of the trait.
///
/// ```
/// use kubewright_core::DeepCopy;
///
/// trait Shape {
///     fn deep_copy_shape(&self) -> Box<dyn Shape>;
/// }
/// kubewright_core::deep_copy_dyn!(Shape, deep_copy_shape);
///
/// #[derive(DeepCopy)]
/// #[deep_copy(dyn(Shape))]
/// struct Circle {
///     radius: i32,
/// }
///
/// impl Shape for Circle {
///     fn deep_copy_shape(&self) -> Box<dyn Shape> {
///         self.deep_copy_shape() // the inherent method of the derive
///     }
/// }
///
/// #[derive(DeepCopy)]
/// struct Drawing {
///     shapes: Vec<Box<dyn Shape>>,
/// }
///
/// let drawing = Drawing { shapes: vec![Box::new(Circle { radius: 1 })] };
/// assert_eq!(drawing.deep_copy().shapes.len(), 1);
/// ```
#[macro_export]
macro_rules! deep_copy_dyn {
    ($of:path, $method:ident) => {
        impl $crate::DeepCopy for ::std::boxed::Box<dyn $of> {
            fn deep_copy(&self) -> Self {
                (**self).$method()
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_copy_into_reuses_buffers_of_matching_structures() {
        let from = vec![String::from("a"), String::from("b")];
        let mut to = vec![String::with_capacity(64), String::from("x"), String::from("y")];
        let before = to[0].as_ptr();
        from.deep_copy_into(&mut to);
        assert_eq!(to, from);
        assert_eq!(to[0].as_ptr(), before);
    }

    #[test]
    fn deep_copy_into_reuses_buffers_of_common_map_keys() {
        let from = BTreeMap::from([("a".to_owned(), "new".to_owned()), ("b".to_owned(), String::new())]);
        let mut to = BTreeMap::from([("a".to_owned(), "old".to_owned()), ("c".to_owned(), String::new())]);
        let before = to["a"].as_ptr();
        from.deep_copy_into(&mut to);
        assert_eq!(to, from);
        assert_eq!(to["a"].as_ptr(), before);
    }

    #[test]
    fn deep_copy_into_equals_deep_copy_for_any_target() {
        let maps =
            [BTreeMap::from([("a".to_owned(), vec![1])]), BTreeMap::new(), BTreeMap::from([("b".to_owned(), vec![])])];
        for from in &maps {
            for mut to in maps.clone() {
                from.deep_copy_into(&mut to);
                assert_eq!(&to, from);
            }
        }
    }
}
