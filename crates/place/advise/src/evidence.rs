//! The measured facts about a program.

use crate::gain::MostGain;
use crate::memory::MemoryThreads;
use crate::trial::TrialResult;
use seatmap_os::{CpuSet, Tid};
use seatmap_watch::Finding;
use serde::{Deserialize, Serialize};

/// The least load of a busy thread, in percent of a CPU.
pub const BUSY_PERCENT: f64 = 5.0;

/// A program with fewer wakeups from outside per second is not driven by requests: timers and
/// signals reach every program.
pub const LEAST_ASKED_PER_S: f64 = 5.0;

/// The same limit as a share of the messages between its own threads.
const LEAST_ASKED_SHARE: f64 = 0.05;

/// The least load of each thread in a working team, in percent.
const TEAM_PERCENT: f64 = 75.0;

/// An OpenMP team with more wakeups per second sleeps at its barriers.
const SLEEPING_TEAM_PER_S: f64 = 1000.0;

/// Other programs leave the CPUs to a spinning team if they use at most this share, in percent.
const ALMOST_NO_NEIGHBOURS_PERCENT: f64 = 5.0;

/// Clients with this many wakeups per second in all work in turns with the program, so seats for
/// both can matter even if one thread of each does all work: in a virtual machine a wakeup across
/// CPUs costs several times one on the same CPU ('seatmap measure --wakeups').
const PARTNERS_PER_S: f64 = 1000.0;

/// A partner makes at least this share of all wakeups from outside.
const PARTNER_SHARE: f64 = 0.1;

/// A program with fewer wakeups per second is not a client.
const LEAST_CLIENT_PER_S: f64 = 1.0;

/// The facts about a program. Percentages are of one CPU's time, unless stated otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Evidence {
    /// The program's name.
    pub name: String,
    /// The started command, quoted for a shell; null for a running program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The options that selected the program, quoted for a shell: `--name nginx`; null for a
    /// command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen_by: Option<String>,
    /// Its processes; empty if all had exited at the end of the look.
    pub pids: Vec<Tid>,
    /// The duration of the look, in seconds.
    pub looked_s: f64,
    /// Whether it exited during the look.
    pub has_ended: bool,
    /// How the command failed, if it did: `ended with exit code 3`, `was ended by signal 9
    /// (SIGKILL)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Whether another program, such as timeout(1), ended it.
    #[serde(default)]
    pub is_cut: bool,
    /// The number of its threads.
    pub threads: usize,
    /// The threads that used at least 5 % of a CPU, busiest first.
    pub busy: Vec<BusyThread>,
    /// The CPU time of all threads and of short-lived children.
    pub used_percent: f64,
    /// The CPU time of the threads that lived for most of the look.
    #[serde(default)]
    pub lasting_percent: f64,
    /// The CPU time used, plus the time for which busy threads waited for a CPU.
    #[serde(default)]
    pub wanted_percent: f64,
    /// The CPUs that its busy threads (or all, if none is busy) may use, as a list; empty if
    /// unknown.
    pub cpus: String,
    /// The number of these CPUs.
    pub cpu_count: usize,
    /// The CPUs that it could use without its own mask, as a list; empty if unknown.
    #[serde(default)]
    pub unbound_cpus: String,
    /// The threads that ran or waited for a CPU for at least 5 % of the time.
    #[serde(default)]
    pub ready: usize,
    /// Unknown facts that could decide. They lower the confidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<UnseenFact>,
    /// The share of the time in which its busy threads could run that they waited for a CPU, in
    /// percent of that time.
    pub waits_percent: f64,
    /// The mean number of threads that waited for a disk or another device, times 100.
    pub device_wait_percent: f64,
    /// Whether waits for kernel requests, such as io_uring's, could not be observed.
    #[serde(default)]
    pub requests_unseen: bool,
    /// Whether a process has loaded an OpenMP runtime, whose threads may spin at barriers.
    pub has_openmp: bool,
    /// Whether a process is a Go program, whose goroutines move among its threads.
    #[serde(default)]
    pub has_goroutines: bool,
    /// The setting by which the kernel prefers a neighbour to all of its busy threads: `nice 19
    /// against nice 0`, `cpu.weight 10 of the control group /a against ...`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gives_way: Option<String>,
    /// The command that gives it the same share as the neighbour; null if only a change of the
    /// neighbour does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gives_way_remedy: Option<String>,
    /// The load of other programs on its CPUs.
    pub neighbours: Neighbours,
    /// Its CPU quotas, each as `2 CPUs (FILE)`.
    pub quotas: Vec<String>,
    /// Why some quotas could not be read; null if all were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quotas_unseen: Option<String>,
    /// Wrong masks, quotas and placements, as in `seatmap check`, the gravest first.
    pub findings: Vec<Finding>,
    /// The command that undoes the remedy of the first finding that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// Its messages; null if they could not be observed.
    pub talk: Option<ProgramTalk>,
    /// Why the messages could not be observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub talk_unseen: Option<String>,
    /// The setting of its OpenMP runtime that competes with seats: `OMP_WAIT_POLICY=active` if its
    /// threads sleep at barriers more than 1,000 times a second, on CPUs without neighbours or
    /// quotas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rival_setting: Option<String>,
    /// The clients that were seated together with the program in the trial, because they wake it so
    /// often.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<Client>,
    /// Such clients of another user, whose masks this process may not change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbidden_clients: Vec<Client>,
    /// The most that seats could save; null if the distances or messages are unknown.
    pub most_gain: Option<MostGain>,
    /// The threads that memory can serve, if fewer than are ready; null if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_threads: Option<MemoryThreads>,
    /// The trial of seats; null if there was none.
    pub trial: Option<TrialResult>,
    /// Why there was no trial although seats could matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_trial: Option<NoTrial>,
    /// Masks that the trial could not restore, with the commands that do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_changed: Vec<String>,
    /// Whether the advice is for another machine than the one that runs the program.
    #[serde(default)]
    pub is_elsewhere: bool,
}

