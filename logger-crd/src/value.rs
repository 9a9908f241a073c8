//! Values under a schema: unknown fields pruned, defaults filled in, the rest checked.
