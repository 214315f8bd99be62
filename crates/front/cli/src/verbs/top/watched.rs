//! The programs that are shown, and the looks at them.

use crate::args::Top;
use crate::verbs::check;
use seatmap_console::error::CliError;
use seatmap_machine::Topology;
use seatmap_observe::wakes::{WakeCounter, WakeRate};
use seatmap_report::terminal::top::{Judgement, SeatGroups};
use seatmap_watch::judge::judged::LookDocument;
use seatmap_watch::judge::seats;
use seatmap_watch::live::{Frame, Wakes};
use seatmap_watch::recording::Transcript;
use seatmap_watch::{Choice, Live, Standard, judge};

/// The programs that are shown, and the computer that they run on.
pub struct Watched {
    live: Live,
    topology: Topology,
    /// The groups that a measurement found, where there was one.
    measured: Option<Vec<Vec<u32>>>,
    /// The CPUs of the map, by what they share.
    pub groups: SeatGroups,
    /// The things that the programs are held against.
    standard: Standard,
    /// Counts who wakes whom, while that is shown.
    wakes: Option<WakeCounter>,
}

impl Watched {
    pub fn begin(typed: &Top, topology: Topology) -> Result<Self, CliError> {
        let standard = check::standard(&[], typed.expect.as_deref(), typed.any_machine, false)?;
        let live = Live::begin(&choice(typed))?;
        // A host without a profile, or with one that cannot be used, has the groups that the kernel
        // names.
        let profile = seatmap_host::remembered::host().ok();
        let profile = profile.filter(|profile| profile.core_distance.is_some());
        let measured =
            profile.map(|profile| profile.home_model.map(|model| model.groups).unwrap_or_default());
        // The CPUs of a cell are kept from this process, and belong on the map.
        let map = seatmap_host::topology::whole().unwrap_or_else(|_| topology.clone());
        let groups = SeatGroups::new(&map, measured.as_deref());
        let mut watched = Watched { live, topology, measured, groups, standard, wakes: None };
        if typed.wakes {
            watched.count_wakeups()?;
        }
        Ok(watched)
    }

    /// Counts who wakes whom from now on, among the programs that live now and all that they start.
    pub fn count_wakeups(&mut self) -> Result<(), CliError> {
        let processes = self.live.look().seating.processes;
        let pids = processes.iter().map(|process| process.pid).collect();
        self.wakes = Some(WakeCounter::begin(pids)?);
        Ok(())
    }

    pub fn stop_counting(&mut self) {
        self.wakes = None;
    }

    /// Looks, and judges as `seatmap check` does.
    pub fn look(&mut self) -> Result<(Frame, Judgement), CliError> {
        let frame = self.frame();
        let standard = self.standard.of(&frame.seating).map_err(CliError::work)?;
        let findings = judge(&frame.seating, &self.topology, &standard);
        let seats = seats(&frame.seating, &self.topology, &standard);
        Ok((frame, Judgement { findings, seats }))
    }

    pub fn frame(&mut self) -> Frame {
        let mut frame = self.live.look();
        let rates = self.wakes.as_mut().and_then(WakeCounter::take);
        frame.wakes = rates.map(|rates| rates.into_iter().map(wakes).collect());
        frame
    }

    /// A look as a document, judged as `seatmap check --json` judges it.
    pub fn document<'a>(&self, frame: &'a Frame) -> Result<LookDocument<'a>, CliError> {
        let standard = self.standard.of(&frame.seating).map_err(CliError::work)?;
        Ok(frame.document(&self.topology, &standard))
    }

    /// The lines that a look adds to a recording.
    pub fn recorded(&self, frame: &Frame, transcript: &mut Transcript) -> String {
        transcript.add(frame, &self.topology, self.measured.as_deref())
    }
}

fn wakes(rate: WakeRate) -> Wakes {
    Wakes { from: rate.from, to: rate.to, per_s: rate.per_s }
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
