//! All integration tests in one binary, which links only once.

mod busy;
mod published;
mod seats;
mod survey;
