//! A simulated ping-pong source: a mesh of tiles whose lines have their homes where published
//! address hashes put them.
//!
//! Real hardware does not reveal the home of a line without privileges, so FindTD is tested here,
//! where the home is known: a line's address goes through McCalpin's measured hash to a slice
//! ([`AddressHash`]), the slices sit on a mesh ([`Mesh`]), and a round trip costs the way to the
//! home and back for both PUs ([`MeshProbe`]).

mod address_hash;
mod mesh;
mod mesh_probe;

#[cfg(test)]
pub(crate) use address_hash::published;
pub use address_hash::{AddressHash, HashError};
pub use mesh::Mesh;
pub use mesh_probe::{MeshProbe, ProbeNoise, UnknownPu};