/// A fact that could not be observed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UnseenFact {
    /// The CPUs of some threads, which exited before their masks were read.
    Masks,
    /// How long its threads waited for a CPU.
    Waits,
    /// How busy some of its CPUs were, and how much of them a hypervisor took.
    Load,
    /// Which of its threads waited for a device: there were too many threads.
    DeviceWaits,
    /// Whether it works with its neighbours, because some processes' open files are hidden.
    Connections,
}

/// A busy thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BusyThread {
    /// Its thread ID.
    pub tid: Tid,
    /// Its name.
    pub name: String,
    /// The CPU time that it used.
    pub percent: f64,
    /// The CPUs that it may use, as a list; empty if it exited too early.
    #[serde(default)]
    pub cpus: String,
}

/// The load of other programs on the program's CPUs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Neighbours {
    /// The time that other programs used, in percent of all of these CPUs' time.
    pub percent: f64,
    /// The time that the hypervisor gave to other guests, in percent of all of these CPUs' time.
    pub steal_percent: f64,
    /// The busiest programs, busiest first.
    pub programs: Vec<NeighbourProgram>,
    /// Programs connected with this one by pipes or sockets, also indirectly, busiest first. They
    /// do not count as neighbours, because it works with them.
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
    /// How they were observed: `wakeups and sockets`.
    pub methods: String,
    /// Messages between its threads, per second.
    pub inside_per_s: f64,
    /// Pairs of threads with messages.
    pub pairs: usize,
    /// Wakeups from outside, per second.
    pub outside_per_s: f64,
    /// The other programs that wake it most, without kernel threads.
    pub clients: Vec<Client>,
    /// The messages that these methods miss.
    pub misses: String,
}

/// Another program that wakes this one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Client {
    /// Its process.
    pub pid: Tid,
    /// Its name.
    pub name: String,
    /// Its wakeups, per second.
    pub per_s: f64,
    /// The CPU time that it used on the program's CPUs.
    pub percent: f64,
    /// The CPU time of its busiest thread.
    #[serde(default)]
    pub busiest_percent: f64,
}

/// Why no seats were tried although they could matter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum NoTrial {
    /// The program's work cannot be measured.
    NoWork,
    /// The user's metric gave no value.
    MetricFailed {
        /// The reason, as a sentence.
        why: String,
    },
    /// Busy threads have their own masks, which seats would not change.
    Bound,
    /// All candidate seats are the same as the kernel's placement.
    NoSeats,
    /// The program had exited.
    Ended,
    /// Its threads belong to another user.
    Refused,
    /// The advice is for another machine.
    Elsewhere,
}

impl Evidence {
    /// The busy threads' share of all threads' time, 0 to 1.
    pub fn busy_share(&self) -> f64 {
        self.share(self.busy.iter().map(|thread| thread.percent).sum())
    }

    /// Whether long-lived threads do the work.
    pub fn is_done_by_lasting_threads(&self) -> bool {
        self.lasting_percent * 2.0 >= self.used_percent
    }

