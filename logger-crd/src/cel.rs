//! The rules of `x-kubernetes-validations`: parsed, typed against the schema, their cost estimated, and run.
