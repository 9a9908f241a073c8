//! The layouts of a project: versions of its files, with the texts of their templates.
//!
//! The files of a layout do not change after its release. A change of them is a new layout:
//! 1. [`Layout::CURRENT`] becomes the next one;
//! 2. the released text of each template that changes is copied to the same path in `templates/former/vN`, where `N` is
//!    the last layout with this text, and `N` is added to the template in this module;
//! 3. sources that no template contains, such as the list of the controllers, depend on the layout of the model.

use std::fmt;

/// A version of the files of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Layout(u32);

impl Layout {
    /// The first layout.
    pub const FIRST: Layout = Layout(1);
    /// The layout since which operators depend on the apply configurations of built-in kinds.
    pub(super) const WITH_APPLY: Layout = Layout(2);
    /// The layout since which operators can have webhooks.
    pub(super) const WITH_WEBHOOKS: Layout = Layout(2);
    /// The layout of new projects.
    pub const CURRENT: Layout = Layout(2);

    /// Returns all layouts, from the first to the current one.
    pub fn all() -> impl Iterator<Item = Layout> {
        (Self::FIRST.0..=Self::CURRENT.0).map(Layout)
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

/// The texts of a template. A layout without a text does not have the file.
#[derive(Clone, Copy)]
pub(super) struct Template {
    /// The text of the current layout.
    current: Option<&'static str>,
    /// Former texts, each with the last layout that has it, the oldest first.
    former: &'static [(Layout, Option<&'static str>)],
}

impl Template {
    /// Returns the text of a layout.
    pub(super) fn text(&self, layout: Layout) -> Option<&'static str> {
        let former = self.former.iter().find(|(last, _)| layout <= *last);
        former.map_or(self.current, |(_, text)| *text)
    }
}

/// Embeds a template, with former texts up to these layouts.
macro_rules! template {
    ($path:literal $(, $last:literal)*) => {
        Template {
            current: Some(include_str!(concat!("../../templates/", $path))),
            former: &[$(
                (Layout($last), Some(include_str!(concat!("../../templates/former/v", $last, "/", $path)))),
            )*],
        }
    };
}

pub(super) const WORKSPACE_MANIFEST: Template = template!("workspace/Cargo.toml.in");
pub(super) const CARGO_CONFIG: Template = template!("workspace/cargo-config.toml.in");
pub(super) const DOCKERIGNORE: Template = template!("workspace/dockerignore.in");
pub(super) const CI: Template = template!("workspace/ci.yaml.in", 1);
pub(super) const GITIGNORE: Template = template!("workspace/gitignore.in", 1);
pub(super) const DOCKERFILE: Template = template!("workspace/Dockerfile.in");
pub(super) const README: Template = template!("workspace/README.md.in", 1);
pub(super) const RUST_TOOLCHAIN: Template = template!("workspace/rust-toolchain.toml.in");
pub(super) const RUSTFMT: Template = template!("workspace/rustfmt.toml.in");
pub(super) const SETTINGS: Template = template!("workspace/project.toml.in");
pub(super) const TYPES_MANIFEST: Template = template!("types/Cargo.toml.in");
pub(super) const TYPES_ROOT: Template = template!("types/lib.rs.in");
pub(super) const CLIENT_MANIFEST: Template = template!("client/Cargo.toml.in");
pub(super) const OPERATOR_MANIFEST: Template = template!("operator/Cargo.toml.in", 1);
pub(super) const OPERATOR_ROOT: Template = template!("operator/lib.rs.in", 1);
pub(super) const OPERATOR_MAIN: Template = template!("operator/main.rs.in", 1);
pub(super) const OPERATOR_OPTIONS: Template = template!("operator/options.rs.in", 1);
pub(super) const OPERATOR_DESCRIPTION: Template = template!("operator/description.rs.in");
pub(super) const XTASK_MANIFEST: Template = template!("xtask/Cargo.toml.in");
pub(super) const XTASK_MAIN: Template = template!("xtask/main.rs.in");
pub(super) const KIND: Template = template!("api/kind.rs.in");
pub(super) const CONTROLLER: Template = template!("api/controller.rs.in");
pub(super) const TEST: Template = template!("api/test.rs.in");
pub(super) const SAMPLE: Template = template!("api/sample.yaml.in");
pub(super) const DEFAULTER: Template = template!("api/defaulter.rs.in");
pub(super) const VALIDATOR: Template = template!("api/validator.rs.in");
pub(super) const CONVERSION: Template = template!("api/conversion.rs.in");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaffold::{
        files::{Files, of_user},
        init::{Dependencies, init},
        model::{Model, Resource, ResourceWebhooks},
        plan::Step,
        project_file,
    };

    /// The digests of the files of all layouts, the first one first.
    const DIGESTS: [u64; 2] = [0x2363_7d73_1dbf_fdad, 0xee87_c3a7_e9f0_8be5];

    /// Returns the files of a project with all templates, except `PROJECT`, which contains the layout.
    fn files(layout: Layout) -> Files {
        let widget = Resource {
            group: "apps".to_owned(),
            version: "v1".to_owned(),
            kind: "Widget".to_owned(),
            plural: "widgets".to_owned(),
            namespaced: true,
            controller: true,
            webhooks: match layout >= Layout::WITH_WEBHOOKS {
                true => ResourceWebhooks { defaulting: true, validation: true, conversion: true },
                false => ResourceWebhooks::default(),
            },
        };
        let person = Resource {
            group: String::new(),
            version: "v1beta1".to_owned(),
            kind: "Person".to_owned(),
            plural: "people".to_owned(),
            namespaced: false,
            controller: false,
            webhooks: ResourceWebhooks::default(),
        };
        let model = Model {
            layout,
            name: "my-operator".to_owned(),
            domain: "example.com".to_owned(),
            namespaced: false,
            resources: vec![widget, person],
        };
        let mut files = of_user(&model);
        for step in init(&model, &Dependencies::Version("1.0.0".to_owned())).unwrap().steps {
            match step {
                Step::Create { path, contents } => files.insert(path, contents),
                step => panic!("{step}"),
            };
        }
        files.remove(project_file::PATH).unwrap();
        files
    }

    /// Returns the hash of files by FNV-1a.
    fn digest(files: &Files) -> u64 {
        let text: String = files.iter().map(|(path, contents)| format!("{path}\n{contents}")).collect();
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }

    #[test]
    fn the_files_of_a_layout_do_not_change() {
        let digests: Vec<u64> = Layout::all().map(|layout| digest(&files(layout))).collect();
        assert_eq!(digests.len(), DIGESTS.len(), "add the digest of the new layout: {digests:#x?}");
        for (layout, (digest, expected)) in Layout::all().zip(digests.into_iter().zip(DIGESTS)) {
            let help = match layout {
                Layout::CURRENT => "If it is released, add a layout. If not, set its digest in this test to",
                _ => "Projects have it: restore its files, and add a layout. The digest of the changed files is",
            };
            assert_eq!(
                digest, expected,
                "the files of layout {layout} have changed. {help} {digest:#x}. The documentation of this module \
                 explains how a layout is added"
            );
        }
    }

    #[test]
    fn a_former_text_applies_up_to_its_layout() {
        let template = Template { current: Some("c"), former: &[(Layout(1), None), (Layout(3), Some("a"))] };
        let texts: Vec<_> = (1..=5).map(|layout| template.text(Layout(layout))).collect();
        assert_eq!(texts, [None, Some("a"), Some("a"), Some("c"), Some("c")]);
    }
}
