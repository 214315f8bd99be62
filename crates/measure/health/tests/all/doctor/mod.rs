//! Tests of `doctor` as other crates see it.

mod live;
