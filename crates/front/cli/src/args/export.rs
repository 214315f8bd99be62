//! `seatmap export`, as typed.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Export {
    /// The plan, profile or cluster: a file, or the name of a bundled machine; - is stdin.
    #[arg(value_name = "DOCUMENT")]
    pub document: String,
    /// The format to write.
    #[arg(long)]
    pub format: ExportFormat,
    /// Where; stdout by default.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The formats of profiles and plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Profile: core-to-core-latency's lower triangle of one-way nanoseconds. Cluster: round trips
    /// of all pairs.
    Csv,
    /// Profile: hwloc v2 XML with a distances matrix, for lstopo and hwloc programs.
    HwlocXml,
    /// Profile: a heatmap.
    Svg,
    /// Plan: a script that seats a process by its task or rank.
    Taskset,
    /// Plan: shell lines for any OpenMP runtime.
    OmpPlaces,
    /// Plan: shell lines for GCC's OpenMP runtime.
    Gomp,
    /// Plan: shell lines for LLVM's and Intel's OpenMP runtime.
    Kmp,
    /// Plan: the beginning of a likwid-pin command.
    LikwidPin,
    /// Plan, ranks: Open MPI's rankfile.
    Rankfile,
    /// Plan: the beginning of an srun command.
    Slurm,
    /// Plan: a drop-in for a systemd service. Services: a script that writes one for each unit.
    Systemd,
    /// Plan: as taskset, with hwloc-bind.
    Hwloc,
    /// Plan: as taskset, with numactl, which binds memory too.
    Numactl,
    /// Plan: options of docker run.
    Docker,
    /// Plan: options of podman run.
    Podman,
    /// Plan: options of a DPDK program.
    Dpdk,
    /// Plan: lines of nginx's configuration.
    Nginx,
    /// Plan: lines of redis's configuration.
    Redis,
    /// Ranks: a hostfile for Open MPI's --map-by seq.
    Openmpi,
    /// Ranks: a host file for MPICH.
    Mpich,
    /// Ranks: the file of SLURM_HOSTFILE for srun --distribution=arbitrary.
    SlurmHostfile,
    /// Ranks: a script that starts torchrun with the node's rank.
    Torchrun,
    /// Ranks: groups of nodes with their ranks, as JSON.
    Groups,
    /// Cluster: Slurm's topology.conf, with the switches that were found.
    TopologyConf,
    /// Cluster: Slurm's topology.yaml (25.05 and later).
    TopologyYaml,
    /// All: the document as Seatmap writes it.
    Json,
}

impl ExportFormat {
    /// The word that is typed for it.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::export::{OF_CLUSTERS, OF_PROFILES};
    use seatmap_data::plan::export::FORMATS as OF_PLANS;
    use seatmap_place::ranks::export::FORMATS as OF_RANKS;
    use seatmap_services::export::FORMATS as OF_SERVICES;

    #[test]
    fn every_format_has_one_kind_of_document() {
        let kinds = [
            OF_CLUSTERS.map(|(word, _)| word).to_vec(),
            OF_PROFILES.map(|(word, _)| word).to_vec(),
            OF_PLANS.map(|(word, _)| word).to_vec(),
            OF_RANKS.map(|(word, _)| word).to_vec(),
            OF_SERVICES.map(|(word, _)| word).to_vec(),
        ];
        for format in ExportFormat::value_variants() {
            let word = format.name();
            let known = kinds.iter().filter(|kind| kind.iter().any(|known| *known == word)).count();
            let expected = match format {
                ExportFormat::Json => 5,
                ExportFormat::Rankfile | ExportFormat::Csv | ExportFormat::Systemd => 2,
                _ => 1,
            };
            assert_eq!(known, expected, "{format:?}");
        }
        let known: usize = kinds.iter().map(Vec::len).sum();
        assert_eq!(known, ExportFormat::value_variants().len() + 7, "each can be typed");
    }
}
