//! Checks of the sources, the pages and the history of this repository, one module per rule.

mod checkouts;
mod history;
mod imports;
mod layers;
mod links;
mod names;
mod wording;
