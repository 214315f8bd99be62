//! C and C++ programs, compiled as users compile them, and observed.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod built;
mod patterns;
mod process;
