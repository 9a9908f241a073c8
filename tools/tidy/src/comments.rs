//! The prose of a Rust file: its comments, and the text of its string literals.

use proc_macro2::{TokenStream, TokenTree};

/// One piece of prose.
#[derive(Debug, PartialEq)]
pub struct Prose {
    /// The line it starts at, from 1.
    pub line: usize,
    /// Its text, without the comment marker or the quotes.
    pub text: String,
}

/// Returns the comments of a file: documentation and others.
#[must_use]
pub fn comments(source: &str) -> Vec<Prose> {
    let is_comment = |line: &&str| line.trim_start().starts_with("//");
    let lines = source.lines().enumerate().filter(|(_, line)| is_comment(line));
    lines
        .map(|(index, line)| {
            let text = line.trim_start().trim_start_matches('/').trim_start_matches('!').trim();
            Prose { line: index + 1, text: text.to_owned() }
        })
        .collect()
}

/// Returns the string literals of a file that read as messages: those with a space in them.
///
/// # Panics
/// If the file is not Rust.
#[must_use]
pub fn messages(source: &str) -> Vec<Prose> {
    let tokens: TokenStream = source.parse().expect("the file is Rust");
    let mut found = Vec::new();
    collect(tokens, &mut found);
    found.retain(|prose: &Prose| prose.text.trim().contains(' '));
    found
}

fn collect(tokens: TokenStream, found: &mut Vec<Prose>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => collect(group.stream(), found),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                if text.starts_with('"') || text.starts_with("r\"") || text.starts_with("r#") {
                    found.push(Prose { line: literal.span().start().line, text });
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}
