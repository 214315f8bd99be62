//! Tests of `plan` as other crates see it.

mod formats;
#[path = "../machine/full_pu.rs"]
mod full_pu;
mod round_trip;
