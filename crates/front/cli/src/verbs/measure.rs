//! `seatmap measure`.

mod kept;
mod past;
mod source;
mod speed;
mod wakeups;

use crate::args::Measure;
use crate::progress::Display;
use kept::Kept;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::output::{self, Destination};
use seatmap_console::view;
use seatmap_console::view::ColourChoice;
use seatmap_machine::Profile;
use seatmap_measure::homes;
use seatmap_measure::journal::Journal;
use seatmap_measure::plan::{Effort, SurveyPlan};
use seatmap_measure::probe::Probe;
use seatmap_measure::survey::{self, Ended, Survey, SurveyRequest};
use seatmap_os::claim::Claim;
use seatmap_os::quota::QuotaWatch;
use seatmap_os::steal::CpuTime;
use seatmap_report::floor::Floor;
use seatmap_report::html;
use seatmap_report::terminal::{self, DrawOptions};
use seatmap_sim::catalog::Model;
use source::Source;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Measures a machine, and shows, prints, writes or remembers what came of it.
pub fn run(typed: Measure, colour: ColourChoice) -> Result<(), CliError> {
    let destination = typed.output.as_deref().map(Destination::new).transpose()?;
    let page = output::page(
        typed.html.as_deref(),
        typed.json || destination == Some(Destination::Stdout),
    )?;
    let source = Source::find(&typed)?;
    let kept = Kept::at(&typed, &source)?;
    // Comes first, because a program that sees a journal may ask its run to stop.
    let interrupt = Interrupt::listen()?;
    source.check_speed(typed.speed)?;
    source.check_wakeups(typed.wakeups)?;
    let (mut profile, journal) = match &source {
        Source::Host { topology, pus } => {
            let _claim = claim(&interrupt)?;
            let before = CpuTime::now();
            let quotas = QuotaWatch::begin();
            let probe = source::host(topology, pus, &typed)?;
            let clock = probe.testbed().clock().describe();
            let (survey, journal) = measure(probe, &source, &typed, (&kept, &interrupt), colour)?;
            output::tell_of_quotas(&quotas);
            let steal = before.and_then(|before| CpuTime::now()?.stolen_percent_since(before));
            (filled(source::host_profile(topology, clock, steal), survey), journal)
        }
        Source::Simulated { model, pus } => {
            let probe = source::simulated(model, pus, &typed)?;
            let candidates = probe.spread(typed.homes);
            let (survey, journal) = measure(probe, &source, &typed, (&kept, &interrupt), colour)?;
            let mut profile = filled(source::simulated_profile(model), survey);
            if let Some(lines) = profile.home_model.as_mut().and_then(|model| model.lines.as_mut())
            {
                lines.checked = Some(homes::checked(lines, model, &candidates, pus));
            }
            (profile, journal)
        }
        Source::Replayed { profile, .. } => {
            let probe = source::replay(profile, typed.seed)?;
            let (survey, journal) = measure(probe, &source, &typed, (&kept, &interrupt), colour)?;
            (filled(source::replayed_profile(profile), survey), journal)
        }
    };
    if let Source::Host { pus, .. } = &source {
        if typed.speed {
            profile.speed = Some(speed::measure(pus, &typed, &interrupt)?);
        }
        profile.wakeups = wakeups::measure(&profile.topology, pus, &typed, &interrupt)?;
    }
    if let Some(page) = &page {
        let simulated = match &source {
            Source::Simulated { model, .. } => Some(Model::Coherent(Arc::clone(model))),
            _ => None,
        };
        page.write(&html::page(&profile, &Floor::of(&profile, simulated.as_ref())))?;
    }
    deliver(&profile, &typed, &source, destination, colour)?;
    journal.map_or(Ok(()), |journal| journal.remove().map_err(CliError::work))
}

