//! Measures clusters: how far apart the nodes are, which nodes share a switch, and which node or
//! cable is bad.
//!
//! A launcher (Slurm, Open MPI, MPICH, torchrun, or a loop over ssh) starts one process on each
//! node. The processes meet at rank 0 over TCP, prove that they know a secret, and measure pairs of
//! nodes: round trips by size, gaps, rates.
//!
//! | module | is |
//! |---|---|
//! | [`launcher`] | rank and number of ranks, from the launcher's variables |
//! | [`secret`] | the shared secret and its proofs |
//! | [`meeting`] | how ranks find rank 0: a shared file or an address |
//! | [`measure`] | the parallel program |
//! | [`node_profile`] | core distances inside this node |
//! | [`mpi`] | measurement through MPI |
//! | [`spread`] | other divisible work |
//! | [`choice`] | the measured pairs |
//! | [`fit`] | groups of nodes, predictions for unmeasured pairs |
//! | [`cluster`] | the result on file, `seatmap-cluster/1` |
//! | [`judge`] | bad nodes and links |
//! | [`names`] | compact lists of node names |
//! | [`table`] | round trips of all pairs as CSV |
//! | [`topology`] | the groups as Slurm's network description |
//! | [`ranks`] | places for a job's ranks |
//! | [`ranks_here`] | seats of the ranks on this computer |
//!
//! The crate launches nothing and needs MPI only to measure MPI. Messages are authenticated, not
//! encrypted: they carry only figures, no program or command.
#![deny(missing_docs)]

pub mod choice;
pub mod cluster;
mod drive;
mod echo;
mod facts;
pub mod fit;
mod gate;
mod handshake;
pub mod judge;
pub mod launcher;
mod lead;
pub mod measure;
pub mod meeting;
pub mod mpi;
pub mod names;
pub mod node_profile;
mod rank_error;
pub mod ranks;
pub mod ranks_here;
mod seat;
pub mod secret;
pub mod spread;
pub mod table;
pub mod topology;
mod wire;
mod worker;

pub use cluster::{
    Cluster, ConnectionEnd, LoadedStreams, Missing, Node, NodePair, QuotaStop, Stream,
    StreamPattern, Trip,
};
pub use facts::NodeConfiguration;
pub use launcher::Rank;
pub use measure::{ClusterMeasureError, ClusterOptions, ClusterProgress};
pub use rank_error::RankError;
