//! The attribute references that the rustdoc of each derive and macro includes, from the same data as `explain`.

use std::collections::BTreeMap;

use kubewright_core::grammar::Section;

use super::{find::SECTIONS, page};
use crate::{layout::Layout, output::File};

/// Returns one Markdown file for each derive and macro, in the crate that declares them.
pub(crate) fn references(layout: &Layout) -> Vec<File> {
    let mut references: BTreeMap<&str, Vec<&Section>> = BTreeMap::new();
    for section in SECTIONS {
        for name in section.accepted_by {
            references.entry(name).or_default().push(section);
        }
    }
    references.into_iter().map(|(name, sections)| reference(layout, name, &sections)).collect()
}

fn reference(layout: &Layout, name: &str, sections: &[&Section]) -> File {
    let mut text = "# Attributes\n".to_owned();
    text.extend(sections.iter().map(|section| page::place(section).replacen("### ", "## ", 1)));
    File::markdown(format!("logger-derive/docs/{}.md", crate::names::snake_case(name)), layout, &text)
}
