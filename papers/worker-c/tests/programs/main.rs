//! C and C++ programs, compiled against the installed library, and run.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod channel;
mod examples;
mod guide;
mod header;
#[path = "../../../../crates/front/place-c/tests/programs/installed.rs"]
#[expect(dead_code, reason = "what only programs with arguments need")]
mod installed;
#[path = "../../../../crates/front/place-c/tests/programs/interface.rs"]
mod interface;
#[path = "../../../../crates/front/place-c/tests/programs/made/mod.rs"]
mod made;
mod refusals;
