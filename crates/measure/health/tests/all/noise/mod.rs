//! Tests of `noise` as other crates see it.

mod noise_format;
