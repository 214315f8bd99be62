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
    /// Plan: a drop-in for a systemd service.
    Systemd,
    /// Plan: as taskset, with hwloc-bind.
    Hwloc,
    /// Plan: as taskset, with numactl, which binds memory too.
    Numactl,
    /// Plan: options of docker run.
    Docker,
    /// Plan: options of podman run.
    Podman,
    /// Plan: vCPUs, memory and topology of a libvirt domain.
    Libvirt,
    /// Plan: options of a DPDK program.
    Dpdk,
    /// Plan: lines of nginx's configuration.
    Nginx,
    /// Plan: lines of redis's configuration.
    Redis,
    /// Plan: a policy of Kubernetes' NRI plugin balloons.
    K8s,
    /// Plan: a configuration of the sched_ext scheduler scx_layered.
    SchedExt,
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
    /// The formats of profiles.
    pub const OF_PROFILES: [ExportFormat; 4] =
        [ExportFormat::Csv, ExportFormat::HwlocXml, ExportFormat::Svg, ExportFormat::Json];

    /// The formats of plans.
    pub const OF_PLANS: [ExportFormat; 19] = [
        ExportFormat::Taskset,
        ExportFormat::OmpPlaces,
        ExportFormat::Gomp,
        ExportFormat::Kmp,
        ExportFormat::LikwidPin,
        ExportFormat::Rankfile,
        ExportFormat::Slurm,
        ExportFormat::Systemd,
        ExportFormat::Hwloc,
        ExportFormat::Numactl,
        ExportFormat::Docker,
        ExportFormat::Podman,
        ExportFormat::Libvirt,
        ExportFormat::Dpdk,
        ExportFormat::Nginx,
        ExportFormat::Redis,
        ExportFormat::K8s,
        ExportFormat::SchedExt,
        ExportFormat::Json,
    ];

    /// The formats of the ranks of a job.
    pub const OF_RANKS: [ExportFormat; 7] = [
        ExportFormat::Openmpi,
        ExportFormat::Mpich,
        ExportFormat::SlurmHostfile,
        ExportFormat::Rankfile,
        ExportFormat::Torchrun,
        ExportFormat::Groups,
        ExportFormat::Json,
    ];

    /// The formats of clusters.
    pub const OF_CLUSTERS: [ExportFormat; 4] = [
        ExportFormat::TopologyConf,
        ExportFormat::TopologyYaml,
        ExportFormat::Csv,
        ExportFormat::Json,
    ];

    /// The word that is typed for it.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_for_something() {
        for format in ExportFormat::value_variants() {
            let kinds: [&[ExportFormat]; 4] = [
                &ExportFormat::OF_PROFILES,
                &ExportFormat::OF_PLANS,
                &ExportFormat::OF_RANKS,
                &ExportFormat::OF_CLUSTERS,
            ];
            let known = kinds.iter().filter(|kind| kind.contains(format)).count();
            let wanted = match format {
                ExportFormat::Json => 4,
                ExportFormat::Rankfile | ExportFormat::Csv => 2,
                _ => 1,
            };
            assert_eq!(known, wanted, "{format:?}");
        }
    }
}
