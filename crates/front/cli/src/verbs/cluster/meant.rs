//! Converts a command line into a measurement of a cluster, or a usage error.

use crate::args::ClusterMeasure;
use crate::myself;
use seatmap_cluster::measure::Own;
use seatmap_cluster::node_profile::measured_by;
use seatmap_cluster::{ClusterOptions, NodeConfiguration, Rank, mpi};
use seatmap_console::error::{CliError, with_causes};
use seatmap_console::{here, input, meet, output};
use seatmap_data::machine::Profile;
use std::time::Duration;

/// The part of this rank in the measurement.
pub fn options(typed: &ClusterMeasure, rank: &Rank) -> Result<ClusterOptions, CliError> {
    Ok(ClusterOptions {
        meeting: meet::place(typed.meet.as_deref(), rank),
        secret: meet::secret(typed.secret_file.as_deref())?,
        all: typed.all,
        each_rank: typed.each_rank,
        loaded: typed.loaded,
        mpicc: typed.mpi.then(|| mpi::compiler(typed.mpicc.as_deref())),
        trips: typed.trips,
        at_once: usize::from(typed.at_once),
        timeout: typed.timeout,
        earlier: match &typed.resume {
            Some(path) if rank.rank == 0 => Some(super::read(path, &input::bytes(path)?)?),
            _ => None,
        },
        date: Some(here::today()),
    })
}

pub fn own_node(typed: &ClusterMeasure) -> Own {
    let timeout = typed.timeout;
    Own {
        name: here::host_name(),
        facts: NodeConfiguration::read(),
        profile: typed.nodes.then(|| Box::new(move || profile(timeout)) as _),
    }
}

/// By `seatmap measure`, which waits until no other process measures here.
fn profile(timeout: Duration) -> Option<Profile> {
    match measured_by(&mut myself::quick_measurement(), timeout) {
        Ok((profile, words)) => {
            output::tell_text(&words);
            profile
        }
        Err(error) => {
            output::tell(&with_causes(&error));
            None
        }
    }
}
