//! All integration tests of the library in one binary, linked once.

mod machine;
mod pattern;
mod plan;
mod port;
