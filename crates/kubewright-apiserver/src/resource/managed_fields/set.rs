//! Sets of fields, which managers own and writes change.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use super::path::{Path, PathElement};

/// The size of formatted paths from which on no further ones are returned, in bytes.
const MAX_PATHS_SIZE: usize = 1 << 20;

/// A set of paths.
///
/// Guarantees: membership of a field is independent of that of its descendants. There are no empty branches, so equal
/// sets are equal values.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FieldSet {
    members: BTreeSet<PathElement>,
    /// The members below each element. No child is empty.
    children: BTreeMap<PathElement, FieldSet>,
}

impl FieldSet {
    pub(crate) fn from_paths(paths: impl IntoIterator<Item = Path>) -> Self {
        let mut set = Self::default();
        paths.into_iter().for_each(|path| set.insert(&path));
        set
    }

    /// Adds a field, but not its ancestors. The root cannot be owned.
    pub(crate) fn insert(&mut self, path: &[PathElement]) {
        match path {
            [] => {}
            [last] => {
                self.members.insert(last.clone());
            }
            [first, rest @ ..] => match self.children.get_mut(first) {
                Some(child) => child.insert(rest),
                None => self.children.entry(first.clone()).or_default().insert(rest),
            },
        }
    }

    /// Adds the members below an element, and the element itself if it is a member.
    pub(crate) fn insert_branch(&mut self, element: PathElement, is_member: bool, branch: Self) {
        if !branch.is_empty() {
            self.children.entry(element.clone()).or_default().merge(branch);
        }
        if is_member {
            self.members.insert(element);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.is_empty()
    }

    pub(crate) fn contains(&self, path: &[PathElement]) -> bool {
        match path {
            [] => false,
            [last] => self.members.contains(last),
            [first, rest @ ..] => self.children.get(first).is_some_and(|child| child.contains(rest)),
        }
    }

    /// Returns the members at this level.
    pub(crate) fn members(&self) -> impl Iterator<Item = &PathElement> {
        self.members.iter()
    }

    /// Returns the elements with members below them.
    pub(crate) fn children(&self) -> impl Iterator<Item = (&PathElement, &Self)> {
        self.children.iter()
    }

    pub(crate) fn has_member(&self, element: &PathElement) -> bool {
        self.members.contains(element)
    }

    /// Returns the members below an element.
    pub(crate) fn child(&self, element: &PathElement) -> Option<&Self> {
        self.children.get(element)
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        let mut union = self.clone();
        union.merge(other.clone());
        union
    }

    /// Adds the members of `other`.
    pub(crate) fn merge(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
            return;
        }
        self.members.extend(other.members);
        for (element, child) in other.children {
            self.children.entry(element).or_default().merge(child);
        }
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let common = |(element, child): (&PathElement, &Self)| {
            let child = child.intersection(other.children.get(element)?);
            Some((element.clone(), child)).filter(|(_, child)| !child.is_empty())
        };
        Self {
            members: self.members.intersection(&other.members).cloned().collect(),
            children: self.children.iter().filter_map(common).collect(),
        }
    }

    /// Returns the members that are not in `other`. Descendants of members of `other` are retained.
    pub(crate) fn difference(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        rest.subtract(other);
        rest
    }

    /// Returns the members that are neither in `other` nor descendants of its members (`RecursiveDifference`).
    pub(crate) fn recursive_difference(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        rest.subtract_recursively(other);
        rest
    }

    /// Removes the members of `other`. Their descendants are retained.
    pub(crate) fn subtract(&mut self, other: &Self) {
        self.members.retain(|element| !other.members.contains(element));
        self.subtract_children(other, Self::subtract);
    }

    /// Removes the members of `other` and their descendants.
    pub(crate) fn subtract_recursively(&mut self, other: &Self) {
        self.members.retain(|element| !other.members.contains(element));
        self.children.retain(|element, _| !other.members.contains(element));
        self.subtract_children(other, Self::subtract_recursively);
    }

    fn subtract_children(&mut self, other: &Self, subtract: fn(&mut Self, &Self)) {
        for (element, removed) in &other.children {
            let Some(child) = self.children.get_mut(element) else { continue };
            subtract(child, removed);
            if child.is_empty() {
                self.children.remove(element);
            }
        }
    }

