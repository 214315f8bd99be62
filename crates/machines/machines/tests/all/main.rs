//! All integration tests of the library in one binary, linked once.

mod host;
mod workload;
