//! The CPUs of the commands, and how other programs are kept away.

use super::lease::Lease;
use super::{BenchEvent, NamedCommand, RoomRequest};
use crate::tune::activity::{self, Activity};
use crate::tune::document::SeatsUsed;
use crate::tune::seats::{self, ChosenCpus, SeatsError};
use crate::tune::trial::Contestant;
use seatmap_data::document::{Blame, with_causes};
use seatmap_data::machine::Topology;
use seatmap_data::statistics::words::counted;
use seatmap_machines::host::topology::{self, TopologyError};
use seatmap_os::cpus::{CpuError, Cpus};
use seatmap_os::{CpuList, CpuSet};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

/// The look at the load before seats are chosen.
const LOOK: Duration = Duration::from_millis(500);

const PINNED: &str = "the kernel does not balance threads in a cell, so each thread of a command \
                      stays on one CPU";

/// Why there are no seats.
#[derive(Debug, thiserror::Error)]
pub enum RoomError {
    /// The kernel does not report its CPUs.
    #[error(transparent)]
    System(#[from] io::Error),
    /// This computer's topology cannot be read.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A requested CPU is not available.
    #[error(transparent)]
    Cpu(#[from] CpuError),
    /// There are too few CPUs.
    #[error(transparent)]
    Seats(#[from] SeatsError),
}

impl Blame for RoomError {
    fn is_input(&self) -> bool {
        matches!(self, RoomError::Cpu(_) | RoomError::Seats(_))
    }
}

/// Seats that stay quiet until this is left or dropped.
pub struct QuietSeats {
    /// The CPUs.
    pub cpus: CpuSet,
    cores: usize,
    /// Remarks, each a sentence.
    pub notes: Vec<String>,
    /// The largest load of other programs on one of the cores before the start.
    pub others_percent: Option<f64>,
    is_quiet: bool,
    cell: Option<Lease>,
}

impl QuietSeats {
    /// Takes the requested seats, those of an earlier result, or quiet ones; in a cell, if
    /// requested and allowed.
    ///
    /// # Errors
    /// [`RoomError`].
    pub fn take(
        request: &RoomRequest,
        earlier: Option<&SeatsUsed>,
        hear: &mut dyn FnMut(BenchEvent<'_>),
    ) -> Result<Self, RoomError> {
        let allowed = CpuSet::of_thread(0)?;
        let topology = topology::of_group()?;
        let named = named(request, earlier);
        let mut notes = Vec::new();
        if request.is_quiet {
            // Without the privileges for a cell, the comparison still runs.
            match Lease::take(request, named.as_ref(), hear) {
                Ok(cell) => return Ok(QuietSeats::in_cell(cell)),
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
                let all = topology.pus.iter().map(|pu| pu.os).collect();
                let activity = activity::look(&all, LOOK);
                seats::choose(&topology, &allowed, &activity, request.seats)?
            }
        };
        notes.extend(chosen.notes);
        Ok(QuietSeats {
            cpus: chosen.cpus,
            cores: chosen.cores,
            notes,
            others_percent: Some(chosen.others_percent),
            is_quiet: request.is_quiet,
            cell: None,
        })
    }

    fn in_cell(cell: Lease) -> Self {
        let is_pinned = cell.cpus.len() > 1;
        QuietSeats {
            cpus: cell.cpus.clone(),
            cores: cell.cores,
            notes: is_pinned.then(|| PINNED.to_owned()).into_iter().collect(),
            others_percent: None,
            is_quiet: true,
            cell: Some(cell),
        }
    }

    /// A command on these seats.
    pub fn contestant(&self, named: &NamedCommand) -> Contestant {
        let seated = Contestant {
            name: named.name.clone(),
            command: named.words.clone(),
            ..Contestant::default()
        };
        match &self.cell {
            // On one CPU the threads need no seats.
            Some(Lease { group: Some(members), cpus, .. }) if cpus.len() == 1 => {
                Contestant { group: Some(members.clone()), cell: Some(cpus.clone()), ..seated }
            }
            Some(cell) => {
                Contestant { launcher: cell.launcher(), cell: Some(cell.cpus.clone()), ..seated }
            }
            None => Contestant { cpus: Some(self.cpus.clone()), ..seated },
        }
    }

    /// The number of CPUs and cores, in words.
    pub fn size(&self) -> String {
        format!("{} on {}", counted(self.cpus.len(), "CPU"), counted(self.cores, "core"))
    }

    /// How they are kept quiet, as in a fingerprint.
    pub fn kept_by(&self) -> &'static str {
        match (&self.cell, self.is_quiet) {
            (Some(_), _) => "a cell",
            (None, true) => "preference",
            (None, false) => "nobody",
        }
    }

    /// Whether the kernel prefers the commands to other sessions.
    pub fn is_preferred(&self) -> bool {
        self.is_quiet && self.cell.is_none()
    }

    /// Releases the seats, and reports settings that could not be restored.
    pub fn leave(self, hear: &mut dyn FnMut(BenchEvent<'_>)) {
        if let Some(cell) = self.cell {
            cell.leave(hear);
        }
    }
}

/// The requested CPUs, or those of the earlier result, because results on others are not
/// comparable.
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
) -> Result<ChosenCpus, RoomError> {
    Cpus::read()?.check(&cpus.list().0)?;
    let cores: BTreeSet<(Option<u32>, Option<u32>)> = cpus
        .iter()
        .map(|cpu| match topology.pu(cpu).and_then(|pu| pu.core) {
            Some(core) => (None, Some(core)),
            None => (Some(cpu), None),
        })
        .collect();
    let busy = activity.values().map(|activity| activity.busy_percent);
    Ok(ChosenCpus {
        cpus: cpus.clone(),
        whole: cpus.clone(),
        cores: cores.len(),
        notes: Vec::new(),
        others_percent: busy.fold(0.0, f64::max),
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
        RoomRequest { cpus, seats, is_quiet: false, cells }
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
