//! `seatmap measure`.

mod target;

use crate::args::{ColourChoice, Measure};
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::output::{self, Destination};
use crate::progress::Display;
use crate::{model_input, place, view};
use seatmap_host::steal::CpuTime;
use seatmap_machine::{Profile, Topology};
use seatmap_measure::homes;
use seatmap_measure::journal::{Header, Journal, JournalError};
use seatmap_measure::plan::{Effort, Passes, Plan};
use seatmap_measure::probe::Probe;
use seatmap_measure::samples::Samples;
use seatmap_measure::survey::{self, Ended, Request, Survey};
use seatmap_report::floor::Floor;
use seatmap_report::html;
use seatmap_report::terminal::{self, Options};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use target::Target;

/// Measures a machine, and shows, prints, writes or remembers what came of it.
pub fn run(typed: Measure, colour: ColourChoice) -> Result<(), CliError> {
    let destination = typed.output.as_deref().map(Destination::new).transpose()?;
    let page = output::page(typed.html.as_deref(), typed.json || destination == Some(Destination::Stdout))?;
    let target = Target::find(&typed)?;
    let kept = Kept::at(&typed, &target)?;
    let before = CpuTime::now();
    let (profile, journal) = match &target {
        Target::Host { topology, pus } => {
            let probe = target::host(topology, pus, &typed)?;
            let clock = probe.testbed().clock().describe();
            let (survey, journal) = measure(probe, &target, &typed, &kept, colour)?;
            let steal = before.and_then(|before| CpuTime::now()?.stolen_percent_since(before));
            (filled(target::host_profile(topology, clock, steal), survey), journal)
        }
        Target::Simulated { model, pus } => {
            let probe = target::simulated(model, pus, &typed)?;
            let candidates = probe.spread(typed.homes);
            let (survey, journal) = measure(probe, &target, &typed, &kept, colour)?;
            let mut profile = filled(target::simulated_profile(model), survey);
            if let Some(lines) = profile.home_model.as_mut().and_then(|model| model.lines.as_mut()) {
                lines.checked = Some(homes::checked(lines, model, &candidates, pus));
            }
            (profile, journal)
        }
        Target::Replayed { profile, .. } => {
            let probe = target::replay(profile, typed.seed)?;
            let (survey, journal) = measure(probe, &target, &typed, &kept, colour)?;
            (filled(target::replayed_profile(profile), survey), journal)
        }
    };
    if let Some(page) = &page {
        let model = model_input::known(&typed.on)?;
        page.write(&html::page(&profile, &Floor::of(&profile, model.as_ref())))?;
    }
    deliver(&profile, &typed, &target, destination, colour)?;
    journal.map_or(Ok(()), |journal| journal.remove().map_err(CliError::work))
}

