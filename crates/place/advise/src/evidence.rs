//! The figures that were seen of a program, before anything is concluded.

use crate::gain::MostGain;
use crate::trial::TrialResult;
use seatmap_os::{CpuSet, Tid};
use seatmap_watch::Finding;
use serde::{Deserialize, Serialize};

/// A thread counts as busy from this share of a CPU on, in percent.
pub const BUSY_PERCENT: f64 = 5.0;

/// A program that is woken from outside less often than this, in times a second, is not asked for
/// its work: a timer or a signal comes to all.
pub const LEAST_ASKED_PER_S: f64 = 5.0;

/// The same as a share of the messages between its own threads.
const LEAST_ASKED_SHARE: f64 = 0.05;

/// The CPU time that each thread of a team wants, in percent.
const TEAM_PERCENT: f64 = 75.0;

/// A program that wakes it less often than this, in times a second, is not a client.
const LEAST_CLIENT_PER_S: f64 = 1.0;

/// Everything that was seen of a program. Shares are in percent of one CPU's time, where nothing
/// else is said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// The program's name.
    pub name: String,
    /// The command that was started for the look, as it can be typed; null for a program that ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The options that chose the program, as they can be typed again: `--name nginx`; null for a
    /// command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen_by: Option<String>,
    /// Its processes; empty where all had ended at the end of the look.
    pub pids: Vec<Tid>,
    /// For how long it was looked at, in seconds.
    pub looked_s: f64,
    /// Whether it ended meanwhile.
    pub has_ended: bool,
    /// How the command ended, where it did not end well: `ended with exit code 3`, `was ended by
    /// signal 9 (SIGKILL)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Whether that was somebody else's doing, such as timeout(1): the command did well until then.
    #[serde(default)]
    pub is_cut: bool,
    /// The threads that were seen.
    pub threads: usize,
    /// Those of them that used 5 % of a CPU or more, the busiest first.
    pub busy: Vec<BusyThread>,
    /// The CPU time of all threads, and of children that lived for a moment.
    pub used_percent: f64,
    /// The CPU time of the threads that lived for most of the look.
    #[serde(default)]
    pub lasting_percent: f64,
    /// The CPU time that they used, and the time in which busy ones waited for a CPU.
    #[serde(default)]
    pub wanted_percent: f64,
    /// The CPUs that its busy threads may use, or all of its threads if none is busy, as a list;
    /// empty if that was not seen.
    pub cpus: String,
    /// How many these are.
    pub cpu_count: usize,
    /// The CPUs that it could use if nobody had bound it, as a list; empty where that is not known.
    #[serde(default)]
    pub unbound_cpus: String,
    /// The threads that used a CPU or waited for one in 5 % of the time or more.
    #[serde(default)]
    pub ready: usize,
    /// Facts that decide and that were not seen. The confidence is lower for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<UnseenFact>,
    /// The share of the time in which its busy threads could have run, and waited for a CPU, in
    /// percent of that time.
    pub waits_percent: f64,
    /// Threads that waited for a disk or another device, on average: 100 is one thread all the
    /// time.
    pub device_wait_percent: f64,
    /// Whether waits for requests that threads gave to the kernel, as by io_uring, could not be
    /// seen.
    #[serde(default)]
    pub requests_unseen: bool,
    /// Whether one of its processes has loaded a runtime of OpenMP, whose threads may spin at
    /// barriers.
    pub has_openmp: bool,
    /// Whether one of its processes runs a program of Go, whose goroutines move among its threads.
    #[serde(default)]
    pub has_goroutines: bool,
    /// The setting by which all of its busy threads give way to a neighbour, by the kernel's rules
    /// for the two: `nice 19 against nice 0`, `cpu.weight 10 of the control group /a against ...`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gives_way: Option<String>,
    /// The command that gives it as much as the neighbour has; null if only a change of the
    /// neighbour does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gives_way_remedy: Option<String>,
    /// The work of others on its CPUs.
    pub neighbours: Neighbours,
    /// Its quotas of CPU time, each as `2 CPUs (FILE)`.
    pub quotas: Vec<String>,
    /// Why there may be other quotas, which could not be seen; null where all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotas_unseen: Option<String>,
    /// Masks, quotas and seats that are wrong, as `seatmap check` finds them, the gravest first.
    pub findings: Vec<Finding>,
    /// The command that undoes the remedy of the first finding that has one, as things stood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// Its messages; null where that could not be seen.
    pub talk: Option<ProgramTalk>,
    /// Why the talk could not be seen, where it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub talk_unseen: Option<String>,
    /// The most that seats could save; null where the distances or the talk are not known.
    pub most_gain: Option<MostGain>,
    /// The trial of seats; null where none was made.
    pub trial: Option<TrialResult>,
    /// Why none was made though seats could matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_trial: Option<NoTrial>,
    /// Masks that are not as they were before the trial, with the commands that mend them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_changed: Vec<String>,
    /// Whether the advice is for another machine than the one that the program runs on.
    #[serde(default)]
    pub is_elsewhere: bool,
}

