//! A cell that is renewed while commands run in it.

use super::{BenchEvent, OwnCells, RoomRequest};
use seatmap_cell::aside::{SteppedAside, step_aside};
use seatmap_cell::undo::Left;
use seatmap_cell::{CellBackend, CellHost, CellRequest, CpuChoice, Name, Renewal};
use seatmap_data::document::Failure;
use seatmap_os::{CpuSet, group};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// How long a cell outlives a killed program.
const LEASE_S: u64 = 15;

pub struct Lease {
    name: Name,
    pub cpus: CpuSet,
    pub cores: usize,
    /// Adds processes to the cell.
    pub group: Option<PathBuf>,
    own: OwnCells,
    /// This process's threads would disturb the commands.
    _aside: SteppedAside,
    renewal: Option<Renewal>,
    is_undone: bool,
}

impl Lease {
    pub fn take(
        request: &RoomRequest,
        named: Option<&CpuSet>,
        hear: &mut dyn FnMut(BenchEvent<'_>),
    ) -> Result<Self, Failure> {
        let own = request.cells.clone();
        let host = CellHost::here(own.guardian.clone())?;
        let choice = CpuChoice::of_host(&host)?;
        let cpus = match named {
            Some(cpus) => cpus.clone(),
            // One core stays for the rest of the system.
            None => {
                choice.best(Some(request.seats.unwrap_or_else(|| all_but_one(&choice))), None)?
            }
        };
        let name = format!("bench-{}", std::process::id()).parse().map_err(Failure::work)?;
        let wish = CellRequest {
            name,
            cpus,
            // A cell by affinity alone would admit new threads of other programs.
            require: CellBackend::V1Exclusive,
            noise_limit: None,
            lease_s: Some(LEASE_S),
            memory_bytes: 0,
        };
        // Before the cell exists, and before the renewal thread inherits the mask.
        let aside = step_aside(&host.root, &wish.cpus);
        let record = seatmap_cell::create(&host, &wish, None)?;
        let cpus = record.set();
        let group = record.group.as_ref();
        // From here on a dropped lease destroys the cell.
        let mut lease = Lease {
            cores: choice.cores.iter().filter(|core| core.meets(&cpus)).count(),
            group: group.map(|group| host.root.path(&group::members_file(&host.root, group))),
            name: record.name.clone(),
            _aside: aside,
            cpus,
            own,
            renewal: None,
            is_undone: false,
        };
        match Renewal::begin(Arc::new(host), record.name, LEASE_S) {
            Ok(renewal) => {
                lease.renewal = Some(renewal);
                Ok(lease)
            }
            Err(error) => {
                lease.leave(hear);
                let what = "cannot start the thread that renews the cell's lease";
                Err(Failure::work(format!("{what}: {error}")))
            }
        }
    }

    pub fn launcher(&self) -> Vec<OsString> {
        (self.own.in_cell)(&self.name)
    }

    /// Destroys the cell, and reports settings that could not be restored.
    pub fn leave(mut self, hear: &mut dyn FnMut(BenchEvent<'_>)) {
        match self.undo() {
            Ok(left) => left.iter().for_each(|left| hear(BenchEvent::SettingLeft(left))),
            Err(error) => hear(BenchEvent::CellStays { name: &self.name, error: &error }),
        }
    }

    fn undo(&mut self) -> Result<Vec<Left>, Failure> {
        assert!(!self.is_undone, "the cell '{}' is destroyed twice", self.name);
        self.is_undone = true;
        if let Some(renewal) = self.renewal.take() {
            renewal.end();
        }
        let host = CellHost::here(self.own.guardian.clone())?;
        Ok(seatmap_cell::destroy(&host, &self.name)?)
    }
}

impl Drop for Lease {
    /// After a panic; the guardian is the second chance.
    fn drop(&mut self) {
        if !self.is_undone {
            let _ = self.undo();
        }
    }
}

fn all_but_one(choice: &CpuChoice) -> usize {
    // Leaves one whole core, whichever it is.
    let core = choice.cores.iter().map(CpuSet::len).max().unwrap_or(1);
    choice.free.len().saturating_sub(core).max(1)
}
