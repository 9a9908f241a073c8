//! Generates the structural schema of a Rust type from its `JsonSchema` impl.

use schemars::{Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::Value;

use super::{Options, SchemaError, Structural, convert, merge_contracts, with_field_constraints};

/// Generates the structural schema of the values that a type deserializes and serializes. `schema` is the `json_schema`
/// function of its `JsonSchema` impl.
///
/// # Errors
/// Returns all parts of the schema that cannot be converted.
pub fn generate(schema: fn(&mut SchemaGenerator) -> Schema, options: &Options) -> Result<Structural, Vec<SchemaError>> {
    let mut inline = SchemaSettings::draft2020_12().for_deserialize();
    inline.inline_subschemas = true;
    let deserialized = generate_contract(schema, SchemaSettings::draft2020_12().for_deserialize());
    let deserialized = with_field_constraints(deserialized, &generate_contract(schema, inline));
    let serialized = generate_contract(schema, SchemaSettings::draft2020_12().for_serialize());
    convert(&merge_contracts(deserialized, &serialized), options)
}

/// Generates the schema of one contract, with the definitions that it refers to.
fn generate_contract(schema: fn(&mut SchemaGenerator) -> Schema, settings: SchemaSettings) -> Value {
    let mut generator = settings.into_generator();
    let mut schema = schema(&mut generator);
    let definitions = generator.take_definitions(true);
    schema.insert("$defs".to_owned(), Value::Object(definitions));
    schema.to_value()
}
