//! `seatmap export`.

use clap::{Args, ValueEnum};
use seatmap_cluster::{Cluster, table, topology};
use seatmap_console::{AtPath, CliError, CliResult, Destination, input, plan_input};
use seatmap_data::machine::Profile;
use seatmap_data::machine::export::{csv, hwloc_xml};
use seatmap_data::plan::export;
use seatmap_data::plan::placed::is_plan;
use seatmap_data::statistics::words::joined;
use seatmap_place::ranks::RankPlan;
use seatmap_report::{GridOrder, svg};
use seatmap_services::ServicesPlan;
use std::error::Error;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct Export {
    /// The plan, profile or cluster: a file, or the name of a bundled machine; - is stdin.
    #[arg(value_name = "DOCUMENT")]
    document: String,
    /// The format to write.
    #[arg(long)]
    format: ExportFormat,
    /// Where; stdout by default.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The formats of profiles and plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
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

type Writer<T, E = Box<dyn Error>> = fn(&T) -> Result<String, E>;

const OF_CLUSTERS: [(&str, Writer<Cluster>); 4] = [
    ("topology-conf", |cluster| Ok(topology::conf(cluster)?)),
    ("topology-yaml", |cluster| Ok(topology::yaml(cluster)?)),
    ("csv", |cluster| Ok(table::csv(cluster).ok_or("no pair of its nodes was measured")?)),
    ("json", |cluster| Ok(cluster.to_json())),
];

const OF_PROFILES: [(&str, Writer<Profile>); 4] = [
    ("csv", |profile| Ok(csv::write(profile)?)),
    ("hwloc-xml", |profile| Ok(hwloc_xml::write(profile)?)),
    ("svg", |profile| Ok(svg::heatmap(profile, GridOrder::Group))),
    ("json", |profile| Ok(profile.to_json())),
];

pub fn run(typed: &Export) -> CliResult {
    let destination = Destination::new(typed.output.as_deref().unwrap_or(Path::new("-")))?;
    destination.write(&text(&typed.document, typed.format)?)
}

fn text(name: &str, format: ExportFormat) -> CliResult<String> {
    let path = Path::new(name);
    // Stdin cannot be read again.
    let bytes = input::is_file(name).then(|| input::bytes(path)).transpose()?;
    match bytes {
        // Seatmap's documents have a format key; the readers of machines handle everything else.
        Some(bytes) if is_plan(&bytes) => {
            let plan = plan_input::plan_in(path, &bytes)?;
            written(name, "plan", &plan, &export::FORMATS, format)
        }
        Some(bytes) if RankPlan::is_plan(&bytes) => {
            let plan = input::parsed(path, &bytes, RankPlan::from_json)?;
            written(name, "plan for ranks", &plan, &seatmap_place::ranks::export::FORMATS, format)
        }
        Some(bytes) if ServicesPlan::is_plan(&bytes) => {
            let plan = input::parsed(path, &bytes, ServicesPlan::from_json)?;
            written(name, "plan for services", &plan, &seatmap_services::export::FORMATS, format)
        }
        Some(bytes) if Cluster::is_cluster(&bytes) => {
            let cluster = input::parsed(path, &bytes, Cluster::from_json)?;
            written(name, "cluster", &cluster, &OF_CLUSTERS, format)
        }
        bytes => {
            let machine = match bytes {
                Some(bytes) => input::machine_in(name, &bytes)?,
                None => input::machine(name)?,
            };
            let write = writer(name, "profile", &OF_PROFILES, format)?;
            write(&input::profile_of(&machine)?).map_err(CliError::input)
        }
    }
}

fn written<T, E: Into<Box<dyn Error>>>(
    name: &str,
    kind: &str,
    document: &T,
    formats: &[(&str, Writer<T, E>)],
    format: ExportFormat,
) -> CliResult<String> {
    let write = writer(name, kind, formats, format)?;
    write(document).at(Path::new(name))
}

fn writer<T, E>(
    name: &str,
    kind: &str,
    formats: &[(&str, Writer<T, E>)],
    format: ExportFormat,
) -> CliResult<Writer<T, E>> {
    let word = format.name();
    let known = formats.iter().find(|(known, _)| *known == word);
    known.map(|(_, write)| *write).ok_or_else(|| {
        let words = joined(formats.iter().map(|(known, _)| known), ", ");
        CliError::input(format!(
            "{name} is a {kind}, which cannot be written as {word}; formats for it are {words}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
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