    /// The busiest thread's share of all threads' time, 0 to 1.
    pub fn busiest_share(&self) -> f64 {
        self.share(self.busy.first().map_or(0.0, |thread| thread.percent))
    }

    fn share(&self, percent: f64) -> f64 {
        if self.used_percent > 0.0 { percent / self.used_percent } else { 0.0 }
    }

    /// The busy threads that may not use all CPUs of the program.
    pub fn bound_threads(&self) -> Vec<&BusyThread> {
        let bound = self.busy.iter();
        bound.filter(|thread| !thread.cpus.is_empty() && thread.cpus != self.cpus).collect()
    }

    /// The mean number of running threads, if only the program decides it: several threads are
    /// busy, and few wakeups come from outside.
    pub fn own_order(&self) -> Option<f64> {
        let talk = self.talk.as_ref()?;
        let is_asked = talk.outside_per_s >= LEAST_ASKED_PER_S
            && talk.outside_per_s >= LEAST_ASKED_SHARE * talk.inside_per_s;
        (self.busy.len() > 1 && !is_asked).then_some(self.used_percent / 100.0)
    }

    /// Whether its own mask is too narrow: it needs more than its CPUs, and could use others
    /// without the mask.
    pub fn is_held_by_its_mask(&self) -> bool {
        let unbound = CpuSet::of_list(&self.unbound_cpus).unwrap_or_default();
        let cpus = CpuSet::of_list(&self.cpus).filter(|cpus| !cpus.is_empty());
        let has_more = cpus.is_some_and(|cpus| !unbound.without(&cpus).is_empty());
        has_more
            && self.ready_threads() > self.cpu_count
            && self.wanted_percent >= self.enough_percent()
    }

    /// The threads that share its CPUs. If they are many, each of them uses little.
    pub fn ready_threads(&self) -> usize {
        self.ready.max(self.busy.len())
    }

    /// The CPU time above which a program needs more CPUs.
    fn enough_percent(&self) -> f64 {
        110.0 * self.cpu_count as f64
    }

    /// The share of waiting that other programs cause, in percent of the time in which busy threads
    /// could run: without waits for partners, and for its own threads if they outnumber the CPUs.
    pub fn waits_for_others_percent(&self) -> f64 {
        let ready = self.ready_threads().max(1) as f64;
        let by_itself_percent = 100.0 * (1.0 - self.cpu_count as f64 / ready).max(0.0);
        let others = self.neighbours.percent * self.cpu_count as f64;
        let partners: f64 = self.neighbours.partners.iter().map(|one| one.percent).sum();
        let by_others = if partners > 0.0 { others / (others + partners) } else { 1.0 };
        (self.waits_percent - by_itself_percent).max(0.0) * by_others
    }

    /// Whether it has a working OpenMP team, with about a CPU for each busy thread. Other programs
    /// load the runtime without using it.
    pub fn has_team(&self) -> bool {
        let busy = self.busy.len();
        let needed_percent = self.used_percent.max(self.wanted_percent);
        self.has_openmp && busy > 1 && needed_percent >= TEAM_PERCENT * busy as f64
    }

    /// Whether its threads sleep as often as an OpenMP team at barriers, although they have CPUs to
    /// spin on.
    pub fn may_sleep_at_barriers(&self) -> bool {
        let inside = self.talk.as_ref().map_or(0.0, |talk| talk.inside_per_s);
        self.has_openmp
            && self.busy.len() > 1
            && self.ready_threads() <= self.cpu_count
            && inside >= SLEEPING_TEAM_PER_S
            && self.quotas.is_empty()
            && self.neighbours.percent <= ALMOST_NO_NEIGHBOURS_PERCENT
    }

    /// The clients that make many of the wakeups from outside.
    pub fn frequent_clients(&self) -> Vec<Client> {
        let Some(talk) = &self.talk else { return Vec::new() };
        let least = PARTNER_SHARE * talk.outside_per_s;
        talk.clients.iter().filter(|client| client.per_s >= least).cloned().collect()
    }

    /// The clients that work in turns with it.
    pub fn partners(&self) -> Vec<Client> {
        let partners = self.frequent_clients();
        let per_s: f64 = partners.iter().map(|client| client.per_s).sum();
        if per_s < PARTNERS_PER_S { Vec::new() } else { partners }
    }

    /// The program that wakes it most, if that is more than once or twice.
    pub fn first_client(&self) -> Option<&Client> {
        let client = self.talk.as_ref().and_then(|talk| talk.clients.first());
        client.filter(|client| client.per_s >= LEAST_CLIENT_PER_S)
    }
}
