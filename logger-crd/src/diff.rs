//! What changed between two definitions, and whom it breaks.
