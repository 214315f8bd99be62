//! Draws profiles: terminal, SVG, one-file HTML.
//!
//! Pure functions from a [`seatmap_data::machine::Profile`] to text. Nothing here measures, reads a
//! file or queries the terminal; the command line chooses width, colour and destination.
//!
//! | module | draws |
//! |---|---|
//! | [`terminal`] | heatmaps of half blocks or plain digits, and everything `seatmap show` prints |
//! | [`live`] | a matrix that is still being measured |
//! | [`pattern`], [`placement`] | who talks to whom; who sits where, and what that gains |
//! | [`remarks`] | remarks on a placement, in words |
//! | [`advise`] | what to do with one program, on one screen |
//! | [`seating`] | the threads of a program that was seated |
//! | [`check`] | what is wrong with the seats of living programs |
//! | [`pretend`] | the threads of a program that saw another machine |
//! | [`doctor`] | what disturbs programs on this computer |
//! | [`duration`] | times in sentences and tables |
//! | [`floor`] | a machine as it lies, with threads, lines and traffic on it, before and after |
//! | [`cell`] | cells, what is wrong with them, and the noise that a program had in one |
//! | [`mod@compare`] | two machines side by side |
//! | [`gallery`], [`ranking`] | many machines as a site, and in order of their time for a pattern |
//! | [`cluster`] | the nodes of a cluster, and what is odd |
//! | [`services`] | the services of a computer: load, sets, what has moved |
//! | [`shown`] | the document of a machine, and the CPUs that were set apart |
//! | [`qap`] | a solved QAPLIB instance |
//! | [`ranks`] | the ranks of a job on the nodes of a cluster |
//! | [`mod@bench`], [`tune`], [`auto`] | commands and seats compared by running them |
//! | [`gate`], [`history`] | two versions of a program over several benchmarks, and over time |
//! | [`under_way`] | what these tell while they go on |
//! | [`observation`] | who talks to whom in an observed program |
//! | [`noise`], [`twin`] | time that the system took; how well a model agrees with its profile |
//! | [`svg`] | heatmaps of profiles and patterns for papers and slides |
//! | [`html`] | one self-contained page, and the frame that other pages share |
//!
//! All pictures share five ideas: [`Grid`] (a matrix in display order), [`Scale`] (the colour of a
//! distance), [`Digits`] (the number of significant digits), [`palette`], and `axis` (the round
//! values along a chart). A verb makes one `page` of blocks, which is drawn as text and as HTML.
//! Every page begins with a `sentence` that states its result, and explains each technical term
//! from one `glossary`.
#![deny(missing_docs)]

mod about;
pub mod advise;
pub mod auto;
mod axis;
pub mod bench;
pub mod cell;
pub mod check;
pub mod cluster;
pub mod compare;
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

#[cfg(test)]
mod samples;

pub use about::counted;
pub use axis::AxisUnit;
pub use digits::Digits;
pub use grid::{Grid, GridOrder};
pub use page::Page;
pub use scale::Scale;
