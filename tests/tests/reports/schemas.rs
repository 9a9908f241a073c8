//! The schemas of types.

use serde_json::{Value, json};

use crate::{definition::Definition, types::*};

#[test]
fn r01_container_default_beside_rename_all() {
    let definition = Definition::from_group(r01::API_GROUP);
    let properties = definition.schema()["properties"]["spec"]["properties"].as_object().unwrap();
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["keepLast", "retryLimit", "targetPath"]);
    assert_eq!(definition.field("keepLast")["default"], 7);
    assert_eq!(definition.field("targetPath")["default"], "/var/backup");
    assert_eq!(definition.field("retryLimit").get("default"), None);
}

#[test]
fn r02_container_default_of_a_function() {
    assert_eq!(Definition::from_group(r02::API_GROUP).field("maxItems")["default"], 10);
    assert_eq!(Definition::from_group(r02b::API_GROUP).field("items")["default"], 10);
}

#[test]
fn r03_container_default_beside_self_and_type_parameters() {
    let menu = Definition::from_group(r03::API_GROUP);
    assert_eq!((&menu.field("entries")["type"], &menu.field("entries")["default"]), (&json!("array"), &json!([])));
    assert_eq!(menu.field("entries.[].label")["default"], "");
    let knob = Definition::from_group(r03g::API_GROUP);
    assert_eq!((&knob.field("value")["default"], &knob.field("note")["default"]), (&json!(0), &json!("")));
}

#[test]
fn r07_default_that_is_not_serialized() {
    let definition = Definition::from_group(r07::API_GROUP);
    assert_eq!(
        (&definition.field("enabled")["default"], &definition.field("period")["default"]),
        (&json!(true), &json!(30))
    );
}

#[test]
fn r08_untagged_enum_with_a_variant_for_everything_else() {
    let definition = Definition::from_group(r08::API_GROUP);
    assert_eq!(definition.field("config"), &json!({"x-kubernetes-preserve-unknown-fields": true}));
}

#[test]
fn r09_try_from_without_into() {
    assert_eq!(Definition::from_group(r09::API_GROUP).field("start"), &json!({"type": "string"}));
}

/// Asserts which specs the schema accepts.
fn check_specs(definition: &Definition, accepted: &[Value], rejected: &[Value]) {
    for spec in accepted {
        assert_eq!(definition.validate(spec.clone()), [], "{spec}");
    }
    for spec in rejected {
        assert!(!definition.validate(spec.clone()).is_empty(), "{spec}");
    }
}

#[test]
fn r11_tagged_enum_in_a_tagged_enum() {
    let accepted = [
        json!({"output": {"kind": "console"}}),
        json!({"output": {"kind": "storage", "provider": "disk", "path": "/a"}}),
    ];
    let rejected =
        [json!({"output": {"kind": "storage"}}), json!({"output": {"kind": "storage", "provider": "bucket"}})];
    check_specs(&Definition::from_group(r11::API_GROUP), &accepted, &rejected);
}

#[test]
fn r12_flattened_enum_with_a_unit_variant() {
    let errors = Definition::errors_of(r12::API_GROUP);
    assert!(errors.to_lowercase().contains("auto"), "{errors}");
}

#[test]
fn r13_empty_tuple_variant() {
    let errors = Definition::errors_of(r13::API_GROUP);
    assert!(errors.to_lowercase().contains("closed"), "{errors}");
}

#[test]
fn r14_block_comments() {
    let definition = Definition::from_group(r14::API_GROUP);
    let spec = &definition.schema()["properties"]["spec"];
    assert_eq!(spec["description"], "The desired state of a note.\n\nIt has two paragraphs.");
    assert_eq!(definition.field("text")["description"], "The text of the note.\n\n- may be empty\n- may have lines");
    assert_eq!(definition.field("author")["description"], "One line.");
}

#[test]
fn r15_doc_comments_that_begin_with_a_number_sign() {
    let definition = Definition::from_group(r15::API_GROUP);
    assert_eq!(definition.field("priority")["description"], "#1 priority tasks start first.");
    assert_eq!(definition.field("retries")["description"], "# Retries\n\nHow often a failed task starts again.");
    assert!(
        [definition.field("priority"), definition.field("retries")].iter().all(|field| field.get("title").is_none())
    );
}

#[test]
fn r16_descriptions_that_yaml_treats_specially() {
    let definition = Definition::from_group(r16::API_GROUP);
    for (field, start) in
        [("a", "- begins"), ("i", "A long line with  two spaces"), ("k", "---"), ("m", "2024-01-01"), ("n", "no")]
    {
        assert!(definition.field(field)["description"].as_str().unwrap().starts_with(start), "{field}");
    }
    let folded = definition.field("i")["description"].as_str().unwrap();
    assert!(folded.ends_with("and   three spaces at the end of the wrapped line."));
}

#[test]
fn r17_line_endings_of_windows() {
    let definition = Definition::from_group(r17::API_GROUP);
    let expected = "The first line.\n\nThe second paragraph.";
    assert_eq!(definition.field("body")["description"], expected);
    assert_eq!(definition.schema()["description"].as_str().map(str::trim), Some(expected));
}

