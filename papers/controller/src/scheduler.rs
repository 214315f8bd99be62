//! The scheduler: one thread takes requests, one at a time; only it makes and undoes cells.

mod asks;
mod works;

use crate::account;
use crate::answer::{CellPhase, ControlAnswer, ErrorOrigin, Say};
use crate::inherited::InheritedState;
use crate::job::Job;
use crate::ledger::{self, LedgerEntry};
use crate::line;
use crate::peer::PeerCredentials;
use crate::policy::Policy;
use crate::queue::{Action, TicketQueue};
use crate::request::ControlRequest;
use crate::ticket::Ticket;
use crate::usage::UserUsage;
use crate::wants::Wants;
use seatmap_cell::undo::Left;
use seatmap_cell::{CellError, CellHost, CpuChoice, NoiseJudge, choose};
use seatmap_os::layout;
use seatmap_os::{CpuSet, boot};
use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How often cells are checked, which reads every thread's mask, and the account of users is
/// written.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Requests of one user that may wait at once.
pub(crate) const MOST_WAITING: usize = 64;

/// A client that does not read for this long is disconnected: all others wait for it meanwhile.
const PATIENCE: Duration = Duration::from_millis(200);

/// An event for the controller.
#[derive(Debug)]
pub enum ClientEvent {
    /// A client that may give orders.
    Came(u64, UnixStream, PeerCredentials),
    /// A client's request, or the number of a request and the problem with it.
    Said(u64, Result<ControlRequest, (u64, String)>),
    /// The client is gone.
    Gone(u64),
}

#[derive(Debug)]
struct ControlClient {
    stream: UnixStream,
    uid: u32,
}

/// Takes requests, and sees to it that they are met.
pub struct Scheduler<'a> {
    host: CellHost,
    judge: Box<NoiseJudge<'a>>,
    queue: TicketQueue,
    jobs: BTreeMap<u64, Job>,
    clients: BTreeMap<u64, ControlClient>,
    next: u64,
    looked: Instant,
}

impl<'a> Scheduler<'a> {
    /// Opens the scheduler. It takes over the detached cells of an earlier controller and its
    /// account of users; where the account is lost, the reason is returned.
    ///
    /// # Errors
    /// A journal or the ledger cannot be read or written.
    pub fn open(
        host: CellHost,
        policy: Policy,
        slice: Duration,
        judge: Box<NoiseJudge<'a>>,
    ) -> Result<(Self, InheritedState), CellError> {
        let damaged = ledger::set_aside(&host);
        let (standing, left) = ledger::wind_up(&host)?;
        let (usage, lost) = match account::read(&host, boot::milliseconds()) {
            Ok(usage) => (usage, None),
            Err(lost) => (UserUsage::since(boot::milliseconds()), Some(lost)),
        };
        let queue =
            TicketQueue::new(policy, u64::try_from(slice.as_millis()).unwrap_or(u64::MAX), usage);
        let jobs = BTreeMap::new();
        let clients = BTreeMap::new();
        let looked = Instant::now();
        let mut scheduler = Scheduler { host, judge, queue, jobs, clients, next: 1, looked };
        standing.into_iter().for_each(|entry| scheduler.adopt(entry));
        scheduler.leave_the_cells();
        Ok((scheduler, InheritedState { left: damaged.into_iter().chain(left).collect(), lost }))
    }

    /// Does what an event asks for.
    pub fn take(&mut self, event: ClientEvent) {
        match event {
            ClientEvent::Came(connection, stream, peer) => {
                if stream.set_write_timeout(Some(PATIENCE)).is_ok() {
                    self.clients.insert(connection, ControlClient { stream, uid: peer.uid });
                }
            }
            ClientEvent::Said(connection, Ok(request)) => self.ask(connection, request),
            ClientEvent::Said(connection, Err((id, why))) => {
                self.say(
                    connection,
                    id,
                    Say::error(ErrorOrigin::Request, format!("this is not a request: {why}")),
                );
            }
            ClientEvent::Gone(connection) => self.hang_up(connection),
        }
        self.pump();
    }

    /// Does the work that is due: turns, leases that have ended, cells that another program
    /// changed.
    pub fn tick(&mut self) {
        self.see_who_ended();
        if self.looked.elapsed() >= LOOK_EVERY {
            self.looked = Instant::now();
            self.look();
            self.keep_account();
        }
        self.pump();
    }

