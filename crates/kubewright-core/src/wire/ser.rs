//! Serialises a root kind or list.

use serde::{
    Serialize,
    ser::{SerializeStruct, Serializer},
};

use super::omit_none::{OmitNone, is_none};

/// Serialises `apiVersion` and `kind`, then the fields, and omits those that are `None`.
pub struct RootSerializer<S: Serializer>(S::SerializeStruct);

impl<S: Serializer> RootSerializer<S> {
    /// Starts an object of a type with this number of fields.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn new<T: k8s_openapi::Resource>(serializer: S, fields: usize) -> Result<Self, S::Error> {
        let mut object = serializer.serialize_struct(T::KIND, fields + 2)?;
        object.serialize_field("apiVersion", T::API_VERSION)?;
        object.serialize_field("kind", T::KIND)?;
        Ok(RootSerializer(object))
    }

    /// Serialises a field of a user's type, without `None` fields at any depth.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn field<T: Serialize>(&mut self, name: &'static str, value: &T) -> Result<(), S::Error> {
        match is_none(value) {
            true => self.0.skip_field(name),
            false => self.0.serialize_field(name, &OmitNone(value)),
        }
    }

    /// Serialises a field whose type omits unset fields itself: metadata of k8s-openapi, or root kinds.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn plain_field<T: Serialize>(&mut self, name: &'static str, value: &T) -> Result<(), S::Error> {
        self.0.serialize_field(name, value)
    }

    /// Ends the object.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}
