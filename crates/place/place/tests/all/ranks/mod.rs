//! Tests of rank placement.

mod formats;
mod place;
