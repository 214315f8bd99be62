//! A mesh of tiles with published address hashes, as a source of round trips for tests and benches.
//!
//! Unprivileged programs cannot see a line's home, so FindTD is tested here with known homes:
//! McCalpin's hash maps a line's address to a slice ([`AddressHash`]), the slices are on a mesh
//! ([`Mesh`]), and a round trip costs both PUs' ways to the home and back ([`MeshProbe`]).

pub(crate) mod address_hash;
mod mesh;
mod mesh_probe;

pub use address_hash::AddressHash;
pub use mesh::Mesh;
pub use mesh_probe::{MeshProbe, ProbeNoise};
