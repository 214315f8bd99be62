//! One self-contained page for each experiment.

mod channels;
mod libspe2;
mod ranking;
mod simulated;
mod stats;
mod workers;

pub use channels::channels;
pub use ranking::ranking;
pub use stats::stats;
pub use workers::workers;
