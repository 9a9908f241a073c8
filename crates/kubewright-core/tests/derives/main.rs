//! What the derives generate: schemas, rules, and the effect of the combined derives.

mod crd_schema;
mod declarative;
mod umbrella;
