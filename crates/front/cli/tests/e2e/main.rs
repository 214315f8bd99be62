//! Every verb through the real binary, each test in its own folder and home.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod action;
mod adverse;
mod advise;
mod auto;
mod bad_input;
mod bench;
mod cell;
mod check;
mod cluster;
mod cluster_faults;
mod columns;
mod common;
mod control_group;
mod cpus;
mod doctor;
mod examples;
mod export;
mod first_commands;
mod formats;
mod gallery;
mod gate;
mod goroutines;
mod heirs;
mod hostile;
mod import;
mod interrupted;
mod machines;
mod measure;
mod names;
mod names_in_documents;
mod noise;
mod observe;
mod orders;
mod pictures;
mod place;
mod plan;
mod pretend;
mod quotas;
mod run;
mod said;
mod services;
mod services_domain;
mod services_packets;
mod shell;
mod small;
mod streams;
mod top;
mod trace;
mod tune;
mod unequal;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_seatmap");
/// The root of the repository.
pub const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
/// The files, and folders of files, with examples to run.
pub const PAGES: [&str; 4] =
    ["README.md", "docs/src", "docs/src/recipes", "crates/front/cli/tests/e2e/transcripts"];
