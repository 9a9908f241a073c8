//! What the cost of a call depends on: the type, the path and the size of its target and its arguments.

use std::{cell::RefCell, rc::Rc};

use super::estimate::Estimate;
use crate::cel::{
    syntax::{ACCUMULATOR, Expr},
    types::Type,
};

/// The path of a value from a variable on.
///
/// It has the semantics of a Go slice, because the estimates of cel-go depend on them: appending to two copies of a
/// path can write to the same memory.
#[derive(Clone, Default)]
pub(super) struct Path {
    memory: Rc<RefCell<Vec<String>>>,
    capacity: usize,
    length: usize,
}

impl Path {
    pub(super) fn from_name(name: &str) -> Self {
        Path::default().append(name)
    }

    pub(super) fn append(&self, segment: &str) -> Self {
        if self.length < self.capacity {
            let mut memory = self.memory.borrow_mut();
            match memory.get_mut(self.length) {
                Some(overwritten) => segment.clone_into(overwritten),
                None => memory.push(segment.to_owned()),
            }
            return Path { memory: Rc::clone(&self.memory), capacity: self.capacity, length: self.length + 1 };
        }
        let mut grown = self.memory.borrow()[..self.length].to_vec();
        grown.push(segment.to_owned());
        let capacity = (self.capacity * 2).max(1);
        Path { memory: Rc::new(RefCell::new(grown)), capacity, length: self.length + 1 }
    }

    pub(super) fn segments(&self) -> Vec<String> {
        self.memory.borrow()[..self.length].to_vec()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(super) fn starts_with_accumulator(&self) -> bool {
        self.memory.borrow().first().is_some_and(|first| first == ACCUMULATOR)
    }
}

/// The target or an argument of a call.
pub(super) struct AstNode<'a> {
    pub(super) expr: &'a Expr,
    pub(super) node_type: Type,
    /// Empty for a value that no variable leads to.
    pub(super) path: Path,
    /// The size that the estimator has computed; `None` if it is not known.
    pub(super) computed_size: Option<Estimate>,
}

impl AstNode<'_> {
    /// The computed size, or the range of all sizes.
    pub(super) fn size_or_unknown(&self) -> Estimate {
        self.computed_size.unwrap_or(Estimate::UNKNOWN)
    }
}
