//! Descriptions as doc comments that read the same when a schema is made of them, and that hold no tests.

use proc_macro2::TokenStream;
use quote::quote;

/// The attributes for a description. Code in it is no Rust to be tested: its lines are there but for tests of docs.
pub(super) fn attributes(description: &str) -> Vec<TokenStream> {
    if !survives(description) {
        let text = super::facts::text(description);
        return vec![quote!(#[schemars(description = #text)])];
    }
    let mut fence = Fence::default();
    description.split('\n').map(|line| of_line(line, fence.is_code(line))).collect()
}

fn of_line(line: &str, is_code: bool) -> TokenStream {
    let text = if line.is_empty() { String::new() } else { format!(" {line}") };
    match is_code {
        true => quote!(#[cfg_attr(not(doctest), doc = #text)]),
        false => quote!(#[doc = #text]),
    }
}

/// Whether it is the same as a doc comment: schemars trims those, and takes a heading for the title.
fn survives(description: &str) -> bool {
    let ends_plain = |line: &str| line.trim_end() == line;
    description.trim() == description
        && !description.starts_with('#')
        && !description.contains('\r')
        && description.split('\n').all(ends_plain)
        && !description.chars().any(|c| c.is_control() && c != '\n' && c != '\t')
}

/// Where code stands in Markdown: between fences, and where lines are indented.
#[derive(Default)]
struct Fence {
    /// How the fence that is open began, and whether what is in it could be taken for Rust.
    open: Option<(char, bool)>,
}

impl Fence {
    /// Whether the line, or the fence it is, would be a test.
    fn is_code(&mut self, line: &str) -> bool {
        let mark = line.trim_start();
        let kind = ['`', '~'].into_iter().find(|c| mark.starts_with(&String::from(*c).repeat(3)));
        match (self.open, kind) {
            (None, Some(kind)) => {
                let language = mark.trim_start_matches(kind).trim();
                let is_rust = language.is_empty() || language.contains("rust") || language.contains(',');
                self.open = Some((kind, is_rust));
                is_rust
            }
            (Some((open, is_rust)), kind) => {
                if kind == Some(open) {
                    self.open = None;
                }
                is_rust
            }
            (None, None) => {
                !mark.is_empty() && (line.starts_with("    ") || line.starts_with(" \t") || line.contains('\t'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(description: &str) -> Vec<String> {
        attributes(description).iter().map(|attribute| attribute.to_string().replace(' ', "")).collect()
    }

    #[test]
    fn code_is_there_but_for_tests_of_docs() {
        let lines = written("See:\n\n```\nlet x\n```\n    code\nend");
        let is_hidden: Vec<bool> = lines.iter().map(|line| line.contains("doctest")).collect();
        assert_eq!(is_hidden, [false, false, true, true, true, true, false]);
        assert!(written("```yaml\na: b\n```").iter().all(|line| !line.contains("doctest")));
    }

    #[test]
    fn what_no_doc_comment_keeps_is_said_to_schemars() {
        for description in ["# Title", " padded", "ends \nplain", "a\r\nb"] {
            assert!(written(description)[0].starts_with("#[schemars(description="), "{description:?}");
        }
    }
}
