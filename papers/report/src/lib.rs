//! The results of the published experiments, drawn: in the terminal, as SVG, as one-file HTML.
//!
//! Pure functions from a result to text, on the frame, the axes and the glossary of
//! `seatmap_report`.
//!
//! | module | draws |
//! |---|---|
//! | [`ranking`] | every mapping, ranked |
//! | [`channels`] | what seats near the homes of lines are worth |
//! | [`controller`] | the cells of a controller, and its news |
//! | [`eib`] | the rings of a Cell, as a floor for tasks and traffic |
//! | [`stats`] | what communicating costs |
//! | [`study`] | published figures beside ours |
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
