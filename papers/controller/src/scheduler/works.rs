//! Operations on cells, with the same calls as the command line.

use super::Scheduler;
use super::asks::{failed, known_faults};
use crate::answer::{CellPhase, ErrorOrigin, Say};
use crate::gang;
use seatmap_cell::undo::Left;
use seatmap_cell::{CellBackend, CellError, CellRecord, CellRequest, Name};
use seatmap_data::document::with_causes;
use seatmap_data::invariant;
use seatmap_os::{CpuSet, Tid, boot};

/// For reports of bugs.
const CONTROLLER: &str = "controller";

const MOST_OUTSIDE: usize = 4;

impl Scheduler<'_> {
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
                let outside = record
                    .group
                    .as_deref()
                    .map(|group| gang::seat(&self.host.root, &stopped, group));
                gang::go_on(&self.host.root, &stopped);
                let _ = self.write_down();
                self.tell_of_outside(connection, &name, &outside.unwrap_or_default());
                if is_back { Say::Resumed { name } } else { Say::cell(record) }
            }
            // Without this event the client, long answered, would see the end without a reason.
            Err(Say::Error { message, .. }) if is_back => {
                self.drop_tenant(id);
                let faults = vec![format!("it ends, because it cannot be recreated: {message}")];
                self.tell(connection, Say::Damaged { name: name.clone(), faults });
                Say::Ended { name }
            }
            Err(error) => {
                self.drop_tenant(id);
                error
            }
        };
        // A resumed cell answers no request.
        let number = if is_back { 0 } else { request };
        connection.into_iter().for_each(|connection| self.say(connection, number, said.clone()));
    }

    fn make(&mut self, id: u64, cpus: CpuSet) -> Result<CellRecord, Say> {
        let job = self
            .jobs
            .get_mut(&id)
            .ok_or_else(|| Say::error(ErrorOrigin::Failed, "it was withdrawn"))?;
        let lease_s =
            if job.phase == CellPhase::Suspended { job.left_s() } else { job.create.lease_s };
        if lease_s == Some(0) {
            return Err(Say::error(ErrorOrigin::Failed, "its lease has ended"));
        }
        job.phase = CellPhase::Standing;
        let create = job.create.clone();
        // Turns need a control group, which identifies the threads.
        let least =
            if create.takes_turns { CellBackend::V1Exclusive } else { CellBackend::Affinity };
        let is_tested = create.is_tested || create.noise_limit.is_some();
        let require = create.require.max(least);
        let request = CellRequest { require, lease_s, ..create.on(cpus) };
        // Written first: if this process dies while it creates the cell, the ledger must name its
        // owner.
        self.note().map_err(|error| Say::error(ErrorOrigin::Failed, error))?;
        let judge = is_tested.then_some(&mut *self.judge);
        seatmap_cell::create(&self.host, &request, judge).map_err(|error| failed(&error))
    }

    /// Stops a cell's threads and frees its CPUs. On failure the cell ends, and its client gets the
    /// reason.
    pub(super) fn suspend(&mut self, id: u64) {
        let Some(job) = self.jobs.get(&id) else { return };
        let name = job.create.name.clone();
        invariant!(
            job.phase == CellPhase::Standing && job.create.takes_turns,
            CONTROLLER,
            "the turn of job {id} is over, and its cell {name} is {:?}",
            job.phase
        );
        let connection = job.connection;
        let stopped = self.stop(id, &name);
        // Even if its threads could not be stopped, because the queue has assigned its CPUs to
        // another cell.
        let destroyed = seatmap_cell::destroy(&self.host, &name);
        self.leave_the_cells();
        let is_suspended = stopped.is_ok() && destroyed.is_ok();
        let faults = faults_of_turn(stopped, destroyed);
        if !faults.is_empty() {
            self.tell(connection, Say::Damaged { name: name.clone(), faults });
        }
        if !is_suspended {
            return self.forget(id, Say::Ended { name });
        }
        self.tell(connection, Say::Suspended { name });
    }

    fn tell_of_outside(&mut self, connection: Option<u64>, name: &Name, outside: &[Tid]) {
        if outside.is_empty() {
            return;
        }
        let mut faults: Vec<String> = outside
            .iter()
            .take(MOST_OUTSIDE)
            .map(|tid| format!("thread {tid} is outside, because it could not be moved back"))
            .collect();
        if outside.len() > MOST_OUTSIDE {
            faults.push(format!("threads outside: {} in all", outside.len()));
        }
        self.tell(connection, Say::Damaged { name: name.clone(), faults });
    }

    /// Sends an event to a cell's client, which may have disconnected if the cell is detached.
    fn tell(&mut self, connection: Option<u64>, say: Say) {
        if let Some(connection) = connection {
            self.say(connection, 0, say);
        }
    }

    fn stop(&mut self, id: u64, name: &Name) -> Result<(), Box<dyn std::error::Error>> {
        let record = self.host.cell(name)?;
        let root = self.host.root.clone();
        let group = record.group.ok_or("it has no group")?;
        gang::stop(&root, &group, |threads| {
            if let Some(job) = self.jobs.get_mut(&id) {
                job.stopped = threads.to_vec();
            }
            self.note().map_err(Box::<dyn std::error::Error>::from)
        })?;
        self.jobs.get_mut(&id).into_iter().for_each(|job| job.phase = CellPhase::Suspended);
        Ok(self.note()?)
    }

    fn note(&self) -> Result<(), String> {
        self.write_down()
            .map_err(|error| format!("cannot write the ledger: {}", with_causes(&error)))
    }

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
                self.forget(id, Say::error(ErrorOrigin::Busy, "it was withdrawn"))
            }
            CellPhase::Standing | CellPhase::Suspended => self.forget(id, Say::Ended { name }),
        }
        Ok(left)
    }

    fn forget(&mut self, id: u64, say: Say) {
        let Some(job) = self.jobs.get(&id) else { return };
        let number = if job.phase == CellPhase::Waiting { job.request } else { 0 };
        let connection = job.connection;
        self.drop_tenant(id);
        connection.into_iter().for_each(|connection| self.say(connection, number, say.clone()));
    }

    pub(super) fn drop_tenant(&mut self, id: u64) {
        self.queue.leave(boot::milliseconds(), id);
        if let Some(job) = self.jobs.remove(&id) {
            gang::go_on(&self.host.root, &job.stopped);
        }
        // If this fails, a destroyed cell's entry does no harm.
        let _ = self.write_down();
    }

    /// Cancels a disconnected client's request, and ends its cells unless they are detached.
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
            // If a cell cannot be destroyed now, the next command does it from the journal.
            if self.evict(id).is_err() {
                self.drop_tenant(id);
            }
        }
        self.leave_the_cells();
    }

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

    pub(super) fn look(&mut self) {
        let mut news = Vec::new();
        for job in self.jobs.values_mut().filter(|job| job.phase == CellPhase::Standing) {
            let record = self.host.cell(&job.create.name);
            let examined = record.and_then(|record| seatmap_cell::verify(&self.host, &record));
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

/// The faults of a cell at its turn's end: why it could not be suspended, and unrestored settings.
/// A cell destroyed by another program has none.
fn faults_of_turn(
    stopped: Result<(), Box<dyn std::error::Error>>,
    destroyed: Result<Vec<Left>, CellError>,
) -> Vec<String> {
    let unstopped = stopped.err().map(|error| {
        format!("it ends, because its threads cannot be stopped: {}", with_causes(&*error))
    });
    let further = match destroyed {
        Ok(left) => left.iter().map(ToString::to_string).collect(),
        Err(CellError::NoSuchCell(_)) => return Vec::new(),
        Err(error) => {
            vec![format!("it keeps its CPUs until it is destroyed: {}", with_causes(&error))]
        }
    };
    unstopped.into_iter().chain(further).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_turn_end_states_its_reason() {
        let full = || std::io::Error::from_raw_os_error(libc::ENOSPC);
        let gone = CellError::NoSuchCell("one".parse().unwrap());
        let left = Left::new("/sys/x".to_owned(), "gone".to_owned());
        assert!(faults_of_turn(Ok(()), Ok(Vec::new())).is_empty());
        assert!(faults_of_turn(Err("it has no group".into()), Err(gone)).is_empty());
        assert_eq!(faults_of_turn(Ok(()), Ok(vec![left])), ["/sys/x is not restored: gone"]);
        let faults = faults_of_turn(Err(full().into()), Err(CellError::Remembering(full())));
        assert!(
            faults[0].starts_with("it ends, because its threads cannot be stopped: No space left")
        );
        assert!(faults[1].starts_with("it keeps its CPUs until it is destroyed: "), "{faults:?}");
        assert_eq!(faults.len(), 2);
    }
}
