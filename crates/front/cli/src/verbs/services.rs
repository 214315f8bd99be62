//! `seatmap services`.

mod meant;

use crate::args::{
    Services, ServicesApply, ServicesDrift, ServicesImport, ServicesInit, ServicesObserve,
    ServicesPlanArgs, ServicesRace, ServicesShow, ServicesVerb,
};
use crate::myself;
use seatmap_cell::GuardedHost;
use seatmap_cell::undo::Left;
use seatmap_console::bar::Bar;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::StopFlag;
use seatmap_console::outputs::ResultForms;
use seatmap_console::{input, output};
use seatmap_os::Root;
use seatmap_report::{counted, services as page};
use seatmap_services::apply::ServicesHost;
use seatmap_services::drift::DriftReport;
use seatmap_services::{RecordRequest, ServicesPlan, ServicesRecord, find};

pub fn run(typed: &Services) -> Result<(), CliError> {
    match &typed.verb {
        ServicesVerb::Init(typed) => init(typed),
        ServicesVerb::Import(typed) => import(typed),
        ServicesVerb::Show(typed) => show(typed),
        ServicesVerb::Observe(typed) => observe(typed),
        ServicesVerb::Plan(typed) => plan(typed),
        ServicesVerb::Apply(typed) => apply(typed),
        ServicesVerb::Undo(typed) => {
            let (name, left) = standing_host()?.undo(typed.name.as_ref())?;
            undone(&left)?;
            output::print(&format!("plan '{name}' is undone\n"))
        }
        ServicesVerb::Keep(typed) => {
            let applied = standing_host()?.keep(typed.name.as_ref())?;
            output::print(&format!(
                "plan '{}' is kept: {}\n",
                applied.name,
                page::standing(&applied)
            ))
        }
        ServicesVerb::Drift(typed) => drift(typed),
        ServicesVerb::Race(typed) => race(typed),
    }
}

fn host() -> Result<ServicesHost, CliError> {
    Ok(ServicesHost::here(myself::services_guardian())?)
}

/// The host, after finishing what a killed program left.
fn standing_host() -> Result<ServicesHost, CliError> {
    let host = host()?;
    output::tell_each(host.take_over()?);
    Ok(host)
}

fn undone(left: &[Left]) -> Result<(), CliError> {
    output::tell_each(left);
    match left.len() {
        0 => Ok(()),
        count => Err(CliError::work(format!("{} not restored", counted(count, "setting")))),
    }
}

fn init(typed: &ServicesInit) -> Result<(), CliError> {
    let known = meant::known(&typed.file)?;
    let interrupt = StopFlag::listen()?;
    let found =
        find::find(&Root::new("/"), known.as_ref(), typed.seconds, &|| interrupt.is_raised());
    let text = find::text(known.as_ref(), &found.map_err(CliError::work)?);
    meant::extend(&typed.file, known.is_some(), text)
}

fn import(typed: &ServicesImport) -> Result<(), CliError> {
    let outputs = typed.forms.outputs(typed.output.as_deref())?;
    meant::check_file(&typed.file, outputs.path())?;
    let known = meant::known(&typed.file)?;
    let seats = meant::imported(typed)?;
    let profile = input::profile(&typed.on)?;
    let plan = outputs.file.as_ref().map(|file| Ok::<_, CliError>((file, seats.plan(&profile)?)));
    let plan = plan.transpose()?;
    // The same command can finish after a later failure.
    meant::add_imported(typed, known.as_ref(), &seats)?;
    if let Some((file, plan)) = plan {
        file.write(&seatmap_data::document::written(&plan))?;
    }
    outputs.show(&seats, &page::import_page(&seats, &profile))?;
    match seats.claims() {
        0 => Ok(()),
        count => {
            let pairs = counted(count, "pair");
            Err(CliError::work(format!("conflicting claims to CPUs: {pairs} of services")))
        }
    }
}

fn show(typed: &ServicesShow) -> Result<(), CliError> {
    let outputs = typed.forms.outputs(None)?;
    let record = recorded(&meant::glance(&typed.file)?)?;
    outputs.show(&record, &page::record_page(&record))
}

fn observe(typed: &ServicesObserve) -> Result<(), CliError> {
    let outputs = typed.forms.outputs(typed.output.as_deref())?;
    let record = recorded(&meant::recording(typed)?)?;
    outputs.write(&record, false)?;
    outputs.show(&record, &page::record_page(&record))
}

fn recorded(request: &RecordRequest) -> Result<ServicesRecord, CliError> {
    let interrupt = StopFlag::listen()?;
    let bar = Bar::new("recording");
    let root = Root::new("/");
    Ok(request.run(&root, &|| interrupt.is_raised(), &|done, steps| bar.show(done, steps))?)
}

fn plan(typed: &ServicesPlanArgs) -> Result<(), CliError> {
    let outputs = typed.forms.outputs(typed.output.as_deref())?;
    let record = match meant::load(typed)? {
        meant::LoadSource::Record(record) => *record,
        meant::LoadSource::Look(request) => recorded(&request)?,
    };
    let profile = input::profile(typed.on.as_deref().unwrap_or("host"))?;
    let beside = typed.beside.as_deref().map(meant::planned).transpose()?;
    let plan = meant::plan(typed, &record, &profile, beside.as_ref()).plan()?;
    outputs.write(&plan, false)?;
    outputs.show(&plan, &page::plan_page(&plan, &profile))
}

/// Shows a saved plan as `services plan` does, on its machine if it is known here.
pub fn show_plan(plan: &ServicesPlan, forms: &ResultForms) -> Result<(), CliError> {
    let outputs = forms.outputs(None)?;
    let profile = meant::pictured_machine(plan);
    outputs.show(plan, &page::plan_page(plan, &profile))
}

fn apply(typed: &ServicesApply) -> Result<(), CliError> {
    let request = meant::applying(typed)?;
    let seated = standing_host()?.apply(&request)?;
    output::print(&page::seated(&seated))
}

fn race(typed: &ServicesRace) -> Result<(), CliError> {
    let request = meant::racing(typed)?;
    let host = standing_host()?;
    let interrupt = StopFlag::listen()?;
    let bar = Bar::new("racing");
    let report =
        host.race(&request, &|| interrupt.is_raised(), &|done, rounds| bar.show(done, rounds))?;
    drop(bar);
    if typed.json { output::json(&report) } else { output::show(&page::race_page(&report)) }
}

fn drift(typed: &ServicesDrift) -> Result<(), CliError> {
    let report = match &typed.plan {
        Some(path) => {
            let plan = meant::planned(path)?;
            DriftReport::of_file(&Root::new("/"), &path.to_string_lossy(), &plan)
        }
        None => {
            let host = standing_host()?;
            let applied = host.plan(typed.name.as_ref())?;
            let found = find::find(&host.root, None, meant::GLANCE, &|| false);
            let found = found.map_err(CliError::work)?;
            DriftReport::of(&host.root, &applied, &found)
        }
    };
    output::even_unread(if typed.json {
        output::json(&report)
    } else {
        output::print(&page::drift_text(&report))
    })?;
    match report.faults.len() {
        0 => Ok(()),
        count => Err(CliError::work(format!("{} found", counted(count, "difference")))),
    }
}