    /// Ends in good order: what is not detached is undone, what is suspended goes on outside.
    /// Returns the settings that could not be put back.
    ///
    /// # Errors
    /// A journal or the ledger cannot be read or written.
    pub fn close(mut self) -> Result<Vec<Left>, CellError> {
        self.queue.settle(boot::milliseconds());
        self.keep_account();
        let (_, left) = ledger::wind_up(&self.host)?;
        Ok(left)
    }

    /// Starts and suspends whom the queue says.
    fn pump(&mut self) {
        // Each round ends requests for good, or changes nothing.
        loop {
            // As long as it is not known which CPUs cells have, all wait: a cell that is made now
            // would be refused, and its request lost.
            let Ok(pool) = self.pool() else { break };
            // The queue is borrowed while it asks for the best CPUs.
            let host = self.host.clone();
            let actions = self
                .queue
                .step(boot::milliseconds(), &pool, &|open, count| best(&host, open, count));
            if actions.is_empty() {
                break;
            }
            actions.into_iter().for_each(|action| match action {
                Action::Start(id, cpus) => self.start(id, cpus),
                Action::Suspend(id) => self.suspend(id),
            });
        }
        self.tell_places();
    }

    /// CPUs that run and are not in a cell of another program.
    ///
    /// # Errors
    /// A journal cannot be read, or the CPUs that run are not known.
    fn pool(&self) -> Result<CpuSet, CellError> {
        let cells = self.host.cells()?;
        let others = cells
            .iter()
            .filter(|cell| self.jobs.values().all(|job| job.create.name != cell.name))
            .map(seatmap_cell::CellRecord::set);
        let online = layout::online(&self.host.root)?;
        Ok(others.fold(online.without(&self.host.claimed()), |pool, cpus| pool.without(&cpus)))
    }

    /// Moves this process itself off the cells: making a cell never moves it.
    fn leave_the_cells(&self) {
        // Where they cannot be read, any CPU may be in one: this process stays where it is.
        let Ok(taken) = self.host.cells() else { return };
        let online = layout::online(&self.host.root).unwrap_or_default();
        let elsewhere = self.host.claimed();
        let mask =
            taken.iter().fold(online.without(&elsewhere), |rest, cell| rest.without(&cell.set()));
        let threads = seatmap_os::task::of_process(&self.host.root, std::process::id() as _)
            .unwrap_or_default();
        // In a cpuset that has none of these CPUs it stays where it is: nothing of the cell's is
        // there either. CPUs that are offline are left out: the mask is made anew each time that a
        // cell comes or goes.
        threads.iter().for_each(|thread| drop(mask.give(thread.tid)));
    }