    /// Returns the formatted paths of the first members. Their total size is limited: each contains the names of its
    /// ancestors.
    pub(crate) fn path_texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        self.add_path_texts(&mut String::new(), &mut 0, &mut texts);
        texts
    }

    fn add_path_texts(&self, path: &mut String, size: &mut usize, texts: &mut Vec<String>) {
        let length = path.len();
        let children = self.children.iter().map(|(element, child)| (element, Some(child)));
        for (element, child) in self.members.iter().map(|element| (element, None)).chain(children) {
            if *size >= MAX_PATHS_SIZE {
                return;
            }
            // Writing to a string cannot fail.
            let _ = write!(path, "{element}");
            match child {
                Some(child) => child.add_path_texts(path, size, texts),
                None => {
                    *size += path.len();
                    texts.push(path.clone());
                }
            }
            path.truncate(length);
        }
    }

    /// Returns the paths of all members.
    #[cfg(test)]
    pub(crate) fn paths(&self) -> Vec<Path> {
        let here = self.members.iter().map(|element| vec![element.clone()]);
        let below = self.children.iter().flat_map(|(element, child)| {
            child.paths().into_iter().map(move |path| std::iter::once(element.clone()).chain(path).collect())
        });
        here.chain(below).collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::{
        super::path::{ItemValue, fields},
        *,
    };

    fn element() -> impl Strategy<Value = PathElement> {
        prop_oneof![
            "[a-c]".prop_map(PathElement::Field),
            "[a-b]".prop_map(|name| PathElement::Key(vec![("name".into(), ItemValue(json!(name)))])),
            (0..2).prop_map(|number| PathElement::Value(ItemValue(json!(number)))),
            (0..2usize).prop_map(PathElement::Index),
        ]
    }

    /// Generates sets of a few short paths, so that two sets have common paths.
    pub(in super::super) fn sets() -> impl Strategy<Value = FieldSet> {
        proptest::collection::vec(proptest::collection::vec(element(), 1..4), 0..8).prop_map(FieldSet::from_paths)
    }

    fn path_set(set: &FieldSet) -> BTreeSet<Path> {
        set.paths().into_iter().collect()
    }

    proptest! {
        #[test]
        fn sets_are_sets_of_paths(left in sets(), right in sets()) {
            let (l, r) = (path_set(&left), path_set(&right));
            prop_assert_eq!(path_set(&left.union(&right)), l.union(&r).cloned().collect());
            prop_assert_eq!(path_set(&left.intersection(&right)), l.intersection(&r).cloned().collect());
            prop_assert_eq!(path_set(&left.difference(&right)), l.difference(&r).cloned().collect());
            prop_assert!(l.iter().all(|path| left.contains(path)));
            prop_assert_eq!(left.is_empty(), l.is_empty());
        }

        #[test]
        fn results_have_no_empty_branches(left in sets(), right in sets()) {
            let differences = [left.difference(&right), left.recursive_difference(&right)];
            for set in [left.union(&right), left.intersection(&right)].into_iter().chain(differences) {
                prop_assert_eq!(&FieldSet::from_paths(set.paths()), &set);
            }
        }

        #[test]
        fn recursive_difference_excludes_descendants(left in sets(), right in sets()) {
            let r = path_set(&right);
            let is_excluded = |path: &Path| (1..=path.len()).any(|length| r.contains(&path[..length]));
            let expected: BTreeSet<Path> = path_set(&left).into_iter().filter(|path| !is_excluded(path)).collect();
            prop_assert_eq!(path_set(&left.recursive_difference(&right)), expected);
        }
    }

    #[test]
    fn formatted_paths_are_limited() {
        let long = "x".repeat(MAX_PATHS_SIZE / 4);
        let set =
            FieldSet::from_paths((0..100).map(|index| vec![PathElement::field(&long), PathElement::Index(index)]));
        assert_eq!(set.path_texts().len(), 4);
        let set = FieldSet::from_paths([fields(&["a", "b"]), fields(&["c"]), fields(&["a"])]);
        assert_eq!(set.path_texts(), [".a", ".c", ".a.b"]);
    }

    #[test]
    fn a_field_and_its_descendants_are_independent_members() {
        let set = FieldSet::from_paths([fields(&["a"]), fields(&["a", "b"])]);
        let without = set.difference(&FieldSet::from_paths([fields(&["a"])]));
        assert_eq!(without.paths(), [fields(&["a", "b"])]);
        assert!(set.recursive_difference(&FieldSet::from_paths([fields(&["a"])])).is_empty());
    }
}
