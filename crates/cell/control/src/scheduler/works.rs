//! Operations on cells: by the same calls that the command line makes.

use super::Scheduler;
use super::asks::{failed, known_faults};
use crate::answer::{CellPhase, ErrorOrigin, Say};
use crate::gang;
use seatmap_cell::undo::Left;
use seatmap_cell::{Backend, CellError, CellRequest, Name, Record};
use seatmap_invariant::invariant;
use seatmap_os::{CpuSet, boot};

/// The name of this part in a report of a mistake.
const CONTROLLER: &str = "controller";

impl Scheduler<'_> {
    /// Makes a cell, for the first time or again.
    pub(super) fn start(&mut self, id: u64, cpus: CpuSet) {
        if let Some(job) = self.jobs.get(&id) {
            invariant!(
                job.phase != CellPhase::Standing,
                CONTROLLER,
                "job {id} gets {cpus}, and its cell {} stands",
                job.create.name
            );
        }
        let is_back = self.jobs.get(&id).is_some_and(|job| job.phase == CellPhase::Suspended);
        let made = self.make(id, cpus);
        self.leave_the_cells();
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let connection = job.connection;
        let request = job.request;
        let name = job.create.name.clone();
        let said = match made {
            Ok(record) => {
                job.ends_s = record.expires_s;
                let stopped = std::mem::take(&mut job.stopped);
                record.group.iter().for_each(|group| gang::seat(&self.host.root, &stopped, group));
                gang::go_on(&self.host.root, &stopped);
                let _ = self.write_down();
                if is_back { Say::Resumed { name } } else { Say::cell(record) }
            }
            Err(error) => {
                self.drop_tenant(id);
                if is_back { Say::Ended { name } } else { error }
            }
        };
        // A cell that resumes answers no request: this is news, which have no number.
        let number = if is_back { 0 } else { request };
        connection.into_iter().for_each(|connection| self.say(connection, number, said.clone()));
    }

    fn make(&mut self, id: u64, cpus: CpuSet) -> Result<Record, Say> {
        let job = self
            .jobs
            .get_mut(&id)
            .ok_or_else(|| Say::error(ErrorOrigin::Failed, "nobody waits for it any more"))?;
        let lease_s =
            if job.phase == CellPhase::Suspended { job.left_s() } else { job.create.lease_s };
        if lease_s == Some(0) {
            return Err(Say::error(ErrorOrigin::Failed, "its lease has ended"));
        }
        job.phase = CellPhase::Standing;
        let create = job.create.clone();
        // A cell that takes turns needs a group, by which its threads are known.
        let least = if create.takes_turns { Backend::V1Exclusive } else { Backend::Affinity };
        let is_tested = create.is_tested || create.noise_limit.is_some();
        let require = create.require.max(least);
        let request = CellRequest { require, lease_s, ..create.on(cpus) };
        // First: if this process dies while it makes the cell, the ledger must hold its owner.
        self.write_down().map_err(|error| {
            Say::error(ErrorOrigin::Failed, format!("the ledger cannot be written: {error}"))
        })?;
        let judge = is_tested.then_some(&mut *self.judge);
        seatmap_cell::create(&self.host, &request, judge).map_err(|error| failed(&error))
    }

    /// Stops a cell's threads and takes its CPUs away. If that fails, the cell ends.
    pub(super) fn suspend(&mut self, id: u64) {
        let Some(job) = self.jobs.get(&id) else { return };
        let name = job.create.name.clone();
        invariant!(
            job.phase == CellPhase::Standing && job.create.takes_turns,
            CONTROLLER,
            "the turn of job {id} is over, and its cell {name} is {:?}",
            job.phase
        );
        if self.stop(id, &name).is_err() || seatmap_cell::destroy(&self.host, &name).is_err() {
            self.forget(id, Say::Ended { name });
            return;
        }
        self.leave_the_cells();
        let connection = self.jobs.get(&id).and_then(|job| job.connection);
        connection
            .into_iter()
            .for_each(|connection| self.say(connection, 0, Say::Suspended { name: name.clone() }));
    }

    fn stop(&mut self, id: u64, name: &Name) -> Result<(), Box<dyn std::error::Error>> {
        let record = self.host.cell(name)?;
        let root = self.host.root.clone();
        let group = record.group.ok_or("it has no group")?;
        gang::stop(&root, &group, |threads| {
            if let Some(job) = self.jobs.get_mut(&id) {
                job.stopped = threads.to_vec();
            }
            self.write_down().map_err(Box::<dyn std::error::Error>::from)
        })?;
        self.jobs.get_mut(&id).into_iter().for_each(|job| job.phase = CellPhase::Suspended);
        Ok(self.write_down()?)
    }

    /// Undoes a cell, or what waits to be one.
    pub(super) fn evict(&mut self, id: u64) -> Result<Vec<Left>, Say> {
        let Some(job) = self.jobs.get(&id) else { return Ok(Vec::new()) };
        let phase = job.phase;
        let name = job.create.name.clone();
        let left = match phase {
            CellPhase::Standing => {
                seatmap_cell::destroy(&self.host, &name).map_err(|error| failed(&error))?
            }
            CellPhase::Waiting | CellPhase::Suspended => Vec::new(),
        };
        match phase {
            CellPhase::Waiting => {
                self.forget(id, Say::error(ErrorOrigin::Busy, "somebody has withdrawn it"))
            }
            CellPhase::Standing | CellPhase::Suspended => self.forget(id, Say::Ended { name }),
        }
        Ok(left)
    }

    /// Strikes a cell out, and tells its client so.
    fn forget(&mut self, id: u64, say: Say) {
        let Some(job) = self.jobs.get(&id) else { return };
        let number = if job.phase == CellPhase::Waiting { job.request } else { 0 };
        let connection = job.connection;
        self.drop_tenant(id);
        connection.into_iter().for_each(|connection| self.say(connection, number, say.clone()));
    }

    /// Strikes a cell out. Its threads go on, if they were stopped.
    pub(super) fn drop_tenant(&mut self, id: u64) {
        self.queue.leave(boot::milliseconds(), id);
        if let Some(job) = self.jobs.remove(&id) {
            gang::go_on(&self.host.root, &job.stopped);
        }
        // If it cannot be written, an entry for a cell that is gone does no harm.
        let _ = self.write_down();
    }

    /// A client is gone: what it waits for is withdrawn, and its cells end unless they are
    /// detached.
    pub(super) fn hang_up(&mut self, connection: u64) {
        self.clients.remove(&connection);
        let its = self.jobs.iter_mut().filter(|(_, job)| job.connection == Some(connection));
        let mut ending = Vec::new();
        for (id, job) in its {
            job.connection = None;
            if !job.create.is_detached || job.phase == CellPhase::Waiting {
                ending.push(*id);
            }
        }
        for id in ending {
            // A cell that cannot be undone now is the next command's: its journal is there.
            if self.evict(id).is_err() {
                self.drop_tenant(id);
            }
        }
        self.leave_the_cells();
    }

    /// Cells whose lease ended, or that another program undid.
    pub(super) fn see_who_ended(&mut self) {
        let Ok(cells) = self.host.cells() else { return };
        let ended = self.jobs.iter().filter(|(_, job)| match job.phase {
            CellPhase::Waiting => false,
            CellPhase::Standing => cells.iter().all(|cell| cell.name != job.create.name),
            CellPhase::Suspended => job.left_s() == Some(0),
        });
        let ended: Vec<(u64, Name)> =
            ended.map(|(id, job)| (*id, job.create.name.clone())).collect();
        if !ended.is_empty() {
            ended.into_iter().for_each(|(id, name)| self.forget(id, Say::Ended { name }));
            self.leave_the_cells();
        }
    }

    /// Looks whether cells are still what they were made to be, and tells their clients what
    /// changed.
    pub(super) fn look(&mut self) {
        let mut news = Vec::new();
        for job in self.jobs.values_mut().filter(|job| job.phase == CellPhase::Standing) {
            let record = self.host.cell(&job.create.name);
            let examined = record.and_then(|record| seatmap_cell::verify(&self.host, &record));
            // A cell that has gone meanwhile is told of as ended.
            if matches!(examined, Err(CellError::NoSuchCell(_))) {
                continue;
            }
            let faults = known_faults(examined);
            if faults != job.faults {
                job.faults.clone_from(&faults);
                let say = Say::Damaged { name: job.create.name.clone(), faults };
                news.extend(job.connection.map(|connection| (connection, say)));
            }
        }
        news.into_iter().for_each(|(connection, say)| self.say(connection, 0, say));
    }
}
