//! C and C++ programs, compiled against the installed library, and run.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod channels;
mod examples;
mod guide;
mod header;
mod installed;
mod interface;
mod made;
mod refusals;
mod threads;
