//! The setup of a study: everything that its figures depend on.

use super::error::SetupError;
use super::program::TimedProgram;
use super::{MappingChoice, MappingTrial, Shard, TaskMapping};
use seatmap_cell_sim::channels::{DmaError, Ea, dma};
use seatmap_cell_sim::workload::{LongMessage, LongMessages, MessageLibrary, MessageRing};
use serde::{Deserialize, Serialize};

/// Bytes of the smallest packet: a quadword, because the ring copies packets by quadwords.
const QUADWORD: u32 = 16;
/// The most runs of a study; more would not fit in a readable file.
pub const MOST_RUNS: u64 = 10_000_000;

/// Default packets that each task takes from each side. Models settle within a few dozen. Ten times
/// as many agree no better between runs, and take ten times the one or two minutes for all 5,040
/// mappings of a Cell chip.
pub const USUAL_ROUNDS: u32 = 150;

/// The seat of thread i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// A worker drawn at random for the run, as by an operating system without affinity. The thread
    /// stays there for all mappings of the run.
    #[default]
    Default,
    /// Thread i on worker i.
    Pinned,
}

/// The setup of a study. On a model, equal setups give equal figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Setup {
    /// The machine's name.
    pub machine: String,
    /// A hash of the machine's data, to distinguish machines of the same name.
    pub machine_hash: String,
    /// The PUs of the workers, in their order, one thread each. There may be more than tasks.
    pub pus: Vec<u32>,
    /// The pattern's usual name.
    pub pattern: String,
    /// Tasks on the ring.
    pub tasks: usize,
    /// Whether packets move in one direction only.
    pub is_unidirectional: bool,
    /// Long messages in place of forwarded packets: sender, receiver, and the step of sending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<[usize; 3]>,
    /// Bytes of a packet or message.
    #[cfg_attr(feature = "schema", schemars(range(min = 16, max = 16384)))]
    #[cfg_attr(feature = "schema", schemars(extend("multipleOf" = 16)))]
    pub packet_bytes: u32,
    /// Packets that each task takes from each side.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub rounds: u32,
    /// Bytes of an entry in the matrix of notifications of the ring's library, if not the default.
    #[serde(default = "usual_entry", skip_serializing_if = "is_usual_entry")]
    pub entry_bytes: u32,
    /// Cycles of the library's code between two looks at the matrix, if not the default.
    #[serde(default = "usual_poll", skip_serializing_if = "is_usual_poll")]
    pub poll_cycles: u32,
    /// The number of runs of each mapping.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub runs: u32,
    /// The seat of thread i.
    pub variant: Variant,
    /// The seed of random choices: the sample, the seats and the start skew of each run.
    pub seed: u64,
    /// Whether the times of each run were exchanged at random among the mappings, so that they show
    /// a ranking without any effect of the mapping.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_shuffled: bool,
    /// The mappings to run.
    #[serde(flatten)]
    pub choice: MappingChoice,
}

