//! Moves this process into a cell and back.
//!
//! For programs that request a cell through a library. A thread renews the cell's short lease.
//! After a kill, the guardian undoes the cell when the lease expires.

use crate::destroy::destroy_beside;
use crate::renew::renew;
use crate::{CellError, CellHost, CellRecord, Left, Name};

use seatmap_os::owed::ThreadMask;
use seatmap_os::{CpuSet, FileError, Root, affinity, forgotten, group, task};
use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

/// A stay, which also ends when dropped.
#[derive(Debug)]
pub struct Stay(Option<Inside>);

#[derive(Debug)]
struct Inside {
    host: Arc<CellHost>,
    name: Name,
    home: Home,
    renewal: Renewal,
}

/// This process's former group and masks.
#[derive(Debug)]
struct Home {
    group: Option<String>,
    masks: Vec<ThreadMask>,
}

/// Renews a cell's lease until its channel closes.
#[derive(Debug)]
pub struct Renewal {
    end: Sender<()>,
    thread: JoinHandle<()>,
}

impl Stay {
    /// Lease in seconds for a cell whose creator stays in it.
    pub const LEASE_S: u64 = 60;

    /// Moves this process with all its threads into a cell that it created. Undoes the cell on
    /// failure.
    ///
    /// # Errors
    /// [`CellError::Enter`]: a thread cannot get the cell's CPUs; [`CellError::File`]: the group
    /// accepts no members.
    pub fn begin(host: CellHost, record: &CellRecord) -> Result<Self, CellError> {
        let home = Home::now(&host.root, record)?;
        if let Err(error) = enter(&host.root, record) {
            let left = home.give_back(&host.root, &record.set());
            destroy_beside(&host, &record.name, left)?;
            return Err(error);
        }
        let host = Arc::new(host);
        let name = record.name.clone();
        let renewal = Renewal::begin(Arc::clone(&host), name.clone(), Stay::LEASE_S)
            .map_err(CellError::Enter)?;
        Ok(Stay(Some(Inside { host, name, home, renewal })))
    }

    /// Moves this process out and undoes the cell. Returns what could not be restored.
    ///
    /// # Errors
    /// As [`crate::destroy()`].
    pub fn end(mut self) -> Result<Vec<Left>, CellError> {
        self.0.take().map_or(Ok(Vec::new()), Inside::end)
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        // No caller is left; the next command restores the rest.
        let _ = self.0.take().map(Inside::end);
    }
}

impl Inside {
    fn end(self) -> Result<Vec<Left>, CellError> {
        self.renewal.end();
        let cpus = self.host.cell(&self.name).map(|record| record.set()).unwrap_or_default();
        let left = self.home.give_back(&self.host.root, &cpus);
        destroy_beside(&self.host, &self.name, left)
    }
}

impl Home {
    fn now(root: &Root, record: &CellRecord) -> Result<Self, CellError> {
        let threads = task::of_process(root, task::own_pid())?;
        let masks = threads.iter().filter_map(|thread| {
            let mask = affinity::to_put_back(thread.tid).ok()?;
            Some(ThreadMask::of(thread.identity(), mask))
        });
        Ok(Home {
            group: record.group.as_deref().and_then(|group| group::of_self(root, group)),
            masks: masks.collect(),
        })
    }

    /// Restores the group and masks. Threads created in the cell get the first thread's mask.
    /// Returns masks that lack offline CPUs.
    fn give_back(&self, root: &Root, cell: &CpuSet) -> Vec<Left> {
        let threads = task::of_process(root, task::own_pid()).unwrap_or_default();
        if let Some(group) = &self.group {
            let _ = join(root, group, &threads);
        }
        let first = self.masks.first().map(|one| one.cpus.clone()).unwrap_or_default();
        let mut given = Vec::new();
        for thread in &threads {
            let own = self.masks.iter().find(|one| one.identity() == thread.identity());
            let before = own.map_or(&first, |one| &one.cpus);
            let now = CpuSet::of_thread(thread.tid).unwrap_or_default();
            if own.is_some() || now.meets(cell) {
                let _ = before.give(thread.tid);
                let lost = forgotten::lost(thread.tid, before);
                given.push((ThreadMask::of(thread.identity(), before.clone()), lost));
            }
        }
        Left::of_lacking(given)
    }
}

fn enter(root: &Root, record: &CellRecord) -> Result<(), CellError> {
    let threads = task::of_process(root, task::own_pid())?;
    record.group.as_deref().map_or(Ok(()), |group| join(root, group, &threads))?;
    let cpus = record.set();
    for thread in threads {
        match affinity::bind(thread.tid, &cpus) {
            Ok(None) => {}
            Ok(Some(has)) => {
                let refusal = format!("thread {} got CPUs {has} instead", thread.tid);
                return Err(CellError::Enter(io::Error::other(refusal)));
            }
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            Err(error) => return Err(CellError::Enter(error)),
        }
    }
    Ok(())
}

fn join(root: &Root, group: &str, threads: &[task::ThreadStat]) -> Result<(), FileError> {
    let file = group::members_file(root, group);
    if file.ends_with("cgroup.procs") {
        return root.write(&file, &std::process::id().to_string());
    }
    for thread in threads {
        let joined = root.write(&file, &thread.tid.to_string());
        // A thread may end before its move.
        joined.or_else(|error| if task::exists(thread.tid) { Err(error) } else { Ok(()) })?;
    }
    Ok(())
}

impl Renewal {
    /// Renews this lease, in seconds, twice before it expires. The thread runs on the cell's CPUs
    /// for a millisecond per renewal.
    ///
    /// # Errors
    /// The thread cannot start.
    pub fn begin(host: Arc<CellHost>, name: Name, lease_s: u64) -> io::Result<Self> {
        let (end, ended) = mpsc::channel();
        let renewing = move || {
            let pause = Duration::from_secs(lease_s / 3);
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                // Retried before the lease expires.
                let _ = renew(&host, &name, lease_s);
            }
        };
        let thread = std::thread::Builder::new().name("seatmap-lease".into()).spawn(renewing)?;
        Ok(Renewal { end, thread })
    }

    /// Ends the thread at once.
    pub fn end(self) {
        drop(self.end);
        let _ = self.thread.join();
    }
}
