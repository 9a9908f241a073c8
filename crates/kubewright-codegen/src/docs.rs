//! The API reference: a Markdown page for each version of each group, from the definitions.

mod field;
mod objects;
mod page;
mod rules;
mod section;
mod text;

pub(crate) use page::pages;

#[cfg(test)]
mod tests;
