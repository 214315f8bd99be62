//! `seatmap-recording/1`: looks at running programs, a JSON line each.
//!
//! The first line describes the computer, each further line one look.

use crate::live::SeatingFrame;
use crate::seating::Seating;
use seatmap_data::document::written;
use seatmap_data::machine::Topology;
use seatmap_os::Tid;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The `format` key in the first line.
pub const FORMAT: &str = "seatmap-recording/1";

const MOST_WAKES: usize = 64;

/// The first line of a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordingHeader {
    /// The format's name and version.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: String,
    /// The computer's name.
    pub machine: String,
    /// The start, in seconds since 1970.
    pub began_at_s: f64,
    /// The computer's topology.
    pub topology: Topology,
    /// The measured groups of near CPUs; null without a measurement.
    pub groups: Option<Vec<Vec<u32>>>,
}

impl RecordingHeader {
    /// The header of a recording from now.
    pub fn new(
        machine: &str,
        began_at_s: f64,
        topology: &Topology,
        groups: Option<&[Vec<u32>]>,
    ) -> Self {
        RecordingHeader {
            format: FORMAT.to_owned(),
            machine: machine.to_owned(),
            began_at_s,
            topology: topology.clone(),
            groups: groups.map(<[Vec<u32>]>::to_vec),
        }
    }
}

/// A further line: one look.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordingEntry {
    /// The time since the start, in seconds. It never decreases from line to line.
    pub at_s: f64,
    /// The OS index of each CPU with its busy share of the time, in percent; null if unknown.
    pub cpus: Vec<(u32, Option<f64>)>,
    /// Threads that are new, or have a new name or mask.
    pub known: Vec<KnownThread>,
    /// The numbers of ended threads.
    pub ended: Vec<Tid>,
    /// Threads that ran or moved.
    pub ran: Vec<Ran>,
    /// Waker, woken thread, and wakeups per second, most frequent first; missing if not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(max = MOST_WAKES)))]
    pub wakes: Option<Vec<(Tid, Tid, f64)>>,
}

/// A thread's facts that rarely change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KnownThread {
    /// The thread's number.
    pub tid: Tid,
    /// The number of its process.
    pub pid: Tid,
    /// The name of its process.
    pub program: String,
    /// The thread's name, at most 15 bytes.
    pub name: String,
    /// Its mask, as a list: `0-3,8`. Empty if unknown.
    pub mask: String,
}

/// A thread's activity in one look.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ran {
    /// The TID, listed under `known` in this line or an earlier one.
    pub tid: Tid,
    /// The CPU at the look; null if unknown.
    pub cpu: Option<u32>,
    /// The share of the time on a CPU.
    pub run_percent: f64,
    /// The share of the time waiting for a CPU; missing if not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_percent: Option<f64>,
    /// Moves per second; missing if not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub migrations_per_s: Option<f64>,
}

/// The text of a recording, look by look.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    is_begun: bool,
    at_s: f64,
    known: BTreeMap<Tid, KnownThread>,
    cpus: BTreeMap<Tid, Option<u32>>,
}

impl Transcript {
    /// The lines for a look, with the header first. `groups` are measured groups of near CPUs.
    pub fn add(
        &mut self,
        frame: &SeatingFrame,
        topology: &Topology,
        groups: Option<&[Vec<u32>]>,
    ) -> String {
        let Seating { machine, taken_at_s, watched_s, .. } = &frame.seating;
        let header = if std::mem::replace(&mut self.is_begun, true) {
            String::new()
        } else {
            written(&RecordingHeader::new(machine, taken_at_s - watched_s, topology, groups))
        };
        header + &written(&self.entry(frame))
    }

    fn entry(&mut self, frame: &SeatingFrame) -> RecordingEntry {
        let seating = &frame.seating;
        let programs: BTreeMap<Tid, &str> =
            seating.processes.iter().map(|process| (process.pid, process.name.as_str())).collect();
        let mut known = Vec::new();
        let mut ran = Vec::new();
        for (thread, rates) in seating.threads.iter().zip(&frame.rates) {
            let facts = KnownThread {
                tid: thread.tid,
                pid: thread.pid,
                program: programs
                    .get(&thread.pid)
                    .map_or_else(String::new, |name| (*name).to_owned()),
                name: thread.name.clone(),
                mask: thread.mask.clone(),
            };
            if self.known.get(&thread.tid) != Some(&facts) {
                self.known.insert(thread.tid, facts.clone());
                known.push(facts);
            }
            let before = self.cpus.insert(thread.tid, thread.cpu);
            // Sleeping threads would fill most of the file.
            if thread.run_percent > 0.0 || before != Some(thread.cpu) {
                ran.push(Ran {
                    tid: thread.tid,
                    cpu: thread.cpu,
                    run_percent: tenths(thread.run_percent),
                    wait_percent: thread.wait_percent.map(tenths),
                    migrations_per_s: rates.migrations.map(tenths),
                });
            }
        }
        let living: BTreeSet<Tid> = seating.threads.iter().map(|thread| thread.tid).collect();
        let ended: Vec<Tid> =
            self.known.keys().copied().filter(|tid| !living.contains(tid)).collect();
        for tid in &ended {
            self.known.remove(tid);
            self.cpus.remove(tid);
        }
        let cpus = seating.cpus.iter().map(|cpu| (cpu.cpu, cpu.busy_percent.map(tenths))).collect();
        // The clock may be set back meanwhile.
        self.at_s += seating.watched_s;
        let at_s = (self.at_s * 1000.0).round() / 1000.0;
        let wakes = frame.wakes.as_ref().map(|wakes| {
            wakes
                .iter()
                .take(MOST_WAKES)
                .map(|wakes| (wakes.from, wakes.to, tenths(wakes.per_s)))
                .collect()
        });
        RecordingEntry { at_s, cpus, known, ended, ran, wakes }
    }
}

