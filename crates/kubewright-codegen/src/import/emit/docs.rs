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

/// Returns the attributes for a description. It is text of others, so that no line of it becomes a doc test.
pub(super) fn attributes(description: &str) -> DocAttributes {
    if !is_preserved(description) {
        let text = text(description);
        return DocAttributes { docs: Vec::new(), helpers: vec![quote!(#[schemars(description = #text)])] };
    }
    let has_fence = has_fence(description);
    let docs = description.split('\n').map(|line| of_line(line, has_fence || is_indented(line))).collect();
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

/// Whether a text can contain a fenced code block, at any depth of quotes and lists.
fn has_fence(text: &str) -> bool {
    text.contains("```") || text.contains("~~~")
}

/// Whether a line without fences can be an indented code block: four columns of whitespace precede its text, perhaps after
/// the markers of quotes and lists.
fn is_indented(line: &str) -> bool {
    let is_marker = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '\t' | '>' | '-' | '*' | '+' | '.' | ')');
    let end = line.find(|c| !is_marker(c)).unwrap_or(line.len());
    let markers = &line[..end];
    markers.contains("    ") || markers.contains('\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(description: &str) -> Vec<String> {
        attributes(description).docs.iter().map(|attribute| attribute.to_string().replace(' ', "")).collect()
    }

    #[test]
    fn what_can_be_code_is_hidden_from_doc_tests() {
        let is_hidden = |line: &String| line.contains("doctest");
        let indented = written("See:\n\n    code\n>     code\n- a\n\n1.     code\nend\n>\tcode");
        let hidden: Vec<bool> = indented.iter().map(is_hidden).collect();
        assert_eq!(hidden, [false, false, true, true, false, false, true, false, true]);
        for fenced in [
            "See:\n\n```\nlet x\n```\nend",
            "```yaml\na: b\n```",
            "> ```should_panic\n> panic!()\n> ```",
            "- ~~~test_harness\n  x\n  ~~~",
        ] {
            assert!(written(fenced).iter().all(is_hidden), "{fenced}");
        }
    }

    /// Returns the number of doc tests that rustdoc runs in structs with these attributes.
    fn doc_tests(attributes: impl Iterator<Item = String>) -> usize {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lib.rs");
        let structs = attributes.enumerate().map(|(index, attributes)| format!("{attributes}\npub struct S{index};\n"));
        std::fs::write(&path, structs.collect::<String>()).unwrap();
        let mut rustdoc = std::process::Command::new("rustdoc");
        let output = rustdoc.args(["--edition", "2024", "--test"]).arg(path).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let running =
            printed.lines().filter_map(|line| line.strip_prefix("running ")?.split(' ').next()?.parse::<usize>().ok());
        running.sum()
    }

    #[test]
    fn rustdoc_runs_no_test_of_a_description() {
        let descriptions = [
            "```\ncode()\n```",
            "> ```\n> code()\n> ```",
            "- ```should_panic\n  panic!()\n  ```",
            "```edition2021\ncode()\n```",
            "````text\n```\n````\n\n```standalone_crate\ncode()\n```",
            "~~~test_harness\ncode()\n~~~",
            "See:\n\n    code()",
            "1. a\n\n        code()",
            ">     code()",
            "-     code()",
            ">\t\tcode()",
        ];
        let written = |description: &&str| attributes(description).docs.iter().map(ToString::to_string).collect();
        assert_eq!(doc_tests(descriptions.iter().map(written)), 0);
        let plain = |description: &&str| format!("#[doc = {description:?}]");
        assert_eq!(
            doc_tests(descriptions.iter().map(plain)),
            descriptions.len(),
            "each is a test without the attributes"
        );
    }

    #[test]
    fn descriptions_that_doc_comments_change_are_schemars_attributes() {
        for description in ["# Title", " padded", "ends \nplain", "a\r\nb"] {
            let DocAttributes { docs, helpers } = attributes(description);
            assert!(docs.is_empty() && helpers[0].to_string().contains("description"), "{description:?}");
        }
    }
}
