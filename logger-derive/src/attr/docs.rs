//! The attributes that document a type: its doc comment, and `#[deprecated]`.

use quote::ToTokens;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, MetaNameValue, Token, parse_quote, punctuated::Punctuated};

use super::{key, named};

/// Returns the doc comment as an expression: its lines without the space after `///` and without leading and trailing
/// blank lines. A value that is not a literal (`#[doc = include_str!(..)]`) is passed through.
pub(crate) fn docs(attrs: &[Attribute]) -> Expr {
    let blocks: Vec<_> = named("doc", attrs)
        .filter_map(|attr| match &attr.meta {
            Meta::NameValue(doc) => Some(&doc.value),
            _ => None,
        })
        .collect();
    let literals: Option<Vec<_>> = blocks.iter().map(|block| literal_doc(block)).collect();
    match literals {
        Some(lines) => {
            let text = lines.concat().join("\n");
            let text = text.trim_matches('\n');
            parse_quote!(#text)
        }
        None => {
            let mut blocks = blocks.iter().map(|block| match literal_doc(block) {
                Some(lines) => lines.join("\n").into_token_stream(),
                None => block.to_token_stream(),
            });
            let first = blocks.next();
            parse_quote!(::core::concat!(#first #(, "\n", #blocks)*))
        }
    }
}

/// Returns the doc comment of what schemars has no `description` for; `None` without a doc comment.
pub(crate) fn description(attrs: &[Attribute]) -> Option<Expr> {
    let has_docs = named("doc", attrs).any(|attr| matches!(attr.meta, Meta::NameValue(_)));
    (has_docs && key("schemars", "description", attrs).is_none()).then(|| docs(attrs))
}

/// Returns the lines of a doc comment, without the stars of a block comment.
fn literal_doc(block: &Expr) -> Option<Vec<String>> {
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = block else { return None };
    let text = text.value();
    let starred = |line: &str| line.trim_start().starts_with('*');
    let has_stars = text.contains('\n') && text.lines().skip(1).filter(|line| !line.trim().is_empty()).all(starred);
    let line = |line: &str| {
        let line = if has_stars && starred(line) { &line.trim_start()[1..] } else { line };
        line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()
    };
    Some(text.split('\n').map(line).collect())
}

/// Returns the note of Rust's own `#[deprecated]`, empty if it has none. rustc reports errors in it.
pub(crate) fn deprecation_note(attrs: &[Attribute]) -> Option<String> {
    let text = |value: &Expr| match value {
        Expr::Lit(ExprLit { lit: Lit::Str(note), .. }) => Some(note.value()),
        _ => None,
    };
    let note = named("deprecated", attrs).next().map(|attr| match &attr.meta {
        Meta::Path(_) => None,
        Meta::NameValue(note) => text(&note.value),
        Meta::List(_) => attr
            .parse_args_with(Punctuated::<MetaNameValue, Token![,]>::parse_terminated)
            .ok()
            .and_then(|keys| text(&keys.iter().find(|key| key.path.is_ident("note"))?.value)),
    })?;
    Some(note.unwrap_or_default())
}
