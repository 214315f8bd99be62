//! `seatmap export`.

use crate::args::{Export, ExportFormat};
use crate::verbs::cluster;
use seatmap_cluster::{Cluster, table, topology};
use seatmap_console::error::CliError;
use seatmap_console::output::Destination;
use seatmap_console::{input, plan_input};
use seatmap_data::machine::Profile;
use seatmap_data::machine::export::{csv, hwloc_xml};
use seatmap_data::plan::export;
use seatmap_data::plan::placed::is_plan;
use seatmap_data::statistics::words::joined;
use seatmap_place::ranks::RankPlan;
use seatmap_report::{GridOrder, svg};
use seatmap_services::ServicesPlan;
use std::error::Error;
use std::path::Path;

pub type Writer<T, E = Box<dyn Error>> = fn(&T) -> Result<String, E>;

pub const OF_CLUSTERS: [(&str, Writer<Cluster>); 4] = [
    ("topology-conf", |cluster| Ok(topology::conf(cluster)?)),
    ("topology-yaml", |cluster| Ok(topology::yaml(cluster)?)),
    ("csv", |cluster| Ok(table::csv(cluster).ok_or("no pair of its nodes was measured")?)),
    ("json", |cluster| Ok(cluster.to_json())),
];

pub const OF_PROFILES: [(&str, Writer<Profile>); 4] = [
    ("csv", |profile| Ok(csv::write(profile)?)),
    ("hwloc-xml", |profile| Ok(hwloc_xml::write(profile)?)),
    ("svg", |profile| Ok(svg::heatmap(profile, GridOrder::Group))),
    ("json", |profile| Ok(profile.to_json())),
];

pub fn run(typed: Export) -> Result<(), CliError> {
    let destination = Destination::new(typed.output.as_deref().unwrap_or(Path::new("-")))?;
    destination.write(&text(&typed.document, typed.format)?)
}

fn text(name: &str, format: ExportFormat) -> Result<String, CliError> {
    let path = Path::new(name);
    // Stdin cannot be read again.
    let bytes = input::is_file(name).then(|| input::bytes(path)).transpose()?;
    let written: Result<String, Box<dyn Error>> = match bytes {
        // Seatmap's documents have a format key; the readers of machines handle everything else.
        Some(bytes) if is_plan(&bytes) => {
            let plan = plan_input::plan_in(path, &bytes)?;
            writer(name, "plan", &export::FORMATS, format)?(&plan).map_err(Into::into)
        }
        Some(bytes) if RankPlan::is_plan(&bytes) => {
            let plan = input::parsed(path, &bytes, RankPlan::from_json)?;
            let formats = &seatmap_place::ranks::export::FORMATS;
            writer(name, "plan for ranks", formats, format)?(&plan).map_err(Into::into)
        }
        Some(bytes) if ServicesPlan::is_plan(&bytes) => {
            let plan = input::parsed(path, &bytes, ServicesPlan::from_json)?;
            let formats = &seatmap_services::export::FORMATS;
            writer(name, "plan for services", formats, format)?(&plan).map_err(Into::into)
        }
        Some(bytes) if Cluster::is_cluster(&bytes) => {
            let cluster = cluster::read(path, &bytes)?;
            writer(name, "cluster", &OF_CLUSTERS, format)?(&cluster)
        }
        bytes => {
            let machine = match bytes {
                Some(bytes) => input::machine_in(name, &bytes)?,
                None => input::machine(name)?,
            };
            let write = writer(name, "profile", &OF_PROFILES, format)?;
            return write(&input::profile_of(&machine)?).map_err(CliError::input);
        }
    };
    written.map_err(|error| CliError::at(path, error))
}

fn writer<T, E>(
    name: &str,
    kind: &str,
    formats: &[(&str, Writer<T, E>)],
    format: ExportFormat,
) -> Result<Writer<T, E>, CliError> {
    let word = format.name();
    let known = formats.iter().find(|(known, _)| *known == word);
    known.map(|(_, write)| *write).ok_or_else(|| {
        let words = joined(formats.iter().map(|(known, _)| known), ", ");
        CliError::input(format!(
            "{name} is a {kind}, which cannot be written as {word}; formats for it are {words}"
        ))
    })
}
