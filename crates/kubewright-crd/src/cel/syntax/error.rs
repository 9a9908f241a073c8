//! Errors in an expression, formatted with the source line and a caret.

use std::fmt;

/// The maximum number of errors that are shown, as in cel-go. It is also that of syntax errors: one more ends parsing.
pub(super) const MAX_ERRORS: usize = 100;

/// An error that the parser, the checker or a validator reports.
#[derive(Clone, Debug)]
pub(crate) struct CelError {
    /// Offset in characters from the start; `None` for an error of the complete expression.
    pub(crate) offset: Option<usize>,
    /// The message of cel-go.
    pub(crate) message: String,
    /// The name that was probably meant. cel-go has no counterpart, so the API server's text does not contain it.
    pub(crate) suggestion: Option<String>,
}

impl CelError {
    /// Creates an error at an offset.
    pub(crate) fn at(offset: usize, message: impl Into<String>) -> Self {
        CelError { offset: Some(offset), message: message.into(), suggestion: None }
    }

    /// Creates an error of the complete expression.
    pub(crate) fn without_location(message: impl Into<String>) -> Self {
        CelError { offset: None, message: message.into(), suggestion: None }
    }

    /// Adds the name that was probably meant.
    pub(crate) fn with_suggestion(mut self, suggestion: Option<String>) -> Self {
        self.suggestion = suggestion;
        self
    }
}

/// A position in the source: line, from 1, and column, from 0.
type Location = (usize, usize);

/// The source text of an expression.
pub(crate) struct Source<'a>(pub(crate) &'a str);

impl Source<'_> {
    fn location(&self, offset: usize) -> Location {
        let before: Vec<char> = self.0.chars().take(offset).collect();
        let line = before.iter().filter(|&&c| c == '\n').count() + 1;
        let column = before.iter().rev().take_while(|&&c| c != '\n').count();
        (line, column)
    }

    /// Sorts the first errors by location. Errors without a location come first.
    fn located<'e>(&self, errors: &'e [CelError]) -> Vec<(Option<Location>, &'e CelError)> {
        let location = |error: &CelError| error.offset.map(|offset| self.location(offset));
        let mut located: Vec<_> = errors.iter().take(MAX_ERRORS).map(|error| (location(error), error)).collect();
        located.sort_by_key(|(location, _)| *location);
        located
    }

    /// Formats errors as cel-go does: sorted by location, each with its source line and a caret below.
    pub(crate) fn format(&self, errors: &[CelError]) -> String {
        let snippet = |(location, error)| Snippet { source: self, location, error }.to_string();
        self.located(errors).into_iter().map(snippet).chain(truncated(errors)).collect::<Vec<_>>().join("\n")
    }

    /// Formats errors for the author of the rule: as [`format`](Self::format), with suggestions on separate lines.
    pub(crate) fn format_with_suggestions(&self, errors: &[CelError]) -> String {
        let snippet = |(location, error): (Option<Location>, &CelError)| {
            let suggestion = error.suggestion.as_ref();
            let help = suggestion.map(|name| format!("\n = help: did you mean `{name}`?")).unwrap_or_default();
            format!("{}{help}", Snippet { source: self, location, error })
        };
        self.located(errors).into_iter().map(snippet).chain(truncated(errors)).collect::<Vec<_>>().join("\n")
    }
}

/// Returns the line about the errors that are not shown.
fn truncated(errors: &[CelError]) -> Option<String> {
    let count = errors.len().checked_sub(MAX_ERRORS).filter(|count| *count > 0)?;
    Some(format!("{count} more errors were truncated"))
}

struct Snippet<'a> {
    source: &'a Source<'a>,
    location: Option<Location>,
    error: &'a CelError,
}

impl fmt::Display for Snippet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((line, column)) = self.location else {
            return write!(f, "ERROR: <input>:-1:0: {}", self.error.message);
        };
        write!(f, "ERROR: <input>:{line}:{}: {}", column + 1, self.error.message)?;
        let Some(text) = self.source.0.split('\n').nth(line - 1) else { return Ok(()) };
        write!(f, "\n | {}\n | ", text.replace('\t', " "))?;
        // cel-go writes a full-width mark for each character that is not ASCII.
        for c in text.chars().take(column) {
            f.write_str(if c.is_ascii() { "." } else { "．" })?;
        }
        f.write_str(if text.chars().nth(column).is_none_or(|c| c.is_ascii()) { "^" } else { "＾" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_sorted_and_suggestions_follow_their_caret() {
        let source = Source("a.b ==\n  c.d");
        let errors = [
            CelError::at(10, "undefined field 'd'").with_suggestion(Some("e".to_owned())),
            CelError::at(1, "undefined field 'b'"),
        ];
        let server = "ERROR: <input>:1:2: undefined field 'b'\n | a.b ==\n | .^\n\
                      ERROR: <input>:2:4: undefined field 'd'\n |   c.d\n | ...^";
        assert_eq!(source.format(&errors), server);
        let expected = format!("{server}\n = help: did you mean `e`?");
        assert_eq!(source.format_with_suggestions(&errors), expected);
    }
}
