//! Converts command lines into requests, or usage errors.

use crate::args::{
    SeatsFormatName, ServicesApply, ServicesImport, ServicesObserve, ServicesPlanArgs, ServicesRace,
};
use seatmap_console::error::CliError;
use seatmap_console::output::Destination;
use seatmap_console::{here, input, output};
use seatmap_data::machine::Profile;
use seatmap_data::machine::import::MAX_FILE_BYTES;
use seatmap_os::{Root, memory, trusted, whole_file};
use seatmap_services::apply::ApplyRequest;
use seatmap_services::import::{
    self, CgroupDriver, ImportRemark, ImportedSeats, SeatsFormat, SourceFile, gather,
};
use seatmap_services::race::ServicesRaceRequest;
use seatmap_services::recorder::INTERVAL;
use seatmap_services::{
    PlanRequest, RecordRequest, ServicesFile, ServicesPlan, ServicesRecord, living,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const USUAL_FILE: &str = "services.toml";

/// How long 'show' observes, and 'drift' looks for programs missing from a plan.
pub const GLANCE: Duration = Duration::from_secs(1);

fn services(path: &Path) -> Result<ServicesFile, CliError> {
    if !path.exists() {
        return Err(CliError::at(
            path,
            "this file does not exist; 'seatmap services init' creates it",
        ));
    }
    input::parsed(path, &input::bytes(path)?, ServicesFile::from_toml)
}

pub fn known(path: &Path) -> Result<Option<ServicesFile>, CliError> {
    if path.exists() { services(path).map(Some) } else { Ok(None) }
}

/// Adds text to a file of services; fails if there is none to add.
pub fn extend(path: &Path, is_there: bool, text: Option<String>) -> Result<(), CliError> {
    let Some(text) = text else {
        return Err(CliError::work(if is_there {
            format!("{}: already lists every running service", path.display())
        } else {
            "no service found: nothing here has its own unit or control group, or uses 1 % of a \
             CPU; list your services by hand"
                .to_owned()
        }));
    };
    let services = append(path, is_there, &text)?;
    output::print(&format!("{}: {services} added\n", path.display()))
}

/// Checks before any work that the file of services is writable and is not the plan's.
pub fn check_file(path: &Path, plan: Option<&Path>) -> Result<(), CliError> {
    let place = Destination::new(path)?;
    if matches!(&place, Destination::File(place) if Some(&**place) == plan) {
        let problem = "is the services file; give -o another file name for the plan";
        return Err(CliError::at(path, problem));
    }
    Ok(())
}

/// The machine for the picture of a plan: its own by name, if it is known here and has the plan's
/// CPUs.
pub fn pictured_machine(plan: &ServicesPlan) -> Profile {
    let known = plan.known_machine();
    let name = if here::is_this_host(&plan.machine) { "host" } else { &plan.machine };
    let own = input::profile(name)
        .ok()
        .filter(|own| known.topology.os_indices().all(|cpu| own.topology.pu(cpu).is_some()));
    own.unwrap_or(known)
}

pub fn imported(typed: &ServicesImport) -> Result<ImportedSeats, CliError> {
    let mut files: Vec<(String, String, bool)> = Vec::new();
    let mut unopened = Vec::new();
    for source in &typed.sources {
        let mut paths = vec![source.clone()];
        if source.is_dir() {
            let found = gather::files_of(source).map_err(|error| CliError::at(source, error))?;
            paths = found.0;
            found
                .1
                .iter()
                .for_each(|(folder, error)| unopened.push(unread(folder, &error.to_string())));
        }
        for path in paths {
            let text = input::bytes(&path).and_then(|bytes| {
                gather::text_of(&bytes).map_err(|error| CliError::at(&path, error))
            });
            match text {
                Ok(text) => {
                    files.push((path.to_string_lossy().into_owned(), text, path != *source));
                }
                Err(error) if path != *source => unopened.push(unread(&path, &error.text())),
                Err(error) => return Err(error),
            }
        }
    }
    let sources: Vec<SourceFile> = files
        .iter()
        .map(|(name, text, is_from_folder)| SourceFile {
            name,
            text,
            is_from_folder: *is_from_folder,
        })
        .collect();
    let format = typed.format.map(|format| match format {
        SeatsFormatName::Kubelet => SeatsFormat::Kubelet,
        SeatsFormatName::Systemd => SeatsFormat::Systemd,
        SeatsFormatName::Libvirt => SeatsFormat::Libvirt,
    });
    Ok(import::read(&sources, unopened, format, CgroupDriver::here(&Root::new("/")))?)
}

fn unread(path: &Path, problem: &str) -> ImportRemark {
    let file = path.to_string_lossy().into_owned();
    let problem = problem.trim_start_matches(&format!("{file}: ")).to_owned();
    ImportRemark::UnreadFile { file, problem }
}

pub fn add_imported(
    typed: &ServicesImport,
    known: Option<&ServicesFile>,
    seats: &ImportedSeats,
) -> Result<(), CliError> {
    let Some(text) = seats.text(known) else {
        output::tell(&format!("{}: already lists every service", typed.file.display()));
        return Ok(());
    };
    let added = append(&typed.file, known.is_some(), &text)?;
    output::tell(&format!("{}: {added} added", typed.file.display()));
    Ok(())
}

/// Returns the number of added services, in words.
fn append(path: &Path, is_there: bool, text: &str) -> Result<String, CliError> {
    let before = if is_there { input::bytes(path)? } else { Vec::new() };
    let whole = [&before[..], text.as_bytes()].concat();
    whole_file::replace(path, &whole).map_err(|error| CliError::work_at(path, error))?;
    Ok(seatmap_report::counted(text.matches("[[service]]").count(), "service"))
}

pub fn glance(path: &Path) -> Result<RecordRequest, CliError> {
    Ok(RecordRequest {
        file: services(path)?,
        time: GLANCE,
        interval: INTERVAL,
        sees_talk: false,
        machine: here::host_name(),
        begun: here::now(),
    })
}

pub fn recording(typed: &ServicesObserve) -> Result<RecordRequest, CliError> {
    Ok(RecordRequest {
        time: typed.seconds,
        interval: typed.interval,
        sees_talk: !typed.no_talk,
        ..glance(&typed.file)?
    })
}

/// The load that a plan is for.
pub enum LoadSource {
    Record(Box<ServicesRecord>),
    Look(Box<RecordRequest>),
}

pub fn load(typed: &ServicesPlanArgs) -> Result<LoadSource, CliError> {
    let Some(path) = &typed.record else {
        let file = typed.file.as_deref().unwrap_or(Path::new(USUAL_FILE));
        let request = RecordRequest { time: typed.seconds, sees_talk: true, ..glance(file)? };
        return Ok(LoadSource::Look(Box::new(request)));
    };
    let record = input::parsed(path, &input::bytes(path)?, ServicesRecord::from_json)?;
    let limited = match &typed.file {
        Some(file) => record.with_limits(&services(file)?)?,
        None => record,
    };
    Ok(LoadSource::Record(Box::new(limited)))
}

pub fn plan<'a>(
    typed: &ServicesPlanArgs,
    record: &'a ServicesRecord,
    profile: &'a Profile,
    beside: Option<&'a ServicesPlan>,
) -> PlanRequest<'a> {
    let is_here = typed.on.as_deref().is_none_or(|name| name == "host");
    PlanRequest {
        record,
        profile,
        beside,
        allowed: is_here.then(|| living::usable_cpus(&Root::new("/"))),
        node_bytes: if is_here { memory::node_bytes(&Root::new("/")) } else { BTreeMap::new() },
        is_recorded_machine: is_here && here::is_this_host(&record.machine),
    }
}

