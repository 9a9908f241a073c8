//! Errors and warnings of the generator, each with the Rust item it is about.

use std::fmt;

use kubewright_core::meta::{ApiGroup, ApiKind, Location};

/// One error or warning about one Rust item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The type or field, such as `my_types::v1::Widget.spec.size`.
    pub item: String,
    /// The source location of the field or of the kind, such as `src/v1/widget.rs:12`, if it is known.
    pub location: Option<String>,
    /// The source location of a field of the type of the field, if that type can have the token.
    pub type_location: Option<String>,
    /// A key in the attributes of the field or the kind, or the value of a string in them, if it is about one.
    pub token: Option<String>,
    /// What is wrong, then a suggestion.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(f, "{location}: ")?;
        }
        write!(f, "`{}`: {}", self.item, self.message)
    }
}

/// All errors of one run. There is at least one.
#[derive(Clone, Debug, Default, thiserror::Error)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    pub(crate) fn push(&mut self, item: impl Into<RustItem>, message: impl Into<String>) {
        self.0.push(item.into().diagnostic(message));
    }

    /// Returns the value, or the errors if there are any.
    pub(crate) fn or<T>(self, value: T) -> Result<T, Diagnostics> {
        match self.0.is_empty() {
            true => Ok(value),
            false => Err(self),
        }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Diagnostics(vec![diagnostic])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.0.iter().enumerate() {
            let newline = if i == 0 { "" } else { "\n" };
            write!(f, "{newline}{diagnostic}")?;
        }
        Ok(())
    }
}

/// A Rust item that diagnostics are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RustItem {
    /// The path of a type or field, such as `my_types::v1::Widget`.
    pub(crate) path: String,
    /// The file and line of the field, or of the kind that it belongs to.
    pub(crate) location: Option<String>,
    /// The file and line of a field of its type, whose attributes can have the token.
    pub(crate) type_location: Option<String>,
    /// A key in the attributes, or the value of a string in them.
    pub(crate) token: Option<String>,
}

impl RustItem {
    /// Returns the type of a kind.
    pub(crate) fn from_kind(group: &ApiGroup, kind: &ApiKind) -> Self {
        let is_known = kind.location != Location::UNKNOWN;
        let location = is_known.then(|| kind.location.to_string());
        RustItem { location, ..format!("{}::{}", group.module, kind.rust_name).into() }
    }

    /// Returns the module of a group.
    pub(crate) fn from_group(group: &ApiGroup) -> Self {
        let is_known = group.location != Location::UNKNOWN;
        RustItem { location: is_known.then(|| group.location.to_string()), ..group.module.into() }
    }

    /// Returns the item in this line of a file.
    pub(crate) fn in_line(path: impl Into<String>, file: &str, line: u64) -> Self {
        RustItem { location: Some(format!("{file}:{line}")), ..path.into().into() }
    }

    /// Returns another item that belongs to the same kind.
    pub(crate) fn with_path(&self, path: impl Into<String>) -> Self {
        RustItem { path: path.into(), ..self.clone() }
    }

    /// Returns the field at a JSON path below this item.
    pub(crate) fn at(&self, path: &str) -> Self {
        self.with_path(format!("{}{path}", self.path))
    }

    /// Returns the item with its source location, or else with that of its kind.
    pub(crate) fn with_location(self, location: Option<impl Into<String>>) -> Self {
        RustItem { location: location.map(Into::into).or(self.location), ..self }
    }

    /// Returns the item whose attributes have this key, or a string with this value, as what a diagnostic is about.
    pub(crate) fn about(&self, token: impl Into<String>) -> Self {
        RustItem { token: Some(token.into()), ..self.clone() }
    }

    pub(crate) fn diagnostic(self, message: impl Into<String>) -> Diagnostic {
        let RustItem { path, location, type_location, token } = self;
        Diagnostic { item: path, location, type_location, token, message: message.into() }
    }
}

impl From<String> for RustItem {
    fn from(path: String) -> Self {
        RustItem { path, location: None, type_location: None, token: None }
    }
}

impl From<&str> for RustItem {
    fn from(path: &str) -> Self {
        path.to_owned().into()
    }
}

impl From<&RustItem> for RustItem {
    fn from(item: &RustItem) -> Self {
        item.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: ApiGroup =
        ApiGroup { group: "example.com", version: "v1", module: "my_types::v1", ..ApiGroup::DEFAULT };

    #[test]
    fn diagnostics_start_with_the_location_of_their_field_or_kind() {
        let unknown = ApiKind { rust_name: "Widget", ..ApiKind::DEFAULT };
        let kind = ApiKind { location: Location { file: "src/v1.rs", line: 12 }, ..unknown };
        let text = |item: RustItem| item.diagnostic("wrong").to_string();
        assert_eq!(text(RustItem::from_kind(&GROUP, &unknown)), "`my_types::v1::Widget`: wrong");
        let item = RustItem::from_kind(&GROUP, &kind);
        assert_eq!(text(item.clone()), "src/v1.rs:12: `my_types::v1::Widget`: wrong");
        assert_eq!(
            text(item.at(".spec").with_location(None::<&str>)),
            "src/v1.rs:12: `my_types::v1::Widget.spec`: wrong"
        );
        let field = item.with_path("my_types::v1::Spec::size").with_location(Some("src/v1.rs:20"));
        assert_eq!(text(field), "src/v1.rs:20: `my_types::v1::Spec::size`: wrong");
    }
}