    fn adopt(&mut self, entry: LedgerEntry) {
        let Ok(record) = self.host.cell(&entry.name) else { return };
        // A ledger that was damaged may name a cell twice.
        if self.queue.held().meets(&record.set()) {
            return;
        }
        let id = self.number();
        let wants = Wants::Cpus(record.set());
        let ticket =
            Ticket { id, uid: entry.uid, priority: 0, wants, takes_turns: entry.takes_turns };
        self.queue.adopt(boot::milliseconds(), ticket, record.set());
        let create = asks::of_record(&record, entry.takes_turns);
        let job = Job {
            create,
            uid: entry.uid,
            connection: None,
            request: 0,
            phase: CellPhase::Standing,
            stopped: Vec::new(),
            faults: Vec::new(),
            ends_s: record.expires_s,
            place_sent: None,
        };
        self.jobs.insert(id, job);
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Tells waiting clients their place in the queue, where it has changed.
    fn tell_places(&mut self) {
        let mut news = Vec::new();
        for (id, job) in self.jobs.iter_mut().filter(|(_, job)| job.phase == CellPhase::Waiting) {
            let place = self.queue.place(*id);
            if let (Some((before, waiting)), Some(connection)) = (place, job.connection)
                && job.place_sent != place
            {
                job.place_sent = place;
                news.push((connection, job.request, Say::Waiting { before, waiting }));
            }
        }
        news.into_iter().for_each(|(connection, id, say)| self.say(connection, id, say));
    }

    fn say(&mut self, connection: u64, id: u64, say: Say) {
        let Some(client) = self.clients.get(&connection) else { return };
        if line::write(&mut &client.stream, &ControlAnswer { id, say }).is_err() {
            // Its reader finds the end, and reports that it is gone. Its earlier requests are not
            // answered any more.
            let _ = client.stream.shutdown(std::net::Shutdown::Both);
            self.clients.remove(&connection);
        }
    }

    /// The ledger's entries for all cells that stand, are suspended, or are just being made.
    fn entries(&self) -> Vec<LedgerEntry> {
        let made = self.jobs.values().filter(|job| job.phase != CellPhase::Waiting);
        made.map(|job| LedgerEntry {
            boot_id: self.host.boot_id.clone(),
            name: job.create.name.clone(),
            uid: job.uid,
            is_detached: job.create.is_detached,
            takes_turns: job.create.takes_turns,
            stopped: job.stopped.clone(),
        })
        .collect()
    }

    fn write_down(&self) -> io::Result<()> {
        ledger::write(&self.host, &self.entries())?;
        self.keep_account();
        Ok(())
    }

    /// If it cannot be written now, it is written in a few seconds; only fairness depends on it.
    fn keep_account(&self) {
        let _ = account::write(&self.host, self.queue.usage());
    }
}

/// The best `count` of these CPUs, none of which is isolated.
fn best(host: &CellHost, open: &CpuSet, count: usize) -> Option<CpuSet> {
    let usual = open.without(&choose::isolated(host));
    // The CPU that the queue leaves for everybody else may be an isolated one, which serves nobody.
    if usual.len() < open.len() && count >= usual.len() {
        return None;
    }
    best_of(host, &usual, count)
}

/// The best `count` of these CPUs; if that is all of them there is nothing to choose.
fn best_of(host: &CellHost, open: &CpuSet, count: usize) -> Option<CpuSet> {
    if count >= open.len() {
        return (count == open.len()).then(|| open.clone());
    }
    let mut choice = CpuChoice::of_host(host).ok()?;
    choice.cores =
        choice.cores.iter().map(|core| core.within(open)).filter(|core| !core.is_empty()).collect();
    // CPUs of a cell that is about to be suspended are in no core that is free yet.
    let known = choice.cores.iter().fold(CpuSet::default(), |known, core| known.with(core));
    choice.cores.extend(open.without(&known).iter().map(|cpu| [cpu].into_iter().collect()));
    choice.free = open.clone();
    choice.best(Some(count), None).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use seatmap_cell::journal::{self, CellJournal, CellJournalHeader, JournalEntry};
    use seatmap_cell::memory::CellMemory;
    use seatmap_cell::run_folder::RunFolder;
    use seatmap_cell::{CellBackend, CellRecord, CellState, GuardianCommand, record};
    use seatmap_os::Root;

    /// A computer with these CPUs, some of which were isolated at its start.
    pub(crate) fn computer(online: &str, isolated: &str) -> (tempfile::TempDir, CellHost) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        let cpus = root.path("/sys/devices/system/cpu");
        std::fs::create_dir_all(&cpus).unwrap();
        std::fs::write(cpus.join("online"), online).unwrap();
        std::fs::write(cpus.join("isolated"), isolated).unwrap();
        let run = RunFolder::new(&folder.path().join("run")).unwrap();
        let keeper = GuardianCommand(Vec::new());
        (folder, CellHost { root, run, boot_id: "now".into(), keeper })
    }

    /// A cell that stands, of which nothing but its memory is to be undone.
    pub(crate) fn stand(host: &CellHost, name: &str, cpus: Vec<u32>, memory: Option<CellMemory>) {
        let cell: seatmap_cell::Name = name.parse().unwrap();
        let list = cpus.iter().copied().collect::<CpuSet>().to_string();
        let format = journal::FORMAT.into();
        let header = CellJournalHeader {
            format,
            cell: cell.clone(),
            cpus: list,
            serial: 1,
            began_ticks: None,
        };
        let mut journal =
            CellJournal::begin(&host.run.journal(&cell), &host.boot_id, header).unwrap();
        journal.append(&[JournalEntry::Done]).unwrap();
        let record = CellRecord {
            format: record::FORMAT.into(),
            name: cell,
            cpus,
            backend: CellBackend::Affinity,
            degraded: Vec::new(),
            noise_before: None,
            noise_after: None,
            state: CellState::Ready,
            group: None,
            irqs_left: Vec::new(),
            kernel_threads_left: 0,
            threads_left: 0,
            processes_left: Vec::new(),
            memory,
            expires_s: None,
        };
        host.run.remember(&record).unwrap();
    }

    #[test]
    fn isolated_cpus_are_not_chosen() {
        let (_folder, host) = computer("0-7", "4-7");
        let open: CpuSet = (0..8).collect();
        let found = [1, 3, 4, 5].map(|count| best(&host, &open, count));
        assert_eq!(found, [CpuSet::of_list("1"), CpuSet::of_list("1-3"), None, None]);
        let (_folder, host) = computer("0-7", "");
        assert_eq!(best(&host, &open, 8), Some(open));
    }
}