/// A fact that was not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UnseenFact {
    /// The CPUs that some of its threads might use: they had ended before their masks were read.
    Masks,
    /// For how long its threads waited for a CPU.
    Waits,
    /// How busy some of its CPUs were, and how much of them the host of a virtual machine took.
    Load,
    /// Which of its threads waited for a device: there were too many to look at.
    DeviceWaits,
    /// Whether it works with the neighbours: which files it or one of them has open.
    Connections,
}

/// A busy thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BusyThread {
    /// Its number.
    pub tid: Tid,
    /// Its name.
    pub name: String,
    /// The CPU time that it used.
    pub percent: f64,
    /// The CPUs that it may use, as a list; empty where it had ended before that was read.
    #[serde(default)]
    pub cpus: String,
}

/// The work of others on the CPUs that the program may use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Neighbours {
    /// The time that others used, in percent of all of these CPUs' time.
    pub percent: f64,
    /// The time that the host of this virtual machine gave to others, in percent of all of these
    /// CPUs' time.
    pub steal_percent: f64,
    /// The busiest programs, the busiest first.
    pub programs: Vec<NeighbourProgram>,
    /// Programs that are connected with this one by pipes or sockets, directly or one through
    /// another, the busiest first. They do not count as neighbours: without them it
    /// would do other work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partners: Vec<NeighbourProgram>,
}

/// Another program on the same CPUs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NeighbourProgram {
    /// Its process.
    pub pid: Tid,
    /// Its name.
    pub name: String,
    /// The CPU time of its threads.
    pub percent: f64,
}

/// The messages of a program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramTalk {
    /// How they were seen: `wakeups and sockets`.
    pub methods: String,
    /// Messages between its threads in a second.
    pub inside_per_s: f64,
    /// Pairs of threads that talk.
    pub pairs: usize,
    /// Wakeups from outside in a second.
    pub outside_per_s: f64,
    /// The programs outside that wake it most, the kernel's own threads aside.
    pub clients: Vec<Client>,
    /// The talk that the methods cannot see.
    pub misses: String,
}

/// A program outside that wakes the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Client {
    /// Its process.
    pub pid: Tid,
    /// Its name.
    pub name: String,
    /// Its wakeups in a second.
    pub per_s: f64,
    /// The CPU time that it used on the program's CPUs.
    pub percent: f64,
    /// That of its busiest thread.
    #[serde(default)]
    pub busiest_percent: f64,
}

/// Why no seats were tried though they could matter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum NoTrial {
    /// Nothing tells how much work the program does.
    NoWork,
    /// The metric that was given has told nothing.
    MetricFailed {
        /// Why, as a sentence.
        why: String,
    },
    /// Busy threads of it have masks of their own, which seats would not change.
    Bound,
    /// Its goroutines move among its threads, so that seats of threads mean nothing.
    Goroutines,
    /// There are no seats that differ from what the kernel does.
    NoSeats,
    /// The program had ended.
    Ended,
    /// Its threads belong to another user.
    Refused,
    /// The advice is for another machine.
    Elsewhere,
}

