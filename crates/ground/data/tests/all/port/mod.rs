//! Tests of `port` as other crates see it.

mod loom;
