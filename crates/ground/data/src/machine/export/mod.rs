//! Profiles as other tools' files.
//!
//! | module | for | contents |
//! |---|---|---|
//! | [`csv`] | readers of core-to-core-latency's matrices | median distances, halved |
//! | [`hwloc_xml`] | `lstopo`, hwloc, Open MPI | topology, and median distances in picoseconds |
//!
//! [`crate::machine::import`] reads the output back unchanged, as far as the other format can
//! express it.

pub mod csv;
mod error;
pub mod hwloc_xml;

pub use error::ProfileExportError;
