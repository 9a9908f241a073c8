//! The position of a value, which is formatted as a path only for errors.

use super::{child, entry, item};

/// The position of a value in an object.
pub(super) enum Position<'a> {
    /// The value at this path; empty for the object itself.
    Path(&'a str),
    /// A field of the value at a position.
    Field(&'a Self, &'a str),
    /// A list item.
    Item(&'a Self, usize),
    /// A map entry.
    Entry(&'a Self, &'a str),
}

impl Position<'_> {
    /// Formats the path. A long one is truncated.
    pub(super) fn path(&self) -> String {
        match self {
            Self::Path(path) => (*path).to_owned(),
            Self::Field(parent, name) => child(&parent.path(), name),
            Self::Item(parent, index) => item(&parent.path(), *index),
            Self::Entry(parent, key) => entry(&parent.path(), key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_the_format_of_the_real_server() {
        let root = Position::Path("");
        let spec = Position::Field(&root, "spec");
        let ports = Position::Field(&spec, "ports");
        let port = Position::Item(&ports, 2);
        let labels = Position::Entry(&port, "a.b");
        assert_eq!([&root, &spec, &labels].map(Position::path), ["", "spec", "spec.ports[2][a.b]"]);
    }
}
