//! Tests of `pattern` as other crates see it.

mod formats;
mod hostile;
