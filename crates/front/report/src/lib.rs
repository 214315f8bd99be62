//! Draws profiles: terminal, SVG, one-file HTML.
//!
//! Pure functions from a [`seatmap_data::machine::Profile`] to text. Nothing here measures, reads a
//! file or queries the terminal; the command line chooses width, colour and destination.
//!
//! | module | draws |
//! |---|---|
//! | [`terminal`] | heat maps of half blocks or digits, and the output of `seatmap show` |
//! | [`live`] | a matrix during its measurement |
//! | [`pattern`], [`placement`] | traffic between tasks; their seats, and the gain |
//! | [`remarks`] | remarks on a placement, in words |
//! | [`advise`] | advice for one program, on one screen |
//! | [`seating`] | the threads of a seated program |
//! | [`check`] | faults in the seats of running programs |
//! | [`pretend`] | the threads of a program on a pretended machine |
//! | [`doctor`] | disturbances on this computer |
//! | [`cpus`] | the CPUs that words name, and how many threads fit |
//! | [`duration`] | times in sentences and tables |
//! | [`floor`] | floor plans with threads, lines and traffic, before and after |
//! | [`cell`] | cells, their faults, and the noise of a program in one |
//! | [`mod@compare`] | a comparison of two machines |
//! | [`gallery`], [`ranking`] | many machines as a site, and ranked for a pattern |
//! | [`cluster`] | the nodes of a cluster, and their faults |
//! | [`services`] | the services of a computer: load, sets, changes |
//! | [`shown`] | the document of a machine, and its isolated CPUs |
//! | [`qap`] | a solved QAPLIB instance |
//! | [`ranks`] | the ranks of a job on the nodes of a cluster |
//! | [`mod@bench`], [`tune`], [`auto`] | commands and seats compared by running them |
//! | [`gate`], [`history`] | two versions of a program over several benchmarks, and over time |
//! | [`under_way`] | messages of running races and comparisons |
//! | [`observation`] | the communication in an observed program |
//! | [`noise`], [`twin`] | time taken by the system; how well a model fits its profile |
//! | [`svg`] | heat maps of profiles and patterns for papers and slides |
//! | [`html`] | self-contained pages, and their common frame |
//!
//! All pictures share five ideas: [`Grid`] (a matrix in display order), [`Scale`] (the colour of a
//! distance), [`Digits`] (the number of significant digits), [`palette`], and `axis` (the round
//! values along a chart). A verb makes one `page` of blocks, which is drawn as text and as HTML.
//! Every page begins with a `sentence` that states its result, and explains each technical term
//! from one `glossary`.
#![deny(missing_docs)]

mod about;
pub mod advise;
mod alike;
pub mod auto;
mod axis;
mod bandwidth;
pub mod bench;
pub mod cell;
pub mod check;
pub mod cluster;
pub mod compare;
pub mod cpus;
mod digits;
pub mod doctor;
pub mod duration;
mod effect;
pub mod floor;
pub mod gallery;
pub mod gate;
mod glossary;
mod grid;
pub mod history;
pub mod html;
pub mod live;
mod neighbours;
pub mod noise;
pub mod observation;
mod page;
pub mod palette;
pub mod pattern;
pub mod placement;
mod predicted;
pub mod pretend;
pub mod qap;
pub mod ranking;
pub mod ranks;
mod reduced;
pub mod remarks;
mod scale;
pub mod seating;
mod sentence;
pub mod services;
pub mod shown;
mod speed;
pub mod svg;
pub mod terminal;
mod traffic;
pub mod tune;
pub mod twin;
pub mod under_way;
mod words;

#[cfg(test)]
#[path = "tests/samples.rs"]
mod samples;

pub use axis::AxisUnit;
pub use digits::Digits;
pub use grid::{Grid, GridOrder};
pub use page::Page;
pub use scale::Scale;
pub use words::{capital, counted};