fn tenths(figure: f64) -> f64 {
    (figure * 10.0).round() / 10.0
}

/// A parsed recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The first line.
    pub header: RecordingHeader,
    /// The looks, in order.
    pub moments: Vec<RecordingEntry>,
    /// Whether the last line is incomplete, because the writer was killed.
    pub is_cut_off: bool,
}

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The first line has another kind or version.
    #[error(transparent)]
    Header(#[from] seatmap_data::document::DocumentError),
    /// A line is damaged.
    #[error("line {line}: {what}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// The damage, in words.
        what: String,
    },
    /// There are no looks.
    #[error("the recording is empty; record for longer than one interval")]
    Empty,
}

impl Recording {
    /// Whether a file begins like a recording of any version.
    pub fn is_recording(bytes: &[u8]) -> bool {
        let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        seatmap_data::document::is_kind(first, "seatmap-recording/")
    }

    /// Reads a recording and checks its lines. Ignores an incomplete last one.
    ///
    /// # Errors
    /// [`RecordingError`] with the first damaged line.
    pub fn read(text: &str) -> Result<Self, RecordingError> {
        let mut lines = text.split_inclusive('\n');
        let header: RecordingHeader =
            seatmap_data::document::read(lines.next().unwrap_or_default(), FORMAT)?;
        let mut recording = Recording { header, ..Recording::default() };
        let mut known = BTreeSet::new();
        for (at, text) in lines.enumerate() {
            match seatmap_data::document::from_json::<RecordingEntry>(text) {
                Ok(moment) => {
                    let before_s = recording.moments.last().map_or(0.0, |moment| moment.at_s);
                    check(&moment, before_s, &mut known)
                        .map_err(|what| RecordingError::Line { line: at + 2, what })?;
                    recording.moments.push(moment);
                }
                // The writer was killed in the middle of a line.
                Err(_) if !text.ends_with('\n') => recording.is_cut_off = true,
                Err(error) => {
                    let what =
                        format!("not a look: {}", seatmap_data::document::json_problem(error));
                    return Err(RecordingError::Line { line: at + 2, what });
                }
            }
        }
        if recording.moments.is_empty() { Err(RecordingError::Empty) } else { Ok(recording) }
    }
}

