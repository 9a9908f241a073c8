//! Draws diagnostics with the source that they are about, as rustc does.
//!
//! The derives declare the line of each field and kind. The attribute is found in the text of the file, so that it
//! costs nothing while types compile.

mod search;

use std::{collections::BTreeMap, ops::Range};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::diagnostic::Diagnostic;
use search::Source;

/// Draws diagnostics. Each source file is read and parsed once.
pub(crate) struct Drawing<'a> {
    renderer: &'a Renderer,
    /// Returns the text of a file.
    read: &'a dyn Fn(&str) -> Option<String>,
    sources: BTreeMap<String, Option<Source>>,
}

impl<'a> Drawing<'a> {
    pub(crate) fn new(renderer: &'a Renderer, read: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Drawing { renderer, read, sources: BTreeMap::new() }
    }

    /// Draws an error or a warning with the lines of its attribute, field or type. A diagnostic without a readable Rust
    /// file is one line.
    pub(crate) fn draw(&mut self, level: &Level<'_>, diagnostic: &Diagnostic) -> String {
        let Diagnostic { item, location, message, .. } = diagnostic;
        let (first, details) = message.split_once('\n').map_or((message.as_str(), None), |(a, b)| (a, Some(b)));
        let (title, renderer) = (format!("`{item}`: {first}"), self.renderer);
        let Some((path, text, range)) = self.place(diagnostic) else {
            let title = location.as_ref().map_or_else(|| title.clone(), |location| format!("{location}: {title}"));
            let details = details.map_or_else(String::new, |details| format!("\n{details}"));
            let line = renderer.render(&[Group::with_title(level.clone().primary_title(title))]);
            return format!("{line}{details}");
        };
        let snippet = Snippet::source(text).path(path).annotation(AnnotationKind::Primary.span(range));
        let group = level.clone().primary_title(title).element(snippet);
        renderer.render(&[group.elements(details.map(|details| Level::NOTE.message(unindented(details))))])
    }

    /// Returns the path, the text and the bytes of what a diagnostic is about: its token in the attributes of the field
    /// or kind, or of the type of the field, or else the name of the field or kind, or its line.
    fn place<'b>(&'b mut self, diagnostic: &'b Diagnostic) -> Option<(&'b str, &'b str, Range<usize>)> {
        let Diagnostic { location, type_location, token, .. } = diagnostic;
        let [declared, of_type] = [location, type_location].map(|location| location.as_deref().and_then(file_and_line));
        for (path, _) in [declared, of_type].into_iter().flatten() {
            if !self.sources.contains_key(path) {
                self.sources.insert(path.to_owned(), (self.read)(path).map(|text| Source::new(&text)));
            }
        }
        let source = |path| self.sources.get(path)?.as_ref();
        let token = token.as_deref();
        let in_declaration = || {
            let (path, line) = declared?;
            Some((path, source(path)?.token(line, token?)?))
        };
        let in_type = || {
            let (path, line) = of_type?;
            Some((path, source(path)?.token_of_owner(line, token?)?))
        };
        let name = || {
            let (path, line) = declared?;
            Some((path, source(path)?.name(line)?))
        };
        let (path, range) = in_declaration().or_else(in_type).or_else(name)?;
        Some((path, &source(path)?.text, range))
    }
}

/// Returns the path of a Rust file and the line in it. Other files are not drawn: their text can be one that is not on
/// the disk.
fn file_and_line(location: &str) -> Option<(&str, usize)> {
    let (path, line) = location.rsplit_once(':')?;
    Some((path, line.parse().ok()?)).filter(|(path, _)| path.ends_with(".rs"))
}

