//! The CPUs of the commands, and how other programs are kept away.

use super::lease::Lease;
use super::{BenchEvent, RoomRequest};
use crate::tune::activity::{self, Activity};
use crate::tune::document::SeatsUsed;
use crate::tune::seats::{self, ChosenCpus};
use crate::tune::session::Length;
use crate::tune::trial::{CommandRunner, Contestant};
use crate::tune::{Fingerprint, Metric};
use seatmap_data::document::{Failure, with_causes};
use seatmap_data::machine::Topology;
use seatmap_data::statistics::greatest;
use seatmap_data::statistics::words::counted;
use seatmap_machines::host::environment;
use seatmap_machines::host::topology;
use seatmap_os::cpus::Cpus;
use seatmap_os::{CpuList, CpuSet};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The look at the load before seats are chosen.
const LOOK: Duration = Duration::from_millis(500);

const PINNED: &str = "the kernel does not balance threads in a cell, so each thread of a command \
                      stays on one CPU";

/// Seats that stay quiet until this is left or dropped.
pub struct QuietSeats {
    /// The seats, as in a result.
    pub seats: SeatsUsed,
    cpus: CpuSet,
    cores: usize,
    is_quiet: bool,
    cell: Option<Lease>,
}

impl QuietSeats {
    /// Takes the requested seats, those of an earlier result, or quiet ones; in a cell, if
    /// requested and allowed.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn take(
        request: &RoomRequest,
        earlier: Option<&SeatsUsed>,
        hear: &mut dyn FnMut(BenchEvent<'_>),
    ) -> Result<Self, Failure> {
        let allowed = CpuSet::of_thread(0)?;
        let topology = topology::of_group().map_err(Failure::work)?;
        let named = named(request, earlier);
        let mut notes = Vec::new();
        if request.is_quiet {
            // Without the privileges for a cell, the comparison still runs.
            match Lease::take(request, named.as_ref(), hear) {
                Ok(cell) => return Ok(QuietSeats::in_cell(cell, request.words.clone())),
                Err(error) => notes.push(format!(
                    "no cell was created ({}); the kernel prefers the commands instead",
                    with_causes(&error)
                )),
            }
        }
        let chosen = match &named {
            Some(cpus) => as_named(cpus, &topology, &activity::look(cpus, LOOK))?,
            None => {
                // A sibling outside the mask also disturbs its core.
                let activity = activity::look(&topology.os_indices().collect(), LOOK);
                seats::choose(&topology, &allowed, &activity, request.seats)?
            }
        };
        notes.extend(chosen.notes);
        Ok(QuietSeats {
            seats: SeatsUsed {
                cpus: chosen.cpus.list().to_string(),
                words: request.words.clone(),
                notes,
                others_percent: Some(chosen.others_percent),
            },
            cpus: chosen.cpus,
            cores: chosen.cores,
            is_quiet: request.is_quiet,
            cell: None,
        })
    }

    fn in_cell(cell: Lease, words: Option<String>) -> Self {
        let is_pinned = cell.cpus.len() > 1;
        QuietSeats {
            seats: SeatsUsed {
                cpus: cell.cpus.list().to_string(),
                words,
                notes: is_pinned.then(|| PINNED.to_owned()).into_iter().collect(),
                others_percent: None,
            },
            cpus: cell.cpus.clone(),
            cores: cell.cores,
            is_quiet: true,
            cell: Some(cell),
        }
    }

    /// A command on these seats.
    pub fn seated(&self, command: Contestant) -> Contestant {
        match &self.cell {
            // On one CPU the threads need no seats.
            Some(Lease { group: Some(members), cpus, .. }) if cpus.len() == 1 => {
                Contestant { group: Some(members.clone()), cell: Some(cpus.clone()), ..command }
            }
            Some(cell) => {
                Contestant { launcher: cell.launcher(), cell: Some(cell.cpus.clone()), ..command }
            }
            None => Contestant { cpus: Some(self.cpus.clone()), ..command },
        }
    }