pub fn applying(typed: &ServicesApply) -> Result<ApplyRequest, CliError> {
    Ok(ApplyRequest {
        plan: planned(&typed.plan)?,
        name: typed.standing.name.clone(),
        time: typed.standing.ttl,
        moves_interrupts: typed.standing.interrupts,
        moves_packets: typed.standing.rps,
    })
}

pub fn racing(typed: &ServicesRace) -> Result<ServicesRaceRequest, CliError> {
    Ok(ServicesRaceRequest {
        plan: raced(&typed.plan)?,
        name: typed.standing.name.clone(),
        period: typed.period,
        rounds: typed.rounds as usize,
        time: typed.standing.ttl,
        moves_interrupts: typed.standing.interrupts,
        moves_packets: typed.standing.rps,
    })
}

pub fn planned(path: &Path) -> Result<ServicesPlan, CliError> {
    input::parsed(path, &input::bytes(path)?, ServicesPlan::from_json)
}

/// Only this user may be able to write the file, because metrics are shell commands.
fn raced(path: &Path) -> Result<ServicesPlan, CliError> {
    if path == Path::new("-") {
        return planned(path);
    }
    let bytes = trusted::read_own(path, MAX_FILE_BYTES as u64).map_err(CliError::input)?;
    input::parsed(path, &bytes, ServicesPlan::from_json)
}
