//! The generated client and its apply configurations, which are compiled as the module `client`.

use kubewright_codegen::{Layout, generate, reference};
use kubewright_core::meta::ApiGroup;
use serde_json::{json, to_value};

use crate::{
    client::applyconfigurations::{r04_v1, r05_v1, r32_v1, r33_v1},
    types::*,
    update,
};

/// The types whose client is generated.
const GROUPS: [ApiGroup; 7] = [
    r04::API_GROUP,
    r05::API_GROUP,
    r30::API_GROUP,
    r31::API_GROUP,
    r32::API_GROUP,
    r33::API_GROUP,
    serde_keys::API_GROUP,
];

fn layout() -> Layout {
    let layout = Layout::for_types_crate("reports");
    Layout {
        client_crate: "crate::client".to_owned(),
        client_dir: "client".to_owned(),
        client_module: "client".to_owned(),
        ..layout
    }
}

/// `UPDATE_REPORTS=1` updates the client.
#[test]
fn the_client_is_up_to_date() {
    let files = generate(&GROUPS, &layout()).unwrap_or_else(|errors| panic!("{errors}"));
    for file in files.iter().filter(|file| file.path.starts_with("client/")) {
        update(&file.path, &file.contents);
    }
}

#[test]
fn r04_recursive_apply_configuration() {
    let filter = r04_v1::FilterApply::new().with_not(r04_v1::FilterApply::new().with_term("a"));
    assert_eq!(to_value(filter).unwrap(), json!({"not": {"term": "a"}}));
}

#[test]
fn r05_flattened_enum_in_an_apply_configuration() {
    let source = r05::Source::Git(r05::Git { branch: "main".to_owned() });
    let spec = r05_v1::MirrorSpecApply::new().with_interval(5).with_source(source);
    assert_eq!(to_value(spec).unwrap(), json!({"interval": 5, "git": {"branch": "main"}}));
    assert_eq!(to_value(r05_v1::MirrorSpecApply::new().with_interval(5)).unwrap(), json!({"interval": 5}));
}

#[test]
fn r32_types_of_one_name_in_two_modules() {
    let spec = r32_v1::RelaySpecApply::new()
        .with_source(r32_v1::ConfigApply::new().with_url("a"))
        .with_target(r32_v1::TargetConfigApply::new().with_path("b"))
        .with_from_mode(r32::source::Mode::Pull)
        .with_to_mode(r32::target::Mode::Append);
    let expected = json!({"source": {"url": "a"}, "target": {"path": "b"}, "from_mode": "Pull", "to_mode": "Append"});
    assert_eq!(to_value(spec).unwrap(), expected);
}

#[test]
fn r33_flattened_struct_option_and_map() {
    let spec =
        r33_v1::MountSpecApply::new().with_limits(r33_v1::LimitsApply::new().with_size(1)).with_more([("a", json!(2))]);
    assert_eq!(to_value(spec).unwrap(), json!({"size": 1, "a": 2}));
}

#[test]
fn r34_cells_of_tables_in_the_reference() {
    let files = reference(&[r34::API_GROUP], &layout()).unwrap_or_else(|errors| panic!("{errors}"));
    for file in files {
        let mut columns = None;
        for line in file.contents.lines() {
            let count = line.starts_with('|').then(|| line.replace(r"\|", "").matches('|').count());
            assert!(columns.is_none() || count.is_none() || columns == count, "{line}");
            columns = count;
        }
    }
}
