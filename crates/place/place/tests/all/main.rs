//! All integration tests of the library in one binary, which needs linking only once.

mod ranks;
mod wild;
