//! A mesh of tiles with published address hashes.
//!
//! Hardware does not reveal a line's home without privileges, so FindTD is tested here with known
//! homes: McCalpin's hash maps a line's address to a slice ([`AddressHash`]), the slices are on a
//! mesh ([`Mesh`]), and a round trip costs both PUs' ways to the home and back ([`MeshProbe`]).

mod address_hash;
mod mesh;
mod mesh_probe;

#[cfg(test)]
pub(crate) use address_hash::published;
pub use address_hash::{AddressHash, HashError};
pub use mesh::Mesh;
pub use mesh_probe::{MeshProbe, ProbeNoise, UnknownPu};
