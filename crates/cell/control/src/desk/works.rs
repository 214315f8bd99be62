//! Operations on cells: by the same calls that the command line makes.

use super::Desk;
use super::asks::failed;
use crate::answer::{Kind, Phase, Say};
use crate::gang;
use seatmap_cell::undo::Left;
use seatmap_cell::{Backend, Name, Record, Request};
use seatmap_os::{CpuSet, boot};

impl Desk<'_> {
    /// Makes a cell, for the first time or again.
    pub(super) fn start(&mut self, id: u64, cpus: CpuSet) {
        let is_back = self.tenants.get(&id).is_some_and(|tenant| tenant.phase == Phase::Suspended);
        let made = self.make(id, cpus);
        self.keep_house();
        let Some(tenant) = self.tenants.get_mut(&id) else { return };
        let (connection, request) = (tenant.connection, tenant.request);
        let name = tenant.create.name.clone();
        let said = match made {
            Ok(record) => {
                tenant.ends_s = record.expires_s;
                let stopped = std::mem::take(&mut tenant.stopped);
                record.group.iter().for_each(|group| gang::seat(&self.host.root, &stopped, group));
                gang::go_on(&self.host.root, &stopped);
                let _ = self.write_down();
                if is_back { Say::Resumed { name } } else { Say::Cell { cell: Box::new(record) } }
            }
            Err(error) => {
                self.drop_tenant(id);
                if is_back { Say::Ended { name } } else { error }
            }
        };
        let number = if is_back { 0 } else { request };
        connection.into_iter().for_each(|connection| self.say(connection, number, said.clone()));
    }

    fn make(&mut self, id: u64, cpus: CpuSet) -> Result<Record, Say> {
        let gone = || Say::error(Kind::Failed, "nobody waits for it any more");
        let tenant = self.tenants.get_mut(&id).ok_or_else(gone)?;
        let lease_s = if tenant.phase == Phase::Suspended { tenant.left_s() } else { tenant.create.lease_s };
        if lease_s == Some(0) {
            return Err(Say::error(Kind::Failed, "its lease has ended"));
        }
        tenant.phase = Phase::Standing;
        let create = tenant.create.clone();
        // A cell that takes turns needs a group, by which its threads are known.
        let least = if create.takes_turns { Backend::V1Exclusive } else { Backend::Affinity };
        let request = Request {
            name: create.name,
            cpus,
            require: create.require.max(least),
            noise_limit: create.noise_limit,
            lease_s,
            memory_bytes: create.memory_bytes,
        };
        // First: if this process dies while it makes the cell, the ledger must hold its owner.
        self.write_down()
            .map_err(|error| Say::error(Kind::Failed, format!("the ledger cannot be written: {error}")))?;
        let is_tested = create.is_tested || create.noise_limit.is_some();
        let judge = is_tested.then_some(&mut *self.judge);
        seatmap_cell::create(&self.host, &request, judge).map_err(|error| failed(&error))
    }

    /// Stops a cell's threads and takes its CPUs away. If that fails, the cell ends.
    pub(super) fn suspend(&mut self, id: u64) {
        let Some(name) = self.tenants.get(&id).map(|tenant| tenant.create.name.clone()) else { return };
        if self.stop(id, &name).is_err() || seatmap_cell::destroy(&self.host, &name).is_err() {
            self.forget(id, Say::Ended { name });
            return;
        }
        self.keep_house();
        let connection = self.tenants.get(&id).and_then(|tenant| tenant.connection);
        connection.into_iter().for_each(|connection| self.say(connection, 0, Say::Suspended { name: name.clone() }));
    }

    fn stop(&mut self, id: u64, name: &Name) -> Result<(), Box<dyn std::error::Error>> {
        let record = self.host.cell(name)?;
        let root = self.host.root.clone();
        let group = record.group.ok_or("it has no group")?;
        gang::stop(&root, &group, |threads| {
            if let Some(tenant) = self.tenants.get_mut(&id) {
                tenant.stopped = threads.to_vec();
            }
            self.write_down()
        })?;
        self.tenants.get_mut(&id).into_iter().for_each(|tenant| tenant.phase = Phase::Suspended);
        Ok(self.write_down()?)
    }

    /// Undoes a cell, or what waits to be one.
    pub(super) fn evict(&mut self, id: u64) -> Result<Vec<Left>, Say> {
        let Some(tenant) = self.tenants.get(&id) else { return Ok(Vec::new()) };
        let (phase, name) = (tenant.phase, tenant.create.name.clone());
        let left = match phase {
            Phase::Standing => seatmap_cell::destroy(&self.host, &name).map_err(|error| failed(&error))?,
            Phase::Waiting | Phase::Suspended => Vec::new(),
        };
        match phase {
            Phase::Waiting => self.forget(id, Say::error(Kind::Busy, "somebody has withdrawn it")),
            Phase::Standing | Phase::Suspended => self.forget(id, Say::Ended { name }),
        }
        Ok(left)
    }

    /// Strikes a cell out, and tells its client so.
    fn forget(&mut self, id: u64, say: Say) {
        let Some(tenant) = self.tenants.get(&id) else { return };
        let number = if tenant.phase == Phase::Waiting { tenant.request } else { 0 };
        let connection = tenant.connection;
        self.drop_tenant(id);
        connection.into_iter().for_each(|connection| self.say(connection, number, say.clone()));
    }

    /// Strikes a cell out. Its threads go on, if they were stopped.
    pub(super) fn drop_tenant(&mut self, id: u64) {
        self.queue.leave(boot::milliseconds(), id);
        if let Some(tenant) = self.tenants.remove(&id) {
            gang::go_on(&self.host.root, &tenant.stopped);
        }
        // If it cannot be written, an entry for a cell that is gone does no harm.
        let _ = self.write_down();
    }

    /// A client is gone: what it waits for is withdrawn, and its cells end unless they are detached.
    pub(super) fn hang_up(&mut self, connection: u64) {
        self.clients.remove(&connection);
        let its = self.tenants.iter_mut().filter(|(_, tenant)| tenant.connection == Some(connection));
        let mut ending = Vec::new();
        for (id, tenant) in its {
            tenant.connection = None;
            if !tenant.create.is_detached || tenant.phase == Phase::Waiting {
                ending.push(*id);
            }
        }
        for id in ending {
            // A cell that cannot be undone now is the next command's: its journal is there.
            if self.evict(id).is_err() {
                self.drop_tenant(id);
            }
        }
        self.keep_house();
    }

    /// Cells whose lease ended, or that another program undid.
    pub(super) fn see_who_ended(&mut self) {
        let Ok(cells) = self.host.cells() else { return };
        let stands = |name: &Name| cells.iter().any(|cell| cell.name == *name);
        let ended = self.tenants.iter().filter(|(_, tenant)| match tenant.phase {
            Phase::Waiting => false,
            Phase::Standing => !stands(&tenant.create.name),
            Phase::Suspended => tenant.left_s() == Some(0),
        });
        let ended: Vec<(u64, Name)> = ended.map(|(id, tenant)| (*id, tenant.create.name.clone())).collect();
        if !ended.is_empty() {
            ended.into_iter().for_each(|(id, name)| self.forget(id, Say::Ended { name }));
            self.keep_house();
        }
    }

    /// Looks whether cells are still what they were made to be, and tells their clients what changed.
    pub(super) fn look(&mut self) {
        let mut news = Vec::new();
        for tenant in self.tenants.values_mut().filter(|tenant| tenant.phase == Phase::Standing) {
            let record = self.host.cell(&tenant.create.name);
            let Ok(faults) = record.and_then(|record| seatmap_cell::verify(&self.host, &record)) else { continue };
            if faults != tenant.faults {
                tenant.faults.clone_from(&faults);
                let say = Say::Damaged { name: tenant.create.name.clone(), faults };
                news.extend(tenant.connection.map(|connection| (connection, say)));
            }
        }
        news.into_iter().for_each(|(connection, say)| self.say(connection, 0, say));
    }
}
