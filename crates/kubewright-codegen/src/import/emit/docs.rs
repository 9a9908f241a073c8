//! Descriptions as doc comments that result in the same description, without doc tests.

use proc_macro2::TokenStream;
use quote::quote;

use super::attributes::text;

/// The attributes for a description.
#[derive(Default)]
pub(super) struct DocAttributes {
    /// Doc attributes, which can precede the derives.
    pub(super) docs: Vec<TokenStream>,
    /// Helper attributes, which must follow the derives.
    pub(super) helpers: Vec<TokenStream>,
}

/// Returns the attributes for a description. Code in it is not Rust to be tested, so its lines are hidden from doc tests.
pub(super) fn attributes(description: &str) -> DocAttributes {
    if !is_preserved(description) {
        let text = text(description);
        return DocAttributes { docs: Vec::new(), helpers: vec![quote!(#[schemars(description = #text)])] };
    }
    let mut fence = Fence::default();
    let docs = description.split('\n').map(|line| of_line(line, fence.is_code(line))).collect();
    DocAttributes { docs, helpers: Vec::new() }
}

fn of_line(line: &str, is_code: bool) -> TokenStream {
    let text = if line.is_empty() { String::new() } else { format!(" {line}") };
    match is_code {
        true => quote!(#[cfg_attr(not(doctest), doc = #text)]),
        false => quote!(#[doc = #text]),
    }
}

/// Whether a doc comment results in the same description: schemars trims it, and uses a heading as the title.
fn is_preserved(description: &str) -> bool {
    let is_trimmed = |line: &str| line.trim_end() == line;
    description.trim() == description
        && !description.starts_with('#')
        && !description.contains('\r')
        && description.split('\n').all(is_trimmed)
        && !description.chars().any(|c| c.is_control() && c != '\n' && c != '\t')
}

/// Finds code in Markdown: fenced blocks and indented lines.
#[derive(Default)]
struct Fence {
    /// The character of the open fence, and whether rustdoc would test its contents.
    open: Option<(char, bool)>,
}

impl Fence {
    /// Whether rustdoc would test the line, or the block that it opens or closes.
    fn is_code(&mut self, line: &str) -> bool {
        let content = line.trim_start();
        let kind = ['`', '~'].into_iter().find(|c| content.starts_with(&String::from(*c).repeat(3)));
        match (self.open, kind) {
            (None, Some(kind)) => {
                let language = content.trim_start_matches(kind).trim();
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
                !content.is_empty() && (line.starts_with("    ") || line.starts_with(" \t") || line.contains('\t'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(description: &str) -> Vec<String> {
        attributes(description).docs.iter().map(|attribute| attribute.to_string().replace(' ', "")).collect()
    }

    #[test]
    fn code_is_hidden_from_doc_tests() {
        let lines = written("See:\n\n```\nlet x\n```\n    code\nend");
        let is_hidden: Vec<bool> = lines.iter().map(|line| line.contains("doctest")).collect();
        assert_eq!(is_hidden, [false, false, true, true, true, true, false]);
        assert!(written("```yaml\na: b\n```").iter().all(|line| !line.contains("doctest")));
    }

    #[test]
    fn descriptions_that_doc_comments_change_are_schemars_attributes() {
        for description in ["# Title", " padded", "ends \nplain", "a\r\nb"] {
            let DocAttributes { docs, helpers } = attributes(description);
            assert!(docs.is_empty() && helpers[0].to_string().contains("description"), "{description:?}");
        }
    }
}
