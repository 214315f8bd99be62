//! `seatmap export`.

use crate::args::{Export, ExportFormat};
use crate::verbs::cluster;
use crate::verbs::place::ranks;
use seatmap_cluster::{Cluster, table, topology};
use seatmap_console::error::{AtFile, CliError};
use seatmap_console::output::Destination;
use seatmap_console::{input, plan_input};
use seatmap_machine::Profile;
use seatmap_plan::export::{
    ExportError, container, dpdk, gomp, hwloc, kmp, kubernetes, libvirt, likwid_pin, nginx,
    numactl, omp_places, rankfile, redis, sched_ext, slurm, systemd, taskset,
};
use seatmap_plan::{Plan, plan};
use seatmap_ranks::RankPlan;
use seatmap_report::{Order, svg};
use std::path::Path;

/// Writes a profile, plan or cluster as another tool's file.
pub fn run(typed: Export) -> Result<(), CliError> {
    let destination = Destination::new(typed.output.as_deref().unwrap_or(Path::new("-")))?;
    destination.write(&text(&typed.document, typed.format)?)
}

fn text(name: &str, format: ExportFormat) -> Result<String, CliError> {
    let path = Path::new(name);
    // Read once, as stdin can be read no second time.
    let bytes = input::is_file(name).then(|| input::bytes(path)).transpose()?;
    match bytes {
        // Documents say of themselves what they are; everything else is for the readers of
        // machines.
        Some(bytes) if plan::is_plan(&bytes) => {
            of_plan(name, &plan_input::plan_in(path, &bytes)?, format)
        }
        Some(bytes) if RankPlan::is_plan(&bytes) => match ranks::of_bytes(path, &bytes)? {
            Some(plan) => of_ranks(name, &plan, format),
            None => unreachable!("it says of itself that it is one"),
        },
        Some(bytes) if Cluster::is_cluster(&bytes) => {
            of_cluster(name, &cluster::read(path, &bytes)?, format)
        }
        Some(bytes) => {
            of_profile(name, &input::profile_of(&input::machine_in(name, &bytes)?)?, format)
        }
        // The name of a bundled machine.
        None => of_profile(name, &input::profile(name)?, format),
    }
}

fn of_ranks(name: &str, plan: &RankPlan, format: ExportFormat) -> Result<String, CliError> {
    use seatmap_ranks::export::{groups, mpich, openmpi, rankfile, slurm, torchrun};
    match format {
        ExportFormat::Openmpi => Ok(openmpi::write(plan)),
        ExportFormat::Mpich => Ok(mpich::write(plan)),
        ExportFormat::SlurmHostfile => Ok(slurm::write(plan)),
        ExportFormat::Rankfile => Ok(rankfile::write(plan)),
        ExportFormat::Torchrun => torchrun::write(plan)
            .map_err(|error| CliError::input(AtFile::new(Path::new(name), error))),
        ExportFormat::Groups => Ok(groups::write(plan)),
        ExportFormat::Json => Ok(plan.to_json()),
        _ => Err(unfit(format, name, "plan for ranks", &ExportFormat::OF_RANKS)),
    }
}

fn of_cluster(name: &str, cluster: &Cluster, format: ExportFormat) -> Result<String, CliError> {
    let refused = |error| CliError::input(AtFile::new(Path::new(name), error));
    match format {
        ExportFormat::TopologyConf => topology::conf(cluster).map_err(refused),
        ExportFormat::TopologyYaml => topology::yaml(cluster).map_err(refused),
        ExportFormat::Csv => table::csv(cluster).ok_or_else(|| {
            CliError::input(AtFile::new(Path::new(name), "no pair of its nodes was measured"))
        }),
        ExportFormat::Json => Ok(cluster.to_json()),
        _ => Err(unfit(format, name, "cluster", &ExportFormat::OF_CLUSTERS)),
    }
}

fn of_profile(name: &str, profile: &Profile, format: ExportFormat) -> Result<String, CliError> {
    use seatmap_machine::export::{csv, hwloc_xml};
    match format {
        ExportFormat::Csv => csv::write(profile).map_err(CliError::input),
        ExportFormat::HwlocXml => hwloc_xml::write(profile).map_err(CliError::input),
        ExportFormat::Svg => Ok(svg::heatmap(profile, Order::Group)),
        ExportFormat::Json => Ok(profile.to_json()),
        _ => Err(unfit(format, name, "profile", &ExportFormat::OF_PROFILES)),
    }
}

fn of_plan(name: &str, plan: &Plan, format: ExportFormat) -> Result<String, CliError> {
    let refused = |error: ExportError| CliError::input(AtFile::new(Path::new(name), error));
    match format {
        ExportFormat::Taskset => Ok(taskset::write(plan)),
        ExportFormat::OmpPlaces => Ok(omp_places::write(plan)),
        ExportFormat::Gomp => gomp::write(plan).map_err(refused),
        ExportFormat::Kmp => Ok(kmp::write(plan)),
        ExportFormat::LikwidPin => likwid_pin::write(plan).map_err(refused),
        ExportFormat::Rankfile => Ok(rankfile::write(plan)),
        ExportFormat::Slurm => Ok(slurm::write(plan)),
        ExportFormat::Systemd => Ok(systemd::write(plan)),
        ExportFormat::Hwloc => Ok(hwloc::write(plan)),
        ExportFormat::Numactl => Ok(numactl::write(plan)),
        ExportFormat::Docker | ExportFormat::Podman => Ok(container::write(plan)),
        ExportFormat::Libvirt => Ok(libvirt::write(plan)),
        ExportFormat::Dpdk => dpdk::write(plan).map_err(refused),
        ExportFormat::Nginx => nginx::write(plan).map_err(refused),
        ExportFormat::Redis => Ok(redis::write(plan)),
        ExportFormat::K8s => Ok(kubernetes::write(plan)),
        ExportFormat::SchedExt => sched_ext::write(plan).map_err(refused),
        ExportFormat::Json => Ok(plan.to_json()),
        _ => Err(unfit(format, name, "plan", &ExportFormat::OF_PLANS)),
    }
}

fn unfit(format: ExportFormat, name: &str, found: &str, formats: &[ExportFormat]) -> CliError {
    let formats: Vec<String> = formats.iter().map(|format| format.name()).collect();
    let format = format.name();
    let formats = formats.join(", ");
    CliError::input(format!(
        "{name} is a {found}, which cannot be written as {format}; formats for it are {formats}"
    ))
}