/// Returns lines without the indentation that they have in the text of a diagnostic.
fn unindented(text: &str) -> String {
    text.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPES: &str = r#"
//! Types.

/// A widget, with a `default` in its text.
#[derive(Clone, Debug, ApiObject)]
#[k8s(printcolumns = [integer("Size", ".spec.sise")], storage)]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

mod inner {
    #[schema(validation(rule = "self.a < self.b"))]
    pub struct Range {
        #[serde(rename = "x", default = "größe")] #[schema(min = 1, max = 5)] pub a: i32,
        /// Not the `pattern`.
        #[schema(r#type = "a", doc = "b")]
        pub b: i32,
    }
}
"#;

    fn diagnostic(line: usize, token: &str) -> Diagnostic {
        Diagnostic {
            item: "v1::Widget".to_owned(),
            location: Some(format!("src/v1.rs:{line}")),
            type_location: None,
            token: (!token.is_empty()).then(|| token.to_owned()),
            message: "wrong".to_owned(),
        }
    }

    fn text(diagnostic: &Diagnostic) -> String {
        let read = |path: &str| (path == "src/v1.rs").then(|| TYPES.to_owned());
        Drawing::new(&Renderer::plain(), &read).draw(&Level::ERROR, diagnostic)
    }

    /// Returns the line and the column of a drawing, and the text that it underlines.
    fn underlined(diagnostic: &Diagnostic) -> (String, String) {
        let text = text(diagnostic);
        let lines: Vec<&str> = text.lines().collect();
        let at = lines.iter().position(|line| line.contains('^')).unwrap_or_else(|| panic!("{text}"));
        let range = lines[at].find('^').unwrap()..=lines[at].rfind('^').unwrap();
        let chars: Vec<char> = lines[at - 1].chars().collect();
        (lines[1].trim().to_owned(), chars[range].iter().collect())
    }

    #[test]
    fn the_attribute_is_underlined() {
        let cases = [
            (5, ".spec.sise", "--> src/v1.rs:6:39", "\".spec.sise\""),
            (5, "storage", "--> src/v1.rs:6:55", "storage"),
            (15, "default", "--> src/v1.rs:15:31", "default = \"größe\""),
            (15, "max", "--> src/v1.rs:15:69", "max = 5"),
            (15, "min", "--> src/v1.rs:15:60", "min = 1"),
            (18, "type", "--> src/v1.rs:17:18", "r#type = \"a\""),
        ];
        for (line, token, location, expected) in cases {
            assert_eq!(underlined(&diagnostic(line, token)), (location.to_owned(), expected.to_owned()));
        }
    }

    #[test]
    fn a_rule_of_the_type_of_a_field_is_underlined() {
        let of_type = |token| Diagnostic { type_location: Some("src/v1.rs:15".to_owned()), ..diagnostic(9, token) };
        let expected = ("--> src/v1.rs:13:32".to_owned(), "\"self.a < self.b\"".to_owned());
        assert_eq!(underlined(&of_type("self.a < self.b")), expected);
        assert_eq!(underlined(&of_type("max")).1, "spec", "the key is that of a field of the type");
    }

    #[test]
    fn a_name_is_underlined_without_an_attribute() {
        for (line, name) in [(5, "Widget"), (9, "spec"), (15, "a")] {
            assert_eq!(underlined(&diagnostic(line, "")).1, name);
            assert_eq!(underlined(&diagnostic(line, "unknown")).1, name, "an attribute that is not there");
        }
        assert_eq!(underlined(&diagnostic(2, "")).1, "//! Types.", "no item is in this line");
    }

    #[test]
    fn sources_of_other_systems_are_read() {
        for text in [format!("\u{feff}{}", TYPES.trim_start()), TYPES.trim_start().replace('\n', "\r\n")] {
            let read = |_: &str| Some(text.clone());
            let drawn = Drawing::new(&Renderer::plain(), &read).draw(&Level::ERROR, &diagnostic(4, "storage"));
            assert!(drawn.contains("--> src/v1.rs:5:55"), "{drawn}");
        }
    }

    #[test]
    fn text_without_a_source_is_one_line() {
        let unknown = Diagnostic { location: Some("other.rs:3".to_owned()), ..diagnostic(3, "") };
        assert_eq!(text(&unknown), "error: other.rs:3: `v1::Widget`: wrong");
        assert_eq!(text(&Diagnostic { location: None, ..unknown }), "error: `v1::Widget`: wrong");
        assert_eq!(text(&diagnostic(99, "")), "error: src/v1.rs:99: `v1::Widget`: wrong", "the file has fewer lines");
        let yaml = Diagnostic { location: Some("a.yaml:1".to_owned()), ..diagnostic(1, "") };
        assert_eq!(text(&yaml), "error: a.yaml:1: `v1::Widget`: wrong");
    }

    #[test]
    fn further_lines_of_a_message_follow_the_source() {
        let report = Diagnostic { message: "wrong:\n  1 + \n  ....^".to_owned(), ..diagnostic(9, "") };
        let expected = "error: `v1::Widget`: wrong:\n --> src/v1.rs:9:9\n  |\n9 |     pub spec: WidgetSpec,\n  |         ^^^^\n  \
                        |\n  = note: 1 + \n          ....^";
        assert_eq!(text(&report), expected);
    }
}
