//! Finds attributes, fields and types in the text of a Rust file.

use std::ops::Range;

use proc_macro2::{LineColumn, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Fields, File, Ident, Item, LitStr, spanned::Spanned};

/// A source file. One that cannot be parsed has lines only.
pub(super) struct Source<'a> {
    text: &'a str,
    file: Option<File>,
}

/// A type or field with attributes, or the call of a macro such as `group_version!`.
struct Declaration<'a> {
    /// Where keys are: the attributes of the type or field, then those of the type of the field.
    keys: Vec<TokenStream>,
    first: Span,
    name: &'a Ident,
}

impl<'a> Declaration<'a> {
    fn new(attrs: &'a [Attribute], name: &'a Ident, of_type: &'a [Attribute]) -> Self {
        let keys = attrs.iter().chain(of_type).map(|attr| attr.meta.to_token_stream()).collect();
        Declaration { keys, first: attrs.first().map_or(name.span(), Spanned::span), name }
    }
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Source { text, file: syn::parse_file(text).ok() }
    }

    /// Returns the bytes of a key with its value, or of a string literal with this value, in the attributes of the
    /// field or type that is declared in a line, or of the type of the field.
    pub(super) fn token(&self, line: usize, token: &str) -> Option<Range<usize>> {
        let keys = self.declaration(line)?.keys;
        let (start, end) = keys.into_iter().find_map(|keys| find(keys, token))?;
        Some(self.offset(start.start())?..self.offset(end.end())?)
    }

    /// Returns the bytes of the name of the field or type that is declared in a line, or of the text of the line.
    pub(super) fn name(&self, line: usize) -> Option<Range<usize>> {
        if let Some(declaration) = self.declaration(line) {
            let span = declaration.name.span();
            return Some(self.offset(span.start())?..self.offset(span.end())?);
        }
        let start = self.offset(LineColumn { line, column: 0 })?;
        let text = self.text[start..].lines().next()?;
        let indentation = text.len() - text.trim_start().len();
        Some(start + indentation..start + text.trim_end().len().max(indentation))
    }

    /// Returns the field, type or macro whose name is in a line, or the type with attributes in that line.
    fn declaration(&self, line: usize) -> Option<Declaration<'_>> {
        let declarations = declarations(&self.file.as_ref()?.items);
        let last = |declaration: &Declaration<'_>| declaration.name.span().start().line;
        let has_line =
            |declaration: &Declaration<'_>| (declaration.first.start().line..=last(declaration)).contains(&line);
        declarations.into_iter().filter(has_line).min_by_key(|declaration| last(declaration) != line)
    }

    /// Returns the byte at a line and column. There is none after the last line.
    fn offset(&self, at: LineColumn) -> Option<usize> {
        let mut lines = self.text.split_inclusive('\n');
        let before: usize = lines.by_ref().take(at.line.checked_sub(1)?).map(str::len).sum();
        let line = lines.next()?;
        Some(before + line.char_indices().nth(at.column).map_or(line.len(), |(byte, _)| byte))
    }
}

/// Returns the types of a module and of the modules in it, each followed by its fields, and the calls of macros.
fn declarations(items: &[Item]) -> Vec<Declaration<'_>> {
    let mut found = Vec::new();
    for item in items {
        match item {
            Item::Struct(item) => add(&mut found, &item.attrs, &item.ident, [&item.fields]),
            Item::Enum(item) => {
                add(&mut found, &item.attrs, &item.ident, item.variants.iter().map(|case| &case.fields))
            }
            Item::Macro(item) => found.extend(item.mac.path.segments.last().map(|segment| Declaration {
                keys: vec![item.mac.tokens.clone()],
                first: item.span(),
                name: &segment.ident,
            })),
            Item::Mod(item) => found.extend(item.content.iter().flat_map(|(_, items)| declarations(items))),
            _ => {}
        }
    }
    found
}

fn add<'a>(
    found: &mut Vec<Declaration<'a>>,
    attrs: &'a [Attribute],
    name: &'a Ident,
    fields: impl IntoIterator<Item = &'a Fields>,
) {
    found.push(Declaration::new(attrs, name, &[]));
    let fields = fields.into_iter().flatten();
    found.extend(fields.filter_map(|field| Some(Declaration::new(&field.attrs, field.ident.as_ref()?, attrs))));
}

/// Returns the first and the last token of `key`, `key = value` or `key(..)`, or a literal, in the tokens of an
/// attribute.
fn find(tokens: TokenStream, token: &str) -> Option<(Span, Span)> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (i, tree) in tokens.iter().enumerate() {
        let found = match tree {
            TokenTree::Ident(ident) if *ident == token => {
                let is_end = |tree: &&TokenTree| !matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ',');
                tokens[i..].iter().take_while(is_end).last().map(|last| (ident.span(), last.span()))
            }
            TokenTree::Literal(literal) => {
                let text = syn::parse_str::<LitStr>(&literal.to_string()).map(|text| text.value());
                text.is_ok_and(|text| text.trim() == token.trim()).then(|| (literal.span(), literal.span()))
            }
            TokenTree::Group(group) => find(group.stream(), token),
            TokenTree::Ident(_) | TokenTree::Punct(_) => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}
