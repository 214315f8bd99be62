//! The setup of a study, on a model or this host.

use crate::args::RankStudy;
use crate::machine::ExperimentRunner;
use seatmap_cell_sim::workload::long_messages::{LongMessages, MOST_TASKS};
use seatmap_console::error::CliError;
use seatmap_console::{here, pattern_input};
use seatmap_data::document::content_hash;
use seatmap_data::pattern::{Pattern, generate};
use seatmap_experiments::rank::{MappingChoice, Setup};

pub struct RankStudyRequest<'a> {
    pub runner: &'a ExperimentRunner,
    /// The CPUs for workers, if the machine is this host.
    pub pus: &'a [u32],
}

impl RankStudyRequest<'_> {
    /// Creates the study's setup.
    ///
    /// # Errors
    /// The pattern is not a ring.
    pub fn setup(&self, typed: &RankStudy) -> Result<Setup, CliError> {
        let pattern = typed.pattern.as_deref().unwrap_or_default();
        let graph = pattern_input::pattern(pattern)?;
        let messages = if typed.long { long(&graph)? } else { Vec::new() };
        let (tasks, is_bidirectional) =
            if typed.long { (graph.tasks, true) } else { ring(pattern, &graph)? };
        let (machine, machine_hash) = self.name();
        Ok(Setup {
            machine,
            machine_hash,
            pus: self.workers(tasks),
            pattern: pattern.to_owned(),
            tasks,
            is_unidirectional: typed.unidirectional || !is_bidirectional,
            messages,
            packet_bytes: typed.packet,
            rounds: typed.rounds,
            entry_bytes: typed.entry,
            poll_cycles: typed.poll,
            runs: typed.runs,
            variant: typed.variant.into(),
            seed: typed.seed,
            is_shuffled: typed.shuffled,
            choice: MappingChoice { sample: typed.sample, is_reduced_by_symmetry: typed.symmetry },
        })
    }

    /// The machine's name, and a hash of what is known of it.
    fn name(&self) -> (String, String) {
        match self.runner {
            ExperimentRunner::CellBe(model) => (model.name.clone(), self.runner.model_hash()),
            ExperimentRunner::Coherent(model) => (model.name.clone(), self.runner.model_hash()),
            // The host has no model to hash; its name and CPUs identify it.
            ExperimentRunner::Host => (here::host_name(), content_hash(self.pus)),
        }
    }

    /// The workers. On a Cell, the SPEs of the first chip if they suffice, as in the paper;
    /// otherwise all PUs.
    fn workers(&self, tasks: usize) -> Vec<u32> {
        match self.runner {
            ExperimentRunner::CellBe(model) if tasks <= model.spes.len() => {
                (0..model.spes.len() as u32).collect()
            }
            ExperimentRunner::CellBe(model) => (0..model.ppe()).collect(),
            ExperimentRunner::Coherent(model) => model.topology.os_indices().collect(),
            ExperimentRunner::Host => self.pus.to_vec(),
        }
    }
}

fn ring(text: &str, pattern: &Pattern) -> Result<(usize, bool), CliError> {
    match (is_ring(pattern, ""), is_ring(pattern, ":bidirectional")) {
        (true, _) if pattern.tasks > 1 => Ok((pattern.tasks, false)),
        (_, true) => Ok((pattern.tasks, true)),
        _ => Err(CliError::input(format!(
            "{text}: packets travel only around rings, ring:N or ring:N:bidirectional; --long \
             sends messages along any pattern"
        ))),
    }
}

fn is_ring(pattern: &Pattern, form: &str) -> bool {
    generate(&format!("ring:{}{form}", pattern.tasks)).is_ok_and(|ring| ring.edges == pattern.edges)
}

fn long(pattern: &Pattern) -> Result<Vec<[usize; 3]>, CliError> {
    // Size and repetitions do not matter, because only the ends and steps of the messages are used.
    let program = LongMessages::along(pattern, 16, 1).ok_or_else(|| {
        CliError::input(format!(
            "--long takes a pattern of 2 to {MOST_TASKS} tasks that send something"
        ))
    })?;
    Ok(program.messages.iter().map(|message| [message.from, message.to, message.step]).collect())
}
