//! Further inputs of the kinds that the reports are about.

use serde_json::{Value, json};

use crate::{definition::Definition, types::variations::*};

/// Returns the columns with their paths.
fn columns(definition: &Definition) -> Vec<(String, String)> {
    let columns = definition.json["spec"]["versions"][0]["additionalPrinterColumns"].as_array().unwrap();
    let text = |column: &Value, key: &str| column[key].as_str().unwrap().to_owned();
    columns.iter().map(|column| (text(column, "name"), text(column, "jsonPath"))).collect()
}

#[test]
fn types_with_the_names_of_other_crates() {
    let definition = Definition::from_group(std_names::API_GROUP);
    assert_eq!(definition.field("duration.secs")["type"], "integer");
    assert_eq!(definition.field("option.chosen")["type"], "boolean");
    assert_eq!(definition.field("string.length")["type"], "integer");
    assert_eq!(definition.field("some.[]")["type"], "object");
    let required = definition.field("default")["required"].as_array().unwrap();
    assert_eq!(required.len(), 2);
    let required = definition.schema()["properties"]["spec"]["required"].as_array().unwrap();
    assert!(required.contains(&json!("option")), "it is not std's: {required:?}");
}

#[test]
fn negative_numbers() {
    let definition = Definition::from_group(numbers::API_GROUP);
    let a = definition.field("a");
    assert_eq!((&a["minimum"], &a["maximum"], &a["default"]), (&json!(-10), &json!(-1), &json!(-5)));
    assert_eq!(definition.field("b")["x-kubernetes-validations"][0]["rule"], "self != -10");
    assert_eq!(definition.field("c")["enum"], json!([-1, -2]));
    assert_eq!(definition.field("d.[]")["x-kubernetes-validations"][0]["rule"], "self != -2");
    assert_eq!((&definition.field("e")["minimum"], &definition.field("e")["maximum"]), (&json!(-0.5), &json!(-0.001)));
    assert_eq!(definition.json["spec"]["versions"][0]["additionalPrinterColumns"][0]["priority"], -1);
    assert_eq!(definition.field("h")["minimum"], json!(i64::MIN));
}

#[test]
fn choices_without_a_maximum() {
    let definition = Definition::from_group(choices::API_GROUP);
    assert_eq!(definition.field("a.[]")["x-kubernetes-validations"].as_array().unwrap().len(), 4);
    assert_eq!(definition.field("d.[]")["x-kubernetes-validations"].as_array().unwrap().len(), 1);
}

#[test]
fn json_names_with_special_characters() {
    let definition = Definition::from_group(json_names::API_GROUP);
    let expected = [("Tilde", ".spec.a-b"), ("Dot", r".spec.a\.b"), ("Slash", ".spec.a/b")];
    assert_eq!(columns(&definition), expected.map(|(name, path)| (name.to_owned(), path.to_owned())));
    assert_eq!(definition.field("a/list")["x-kubernetes-list-map-keys"], json!(["a.b/c"]));
    let errors = Definition::errors_of(unescaped_names::API_GROUP);
    assert!(errors.contains("unescaped_names::ReportSpec::space") && errors.contains("rename it"), "{errors}");
}

#[test]
fn recursive_types() {
    let definition = Definition::from_group(recursion::API_GROUP);
    assert_eq!(definition.field("a.next.next")["x-kubernetes-preserve-unknown-fields"], true);
    assert_eq!(definition.field("e.Not.Leaf.value")["type"], "integer");
}

#[test]
fn conditions() {
    let definition = Definition::from_group(conditional::API_GROUP);
    let properties = definition.schema()["properties"]["spec"]["properties"].as_object().unwrap();
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["firstOne", "secondOne", "third"]);
    assert_eq!(definition.field("secondOne")["enum"], json!(["A", "C"]));
    assert_eq!(definition.field("third")["default"], 2);
}

#[test]
fn keys_of_other_types() {
    let errors = Definition::errors_of(wrong_keys::API_GROUP);
    for (field, key) in [("a", "minLength"), ("b", "minimum"), ("c", "minItems"), ("d", "pattern")] {
        assert!(errors.contains(&format!("ReportSpec::{field}`: `{key}` applies to")), "{field}: {errors}");
    }
    let word = Definition::from_group(narrowed::API_GROUP).field("word").clone();
    assert_eq!((&word["minLength"], &word["maxLength"]), (&json!(1), &json!(5)));
}

#[test]
fn fields_that_are_not_in_the_schema_need_none() {
    let definition = Definition::from_group(replaced::API_GROUP);
    for field in ["mail", "encoded.Text"] {
        assert_eq!(definition.field(field)["type"], "string", "{field}");
    }
    assert_eq!(definition.field("seconds")["pattern"], "^[0-9]+s$");
    assert_eq!(definition.field("internal")["enum"], json!(["Public"]));
    assert_eq!(definition.field("level")["enum"], json!(["Low", "High", "low"]));
}

#[test]
fn fragments_of_macros() {
    let definition = Definition::from_group(fragments::API_GROUP);
    assert_eq!(definition.json["spec"]["names"]["plural"], "fragmentses");
    let expected = [("a name", ".spec.field"); 2];
    assert_eq!(columns(&definition), expected.map(|(name, path)| (name.to_owned(), path.to_owned())));
    assert_eq!(definition.field("field")["minimum"], -5);
    assert_eq!(definition.field("a name")["maxLength"], 9);
    assert_eq!(
        (&definition.field("default")["default"], &definition.field("constant")["default"]),
        (&json!(1), &json!(3))
    );
    assert_eq!(definition.field("e")["enum"], json!(["a name", "Other"]));
}
