//! Draws diagnostics with the source that they are about, as rustc does.
//!
//! The derives declare the line of each field and kind. The attribute is found in the text of the file, so that it
//! costs nothing while types compile.

mod search;

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::diagnostic::Diagnostic;
use search::Source;

/// Draws an error or a warning with the lines of its attribute, field or type. `read` returns the text of a file. A
/// diagnostic without a readable file is one line.
pub(crate) fn draw(
    level: &Level<'_>,
    diagnostic: &Diagnostic,
    renderer: &Renderer,
    read: &dyn Fn(&str) -> Option<String>,
) -> String {
    let Diagnostic { item, message, .. } = diagnostic;
    let (title, details) = message.split_once('\n').unwrap_or((message, ""));
    let title = format!("`{item}`: {title}");
    let Some((path, text, range)) = place(diagnostic, read) else {
        let title =
            diagnostic.location.as_ref().map_or_else(|| title.clone(), |location| format!("{location}: {title}"));
        let details = if details.is_empty() { String::new() } else { format!("\n{details}") };
        return format!("{}{details}", renderer.render(&[Group::with_title(level.clone().primary_title(title))]));
    };
    let snippet = Snippet::source(text).path(path).annotation(AnnotationKind::Primary.span(range));
    let group = level.clone().primary_title(title).element(snippet);
    let details = (!details.is_empty()).then(|| Level::NOTE.message(unindented(details)));
    renderer.render(&[group.elements(details)])
}

/// Returns the path, the text and the bytes of what a diagnostic is about: its token in the attributes of the field or
/// kind, or of the type of the field, or else the name of the field or kind, or its line.
fn place(diagnostic: &Diagnostic, read: &dyn Fn(&str) -> Option<String>) -> Option<(String, String, Range<usize>)> {
    let token = diagnostic.token.as_deref();
    let locations = [&diagnostic.location, &diagnostic.type_location];
    let files: Vec<(&str, usize, String)> = locations
        .into_iter()
        .flatten()
        .filter_map(|location| {
            let (path, line) = location.rsplit_once(':')?;
            Some((path, line.parse().ok()?, read(path)?))
        })
        .collect();
    let sources: Vec<Source<'_>> = files.iter().map(|(_, _, text)| Source::new(text)).collect();
    let found = |(source, (path, line, text)): (&Source<'_>, &(&str, usize, String))| {
        let range = source.token(*line, token?)?;
        Some(((*path).to_owned(), text.clone(), range))
    };
    let of_token = sources.iter().zip(&files).find_map(found);
    of_token.or_else(|| {
        let ((path, line, text), source) = (files.first()?, sources.first()?);
        Some(((*path).to_owned(), text.clone(), source.name(*line)?))
    })
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
        draw(&Level::ERROR, diagnostic, &Renderer::plain(), &read)
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
        ];
        for (line, token, location, expected) in cases {
            assert_eq!(underlined(&diagnostic(line, token)), (location.to_owned(), expected.to_owned()));
        }
    }

    #[test]
    fn a_rule_of_the_type_of_a_field_is_underlined() {
        let of_type = Diagnostic { type_location: Some("src/v1.rs:16".to_owned()), ..diagnostic(9, "self.a < self.b") };
        let expected = ("--> src/v1.rs:13:32".to_owned(), "\"self.a < self.b\"".to_owned());
        assert_eq!(underlined(&of_type), expected);
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
    fn text_without_a_source_is_one_line() {
        let unknown = Diagnostic { location: Some("other.rs:3".to_owned()), ..diagnostic(3, "") };
        assert_eq!(text(&unknown), "error: other.rs:3: `v1::Widget`: wrong");
        assert_eq!(text(&Diagnostic { location: None, ..unknown }), "error: `v1::Widget`: wrong");
        assert_eq!(text(&diagnostic(99, "")), "error: src/v1.rs:99: `v1::Widget`: wrong", "the file has fewer lines");
    }

    #[test]
    fn further_lines_of_a_message_follow_the_source() {
        let report = Diagnostic { message: "wrong:\n  1 + \n  ....^".to_owned(), ..diagnostic(9, "") };
        let expected = "error: `v1::Widget`: wrong:\n --> src/v1.rs:9:9\n  |\n9 |     pub spec: WidgetSpec,\n  |         ^^^^\n  \
                        |\n  = note: 1 + \n          ....^";
        assert_eq!(text(&report), expected);
    }
}
