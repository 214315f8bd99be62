//! Every verb through the real binary, each test in a folder and a home of its own.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod adverse;
mod auto;
mod bad_input;
mod bench;
mod cell;
mod channels;
mod check;
mod cluster;
mod cluster_faults;
mod coherent;
mod common;
mod destinations;
mod doctor;
mod examples;
mod export;
mod formats;
mod import;
mod interrupted;
mod machines;
mod measure;
mod model;
mod names;
mod noise;
mod observe;
mod orders;
mod pages;
mod pattern;
mod place;
mod plan;
mod rank;
mod ranks;
mod run;
mod shell;
mod show;
mod spread;
mod stats;
mod streams;
mod study;
mod top;
mod trace;
mod trust;
mod tune;
mod unequal;
mod workers;
