//! All integration tests in one binary, for faster linking.

mod ranks;
mod wild;