fn usual_entry() -> u32 {
    MessageLibrary::default().entry_bytes
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_usual_entry(bytes: &u32) -> bool {
    *bytes == usual_entry()
}

fn usual_poll() -> u32 {
    MessageLibrary::default().poll_cycles
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_usual_poll(cycles: &u32) -> bool {
    *cycles == usual_poll()
}

impl Setup {
    /// The mappings to run, by their index in lexicographic order: all chosen ones, or the share of
    /// one part.
    ///
    /// # Errors
    /// [`SetupError`]: the setup cannot be run.
    pub fn indices(&self, shard: Option<Shard>) -> Result<Vec<u64>, SetupError> {
        self.check()?;
        let all = self.choice.indices(self.tasks, self.seed)?;
        if all.len() as u64 * u64::from(self.runs) > MOST_RUNS {
            return Err(SetupError::ManyRuns { mappings: all.len(), runs: self.runs });
        }
        let Some(shard) = shard else { return Ok(all) };
        let part = shard.part(&all);
        if part.is_empty() {
            Err(SetupError::EmptyShard { number: shard.number, of: shard.of, mappings: all.len() })
        } else {
            Ok(part)
        }
    }

    fn check(&self) -> Result<(), SetupError> {
        if self.tasks > self.pus.len() {
            let machine = self.machine.clone();
            return Err(SetupError::Seats { tasks: self.tasks, machine, pus: self.pus.len() });
        }
        if self.choice.is_reduced_by_symmetry && self.is_unidirectional {
            return Err(SetupError::Symmetry);
        }
        if !MessageLibrary::ENTRIES.contains(&self.entry_bytes) {
            return Err(SetupError::Entry(self.entry_bytes));
        }
        match (self.rounds, self.runs) {
            (0, _) => Err(SetupError::Nothing("rounds")),
            (_, 0) => Err(SetupError::Nothing("runs")),
            _ if self.messages.is_empty() => packet(self.packet_bytes),
            // Long messages are sent in pieces of 16 KiB; the hardware must accept the last.
            _ => match self.packet_bytes % dma::LARGEST_BYTES {
                0 if self.packet_bytes > 0 => Ok(()),
                rest => packet(rest),
            },
        }
    }

    /// The program to time.
    pub fn program(&self) -> TimedProgram {
        let Setup {
            tasks, packet_bytes, rounds, is_unidirectional, entry_bytes, poll_cycles, ..
        } = *self;
        if self.messages.is_empty() {
            let ring = MessageRing { tasks, packet_bytes, rounds, is_unidirectional };
            return TimedProgram::Ring(ring.over(MessageLibrary { entry_bytes, poll_cycles }));
        }
        let messages = self
            .messages
            .iter()
            .map(|[from, to, step]| LongMessage {
                from: *from,
                to: *to,
                step: *step,
                size_bytes: packet_bytes,
            })
            .collect();
        TimedProgram::Long(LongMessages { tasks, messages, rounds })
    }

    /// The seat of each task in one run of one mapping.
    pub fn seats(&self, mapping: &TaskMapping, run: u32) -> Vec<u32> {
        let mut pus = self.pus.clone();
        if self.variant == Variant::Default {
            fastrand::Rng::with_seed(self.seed_of_run(run)).shuffle(&mut pus);
        }
        mapping.seats(&pus)
    }

    /// The seed of the machine's random choices in one run of one mapping.
    pub fn seed_of(&self, job: MappingTrial) -> u64 {
        // A seed of 0 would start without skew.
        fastrand::Rng::with_seed(self.seed_of_run(job.run) ^ job.index.rotate_left(32)).u64(1..)
    }

    fn seed_of_run(&self, run: u32) -> u64 {
        // The run's number is in the upper half, so that studies with neighbouring seeds do not
        // share seeds of runs.
        fastrand::Rng::with_seed(self.seed.wrapping_add(u64::from(run) << 32)).u64(..)
    }

    /// The first field in which two setups differ.
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        [
            (
                "another machine",
                (&self.machine, &self.machine_hash) != (&other.machine, &other.machine_hash),
            ),
            ("other workers", self.pus != other.pus),
            ("another pattern", (&self.pattern, self.tasks) != (&other.pattern, other.tasks)),
            ("another direction", self.is_unidirectional != other.is_unidirectional),
            ("other messages", self.messages != other.messages),
            ("another --packet", self.packet_bytes != other.packet_bytes),
            ("other --rounds", self.rounds != other.rounds),
            ("another --entry", self.entry_bytes != other.entry_bytes),
            ("another --poll", self.poll_cycles != other.poll_cycles),
            ("other --runs", self.runs != other.runs),
            ("another --variant", self.variant != other.variant),
            ("another --seed", self.seed != other.seed),
            ("another --shuffled", self.is_shuffled != other.is_shuffled),
            ("another --sample or --symmetry", self.choice != other.choice),
        ]
        .into_iter()
        .find_map(|(what, differs)| differs.then_some(what))
    }
}

fn packet(bytes: u32) -> Result<(), SetupError> {
    // Any aligned address: only the size is checked.
    let there = Ea::Local { rank: 0, offset: 0 };
    match dma::check(0, there, bytes, 0) {
        Err(error @ (DmaError::Size(_) | DmaError::Large(_))) => Err(SetupError::Packet(error)),
        _ if bytes < QUADWORD => Err(SetupError::SmallPacket(bytes)),
        _ => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn setup(tasks: usize) -> Setup {
        Setup {
            machine: "test".into(),
            machine_hash: "0".into(),
            pus: (10..18).collect(),
            pattern: format!("ring:{tasks}:bidirectional"),
            tasks,
            is_unidirectional: false,
            messages: Vec::new(),
            packet_bytes: 1024,
            rounds: 10,
            entry_bytes: usual_entry(),
            poll_cycles: usual_poll(),
            runs: 3,
            variant: Variant::Pinned,
            seed: 1,
            is_shuffled: false,
            choice: MappingChoice::default(),
        }
    }

    #[test]
    fn impossible_setups_are_refused() {
        let refused = |setup: Setup| setup.indices(None).unwrap_err().to_string();
        let usual = || setup(6);
        insta::assert_snapshot!(refused(setup(9)), @"9 tasks do not fit on test, which seats 8, one task each");
        insta::assert_snapshot!(refused(Setup { rounds: 0, ..usual() }), @"no rounds, so there is nothing to time; leave --rounds out or write 1 or more");
        insta::assert_snapshot!(refused(Setup { runs: 0, ..usual() }), @"no runs, so there is nothing to time; leave --runs out or write 1 or more");
        insta::assert_snapshot!(refused(Setup { packet_bytes: 1000, ..usual() }), @"a transfer of 1000 bytes: the MFC takes 1, 2, 4, 8 or a multiple of 16 and raises an alignment exception");
        insta::assert_snapshot!(refused(Setup { packet_bytes: 32768, ..usual() }), @"a transfer of 32768 bytes: the MFC takes 16384 at most and raises an alignment exception");
        insta::assert_snapshot!(refused(Setup { packet_bytes: 8, ..usual() }), @"a packet of 8 bytes: the ring's packets are a multiple of 16 bytes, up to 16384");
        insta::assert_snapshot!(refused(Setup { entry_bytes: 32, ..usual() }), @"entries of 32 bytes; the ring's library writes entries of 4, 8, 16 or 128 bytes");
        insta::assert_snapshot!(refused(Setup { runs: u32::MAX, ..usual() }), @"120 mappings 4294967295 times are too many runs: the maximum is 10000000");
        let choice = MappingChoice { is_reduced_by_symmetry: true, ..MappingChoice::default() };
        insta::assert_snapshot!(refused(Setup { is_unidirectional: true, choice, ..usual() }), @"a unidirectional ring differs from its mirror image, so --symmetry would omit mappings");
        let part = usual().indices(Some(Shard { number: 121, of: 121 }));
        insta::assert_snapshot!(part.unwrap_err(), @"part 121/121 holds none of the 120 mappings; use fewer parts");
    }

    #[test]
    fn pinned_seats_stay_and_others_change_per_run() {
        let pinned = setup(6);
        let first = TaskMapping::nth(6, 0).unwrap();
        let last = TaskMapping::nth(6, 119).unwrap();
        assert_eq!(pinned.seats(&first, 0), [10, 11, 12, 13, 14, 15]);
        assert_eq!(pinned.seats(&last, 2), [10, 15, 14, 13, 12, 11]);
        let drawn = Setup { variant: Variant::Default, ..pinned };
        assert_ne!(drawn.seats(&first, 0), drawn.seats(&first, 1));
        // Task 1 of the last mapping is executed by thread 5, as task 5 of the first.
        assert_eq!(drawn.seats(&first, 1)[5], drawn.seats(&last, 1)[1]);
    }

    #[test]
    fn every_key_is_compared() {
        let usual = setup(6);
        assert_eq!(usual.difference(&usual.clone()), None);
        let others = [
            Setup { machine_hash: "1".into(), ..usual.clone() },
            Setup { pus: vec![], ..usual.clone() },
            Setup { tasks: 5, ..usual.clone() },
            Setup { is_unidirectional: true, ..usual.clone() },
            Setup { packet_bytes: 16, ..usual.clone() },
            Setup { rounds: 1, ..usual.clone() },
            Setup { entry_bytes: 4, ..usual.clone() },
            Setup { poll_cycles: 0, ..usual.clone() },
            Setup { runs: 1, ..usual.clone() },
            Setup { variant: Variant::Default, ..usual.clone() },
            Setup { seed: 2, ..usual.clone() },
            Setup { is_shuffled: true, ..usual.clone() },
            Setup {
                choice: MappingChoice { sample: Some(2), ..MappingChoice::default() },
                ..usual.clone()
            },
        ];
        let told: Vec<_> = others.iter().map(|other| usual.difference(other).unwrap()).collect();
        assert_eq!(
            told.iter().collect::<std::collections::HashSet<_>>().len(),
            others.len(),
            "{told:?}"
        );
    }
}
