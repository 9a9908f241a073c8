//! From the schema that schemars makes to the structural schema the API server takes.