    /// Runs commands on these seats. Without a cell, the kernel prefers quiet ones.
    pub fn runner(&self, metric: &Metric, length: &Length) -> CommandRunner {
        let mut runner = CommandRunner::new(metric.clone(), length.limit);
        runner.raised = self.is_quiet && self.cell.is_none();
        runner
    }

    /// The fingerprint of this computer with these seats.
    pub fn fingerprint(&self, machine: &str) -> Fingerprint {
        let quiet = match (&self.cell, self.is_quiet) {
            (Some(_), _) => "a cell",
            (None, true) => "preference",
            (None, false) => "nobody",
        };
        let seats =
            format!("{} on {}", counted(self.cpus.len(), "CPU"), counted(self.cores, "core"));
        Fingerprint::new(machine.to_owned(), environment::read(), seats, quiet.to_owned())
    }

    /// Releases the seats, and reports settings that could not be restored.
    pub fn leave(self, hear: &mut dyn FnMut(BenchEvent<'_>)) {
        if let Some(cell) = self.cell {
            cell.leave(hear);
        }
    }
}

/// The requested CPUs, or the earlier result's, because results on others are not comparable.
fn named(request: &RoomRequest, earlier: Option<&SeatsUsed>) -> Option<CpuSet> {
    if request.cpus.is_some() {
        return request.cpus.clone();
    }
    let before = earlier?.cpus.parse::<CpuList>().ok()?.0;
    let are_here = Cpus::read().ok()?.check(&before).is_ok();
    (request.seats.is_none() && are_here).then(|| before.into_iter().collect())
}

fn as_named(
    cpus: &CpuSet,
    topology: &Topology,
    activity: &BTreeMap<u32, Activity>,
) -> Result<ChosenCpus, Failure> {
    Cpus::read()?.check(&cpus.list().0).map_err(Failure::input)?;
    // A CPU of unknown core counts as its own core.
    let cores: BTreeSet<Result<u32, u32>> =
        cpus.iter().map(|cpu| topology.pu(cpu).and_then(|pu| pu.core).ok_or(cpu)).collect();
    Ok(ChosenCpus {
        cpus: cpus.clone(),
        cores: cores.len(),
        notes: Vec::new(),
        others_percent: greatest(activity.values().map(|activity| activity.busy_percent)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::bench::OwnCells;
    use seatmap_cell::GuardianCommand;
    use seatmap_data::machine::Pu;

    fn request(cpus: Option<CpuSet>, seats: Option<usize>) -> RoomRequest {
        let guardian = GuardianCommand(Vec::new());
        let cells = OwnCells { guardian, in_cell: |_| Vec::new() };
        RoomRequest { cpus, words: None, seats, is_quiet: false, cells }
    }

    #[test]
    fn baseline_seats_are_reused_unless_overridden() {
        let here = CpuSet::of_thread(0).unwrap();
        let first = here.iter().next().unwrap();
        let earlier = SeatsUsed { cpus: first.to_string(), ..SeatsUsed::default() };
        let own = CpuSet::single(first);
        assert_eq!(named(&request(None, None), Some(&earlier)), Some(own.clone()));
        assert_eq!(named(&request(Some(here.clone()), None), Some(&earlier)), Some(here));
        assert_eq!(named(&request(None, Some(1)), Some(&earlier)), None);
        assert_eq!(named(&request(None, None), None), None);
        let absent = SeatsUsed { cpus: "1023".to_owned(), ..SeatsUsed::default() };
        assert_eq!(named(&request(None, None), Some(&absent)), None);
    }

    #[test]
    fn named_cpus_are_counted_by_core() {
        let allowed = CpuSet::of_thread(0).unwrap();
        let pus = allowed.iter().map(|os| Pu { os, core: Some(7), ..Pu::default() }).collect();
        assert_eq!(as_named(&allowed, &Topology { pus }, &BTreeMap::new()).unwrap().cores, 1);
        let unknown = as_named(&allowed, &Topology::default(), &BTreeMap::new()).unwrap();
        assert_eq!(unknown.cores, allowed.len(), "each is a core of its own");
    }
}
