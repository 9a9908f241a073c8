//! Finds attributes, fields and types in the text of a Rust file.

use std::ops::Range;

use proc_macro2::{LineColumn, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Fields, File, Ident, Item, LitStr, ext::IdentExt, spanned::Spanned};

/// A source file. One that cannot be parsed has lines only.
pub(super) struct Source {
    pub(super) text: String,
    file: Option<File>,
}

/// A type or field with attributes, or the call of a macro such as `group_version!`.
struct Declaration<'a> {
    /// Its attributes without their documentation, or the arguments of the macro.
    keys: Vec<TokenStream>,
    /// The attributes of the type that has the field.
    keys_of_owner: Vec<TokenStream>,
    first: Span,
    name: &'a Ident,
}

impl<'a> Declaration<'a> {
    fn new(attrs: &'a [Attribute], name: &'a Ident, owner: &'a [Attribute]) -> Self {
        let first = attrs.first().map_or(name.span(), Spanned::span);
        Declaration { keys: keys(attrs), keys_of_owner: keys(owner), first, name }
    }
}

fn keys(attrs: &[Attribute]) -> Vec<TokenStream> {
    attrs.iter().filter(|attr| !attr.path().is_ident("doc")).map(|attr| attr.meta.to_token_stream()).collect()
}

impl Source {
    pub(super) fn new(text: &str) -> Self {
        // The columns of spans do not count a byte order mark.
        let text = text.trim_start_matches('\u{feff}').to_owned();
        Source { file: syn::parse_file(&text).ok(), text }
    }

    /// Returns the bytes of a key with its value, or of a string literal with this value, in the attributes of the
    /// field or type that is declared in a line, or else of the type that has the field.
    pub(super) fn token(&self, line: usize, token: &str) -> Option<Range<usize>> {
        let Declaration { keys, keys_of_owner, .. } = self.declaration(line)?;
        self.bytes(keys.into_iter().chain(keys_of_owner), token)
    }

    /// Returns the same in the attributes of the type that has the field in this line.
    pub(super) fn token_of_owner(&self, line: usize, token: &str) -> Option<Range<usize>> {
        self.bytes(self.declaration(line)?.keys_of_owner, token)
    }

    fn bytes(&self, keys: impl IntoIterator<Item = TokenStream>, token: &str) -> Option<Range<usize>> {
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
                keys_of_owner: Vec::new(),
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
            TokenTree::Ident(ident) if ident.unraw() == token => {
                let is_comma = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ',');
                let last = tokens[i..].iter().take_while(|tree| !is_comma(tree)).last();
                last.map(|last| (ident.span(), last.span()))
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
