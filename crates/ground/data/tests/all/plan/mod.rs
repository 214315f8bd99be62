//! Tests of `plan` as other crates see it.

mod formats;
mod round_trip;
