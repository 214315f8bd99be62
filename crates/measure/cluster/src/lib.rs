//! Clusters: how far apart their nodes are, which stand on one switch, and which node or cable is
//! bad.
//!
//! An existing launcher (Slurm, Open MPI, MPICH, torchrun, or a loop over ssh) starts one process
//! on each node. They meet at rank 0 over TCP, prove to each other that they know a secret, and
//! measure pairs of nodes by plain messages: round trips by size, gaps, rates each way. Rank 0
//! chooses the pairs, at most four times as many as there are nodes, finds the groups, predicts the
//! rest, and says how well that works on pairs that it had held back.
//!
//! | module | is |
//! |---|---|
//! | [`launcher`] | the rank of this process and the number of ranks, by the launcher's variables |
//! | [`secret`] | the shared secret, and the proofs that a peer knows it |
//! | [`meeting`] | where ranks find rank 0: a file that all see, or an address |
//! | [`measure`] | the parallel program itself |
//! | [`node_profile`] | the core distances of this rank's own node |
//! | [`mpi`] | the same through the site's own MPI |
//! | [`spread`] | other work in parts, such as a study on a model, over the same ranks |
//! | [`choice`] | which pairs are measured, so that few tell of all |
//! | [`fit`] | groups of nodes, and the values of pairs that nobody measured |
//! | [`cluster`] | the result on file, `seatmap-cluster/1` |
//! | [`judge`] | what is wrong with a cluster, by name |
//! | [`names`] | names of nodes in little room |
//! | [`table`] | the round trips of all pairs as CSV |
//! | [`topology`] | the groups as Slurm's description of the network |
//! | [`ranks`] | the cluster as places for the ranks of a job |
//! | [`ranks_here`] | the seats of the ranks on this computer |
//!
//! It launches nothing, and needs no MPI unless it is to measure that. Every message is
//! authenticated, and none is encrypted: they carry no more than figures. No program and no command
//! travels: a rank does what its own command line says, when rank 0 says so.
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
    Beside, Cluster, ConnectionEnd, ExcessFactor, LoadedStreams, Missing, Node, NodePair,
    QuotaStop, Stream, StreamPattern, Trip,
};
pub use facts::NodeConfiguration;
pub use launcher::Rank;
pub use measure::{ClusterMeasureError, ClusterOptions, ClusterProgress};
pub use rank_error::RankError;
