//! The scheduler: one thread handles requests one by one; only it creates and destroys cells.

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

/// Period of checks of the cells, which read every thread's mask, and of writes of the users'
/// account.
const LOOK_EVERY: Duration = Duration::from_secs(5);

pub(crate) const MOST_WAITING: usize = 64;

/// A client that reads nothing for this long is disconnected, because all others wait for it.
const PATIENCE: Duration = Duration::from_millis(200);

/// An event for the controller.
#[derive(Debug)]
pub enum ClientEvent {
    /// A client with permission has connected.
    Came(u64, UnixStream, PeerCredentials),
    /// A client's request, or its number and what is wrong with it.
    Said(u64, Result<ControlRequest, (u64, String)>),
    /// The client has disconnected.
    Gone(u64),
}

#[derive(Debug)]
struct ControlClient {
    stream: UnixStream,
    uid: u32,
}

/// Handles requests and carries them out.
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
    /// Opens the scheduler, which takes over an earlier controller's detached cells and account of
    /// users. If the account is lost, it returns the reason.
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

    /// Handles an event.
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

    /// Does due work: turns, expired leases, and cells changed by other programs.
    pub fn tick(&mut self) {
        self.see_who_ended();
        if self.looked.elapsed() >= LOOK_EVERY {
            self.looked = Instant::now();
            self.look();
            self.keep_account();
        }
        self.pump();
    }

    /// Ends normally: destroys cells that are not detached, and continues suspended threads
    /// outside. Returns the unrestored settings.
    ///
    /// # Errors
    /// A journal or the ledger cannot be read or written.
    pub fn close(mut self) -> Result<Vec<Left>, CellError> {
        self.queue.settle(boot::milliseconds());
        self.keep_account();
        let (_, left) = ledger::wind_up(&self.host)?;
        Ok(left)
    }

    fn pump(&mut self) {
        // The loop ends: each round removes requests or changes nothing.
        loop {
            // With unknown CPUs of cells, all requests wait: a cell created now would fail, and its
            // request would be lost.
            let Ok(pool) = self.pool() else { break };
            // A clone, because `step` borrows the queue while it asks for the best CPUs.
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

    /// # Errors
    /// A journal cannot be read, or the online CPUs are unknown.
    fn pool(&self) -> Result<CpuSet, CellError> {
        let cells = self.host.cells()?;
        let others = cells
            .iter()
            .filter(|cell| self.jobs.values().all(|job| job.create.name != cell.name))
            .map(seatmap_cell::CellRecord::set);
        let online = layout::online(&self.host.root)?;
        Ok(others.fold(online.without(&self.host.claimed()), |pool, cpus| pool.without(&cpus)))
    }

    /// Moves this process off the cells, because creating a cell never moves it.
    fn leave_the_cells(&self) {
        // Any CPU may belong to an unreadable cell, so this process stays where it is.
        let Ok(taken) = self.host.cells() else { return };
        let online = layout::online(&self.host.root).unwrap_or_default();
        let elsewhere = self.host.claimed();
        let mask =
            taken.iter().fold(online.without(&elsewhere), |rest, cell| rest.without(&cell.set()));
        let threads = seatmap_os::task::of_process(&self.host.root, std::process::id() as _)
            .unwrap_or_default();
        // If the process's cpuset has none of these CPUs, it is not on a cell's CPUs either.
        // Offline CPUs are left out, because the mask is recomputed after each change of a cell.
        threads.iter().for_each(|thread| drop(mask.give(thread.tid)));
    }

    fn adopt(&mut self, entry: LedgerEntry) {
        let Ok(record) = self.host.cell(&entry.name) else { return };
        // A damaged ledger may name a cell twice.
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
            // The client's reader thread sees the end and reports it.
            let _ = client.stream.shutdown(std::net::Shutdown::Both);
            self.clients.remove(&connection);
        }
    }

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

    /// Writes the account. After an error, the next write follows within seconds; only fairness
    /// depends on it.
    fn keep_account(&self) {
        let _ = account::write(&self.host, self.queue.usage());
    }
}

/// The best `count` of these CPUs, excluding isolated CPUs.
fn best(host: &CellHost, open: &CpuSet, count: usize) -> Option<CpuSet> {
    let usual = open.without(&choose::isolated(host));
    // If all usual CPUs were chosen, the remaining CPU could be an isolated one, which runs no
    // other program.
    if usual.len() < open.len() && count >= usual.len() {
        return None;
    }
    best_of(host, &usual, count)
}

fn best_of(host: &CellHost, open: &CpuSet, count: usize) -> Option<CpuSet> {
    if count >= open.len() {
        return (count == open.len()).then(|| open.clone());
    }
    let mut choice = CpuChoice::of_host(host).ok()?;
    choice.cores =
        choice.cores.iter().map(|core| core.within(open)).filter(|core| !core.is_empty()).collect();
    // CPUs of a cell about to be suspended belong to no free core yet.
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
