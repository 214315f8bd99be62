//! All integration tests of the library in one binary: one link instead of several.

mod busy;
mod published;
mod seats;
mod survey;
