//! `seatmap top`.

mod pin;
mod recorder;
mod screen;
mod wakes;

use super::check::{self, Standard};
use crate::args::Top;
use recorder::Recorder;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_console::view::ColourChoice;
use seatmap_console::{output, view};
use seatmap_machine::Topology;
use seatmap_report::terminal::top::{Judgement, Scene, SeatGroups, View, plain, rows};
use seatmap_watch::judge::seats;
use seatmap_watch::judge::told::Judged;
use seatmap_watch::live::{Frame, Rates, Wakes};
use seatmap_watch::{Choice, ChoiceError, Live, judge};
use serde::Serialize;
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use wakes::Wakeups;

/// How often a wait looks whether it was asked to stop.
const PAUSE: Duration = Duration::from_millis(100);

/// Shows the threads on the seats of this computer, or records them.
pub fn run(typed: &Top, colour: ColourChoice) -> Result<(), CliError> {
    let topology = check::topology()?;
    let has_screen =
        std::io::stdout().is_terminal() && !typed.once && !typed.json && typed.seconds.is_none();
    let record =
        typed.record.as_deref().map(|path| recorder::destination(path, has_screen)).transpose()?;
    let watched = Watched::begin(typed, topology)?;
    match record {
        Some(destination) if !has_screen => watched.record(typed, Recorder::begin(destination)?),
        record if has_screen => screen::run(watched, typed, colour, record),
        _ => watched.print_once(typed),
    }
}

/// The programs that are shown, and the computer that they run on.
struct Watched {
    live: Live,
    topology: Topology,
    /// The groups that a measurement found, where there was one.
    measured: Option<Vec<Vec<u32>>>,
    groups: SeatGroups,
    /// The things that the programs are held against.
    standard: Standard,
    /// Counts who wakes whom, while that is shown.
    wakeups: Option<Wakeups>,
}

impl Watched {
    fn begin(typed: &Top, topology: Topology) -> Result<Self, CliError> {
        let standard = Standard::new(&[], typed.expect.as_deref(), typed.any_machine, false)?;
        let live = Live::begin(&choice(typed)).map_err(|error| match error {
            ChoiceError::Proc(_) => CliError::work(error),
            error => CliError::input(error),
        })?;
        // A host without a profile, or with one that cannot be used, has the groups that the kernel
        // names.
        let profile = seatmap_host::remembered::host().ok();
        let profile = profile.filter(|profile| profile.core_distance.is_some());
        let measured =
            profile.map(|profile| profile.home_model.map(|model| model.groups).unwrap_or_default());
        // The CPUs of a cell are kept from this process, and belong on the map.
        let map = seatmap_host::topology::whole().unwrap_or_else(|_| topology.clone());
        let groups = SeatGroups::new(&map, measured.as_deref());
        let mut watched = Watched { live, topology, measured, groups, standard, wakeups: None };
        if typed.wakes {
            watched.count_wakeups()?;
        }
        Ok(watched)
    }

    /// Counts who wakes whom from now on, among the programs that live now and all that they start.
    fn count_wakeups(&mut self) -> Result<(), CliError> {
        let processes = self.live.look().seating.processes;
        self.wakeups = Some(Wakeups::begin(processes.iter().map(|process| process.pid).collect())?);
        Ok(())
    }

    /// Looks, and judges as `seatmap check` does.
    fn look(&mut self) -> (Frame, Judgement) {
        let frame = self.frame();
        let asked = self.standard.of(&frame.seating);
        let findings = judge(&frame.seating, &self.topology, &asked);
        let seats = seats(&frame.seating, &self.topology, &asked);
        (frame, Judgement { findings, seats })
    }

    fn frame(&mut self) -> Frame {
        let mut frame = self.live.look();
        frame.wakes = self.wakeups.as_mut().and_then(Wakeups::take);
        frame
    }

    fn print_once(mut self, typed: &Top) -> Result<(), CliError> {
        std::thread::sleep(typed.interval);
        if typed.json {
            return self.print_document();
        }
        let (frame, judgement) = self.look();
        if frame.seating.threads.is_empty() {
            return Err(CliError::input(frame.seating.why_empty()));
        }
        let view = View { shows_wakes: typed.wakes, ..View::default() };
        let rows = rows(&frame, &judgement, &view);
        let frame = &frame;
        let groups = &self.groups;
        let scene = Scene {
            frame,
            findings: &judgement.findings,
            groups,
            view: &view,
            rows: &rows,
            recording: None,
        };
        output::print(&plain(&scene, u16::try_from(view::width(None)).unwrap_or(u16::MAX)))
    }

    /// One look as a document: a seating with its judgement, as `seatmap check --json` prints it,
    /// and the rates.
    fn print_document(&mut self) -> Result<(), CliError> {
        let Frame { seating, rates, wakes } = self.frame();
        if seating.threads.is_empty() {
            return Err(CliError::input(seating.why_empty()));
        }
        let judged = Judged::new(&seating, &self.topology, &self.standard.of(&seating));
        output::json(&Look { judged, rates, wakes })
    }

    /// Records without a screen, until the time is over, until Ctrl-C or until the programs have
    /// ended.
    fn record(mut self, typed: &Top, mut recorder: Recorder) -> Result<(), CliError> {
        let interrupt = Interrupt::listen()?;
        let began = Instant::now();
        let is_over =
            || interrupt.asked() || typed.seconds.is_some_and(|seconds| began.elapsed() >= seconds);
        let mut looks = 0_u32;
        while !is_over() {
            looks += 1;
            let left = typed
                .seconds
                .map_or(Duration::MAX, |seconds| seconds.saturating_sub(began.elapsed()));
            // Each look has its own time, so that late ones do not add up.
            let due = typed.interval.saturating_mul(looks).saturating_sub(began.elapsed());
            wait(due.min(left), &interrupt);
            let frame = self.frame();
            recorder.write(&self, &frame)?;
            if frame.seating.threads.is_empty() {
                break;
            }
        }
        recorder.end()
    }
}

/// The document of `--json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Look<'a> {
    #[serde(flatten)]
    judged: Judged<'a>,
    /// The events of each thread in a second, in the order of the threads.
    rates: Vec<Rates>,
    /// The wakeups of threads by each other, the most frequent first; null where they were not
    /// counted.
    wakes: Option<Vec<Wakes>>,
}

/// Waits, unless Ctrl-C comes.
fn wait(time: Duration, interrupt: &Interrupt) {
    let began = Instant::now();
    while let Some(left) =
        time.checked_sub(began.elapsed()).filter(|left| !left.is_zero() && !interrupt.asked())
    {
        std::thread::sleep(left.min(PAUSE));
    }
}

fn choice(typed: &Top) -> Choice {
    match (&typed.cgroup, &typed.name) {
        _ if !typed.pid.is_empty() => {
            Choice::Processes { pids: typed.pid.clone(), with_children: false }
        }
        (Some(path), _) => Choice::Group(path.clone()),
        (_, Some(name)) => Choice::Name(name.clone()),
        _ => Choice::All,
    }
}
