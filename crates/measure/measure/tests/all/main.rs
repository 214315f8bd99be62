//! All integration tests in one binary, which links only once.

mod busy;
mod homes;
mod published;
mod seats;
mod survey;
#[path = "../synthetic/mod.rs"]
mod synthetic;