#[test]
fn r18_r25_negative_allowed_values() {
    assert_eq!(Definition::from_group(r18::API_GROUP).field("direction")["enum"], json!([-1, 0, 1]));
    let gauge = Definition::from_group(r25::API_GROUP);
    assert_eq!(gauge.field("steps.[]")["enum"], json!([-10, 0, 10]));
    assert_eq!(gauge.field("limit")["x-kubernetes-validations"][0]["rule"], "self != -1");
}

#[test]
fn r19_names_and_values_that_yaml_1_1_does_not_read_as_strings() {
    let text = Definition::from_group(r19::API_GROUP).text;
    for name in ["y", "n", "on", "off", "yes", "no", "null", "true", "1_000", "2024-01-01", "0x1f", "1e3", "~"] {
        let is_quoted = [format!("\"{name}\":"), format!("'{name}':")].iter().any(|quoted| text.contains(quoted));
        assert!(is_quoted, "{name}");
    }
    for value in ["on", "017", "0o17", "1_000", "12:30", "1e3", ".5", "=", "<<", "1.0"] {
        let is_quoted =
            [format!("- \"{value}\"\n"), format!("- '{value}'\n")].iter().any(|quoted| text.contains(quoted));
        assert!(is_quoted, "{value}");
    }
}

#[test]
fn r20_order_of_maps() {
    let text = Definition::from_group(r20::API_GROUP).text;
    let position = |name: &str| text.find(name).unwrap();
    assert!(position("alpha: 2") < position("bravo: 4") && position("bravo: 4") < position("zeta: 1"), "{text}");
}

#[test]
fn r21_columns_of_names_with_dots() {
    let definition = Definition::from_group(r21::API_GROUP);
    let columns = definition.json["spec"]["versions"][0]["additionalPrinterColumns"].as_array().unwrap();
    let paths: Vec<(&Value, &Value)> = columns.iter().map(|column| (&column["name"], &column["jsonPath"])).collect();
    let expected = [("Max", r".spec.max-size"), ("Zone", r".spec.node\.reports\.example/zone")];
    assert_eq!(
        paths,
        expected.map(|(name, path)| (json!(name), json!(path))).each_ref().map(|(name, path)| (name, path))
    );
}

#[test]
fn r23_plurals_of_client_gen() {
    let definitions = Definition::all_of(r23::API_GROUP);
    let mut plurals: Vec<&str> =
        definitions.iter().map(|definition| definition["spec"]["names"]["plural"].as_str().unwrap()).collect();
    plurals.sort_unstable();
    assert_eq!(plurals, ["autographs", "i", "leaves", "lives", "searches"]);
}

#[test]
fn r26_choice_in_an_unbounded_list() {
    let definition = Definition::from_group(r26::API_GROUP);
    assert_eq!(
        definition.field("sources.[]")["x-kubernetes-validations"],
        json!([{
            "rule": "(has(self.git) ? 1 : 0) + (has(self.http) ? 1 : 0) + (has(self.bucket) ? 1 : 0) == 1",
            "message": "exactly one of git, http, bucket must be set",
        }])
    );
}

#[test]
fn r29_field_beside_a_flattened_field_of_the_same_name() {
    let errors = Definition::errors_of(r29::API_GROUP);
    assert!(errors.contains("r29::BoxSpec::name") && errors.contains("is encoded twice"), "{errors}");
}

#[test]
fn r27_conversion_of_nested_types() {
    for group in [r27::v1::API_GROUP, r27::v2::API_GROUP] {
        assert_eq!(Definition::from_group(group).field("trigger")["type"], "object");
    }
}

#[test]
fn r35_deny_unknown_fields() {
    let definition = Definition::from_group(r35::API_GROUP);
    assert!(!definition.text.contains("additionalProperties"));
    let accepted = [
        json!({"name": "a", "action": {"type": "Close"}}),
        json!({"name": "a", "action": {"type": "Reset", "max": 1}}),
    ];
    check_specs(&definition, &accepted, &[json!({"name": "a", "action": {"type": "Reset"}})]);
}

#[test]
fn r24_conditional_kinds() {
    assert_eq!(Definition::from_group(r24::API_GROUP).json["spec"]["names"]["kind"], "Stable");
}

#[test]
fn m01_types_that_are_not_recursive() {
    let definition = Definition::from_group(m01::API_GROUP);
    let spec =
        |trigger: Value, action: Value| json!({"trigger": trigger, "action": action, "pause": {"secs": 1, "nanos": 2}});
    let accepted = [
        spec(json!({"type": "Early", "runs": 1}), json!({"runs": 1})),
        spec(json!({"type": "Late", "runs": 1}), json!({"stage": {"runs": 1}})),
    ];
    check_specs(&definition, &accepted, &[spec(json!({"type": "Late"}), json!({"runs": 1}))]);
}

#[test]
fn m02_attributes_with_arguments_of_a_macro() {
    let definition = Definition::from_group(m02::API_GROUP);
    let level = json!({"description": "The level.", "enum": [-1, 1], "format": "int32", "type": "integer"});
    assert_eq!(definition.field("dialLevel"), &level);
    assert_eq!(definition.field("text"), &json!({"maxLength": 5, "minLength": 1, "type": "string"}));
}
