//! Paths of fields, held on the stack and written when there is something to say.

use std::fmt;

use crate::finding::Place;

/// The path of a field, by way of the fields it lies in.
#[derive(Clone, Copy)]
pub(crate) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    segment: Segment<'a>,
    /// The version whose schema begins here.
    schema_of: Option<usize>,
}

#[derive(Clone, Copy)]
enum Segment<'a> {
    Name(&'a str),
    Key(&'a str),
    Index(usize),
}

impl<'a> Path<'a> {
    pub(crate) fn root(name: &'a str) -> Self {
        Self { parent: None, segment: Segment::Name(name), schema_of: None }
    }

    pub(crate) fn child(&'a self, name: &'a str) -> Self {
        self.with(Segment::Name(name))
    }

    /// An entry of a map.
    pub(crate) fn key(&'a self, key: &'a str) -> Self {
        self.with(Segment::Key(key))
    }

    pub(crate) fn index(&'a self, index: usize) -> Self {
        self.with(Segment::Index(index))
    }

    /// The path it is in, or itself.
    pub(crate) fn parent(&self) -> &Self {
        self.parent.unwrap_or(self)
    }

    /// The schema of a version begins at this path.
    pub(crate) fn schema_of(self, version: usize) -> Self {
        Self { schema_of: Some(version), ..self }
    }

    fn with(&'a self, segment: Segment<'a>) -> Self {
        Self { parent: Some(self), segment, schema_of: None }
    }

    /// The path as it is written, and where in a schema it leads.
    pub(crate) fn place(&self) -> Place {
        let mut inside = Vec::new();
        let mut at = Some(self);
        let schema = loop {
            match at {
                None => break None,
                Some(Path { schema_of: Some(version), .. }) => {
                    inside.reverse();
                    break Some((*version, inside));
                }
                Some(path) => inside.push(path.segment.to_string()),
            }
            at = at.and_then(|path| path.parent);
        };
        Place { path: self.to_string(), schema }
    }
}

impl fmt::Display for Segment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) | Self::Key(name) => f.write_str(name),
            Self::Index(index) => write!(f, "{index}"),
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.parent, self.segment) {
            (None, segment) => segment.fmt(f),
            (Some(parent), segment @ Segment::Name(_)) => write!(f, "{parent}.{segment}"),
            (Some(parent), segment) => write!(f, "{parent}[{segment}]"),
        }
    }
}

impl From<&Path<'_>> for Place {
    fn from(path: &Path<'_>) -> Self {
        path.place()
    }
}

impl From<Path<'_>> for Place {
    fn from(path: Path<'_>) -> Self {
        path.place()
    }
}
