//! A self-contained page for each experiment.

mod channels;
mod libspe2;
mod ranking;
mod simulated;
mod stats;
mod workers;

/// The definition for pages that count SPEs, which are not in the glossary of `seatmap_report`.
const ABOUT_SPES: &str = "An SPE (synergistic processing element) is one of the Cell BE's eight \
     workers, with a local store.";

pub use channels::channels;
pub use ranking::ranking;
pub use stats::stats;
pub use workers::workers;
