//! An observed program: its tasks and their messages.

use crate::phases::{Phase, phases, sum_of};
use crate::{Method, TalkKind, session};
use seatmap_data::pattern::{Edge, Outsider, Pattern, PatternObservation};
use seatmap_data::words::{counted, counted_figure};
use serde::Serialize;

/// The share of the busiest task's CPU time that makes a task a worker.
const WORKS: f64 = 0.2;

/// Below this CPU time, in seconds, a lack of messages means nothing.
const LEAST_S: f64 = 0.1;

/// With fewer messages per second of CPU time, workers hardly communicate: one in 100 ms.
const FEW_PER_S: f64 = 10.0;

/// A thread or rank of the observed program.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedTask {
    /// The thread's name, numbered if not unique. A second run finds the task by it.
    pub name: String,
    /// The numbers of the process and of the task in the order of creation. A second run finds a
    /// task by its path before it has its name.
    pub path: String,
    /// The PID in this run.
    pub pid: i32,
    /// The TID in this run.
    pub tid: i32,
    /// The CPU time during the observation, in seconds.
    pub cpu_s: f64,
}

/// The messages in a period of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// The start, in seconds since the observation began.
    pub from_s: f64,
    /// The end, in the same seconds.
    pub to_s: f64,
    /// At most one edge for each ordered pair of indexes in [`Observation::tasks`].
    pub edges: Vec<Edge>,
}

/// Messages of an ordered pair of tasks by one kind of wait.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairMessages {
    /// The sender.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// The kind.
    pub kind: TalkKind,
    /// Messages.
    pub messages: f64,
}

impl PairMessages {
    pub(crate) fn largest_first(shares: impl Iterator<Item = PairMessages>) -> Vec<Self> {
        let mut shares: Vec<PairMessages> = shares.collect();
        shares.sort_by(|a, b| {
            b.messages.total_cmp(&a.messages).then((a.from, a.to).cmp(&(b.from, b.to)))
        });
        shares
    }
}

/// An observed program.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The methods.
    pub methods: Vec<Method>,
    /// The mechanism, and why no better one was used: `eBPF`.
    pub means: String,
    /// The tasks, in order of creation.
    pub tasks: Vec<ObservedTask>,
    /// The windows, in order of time.
    pub windows: Vec<Window>,
    /// At most one entry for each ordered pair and kind, largest first.
    pub shares: Vec<PairMessages>,
    /// The observation's CPU time relative to the program's, measured meanwhile.
    pub overhead: Option<f64>,
    /// Whether a command was observed from its first instruction.
    pub from_start: bool,
    /// Outside processes that woke it, most frequent first.
    pub outsiders: Vec<Outsider>,
    /// Missed messages, a sentence each.
    pub unseen: Vec<String>,
}

impl Observation {
    /// Messages of one kind in one window.
    pub fn whole(
        (method, means): (Method, &str),
        tasks: Vec<ObservedTask>,
        (kind, edges): (TalkKind, Vec<Edge>),
        to_s: f64,
    ) -> Self {
        let shares = edges.iter().map(|edge| {
            let Edge { from, to, messages, .. } = *edge;
            PairMessages { from, to, kind, messages }
        });
        Observation {
            methods: vec![method],
            means: means.to_owned(),
            tasks,
            shares: PairMessages::largest_first(shares),
            windows: vec![Window { from_s: 0.0, to_s, edges }],
            overhead: None,
            from_start: false,
            outsiders: Vec::new(),
            unseen: Vec::new(),
        }
    }

    /// The duration, in seconds.
    pub fn seconds(&self) -> f64 {
        let ends = self.windows.first().zip(self.windows.last());
        ends.map_or(0.0, |(first, last)| last.to_s - first.from_s)
    }

    /// The name of the first task.
    pub fn name(&self) -> &str {
        self.tasks.first().map_or("observed", |task| &task.name)
    }

    /// The names of the methods.
    pub fn method_words(&self) -> String {
        let words: Vec<String> = self.methods.iter().map(Method::to_string).collect();
        match &words[..] {
            [before @ .., last] if !before.is_empty() => {
                format!("{} and {last}", before.join(", "))
            }
            _ => words.concat(),
        }
    }

