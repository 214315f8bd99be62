//! All integration tests of the library in one binary, which is linked once.

mod host;
mod workload;
