//! `seatmap cluster`.

mod meant;
mod page;

use crate::args::{ClusterArgs, ClusterCommand, ClusterDoctor, ClusterMeasure};
use page::ClusterOutputs;
use seatmap_cluster::measure;
use seatmap_cluster::{Cluster as Measured, judge};
use seatmap_console::bar::Bars;
use seatmap_console::error::CliError;
use seatmap_console::{input, meet, output};
use seatmap_report::{cluster, counted};
use std::path::Path;

/// Measures a cluster, or says what is wrong with one.
pub fn run(typed: &ClusterArgs) -> Result<(), CliError> {
    match &typed.command {
        ClusterCommand::Measure(typed) => measure(typed),
        ClusterCommand::Doctor(typed) => doctor(typed),
    }
}

/// The cluster in a file; `None` where it is something else.
pub fn of_file(name: &str) -> Result<Option<Measured>, CliError> {
    input::if_in_file(name, Measured::is_cluster, Measured::from_json)
}

/// The cluster in a file that was read.
pub fn read(path: &Path, bytes: &[u8]) -> Result<Measured, CliError> {
    input::parsed(path, bytes, Measured::from_json)
}

/// Shows a cluster.
pub fn show(cluster: &Measured, json: bool) -> Result<(), CliError> {
    if json { output::json(cluster) } else { output::show(&cluster::page(cluster)) }
}

fn measure(typed: &ClusterMeasure) -> Result<(), CliError> {
    let rank = meet::rank()?;
    let page = ClusterOutputs::new(typed, &rank)?;
    let options = meant::options(typed, &rank)?;
    let mut bars = Bars::default();
    let measured = measure::run(
        &rank,
        meant::own_node(typed),
        &options,
        &mut |progress| page::show(progress, &mut bars),
        &mut |so_far| page.keep(so_far),
    )?;
    drop(bars);
    // Only rank 0 has a result.
    measured.map_or(Ok(()), |measured| page.end(&measured))
}

fn doctor(typed: &ClusterDoctor) -> Result<(), CliError> {
    let cluster = read(&typed.cluster, &input::bytes(&typed.cluster)?)?;
    let diagnosis = judge::ClusterFaults::of(&cluster);
    output::even_unread(if typed.json {
        output::json(&diagnosis)
    } else {
        output::print(&cluster::verdict(&cluster, &diagnosis.faults))
    })?;
    match diagnosis.faults.len() {
        faults if typed.fail && faults > 0 => {
            Err(CliError::work(format!("{} found", counted(faults, "fault"))))
        }
        _ => Ok(()),
    }
}
