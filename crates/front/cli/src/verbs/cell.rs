//! `seatmap cell`.

pub mod seats;
mod serve;
mod told;
mod via;

use crate::args::{Cell, CellCreate, CellNamed, CellRenew, CellVerb};
use crate::myself;
use seatmap_cell::undo::Left;
use seatmap_cell::{
    CellError, CellList, CellRequest, CellVerdict, CpuChoice, Host, Name, NoiseJudge,
};
use seatmap_console::error::CliError;
use seatmap_console::{input, output, pattern_input};
use seatmap_machine::Profile;
use seatmap_noise::NoiseOptions;
use seatmap_os::CpuSet;
use seatmap_pattern::Pattern;
use seatmap_report::counted;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

/// Runs the subcommand that the user typed.
pub fn run(typed: &Cell) -> Result<(), CliError> {
    if let Some(socket) = socket(&typed.verb) {
        return via::run(socket, &typed.verb);
    }
    if let CellVerb::FileProxy(file_proxy) = &typed.verb {
        return seatmap_control::file_proxy::serve(&file_proxy.folder, file_proxy.read_only)
            .map_err(CliError::work);
    }
    let host = Host::here(myself::cell_guardian()).map_err(CliError::work)?;
    if let CellVerb::Guardian { name } = &typed.verb {
        return seatmap_cell::guardian::serve(&host, name).map_err(CliError::work);
    }
    if let CellVerb::Warden = &typed.verb {
        return seatmap_control::warden::serve(&host).map_err(CliError::work);
    }
    if !matches!(typed.verb, CellVerb::Restore) {
        take_over(&host)?;
    }
    match &typed.verb {
        CellVerb::Create(create) => self::create(&host, create),
        CellVerb::List { json, .. } => list(&host, *json),
        CellVerb::Show(named) => show(&host, named),
        CellVerb::Run(run) => seats::run(&host, run),
        CellVerb::Verify(named) => verify(&host, named),
        CellVerb::Destroy { name, .. } => destroy(&host, name),
        CellVerb::Renew(renew) => self::renew(&host, renew),
        CellVerb::Serve(serve) => self::serve::run(host, serve, judge()),
        CellVerb::Restore => restore(&host),
        CellVerb::Guardian { .. } | CellVerb::Warden | CellVerb::FileProxy(_) => Ok(()),
    }
}

/// The controller that is asked, where one is.
fn socket(verb: &CellVerb) -> Option<&Path> {
    match verb {
        CellVerb::Create(create) => create.queued.via.as_deref(),
        CellVerb::List { via, .. } | CellVerb::Destroy { via, .. } => via.as_deref(),
        CellVerb::Renew(renew) => renew.via.as_deref(),
        _ => None,
    }
}

/// How long noise is measured, before and after.
const JUDGED: Duration = Duration::from_millis(250);

/// A cell is as noisy as its noisiest CPU.
fn judge() -> Box<NoiseJudge<'static>> {
    Box::new(|cpus| {
        let report =
            seatmap_noise::measure(&cpus.0, &briefly(), &mut |_| ControlFlow::Continue(()))?;
        Ok(report.cpus.iter().map(|cpu| cpu.stolen_percent).fold(0.0, f64::max))
    })
}

/// Finishes what others left unfinished.
fn take_over(host: &Host) -> Result<(), CliError> {
    let _lock = host.run.lock().map_err(CellError::Remembering)?;
    warn(&host.recover()?);
    Ok(())
}

fn warn(left: &[Left]) {
    left.iter().for_each(|left| output::tell(&left.to_string()));
}

fn create(host: &Host, typed: &CellCreate) -> Result<(), CliError> {
    let mut judge = (!typed.untested).then(judge);
    let request = CellRequest {
        name: typed.name.clone(),
        cpus: cpus(host, typed)?,
        require: typed.require.into(),
        noise_limit: typed.noise,
        lease_s: typed.ttl,
        memory_bytes: typed.memory,
    };
    let record = seatmap_cell::create(host, &request, judge.as_deref_mut())?;
    if typed.json { output::json(&record) } else { output::print(&told::cell(&record)) }
}

