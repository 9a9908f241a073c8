//! Field paths, allocated on the stack and formatted only for errors.

use std::fmt::{self, Write};

use super::{Location, MAX_PATH_LENGTH};

/// The path of a field, linked to the path of its parent.
#[derive(Clone, Copy)]
pub(crate) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    segment: Segment<'a>,
    /// The index of the version whose schema starts at this path.
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

    /// Returns the path of a field.
    pub(crate) fn child(&'a self, name: &'a str) -> Self {
        self.with(Segment::Name(name))
    }

    /// Returns the path of a map entry.
    pub(crate) fn key(&'a self, key: &'a str) -> Self {
        self.with(Segment::Key(key))
    }

    /// Returns the path of a list item.
    pub(crate) fn index(&'a self, index: usize) -> Self {
        self.with(Segment::Index(index))
    }

    /// Returns the path of the parent, or this path if it is the root.
    pub(crate) fn parent(&self) -> &Self {
        self.parent.unwrap_or(self)
    }

    /// Marks the path at which the schema of a version starts.
    #[must_use]
    pub(crate) fn schema_of(self, version: usize) -> Self {
        Self { schema_of: Some(version), ..self }
    }

    fn with(&'a self, segment: Segment<'a>) -> Self {
        Self { parent: Some(self), segment, schema_of: None }
    }

    /// Returns the formatted path and the path in the schema. A long path is truncated, and has no path in the schema.
    pub(crate) fn location(&self) -> Location {
        let mut field = Truncated(String::new());
        let schema_path = write!(field, "{self}").ok().and_then(|()| self.schema_path());
        Location { field: field.0, schema_path }
    }

    fn schema_path(&self) -> Option<(usize, Vec<String>)> {
        let mut segments = Vec::new();
        let mut at = self;
        loop {
            if let Some(version) = at.schema_of {
                segments.reverse();
                return Some((version, segments));
            }
            segments.push(at.segment.to_string());
            at = at.parent?;
        }
    }
}

/// A path that is truncated at its maximum length, with an error.
struct Truncated(String);

impl Write for Truncated {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = text.floor_char_boundary(MAX_PATH_LENGTH - self.0.len());
        self.0.push_str(&text[..end]);
        if end == text.len() { Ok(()) } else { Err(fmt::Error) }
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

impl From<&Path<'_>> for Location {
    fn from(path: &Path<'_>) -> Self {
        path.location()
    }
}

impl From<Path<'_>> for Location {
    fn from(path: Path<'_>) -> Self {
        path.location()
    }
}