fn check(moment: &RecordingEntry, before_s: f64, known: &mut BTreeSet<Tid>) -> Result<(), String> {
    if !(moment.at_s.is_finite() && moment.at_s >= before_s) {
        return Err(format!(
            "its time, {} s, is before the last line's, {before_s} s",
            moment.at_s
        ));
    }
    known.extend(moment.known.iter().map(|thread| thread.tid));
    let shares =
        moment.ran.iter().flat_map(|ran| [Some(ran.run_percent), ran.wait_percent]).flatten();
    let mut shares = shares.chain(moment.cpus.iter().filter_map(|(_, busy)| *busy));
    if let Some(share) = shares.find(|share| !(0.0..=100.0).contains(share)) {
        return Err(format!("{share} is not between 0 and 100 %"));
    }
    let mut rates = moment.wakes.iter().flatten().map(|(_, _, per_s)| *per_s);
    if let Some(rate) = rates.find(|rate| !(rate.is_finite() && *rate >= 0.0)) {
        return Err(format!("{rate} is not a number of wakeups per second"));
    }
    match moment.ran.iter().find(|ran| !known.contains(&ran.tid)) {
        Some(ran) => Err(format!("thread {} ran, but no line describes it", ran.tid)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;
    use crate::live::{Rates, Wakes};

    fn frame(taken_at_s: f64, made: Made) -> SeatingFrame {
        let mut seating = made.seating;
        seating.taken_at_s = taken_at_s;
        seating.watched_s = 1.5;
        seating.threads.iter_mut().for_each(|thread| thread.cpu = Some(1));
        let rates =
            vec![Rates { migrations: Some(0.25), ..Rates::default() }; seating.threads.len()];
        let wakes = Some(vec![Wakes { from: 7, to: 8, per_s: 12.34 }]);
        SeatingFrame { seating, rates, wakes }
    }

    fn two() -> Made {
        Made::new(2).with("7/7 on 0-1: 12.34+5; 7/8 on 1")
    }

    fn text() -> String {
        let mut transcript = Transcript::default();
        let mut bound = two();
        bound.seating.threads[1].mask = "0".to_owned();
        let one = Made::new(2).with("7/7 on 0-1: 50+0");
        let frames =
            [frame(101.5, two()), frame(103.0, two()), frame(104.5, bound), frame(106.0, one)];
        let groups = [vec![0, 1]];
        let lines = frames.iter();
        lines.map(|frame| transcript.add(frame, &two().topology, Some(&groups))).collect()
    }

    #[test]
    fn recording_writes_only_changes() {
        let recording = Recording::read(&text()).unwrap();
        let at_s: Vec<f64> = recording.moments.iter().map(|moment| moment.at_s).collect();
        assert_eq!(at_s, [1.5, 3.0, 4.5, 6.0]);
        // The sleeper ran at no look but is placed at the first.
        assert_eq!(
            text(),
            r#"{"format":"seatmap-recording/1","machine":"made","began_at_s":100.0,"topology":{"pus":[{"os":0,"core":0,"smt":null,"l2":null,"l3":0,"die":null,"numa":0,"package":0,"kind":null},{"os":1,"core":1,"smt":null,"l2":null,"l3":0,"die":null,"numa":0,"package":0,"kind":null}]},"groups":[[0,1]]}
{"at_s":1.5,"cpus":[[0,0.0],[1,0.0]],"known":[{"tid":7,"pid":7,"program":"program","name":"main","mask":"0-1"},{"tid":8,"pid":7,"program":"program","name":"worker","mask":"1"}],"ended":[],"ran":[{"tid":7,"cpu":1,"run_percent":12.3,"wait_percent":5.0,"migrations_per_s":0.3},{"tid":8,"cpu":1,"run_percent":0.0,"wait_percent":0.0,"migrations_per_s":0.3}],"wakes":[[7,8,12.3]]}
{"at_s":3.0,"cpus":[[0,0.0],[1,0.0]],"known":[],"ended":[],"ran":[{"tid":7,"cpu":1,"run_percent":12.3,"wait_percent":5.0,"migrations_per_s":0.3}],"wakes":[[7,8,12.3]]}
{"at_s":4.5,"cpus":[[0,0.0],[1,0.0]],"known":[{"tid":8,"pid":7,"program":"program","name":"worker","mask":"0"}],"ended":[],"ran":[{"tid":7,"cpu":1,"run_percent":12.3,"wait_percent":5.0,"migrations_per_s":0.3}],"wakes":[[7,8,12.3]]}
{"at_s":6.0,"cpus":[[0,0.0],[1,0.0]],"known":[],"ended":[8],"ran":[{"tid":7,"cpu":1,"run_percent":50.0,"wait_percent":0.0,"migrations_per_s":0.3}],"wakes":[[7,8,12.3]]}
"#
        );
    }

    #[test]
    fn recording_times_stay_monotonic_after_clock_step() {
        let mut transcript = Transcript::default();
        let text: String = [frame(101.5, two()), frame(53.0, two()), frame(54.5, two())]
            .iter()
            .map(|frame| transcript.add(frame, &two().topology, None))
            .collect();
        let recording = Recording::read(&text).unwrap();
        let at_s: Vec<f64> = recording.moments.iter().map(|moment| moment.at_s).collect();
        assert_eq!((recording.header.began_at_s, at_s), (100.0, vec![1.5, 3.0, 4.5]));
    }

    #[test]
    fn recording_is_recognized_by_first_line() {
        assert!(Recording::is_recording(text().as_bytes()));
        assert!(
            !Recording::is_recording(b"{\"format\":\"seatmap-seating/1\"}\n")
                && !Recording::is_recording(b"")
        );
    }

    #[test]
    fn truncated_recording_loses_one_look() {
        let text = text();
        let cut = Recording::read(&text[..text.len() - 5]).unwrap();
        assert!(cut.is_cut_off && cut.moments.len() == 3);
        assert!(!Recording::read(&text).unwrap().is_cut_off);
    }

    #[test]
    fn damaged_recording_is_rejected_with_line() {
        let refusal = |text: &str| Recording::read(text).unwrap_err().to_string();
        let text = text();
        let header = format!("{}\n", text.lines().next().unwrap());
        assert!(
            refusal(&text.replace("recording/1", "recording/9")).contains("seatmap-recording/9")
        );
        assert!(refusal(&header).contains("the recording is empty"));
        assert!(
            refusal(&format!("{header}{{}}\n"))
                .starts_with("line 2: not a look: missing field `at_s`")
        );
        assert!(
            refusal(&text.replace("\"at_s\":4.5", "\"at_s\":2.5"))
                .starts_with("line 4: its time, 2.5 s,")
        );
        assert!(refusal(&text.replacen("12.3", "123", 1)).contains("line 2: 123 is not between"));
        assert!(
            refusal(&text.replace("8,12.3", "8,-1"))
                .contains("line 2: -1 is not a number of wakeups")
        );
        let nobody = text.replacen("\"tid\":7,\"pid\":7", "\"tid\":9,\"pid\":7", 1);
        assert!(
            refusal(&nobody).contains("thread 7 ran, but no line describes it"),
            "{}",
            refusal(&nobody)
        );
    }
}