fn cpus(host: &Host, typed: &CellCreate) -> Result<CpuSet, CliError> {
    if let Some(list) = &typed.cpus {
        return match typed.profile {
            None => Ok(list.into()),
            Some(_) => Err(CliError::input(
                "CPUs that are named are not chosen; leave --profile or --cpus out",
            )),
        };
    }
    // Which CPUs are free does not matter then.
    if host.cell(&typed.name).is_ok() {
        return Err(CellError::NameTaken(typed.name.clone()).into());
    }
    let mut choice = CpuChoice::of_host(host)?;
    let profile: Option<Profile> = typed.profile.as_deref().map(input::profile).transpose()?;
    if let (Some(pattern), Some(profile)) = (&typed.pattern, &profile) {
        return cpus_for_pattern(&choice, profile, &pattern_input::pattern(pattern)?);
    }
    if !typed.untested {
        choice.steal_percent = steal(&choice.free);
    }
    Ok(choice.best(typed.count.map(NonZeroUsize::get), profile.as_ref())?)
}

/// The CPUs on which the tasks of a pattern communicate at the lowest cost.
fn cpus_for_pattern(
    choice: &CpuChoice,
    profile: &Profile,
    pattern: &Pattern,
) -> Result<CpuSet, CliError> {
    let mut request = seatmap_place::PlaceRequest::new(profile, pattern);
    request.cpus = Some(choice.candidates(pattern.tasks)?);
    let answer = request.place().map_err(CliError::input)?;
    Ok(answer.placement.into_iter().collect())
}

/// The share of each CPU's time that the hypervisor takes, where that can be measured.
fn steal(cpus: &CpuSet) -> BTreeMap<u32, f64> {
    let report =
        seatmap_noise::measure(&cpus.list().0, &briefly(), &mut |_| ControlFlow::Continue(()));
    let known = report.map(|report| report.cpus).unwrap_or_default();
    known.into_iter().filter_map(|cpu| Some((cpu.cpu, cpu.steal_percent?))).collect()
}

fn briefly() -> NoiseOptions {
    NoiseOptions { duration: JUDGED, ..NoiseOptions::default() }
}

fn list(host: &Host, json: bool) -> Result<(), CliError> {
    let cells = seatmap_cell::examine_all(host)?;
    if json { output::json(&CellList::of(&cells)) } else { output::print(&told::table(&cells)) }
}

fn show(host: &Host, typed: &CellNamed) -> Result<(), CliError> {
    let (record, faults) = seatmap_cell::examine(host, &typed.name)?;
    if typed.json {
        return output::json(&record);
    }
    let faults: String =
        faults.iter().map(|fault| format!("  wrong: {}\n", output::visible(fault))).collect();
    output::print(&(told::cell(&record) + &faults))
}

fn verify(host: &Host, typed: &CellNamed) -> Result<(), CliError> {
    let (record, faults) = seatmap_cell::examine(host, &typed.name)?;
    if typed.json {
        output::json(&CellVerdict { record: &record, faults: &faults })?
    } else {
        output::print(&told::verdict(&record, &faults))?
    }
    match faults.len() {
        0 => Ok(()),
        count => {
            let things = counted(count, "thing");
            let are = if count == 1 { "is" } else { "are" };
            Err(CliError::work(format!("{things} {are} wrong with the cell '{}'", record.name)))
        }
    }
}

fn destroy(host: &Host, name: &Name) -> Result<(), CliError> {
    ended(&seatmap_cell::destroy(host, name)?)
}

fn renew(host: &Host, typed: &CellRenew) -> Result<(), CliError> {
    let record = seatmap_cell::renew(host, &typed.name, typed.ttl)?;
    if typed.json { output::json(&record) } else { output::print(&told::cell(&record)) }
}

fn restore(host: &Host) -> Result<(), CliError> {
    let restored = seatmap_cell::restore(host)?;
    restored.lost.iter().for_each(|lost| output::tell(lost));
    output::tell(&format!("{} undone", counted(restored.cells, "cell")));
    ended(&restored.left)
}

fn ended(left: &[Left]) -> Result<(), CliError> {
    warn(left);
    match left.len() {
        0 => Ok(()),
        count => {
            Err(CliError::work(format!("{count} of the cell's changes could not be put back")))
        }
    }
}
