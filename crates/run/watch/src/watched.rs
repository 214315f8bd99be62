//! Compares programs at every look.

use crate::judge::judged::LookDocument;
use crate::judge::{judge, seats};
use crate::live::{SeatingFrame, Wakes};
use crate::recording::Transcript;
use crate::{ChoiceError, Finding, LiveWatch, ProcessChoice, Standard, ThreadSeat};
use seatmap_data::machine::Topology;
use seatmap_os::{FileError, Tid};

/// Counts wakeups between threads since the last call; `None` if the kernel refuses.
pub type CountWakes = Box<dyn FnMut() -> Option<Vec<Wakes>>>;

/// The programs to look at.
pub struct WatchedPrograms {
    live: LiveWatch,
    standard: Standard,
    topology: Topology,
    groups: Option<Vec<Vec<u32>>>,
    counter: Option<CountWakes>,
}

/// The judgement on a look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LookJudgement {
    /// Everything wrong or notable.
    pub findings: Vec<Finding>,
    /// The threads' proper seats.
    pub seats: Vec<ThreadSeat>,
}

impl WatchedPrograms {
    /// Takes the first look. `groups` are measured groups of near CPUs.
    ///
    /// # Errors
    /// [`ChoiceError`]: there is nothing to look at.
    pub fn begin(
        choice: &ProcessChoice,
        standard: Standard,
        topology: Topology,
        groups: Option<Vec<Vec<u32>>>,
    ) -> Result<Self, ChoiceError> {
        let live = LiveWatch::begin(choice)?;
        Ok(WatchedPrograms { live, standard, topology, groups, counter: None })
    }

    /// The living processes.
    pub fn pids(&mut self) -> Vec<Tid> {
        self.live.look().seating.processes.iter().map(|process| process.pid).collect()
    }

    /// Sets the counter of wakeups, or removes it.
    pub fn count_by(&mut self, counter: Option<CountWakes>) {
        self.counter = counter;
    }

    /// Looks, without a judgement.
    pub fn frame(&mut self) -> SeatingFrame {
        let frame = self.live.look();
        let wakes = self.counter.as_mut().and_then(|count| count());
        SeatingFrame { wakes, ..frame }
    }

    /// Looks, and judges like `seatmap check`.
    ///
    /// # Errors
    /// [`FileError`]: a launcher's seats cannot be read.
    pub fn look(&mut self) -> Result<(SeatingFrame, LookJudgement), FileError> {
        let frame = self.frame();
        let standard = self.standard.of(&frame.seating)?;
        let findings = judge(&frame.seating, &self.topology, &standard);
        let seats = seats(&frame.seating, &self.topology, &standard);
        Ok((frame, LookJudgement { findings, seats }))
    }

    /// A look as a document, judged like `seatmap check --json`.
    ///
    /// # Errors
    /// [`FileError`]: a launcher's seats cannot be read.
    pub fn document<'a>(&self, frame: &'a SeatingFrame) -> Result<LookDocument<'a>, FileError> {
        let standard = self.standard.of(&frame.seating)?;
        Ok(frame.document(&self.topology, &standard))
    }

    /// A look's lines in a recording.
    pub fn recorded(&self, frame: &SeatingFrame, transcript: &mut Transcript) -> String {
        transcript.add(frame, &self.topology, self.groups.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> WatchedPrograms {
        let pids = vec![std::process::id() as Tid];
        let choice = ProcessChoice::Processes { pids, with_children: false };
        let topology = Topology::unknown(0..1);
        let groups = Some(vec![vec![0]]);
        WatchedPrograms::begin(&choice, Standard::default(), topology, groups).unwrap()
    }

    #[test]
    fn wakeups_are_counted_only_on_request() {
        let mut watched = own();
        assert_eq!(watched.pids(), [std::process::id() as Tid]);
        assert_eq!(watched.frame().wakes, None);
        let wakes = Wakes { from: 1, to: 2, per_s: 3.0 };
        watched.count_by(Some(Box::new(move || Some(vec![wakes]))));
        assert_eq!(watched.look().unwrap().0.wakes, Some(vec![wakes]));
        watched.count_by(None);
        assert_eq!(watched.frame().wakes, None);
    }

    #[test]
    fn recording_starts_with_groups() {
        let mut watched = own();
        let frame = watched.frame();
        let mut transcript = Transcript::default();
        assert!(watched.recorded(&frame, &mut transcript).contains("\"groups\":[[0]]"));
        assert!(!watched.recorded(&frame, &mut transcript).contains("groups"));
        assert!(watched.document(&frame).is_ok());
    }
}