    /// Messages that no method sees, as the end of a sentence.
    pub fn misses(&self) -> &'static str {
        match self.methods[..] {
            [method] => method.misses(),
            _ => {
                "threads that spin instead of waiting, bytes in shared memory, and TCP to other \
                 computers"
            }
        }
    }

    /// Suggests another method if threads worked simultaneously with hardly any messages.
    pub fn advice(&self) -> Option<String> {
        let busiest = self.tasks.iter().max_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s))?;
        let is_worker =
            |task: &ObservedTask| task.pid == busiest.pid && task.cpu_s >= WORKS * busiest.cpu_s;
        let workers = self.tasks.iter().filter(|task| is_worker(task));
        let threads = workers.clone().count();
        let cpu_s: f64 = workers.map(|task| task.cpu_s).sum();
        let between = self.shares.iter().filter(|share| {
            [share.from, share.to].iter().all(|task| self.tasks.get(*task).is_some_and(is_worker))
        });
        let messages = between.fold(0.0, |sum, share| sum + share.messages);
        let is_odd = threads > 1 && cpu_s >= LEAST_S && messages < FEW_PER_S * cpu_s;
        // These methods observe threads that share memory, or ranks, so there is nothing to
        // suggest.
        let sees_memory = [Method::Tsan, Method::Mpi, Method::C2c];
        let has_none = !self.methods.iter().any(|method| sees_memory.contains(method));
        (is_odd && has_none).then(|| {
            format!(
                "{} of one process used {cpu_s:.1} s of CPU time, but exchanged {messages}; if \
                 they spin or share memory, --method tsan sees it in a program built for it, and \
                 --method c2c on a processor that samples accesses",
                counted(threads, "thread"),
                messages = counted_figure(messages, 0, "message")
            )
        })
    }

    /// Why the overhead was not measured.
    pub fn unmeasured(&self) -> &'static str {
        let program_s: f64 = self.tasks.iter().map(|task| task.cpu_s).sum();
        match self.methods[..] {
            [Method::C2c] => "the processor takes the samples",
            // The library's time is part of the program's.
            [Method::Mpi] | [Method::Tsan] => "the program counts within its CPU time",
            _ if program_s < session::LEAST_S => "the program used too little CPU time",
            _ => "the kernel did not report how long its part took",
        }
    }

    /// The messages of the whole time.
    pub fn messages(&self) -> f64 {
        sum_of(self.windows.iter().flat_map(|window| &window.edges))
    }

    /// Periods with a constant pattern, in order.
    pub fn phases(&self) -> Vec<Phase> {
        phases(&self.windows)
    }

    /// The pattern of each phase, in order, with the names and loads of the whole.
    pub fn patterns_of_phases(&self, name: &str) -> Vec<Pattern> {
        let numbered = self.phases().into_iter().enumerate();
        let patterns = numbered.map(|(number, phase)| Pattern {
            edges: phase.edges,
            load_ns: Some((phase.to_s - phase.from_s).max(0.0) * 1e9),
            ..self.pattern(&format!("{name}, phase {number}"))
        });
        patterns.collect()
    }

    /// The pattern of the whole time: the sum of all windows. A task's load is its share of one
    /// CPU.
    pub fn pattern(&self, name: &str) -> Pattern {
        let edges = self.windows.iter().flat_map(|window| window.edges.iter().cloned());
        let mut pattern = Pattern::gathered(name, self.tasks.len(), edges);
        pattern.names = self.tasks.iter().map(|task| task.name.clone()).collect();
        // A recording has no CPU times.
        if self.tasks.iter().any(|task| task.cpu_s > 0.0) {
            pattern.loads =
                self.tasks.iter().map(|task| task.cpu_s / self.seconds().max(1e-9)).collect();
        }
        pattern.load_ns = Some(self.seconds().max(0.0) * 1e9);
        pattern.observation = Some(PatternObservation {
            methods: self.methods.iter().map(Method::to_string).collect(),
            paths: self.tasks.iter().map(|task| task.path.clone()).collect(),
            from_start: self.from_start,
            seconds: Some(self.seconds()),
            outsiders: self.outsiders.clone(),
        });
        pattern
    }
}
