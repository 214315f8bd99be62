//! Converts command lines into requests, or usage errors.

use super::{PlanStanding, ServicesImport, ServicesPlanArgs};
use seatmap_console::{AtPath, CliError, CliResult, Destination, here, input, output};
use seatmap_data::machine::Profile;
use seatmap_data::machine::import::MAX_FILE_BYTES;
use seatmap_launch::sets::ComputerCpus;
use seatmap_os::{Root, memory, trusted, whole_file};
use seatmap_services::apply::ApplyRequest;
use seatmap_services::bounds::ServiceBounds;
use seatmap_services::import::{
    self, CgroupDriver, ImportRemark, ImportedSeats, SourceFile, gather,
};
use seatmap_services::recorder::INTERVAL;
use seatmap_services::{
    PlanRequest, RecordRequest, Service, ServicesFile, ServicesPlan, ServicesRecord, living,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// How long 'show' observes, and 'drift' looks for programs missing from a plan.
pub const GLANCE: Duration = Duration::from_secs(1);

fn services(path: &Path) -> CliResult<ServicesFile> {
    if !path.exists() {
        return Err(CliError::at(
            path,
            "this file does not exist; 'seatmap services init' creates it",
        ));
    }
    input::document(path, ServicesFile::from_toml)
}

pub fn known(path: &Path) -> CliResult<Option<ServicesFile>> {
    if path.exists() { services(path).map(Some) } else { Ok(None) }
}

/// Adds text to a file of services; fails if there is none to add.
pub fn extend(path: &Path, is_there: bool, text: Option<String>) -> CliResult {
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
pub fn check_file(path: &Path, plan: Option<&Path>) -> CliResult {
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

pub fn imported(typed: &ServicesImport) -> CliResult<ImportedSeats> {
    let mut files: Vec<(String, String, bool)> = Vec::new();
    let mut unopened = Vec::new();
    for source in &typed.sources {
        let mut paths = vec![source.clone()];
        if source.is_dir() {
            let found = gather::files_of(source).at(source)?;
            paths = found.0;
            let errors = found.1.iter();
            unopened.extend(errors.map(|(folder, error)| unread(folder, &error.to_string())));
        }
        for path in paths {
            let text = input::bytes(&path).and_then(|bytes| gather::text_of(&bytes).at(&path));
            let is_from_folder = path != *source;
            match text {
                Ok(text) => files.push((path.to_string_lossy().into(), text, is_from_folder)),
                Err(error) if is_from_folder => unopened.push(unread(&path, &error.text())),
                Err(error) => return Err(error),
            }
        }
    }
    let files = files.iter();
    let sources: Vec<SourceFile> = files
        .map(|(name, text, is_from_folder)| SourceFile {
            name,
            text,
            is_from_folder: *is_from_folder,
        })
        .collect();
    let format = typed.format.map(Into::into);
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
) -> CliResult {
    let Some(text) = seats.text(known) else {
        output::tell(&format!("{}: already lists every service", typed.file.display()));
        return Ok(());
    };
    let added = append(&typed.file, known.is_some(), &text)?;
    output::tell(&format!("{}: {added} added", typed.file.display()));
    Ok(())
}

/// Returns the number of added services, in words.
fn append(path: &Path, is_there: bool, text: &str) -> CliResult<String> {
    let before = if is_there { input::bytes(path)? } else { Vec::new() };
    let whole = [&before[..], text.as_bytes()].concat();
    whole_file::replace(path, &whole).work_at(path)?;
    Ok(seatmap_report::counted(text.matches("[[service]]").count(), "service"))
}

pub fn glance(path: &Path) -> CliResult<RecordRequest> {
    Ok(RecordRequest {
        file: services(path)?,
        time: GLANCE,
        interval: INTERVAL,
        sees_talk: false,
        machine: here::host_name(),
        begun: here::now(),
    })
}

/// A saved record, with the limits of another file of services.
pub fn record(path: &Path, file: Option<&Path>) -> CliResult<ServicesRecord> {
    let record = input::document(path, ServicesRecord::from_json)?;
    match file {
        Some(file) => Ok(record.with_limits(&services(file)?)?),
        None => Ok(record),
    }
}

/// The CPUs that the services must be within.
fn bounds(typed: &ServicesPlanArgs, record: &ServicesRecord) -> CliResult<ServiceBounds> {
    let services: Vec<&Service> =
        record.services.iter().map(|recorded| &recorded.service).collect();
    if services.iter().all(|service| service.cpus.is_none()) {
        return Ok(ServiceBounds::default());
    }
    let machine = input::machine(typed.on.as_deref().unwrap_or("host"))?;
    let computer = if machine.is_host() {
        ComputerCpus::read_whole().map_err(CliError::work)?
    } else {
        input::cpus_of(&machine)?
    };
    let bounds = ServiceBounds::of(services, &computer)?;
    output::tell_each(&bounds.remarks);
    Ok(bounds)
}

pub fn plan<'a>(
    typed: &ServicesPlanArgs,
    record: &'a ServicesRecord,
    profile: &'a Profile,
    beside: Option<&'a ServicesPlan>,
) -> CliResult<PlanRequest<'a>> {
    let is_here = typed.on.as_deref().is_none_or(|name| name == "host");
    Ok(PlanRequest {
        record,
        profile,
        bounds: bounds(typed, record)?.cpus,
        beside,
        allowed: is_here.then(|| living::usable_cpus(&Root::new("/"))),
        node_bytes: if is_here { memory::node_bytes(&Root::new("/")) } else { BTreeMap::new() },
        is_recorded_machine: is_here && here::is_this_host(&record.machine),
    })
}

pub fn seating(plan: ServicesPlan, standing: &PlanStanding) -> ApplyRequest {
    ApplyRequest {
        plan,
        name: standing.name.clone(),
        time: standing.ttl,
        moves_interrupts: standing.interrupts,
        moves_packets: standing.rps,
    }
}

pub fn planned(path: &Path) -> CliResult<ServicesPlan> {
    input::document(path, ServicesPlan::from_json)
}

/// Only this user may be able to write the file, because metrics are shell commands.
pub fn raced(path: &Path) -> CliResult<ServicesPlan> {
    if path == Path::new("-") {
        return planned(path);
    }
    let bytes = trusted::read_own(path, MAX_FILE_BYTES as u64).map_err(CliError::input)?;
    input::parsed(path, &bytes, ServicesPlan::from_json)
}