/// The survey, and the journal to remove once it is safe.
fn measure<P: Probe>(
    mut probe: P,
    source: &Source,
    typed: &Measure,
    (kept, interrupt): (&Kept, &Interrupt),
    colour: ColourChoice,
) -> Result<(Survey, Option<Journal>), CliError> {
    let mut request = request(typed, source.pus(), probe.clock_step_ns());
    request.plan = plan_on(source, request.plan, typed);
    let resolution_ns = request.plan.resolution_ns(probe.clock_step_ns());
    let (mut journal, samples) = kept.open(&request, typed.resume, resolution_ns)?;
    let mut display = Display::new(&request.pus, resolution_ns, colour);
    let mut observe = |step: &survey::Step| {
        display.show(step);
        if interrupt.asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let ended = survey::survey(
        &mut probe,
        source.topology(),
        &request,
        journal.as_mut(),
        samples,
        &mut observe,
    );
    drop(display);
    match ended.map_err(CliError::work)? {
        Ended::Whole(survey) => {
            survey.warnings.iter().for_each(|warning| output::tell(&warning.to_string()));
            Ok((*survey, journal))
        }
        Ended::Early(visits) => Err(CliError::work(kept.farewell(visits))),
    }
}

/// Waits until no other process measures this host.
fn claim(interrupt: &Interrupt) -> Result<Claim, CliError> {
    let mut told = false;
    let mut wait = |process: Option<u32>| {
        if !std::mem::replace(&mut told, true) {
            let who = process.map_or(String::new(), |process| format!(" (process {process})"));
            output::tell(&format!(
                "another measurement of this host{who} is under way; two at once would disturb each other, \
                 so this one waits until it has ended"
            ));
        }
        if interrupt.asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    Claim::wait(&mut wait).ok_or_else(|| CliError::work("interrupted; nothing was measured"))
}

/// The plan, as far as it makes sense on this machine: a simulated machine has no noise, and a
/// replayed one has no clock.
fn plan_on(source: &Source, plan: SurveyPlan, typed: &Measure) -> SurveyPlan {
    let plan = match source {
        Source::Host { .. } => plan,
        Source::Simulated { .. } => plan.without_noise(),
        Source::Replayed { .. } => plan.without_clock(),
    };
    match typed.passes {
        Some(passes) => plan.with_passes(passes),
        None => plan,
    }
}

fn request(typed: &Measure, pus: &[u32], clock_step_ns: f64) -> SurveyRequest {
    let effort = match (typed.quick, typed.thorough) {
        (true, _) => Effort::Quick,
        (_, true) => Effort::Thorough,
        _ => Effort::Usual,
    };
    let plan = SurveyPlan { seed: typed.seed, ..SurveyPlan::new(effort, clock_step_ns) };
    SurveyRequest {
        pus: pus.to_vec(),
        plan,
        parallel: typed.parallel,
        homes: typed.homes,
        utilisation_percent: typed.utilisation.unwrap_or(0).into(),
        loaded: typed.loaded,
    }
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
    source: &Source,
    destination: Option<Destination>,
    colour: ColourChoice,
) -> Result<(), CliError> {
    past::compare(profile, source);
    if let Source::Replayed { kind, .. } = source {
        output::tell(&format!(
            "{} is {kind}: its figures were replayed with synthetic noise; nothing was run",
            typed.on
        ));
    }
    let to_stdout = typed.json || destination == Some(Destination::Stdout);
    match destination.filter(|destination| *destination != Destination::Stdout) {
        Some(destination) => destination.write(&profile.to_json())?,
        None => past::remember(profile, source),
    }
    if to_stdout {
        return output::print(&profile.to_json());
    }
    if typed.html.as_deref() == Some(Path::new("-")) {
        return Ok(());
    }
    let options = DrawOptions {
        colour: view::colour(colour, &std::io::stdout()),
        width: view::width(None),
        ..DrawOptions::default()
    };
    let checked = profile.home_model.as_ref().and_then(|model| model.lines.as_ref()?.checked);
    let checked = checked.map_or(String::new(), |checked| format!("\nHomes {checked}.\n"));
    output::print(&(terminal::page(profile, &options, None) + &checked))
}
