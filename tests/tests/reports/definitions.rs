//! Definitions that are checked, compared and imported.

use std::{env, fs, process::ExitCode};

use kubewright_codegen::{
    Check, Command, Crd, Diff, Import, Layout, generate,
    internal::{differences, normalize},
};
use kubewright_core::meta::ApiGroup;
use serde_json::Value;

use crate::{directory, imported, update};

/// The definitions with their imported types.
const IMPORTED: [(&str, ApiGroup); 9] = [
    ("r38", imported::r38::API_GROUP),
    ("r40", imported::r40::API_GROUP),
    ("r41", imported::r41::API_GROUP),
    ("r42", imported::r42::API_GROUP),
    ("r45", imported::r45::API_GROUP),
    ("r48", imported::r48::API_GROUP),
    ("c01", imported::c01::API_GROUP),
    ("c14", imported::c14::API_GROUP),
    ("c16", imported::c16::API_GROUP),
];

fn file(name: &str) -> String {
    directory().join(format!("yaml/{name}.yaml")).display().to_string()
}

/// Returns the module for a definition.
fn import(name: &str) -> String {
    // The style and the crates of the modules are those of this directory, which has no manifest.
    let import = Import { files: vec![file(name).into()], out: Some(env::temp_dir()), ..Import::default() };
    import.modules().unwrap().remove(0).source
}

fn check(name: &str, strict: bool) -> ExitCode {
    Command::Crd(Crd::Check(Check { files: vec![file(name)], strict, json: false })).run(&[])
}

fn diff(old: &str, new: &str) -> ExitCode {
    let diff = Diff { old: Some(file(old)), new: Some(file(new)), ..Diff::default() };
    Command::Crd(Crd::Diff(diff)).run(&[])
}

/// Returns the definition that the imported types generate.
fn generated(group: ApiGroup) -> String {
    let files = generate(&[group], &Layout::for_types_crate("reports")).unwrap_or_else(|errors| panic!("{errors}"));
    files.into_iter().find(|file| file.path.ends_with(".yaml")).unwrap().contents
}

/// `UPDATE_REPORTS=1` updates the modules.
#[test]
fn the_imported_modules_are_up_to_date() {
    for (name, _) in IMPORTED {
        update(&format!("imported/{name}.rs"), &import(name));
    }
}

#[test]
fn imported_types_generate_the_definitions_they_come_from() {
    for (name, group) in IMPORTED {
        let read = |text: &str| -> Value { serde_saphyr::from_str(text).unwrap() };
        let original = read(&fs::read_to_string(file(name)).unwrap());
        let differences = differences(&normalize(&original), &normalize(&read(&generated(group))));
        assert!(differences.is_empty(), "{name}:\n{}", differences.join("\n"));
    }
}

#[test]
fn r37_keys_that_yaml_1_1_reads_as_booleans() {
    let source = import("r37");
    assert!(source.contains("pub r#true: Option<i64>"), "{source}");
    assert_eq!(check("r37", false), ExitCode::SUCCESS);
    assert_eq!(check("r37", true), ExitCode::from(1), "the warnings");
}

#[test]
fn r43_preserve_unknown_fields_is_no_difference() {
    assert_eq!(diff("r43-old", "r43-new"), ExitCode::SUCCESS);
}

#[test]
fn r44_helm_templates() {
    let import = Import { files: vec![file("r44").into()], stdout: true, ..Import::default() };
    let error = import.modules().unwrap_err().to_string();
    assert!(error.contains("is a Helm template"), "{error}");
    assert_eq!(check("r44", false), ExitCode::from(1));
}

#[test]
fn r46_line_endings_byte_order_marks_and_empty_documents() {
    assert_eq!(check("r46", false), ExitCode::SUCCESS);
}

#[test]
fn r47_escaped_dots_in_brackets() {
    assert_eq!(check("r47", true), ExitCode::SUCCESS);
}

fn errors(name: &str) -> Vec<String> {
    let crd: Value = serde_saphyr::from_str(&fs::read_to_string(file(name)).unwrap()).unwrap();
    kubewright_crd::definition::validate(&crd).iter().map(ToString::to_string).collect()
}

#[test]
fn c02_c03_c04_c05_c10_errors_of_rules() {
    for (name, field, messages) in [
        (
            "c02",
            "x-kubernetes-validations[0].rule",
            &["1:7: Syntax error: mismatched input '('", "1:14: Syntax error: mismatched input ')' expecting <EOF>"][..],
        ),
        (
            "c03",
            "x-kubernetes-validations[0].rule",
            &["1:9: Syntax error: extraneous input ']'", "1:34: Syntax error: missing ']' at '<EOF>'"],
        ),
        (
            "c04",
            "x-kubernetes-validations[0].rule",
            &["1:28: invalid argument to has() macro", "1:42: Syntax error: missing ')' at '<EOF>'"],
        ),
        ("c05", "properties[a].default", &["1:1: Syntax error: extraneous input '>='"]),
        (
            "c10",
            "x-kubernetes-validations[0].rule",
            &["1:9: Syntax error: mismatched input '=='", "1:11: Syntax error: mismatched input '<EOF>'"],
        ),
    ] {
        let errors = errors(name);
        assert_eq!(errors.len(), 1, "{errors:?}");
        let prefix = format!("spec.validation.openAPIV3Schema.properties[spec].{field}: Invalid value: ");
        assert!(errors[0].starts_with(&prefix), "{errors:?}");
        assert_eq!(errors[0].matches("ERROR: <input>:").count(), messages.len(), "{errors:?}");
        for message in messages {
            assert!(errors[0].contains(&format!("ERROR: <input>:{message}")), "{errors:?}");
        }
    }
}

#[test]
fn c06_rules_above_an_error_of_their_schema() {
    let errors = errors("c06");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].contains("must be array if x-kubernetes-list-type is specified"), "{errors:?}");
}

#[test]
fn c08_c15_definitions_that_the_server_accepts() {
    assert_eq!(check("c08", false), ExitCode::SUCCESS);
    assert_eq!(check("c15", false), ExitCode::SUCCESS);
    assert_ne!(check("c12", false), ExitCode::SUCCESS, "a required name is a boolean");
}

#[test]
fn imported_types_are_no_change_of_the_definitions_they_come_from() {
    for (name, group) in IMPORTED {
        let original: Value = serde_saphyr::from_str(&fs::read_to_string(file(name)).unwrap()).unwrap();
        let generated: Value = serde_saphyr::from_str(&generated(group)).unwrap();
        assert_eq!(kubewright_crd::diff::compare(&original, &generated), [], "{name}");
        assert_eq!(kubewright_crd::diff::compare(&generated, &original), [], "{name}");
    }
}
