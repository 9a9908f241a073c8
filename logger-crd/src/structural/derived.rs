//! The structural schema of a Rust type, by the schemas that its `JsonSchema` makes.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use super::{Options, Refusal, Structural, both_contracts, structural, with_field_facts};

/// The structural schema of what a type reads and writes, where `schema` is the `json_schema` of its `JsonSchema`.
///
/// # Errors
/// Everything in it that no structural schema can say.
pub fn of(schema: fn(&mut SchemaGenerator) -> Schema, options: &Options) -> Result<Structural, Vec<Refusal>> {
    let mut inline = SchemaSettings::draft2020_12().for_deserialize();
    inline.inline_subschemas = true;
    let read = contract(schema, SchemaSettings::draft2020_12().for_deserialize());
    let read = with_field_facts(read, &contract(schema, inline));
    let written = contract(schema, SchemaSettings::draft2020_12().for_serialize());
    structural(&both_contracts(read, &written), options)
}

/// The schema of what is read, or of what is written, with the definitions it refers to.
fn contract(schema: fn(&mut SchemaGenerator) -> Schema, settings: SchemaSettings) -> Value {
    let mut generator = settings.into_generator();
    let mut schema = schema(&mut generator);
    let definitions = generator.take_definitions(true);
    schema.insert("$defs".to_owned(), Value::Object(definitions));
    schema.to_value()
}
