//! All integration tests of `seatmap-papers` in one binary: one link instead of 5.

mod liu;
mod primitives;
mod rank_format;
mod ring_twin;
mod twin_and_channels_format;
mod workers_format;
