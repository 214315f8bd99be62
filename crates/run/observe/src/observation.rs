//! An observed program: its tasks and their messages.

use crate::phases::{Phase, phases};
use crate::{Method, TalkKind, session};
use seatmap_data::pattern::{Edge, Outsider, Pattern, PatternObservation};
use seatmap_data::statistics::words::{counted, counted_figure};
use std::collections::BTreeSet;

/// The share of the busiest task's CPU time that makes a task a worker.
const WORKS: f64 = 0.2;

/// Below this CPU time, in seconds, a lack of messages means nothing.
const LEAST_S: f64 = 0.1;

/// With fewer messages per second of CPU time, workers hardly communicate: one in 100 ms.
const FEW_PER_S: f64 = 10.0;

/// A thread or rank of the observed program.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedTask {
    /// The thread's name, with a number if not unique. A second run finds the same task by it.
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairMessages {
    /// The sender.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// The kind.
    pub kind: TalkKind,
    /// The number of messages.
    pub messages: f64,
}

impl PairMessages {
    pub(crate) fn of_edges(edges: &[Edge], kind: TalkKind) -> Vec<PairMessages> {
        let mut shares: Vec<PairMessages> = edges
            .iter()
            .map(|edge| PairMessages {
                from: edge.from,
                to: edge.to,
                kind,
                messages: edge.messages,
            })
            .collect();
        shares.sort_by(|a, b| {
            b.messages.total_cmp(&a.messages).then((a.from, a.to).cmp(&(b.from, b.to)))
        });
        shares
    }
}

/// A program as observed by one or several methods.
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
    /// Processes outside the program that woke it, most frequent first.
    pub outsiders: Vec<Outsider>,
    /// Messages that this observation missed, a sentence each.
    pub unseen: Vec<String>,
}

impl Observation {
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
        let words: Vec<&str> = self.methods.iter().map(|method| method.word()).collect();
        match &words[..] {
            [before @ .., _, last] if words.len() > 2 => {
                format!("{}, {} and {last}", before.join(", "), words[words.len() - 2])
            }
            _ => words.join(" and "),
        }
    }

    /// The messages that none of the methods sees, as the end of a sentence.
    pub fn misses(&self) -> &'static str {
        match self.methods[..] {
            [method] => method.misses(),
            _ => {
                "threads that spin instead of waiting, bytes in shared memory, and TCP to other \
                 computers"
            }
        }
    }

    /// Suggests another method if threads worked at the same time with hardly any messages.
    pub fn advice(&self) -> Option<String> {
        let busiest = self.tasks.iter().max_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s))?;
        let workers: BTreeSet<usize> = (0..self.tasks.len())
            .filter(|place| {
                let task = &self.tasks[*place];
                task.pid == busiest.pid && task.cpu_s >= WORKS * busiest.cpu_s
            })
            .collect();
        let cpu_s: f64 = workers.iter().map(|place| self.tasks[*place].cpu_s).sum();
        let messages: f64 = self
            .shares
            .iter()
            .filter(|share| workers.contains(&share.from) && workers.contains(&share.to))
            .fold(0.0, |sum, share| sum + share.messages);
        let is_odd = workers.len() > 1 && cpu_s >= LEAST_S && messages < FEW_PER_S * cpu_s;
        // These methods observe threads that share memory, or ranks, so there is nothing to
        // suggest.
        (is_odd
            && !self
                .methods
                .iter()
                .any(|method| matches!(method, Method::Tsan | Method::Mpi | Method::C2c)))
        .then(|| {
            format!(
                "{} of one process used {cpu_s:.1} s of CPU time, but exchanged {messages}; if \
                 they spin or share memory, --method tsan sees it in a program built for it, and \
                 --method c2c on a processor that samples accesses",
                counted(workers.len(), "thread"),
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
        self.windows
            .iter()
            .flat_map(|window| &window.edges)
            .fold(0.0, |sum, edge| sum + edge.messages)
    }

    /// Periods with a constant pattern, in order.
    pub fn phases(&self) -> Vec<Phase> {
        phases(&self.windows)
    }

    /// One phase's pattern, with the names and loads of the whole.
    pub fn pattern_of(&self, phase: &Phase, name: &str) -> Pattern {
        let load_ns = Some((phase.to_s - phase.from_s).max(0.0) * 1e9);
        Pattern { edges: phase.edges.clone(), load_ns, ..self.pattern(name) }
    }

    /// The pattern of each phase, in order.
    pub fn patterns_of_phases(&self, name: &str) -> Vec<Pattern> {
        let phases = self.phases();
        let numbered = phases.iter().enumerate();
        numbered
            .map(|(number, phase)| self.pattern_of(phase, &format!("{name}, phase {number}")))
            .collect()
    }

    /// The pattern of the whole time: the sum of all windows. A task's load is its share of a CPU;
    /// 1 is one CPU for the whole time.
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
            methods: self.methods.iter().map(|method| method.word().to_owned()).collect(),
            paths: self.tasks.iter().map(|task| task.path.clone()).collect(),
            from_start: self.from_start,
            seconds: Some(self.seconds()),
            outsiders: self.outsiders.clone(),
        });
        pattern
    }
}
