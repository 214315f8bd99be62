//! Every verb through the real binary, each test in a folder and a home of its own.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod bad_input;
mod cell;
mod channels;
mod coherent;
mod common;
mod doctor;
mod examples;
mod export;
mod import;
mod interrupted;
mod machines;
mod measure;
mod model;
mod noise;
mod pattern;
mod place;
mod plan;
mod rank;
mod run;
mod shell;
mod show;
mod stats;
mod study;
mod workers;
