//! All integration tests of the library in one binary, which is linked once.

mod ranks;
mod wild;
