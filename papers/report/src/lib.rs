//! Reports of the published experiments: in the terminal, as SVG, and as one-file HTML.
//!
//! Pure functions from a result to text, with the page frame, axes and glossary of
//! `seatmap_report`.
//!
//! | module | draws |
//! |---|---|
//! | [`ranking`] | every mapping, ranked |
//! | [`channels`] | the gain of seats near the homes of lines |
//! | [`controller`] | the cells and events of a controller |
//! | [`eib`] | the rings of a Cell, as a floor plan for tasks and traffic |
//! | [`stats`] | the cost of communication |
//! | [`study`] | published figures next to ours |
//! | [`svg`], [`html`] | pictures and pages of these, and of pinned workers |
#![deny(missing_docs)]

pub mod channels;
pub mod controller;
pub mod eib;
pub mod html;
pub mod ranking;
mod sentence;
pub mod stats;
pub mod study;
pub mod svg;

#[cfg(test)]
mod samples;