impl Evidence {
    /// The share of all threads' time that the busy ones used, from 0 to 1.
    #[must_use]
    pub fn busy_share(&self) -> f64 {
        let busy: f64 = self.busy.iter().map(|thread| thread.percent).sum();
        if self.used_percent > 0.0 { busy / self.used_percent } else { 0.0 }
    }

    /// Whether threads that live on do the work, and not those that live for a moment.
    #[must_use]
    pub fn is_done_by_lasting_threads(&self) -> bool {
        self.lasting_percent * 2.0 >= self.used_percent
    }

    /// The share of all threads' time that the busiest one used, from 0 to 1.
    #[must_use]
    pub fn busiest_share(&self) -> f64 {
        let busiest = self.busy.first().map_or(0.0, |thread| thread.percent);
        if self.used_percent > 0.0 { busiest / self.used_percent } else { 0.0 }
    }

    /// The busy threads that may not use all CPUs of the program: somebody has bound them one by
    /// one.
    #[must_use]
    pub fn bound_threads(&self) -> Vec<&BusyThread> {
        let bound = self.busy.iter();
        bound.filter(|thread| !thread.cpus.is_empty() && thread.cpus != self.cpus).collect()
    }

    /// How many of its threads ran at a time, on average, where that is of its own making: it has
    /// several, hardly anything outside wakes it, and hardly any of them waits for a CPU.
    #[must_use]
    pub fn own_order(&self) -> Option<f64> {
        let talk = self.talk.as_ref()?;
        let is_asked = talk.outside_per_s >= LEAST_ASKED_PER_S
            && talk.outside_per_s >= LEAST_ASKED_SHARE * talk.inside_per_s;
        (self.busy.len() > 1 && !is_asked).then_some(self.used_percent / 100.0)
    }

    /// Whether the program's own mask keeps CPUs from it that it wants: it asked for more than it
    /// may use, and could use others if nobody had bound it.
    #[must_use]
    pub fn is_held_by_its_mask(&self) -> bool {
        let unbound = CpuSet::of_list(&self.unbound_cpus).unwrap_or_default();
        let cpus = CpuSet::of_list(&self.cpus).filter(|cpus| !cpus.is_empty());
        let has_more = cpus.is_some_and(|cpus| !unbound.without(&cpus).is_empty());
        has_more
            && self.ready_threads() > self.cpu_count
            && self.wanted_percent >= self.enough_percent()
    }

    /// The threads that share its CPUs: where many do, each of them uses little.
    #[must_use]
    pub fn ready_threads(&self) -> usize {
        self.ready.max(self.busy.len())
    }

    /// The CPU time from which a program wants more than its CPUs have.
    fn enough_percent(&self) -> f64 {
        110.0 * self.cpu_count as f64
    }

    /// The part of the waiting that others cause, in percent of the time in which its busy threads
    /// could run: its own threads wait for each other where they outnumber its CPUs, and for the
    /// programs that they work with.
    #[must_use]
    pub fn waits_for_others_percent(&self) -> f64 {
        let ready = self.ready_threads().max(1) as f64;
        let by_itself_percent = 100.0 * (1.0 - self.cpu_count as f64 / ready).max(0.0);
        let others = self.neighbours.percent * self.cpu_count as f64;
        let partners: f64 = self.neighbours.partners.iter().map(|one| one.percent).sum();
        let by_others = if partners > 0.0 { others / (others + partners) } else { 1.0 };
        (self.waits_percent - by_itself_percent).max(0.0) * by_others
    }

    /// Whether it has a team of OpenMP that works: its busy threads want a CPU each. A program may
    /// load the runtime and never use it.
    #[must_use]
    pub fn has_team(&self) -> bool {
        let busy = self.busy.len();
        let needed_percent = self.used_percent.max(self.wanted_percent);
        self.has_openmp && busy > 1 && needed_percent >= TEAM_PERCENT * busy as f64
    }

    /// The program outside that wakes it most. One that did so once or twice came by.
    #[must_use]
    pub fn first_client(&self) -> Option<&Client> {
        let client = self.talk.as_ref().and_then(|talk| talk.clients.first());
        client.filter(|client| client.per_s >= LEAST_CLIENT_PER_S)
    }
}