/// The survey, and the journal to remove once it is safe.
fn measure<P: Probe>(
    mut probe: P,
    target: &Target,
    typed: &Measure,
    kept: &Kept,
    colour: ColourChoice,
) -> Result<(Survey, Option<Journal>), CliError> {
    let mut request = request(typed, target.pus(), probe.clock_step_ns());
    if let Target::Simulated { .. } = target {
        let exact = request.plan.clone().without_noise();
        request.plan = Plan { passes: typed.passes.map_or(exact.passes, Passes::Fixed), ..exact };
    }
    // First of all: whoever sees a journal may ask its run to stop.
    let interrupt = Interrupt::listen()?;
    let (mut journal, samples) = kept.open(&request, typed.resume)?;
    let mut display = Display::new(&request.pus, request.plan.resolution_ns(probe.clock_step_ns()), colour);
    let mut observe = |step: &survey::Step| {
        display.show(step);
        if interrupt.asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let ended = survey::survey(&mut probe, target.topology(), &request, journal.as_mut(), samples, &mut observe);
    drop(display);
    match ended.map_err(CliError::work)? {
        Ended::Whole(survey) => {
            survey.warnings.iter().for_each(|warning| output::tell(&warning.to_string()));
            Ok((*survey, journal))
        }
        Ended::Early(visits) => Err(CliError::work(kept.farewell(visits))),
    }
}

fn request(typed: &Measure, pus: &[u32], clock_step_ns: f64) -> Request {
    let effort = match (typed.quick, typed.thorough) {
        (true, _) => Effort::Quick,
        (_, true) => Effort::Thorough,
        _ => Effort::Usual,
    };
    let mut plan = Plan { seed: typed.seed, ..Plan::new(effort, clock_step_ns) };
    if let Some(passes) = typed.passes {
        plan.passes = Passes::Fixed(passes);
    }
    Request {
        pus: pus.to_vec(),
        plan,
        parallel: typed.parallel,
        homes: typed.homes,
        utilisation_percent: typed.utilisation.unwrap_or(0).into(),
        loaded: typed.loaded,
    }
}

/// Where finished pairs are kept until the profile is safe.
struct Kept {
    path: Option<PathBuf>,
    machine: String,
}

impl Kept {
    /// Beside the output file; else with what is remembered of this host; else nowhere.
    fn at(typed: &Measure, target: &Target) -> Result<Self, CliError> {
        let beside = typed.output.as_ref().filter(|path| !path.exists() || path.is_file()).filter(|path| *path != "-");
        let path = match (beside, target) {
            (Some(output), _) => Some(output.with_added_extension("journal")),
            (None, Target::Host { .. }) => remembered_journal(),
            (None, Target::Simulated { .. } | Target::Replayed { .. }) => None,
        };
        if typed.resume && path.is_none() {
            return Err(CliError::input("--resume needs -o FILE here: nothing was kept"));
        }
        Ok(Kept { path, machine: target.name() })
    }

    /// The journal, and what it holds already.
    fn open(&self, request: &Request, resume: bool) -> Result<(Option<Journal>, Samples), CliError> {
        let mut samples = Samples::new(request.pus.clone());
        let Some(path) = &self.path else { return Ok((None, samples)) };
        let header = Header {
            machine: self.machine.clone(),
            pus: request.pus.clone(),
            batches: request.plan.batches,
            round_trips: request.plan.round_trips,
        };
        if !resume {
            return Ok((Some(Journal::create(path, &header).map_err(CliError::work)?), samples));
        }
        let (journal, records) = Journal::resume(path, &header).map_err(unusable)?;
        for record in &records {
            samples.add(record.i, record.j, record.pass, record.batches());
        }
        output::tell(&format!("going on after {} visits kept in {}", records.len(), path.display()));
        Ok((Some(journal), samples))
    }

    fn farewell(&self, visits: u64) -> String {
        match &self.path {
            Some(path) => format!(
                "interrupted; {visits} visits to pairs are kept in {}: the same command with --resume goes on there",
                path.display()
            ),
            None => "interrupted; nothing was kept, since no -o FILE was given".to_owned(),
        }
    }
}

/// A journal to go on with that is not this run's is what was typed; that it is in use or unreadable is not.
fn unusable(error: JournalError) -> CliError {
    match error {
        JournalError::OtherRun { .. } | JournalError::Damaged { .. } => CliError::input(error),
        JournalError::Busy { .. } | JournalError::Io { .. } => CliError::work(error),
    }
}

/// The journal of a run without `-o`, if its folder can be made.
fn remembered_journal() -> Option<PathBuf> {
    let folder = place::state_folder()?;
    if let Err(error) = std::fs::create_dir_all(&folder) {
        output::tell(&format!("nothing will be kept or remembered: {}: {error}", folder.display()));
        return None;
    }
    Some(folder.join(format!("{}.journal", place::host_name())))
}

fn filled(mut profile: Profile, survey: Survey) -> Profile {
    profile.core_distance = Some(survey.core_distance);
    profile.home_model = survey.home_model;
    profile.loaded = survey.loaded;
    profile.loaded_seed = survey.loaded_seed;
    profile
}

fn deliver(
    profile: &Profile,
    typed: &Measure,
    target: &Target,
    destination: Option<Destination>,
    colour: ColourChoice,
) -> Result<(), CliError> {
    let to_stdout = typed.json || destination == Some(Destination::Stdout);
    match destination.filter(|destination| *destination != Destination::Stdout) {
        Some(destination) => destination.write(&profile.to_json())?,
        None => remember(profile, target),
    }
    if to_stdout {
        return output::print(&profile.to_json());
    }
    if typed.html.as_deref() == Some(Path::new("-")) {
        return Ok(());
    }
    let options =
        Options { colour: view::colour(colour, &std::io::stdout()), width: view::width(None), ..Options::default() };
    let checked = profile.home_model.as_ref().and_then(|model| model.lines.as_ref()?.checked);
    let checked = checked.map_or(String::new(), |checked| format!("\nHomes {checked}.\n"));
    output::print(&(terminal::page(profile, &options, None) + &checked))
}

/// Keeps the profile of the whole host for `seatmap show host`; that it cannot is no failure.
fn remember(profile: &Profile, target: &Target) {
    let whole = |topology: &Topology, pus: &[u32]| topology.os_indices().all(|os| pus.contains(&os));
    let Target::Host { topology, pus } = target else { return };
    let Some(path) = place::host_profile().filter(|_| whole(topology, pus)) else { return };
    if let Err(error) = Destination::new(&path).and_then(|destination| destination.write(&profile.to_json())) {
        error.report();
    }
}
