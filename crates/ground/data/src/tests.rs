//! With the feature `schema`: helpers for the tests of all crates with documents.

pub mod schema;
