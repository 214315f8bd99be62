//! This process in a cell, for as long as a value lives.
//!
//! A launcher seats a program in a cell from outside. A program that asks for a cell itself, from a
//! library, moves there with all its threads, and back. Its cell has a short lease, which a thread
//! renews: where the program dies by any signal, the guardian undoes the cell when the lease ends.

use crate::destroy::destroy_beside;
use crate::error::CellError;
use crate::host::CellHost;
use crate::name::Name;
use crate::record::CellRecord;
use crate::renew::renew;
use crate::undo::Left;
use seatmap_os::forgotten::{self, ForgottenCpus};
use seatmap_os::owed::ThreadMask;
use seatmap_os::root::FileError;
use seatmap_os::{CpuSet, Root, Tid, affinity, group, task};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often the lease is renewed: twice before it ends.
const RENEW_EVERY: Duration = Duration::from_secs(Stay::LEASE_S / 3);

/// The stay of this process in a cell. It ends when this is dropped, too.
#[derive(Debug)]
pub struct Stay(Option<Inside>);

/// The things to put back, and the thread that keeps the lease.
#[derive(Debug)]
struct Inside {
    host: Arc<CellHost>,
    name: Name,
    home: Home,
    renewal: Renewal,
}

/// The group and the masks that this process had before.
#[derive(Debug)]
struct Home {
    group: Option<String>,
    masks: Vec<(Tid, CpuSet)>,
}

/// The thread that renews the lease until its channel closes.
#[derive(Debug)]
struct Renewal {
    end: Sender<()>,
    thread: JoinHandle<()>,
}

impl Stay {
    /// The lease that a cell should be made with whose maker stays in it, in seconds: for so long
    /// it stands after its maker was killed.
    pub const LEASE_S: u64 = 60;

    /// Moves this process into a cell that it has made, with all its threads. Where that fails the
    /// cell is undone.
    ///
    /// # Errors
    /// [`CellError::Enter`]: a thread cannot have the cell's CPUs; [`CellError::File`]: the group
    /// takes no members.
    pub fn begin(host: CellHost, record: &CellRecord) -> Result<Self, CellError> {
        let home = Home::now(&host.root, record)?;
        if let Err(error) = enter(&host.root, record) {
            let left = home.give_back(&host.root, &record.set());
            destroy_beside(&host, &record.name, left)?;
            return Err(error);
        }
        let host = Arc::new(host);
        let name = record.name.clone();
        let renewal = Renewal::begin(Arc::clone(&host), name.clone()).map_err(CellError::Enter)?;
        Ok(Stay(Some(Inside { host, name, home, renewal })))
    }

    /// Moves this process out, and undoes the cell. Returns the settings that could not be put
    /// back.
    ///
    /// # Errors
    /// As [`crate::destroy()`].
    pub fn end(mut self) -> Result<Vec<Left>, CellError> {
        self.0.take().map_or(Ok(Vec::new()), Inside::end)
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        // Without a caller who could be told: the next command puts back what is left.
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
        let threads = task::of_process(root, std::process::id() as Tid)?;
        let mask =
            |thread: &task::ThreadStat| Some((thread.tid, affinity::to_put_back(thread.tid).ok()?));
        Ok(Home {
            group: record.group.as_deref().and_then(|group| group::of_self(root, group)),
            masks: threads.iter().filter_map(mask).collect(),
        })
    }

    /// Threads that were created in the cell get the mask of the first thread. One that has ended
    /// needs nothing. Returns the masks that lack CPUs which are offline.
    fn give_back(&self, root: &Root, cell: &CpuSet) -> Vec<Left> {
        let threads = task::of_process(root, std::process::id() as Tid).unwrap_or_default();
        if let Some(group) = &self.group {
            let _ = join(root, group, &threads);
        }
        let first = self.masks.first().map(|(_, mask)| mask.clone()).unwrap_or_default();
        let mut given = Vec::new();
        for thread in &threads {
            let own = self.masks.iter().find(|(tid, _)| *tid == thread.tid);
            let before = own.map_or(&first, |(_, mask)| mask);
            let now = CpuSet::of_thread(thread.tid).unwrap_or_default();
            if own.is_some() || now.meets(cell) {
                let _ = before.give(thread.tid);
                let lost = forgotten::lost(thread.tid, before);
                let started_ticks = thread.started_ticks;
                let cpus = before.clone();
                given.push((ThreadMask { tid: thread.tid, started_ticks, cpus }, lost));
            }
        }
        ForgottenCpus::gather(given).into_iter().map(Left::masks).collect()
    }
}

fn enter(root: &Root, record: &CellRecord) -> Result<(), CellError> {
    let threads = task::of_process(root, std::process::id() as Tid)?;
    record.group.as_deref().map_or(Ok(()), |group| join(root, group, &threads))?;
    let cpus = record.set();
    for thread in threads {
        match affinity::bind(thread.tid, &cpus) {
            Ok(None) => {}
            Ok(Some(has)) => {
                let refusal = format!("thread {} got CPUs {has} there", thread.tid);
                return Err(CellError::Enter(io::Error::other(refusal)));
            }
            // It ended meanwhile.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            Err(error) => return Err(CellError::Enter(error)),
        }
    }
    Ok(())
}

/// Writes this process, or each of its threads, into the group's file of members.
fn join(root: &Root, group: &str, threads: &[task::ThreadStat]) -> Result<(), FileError> {
    let file = group::members_file(root, group);
    if file.ends_with("cgroup.procs") {
        return root.write(&file, &std::process::id().to_string());
    }
    for thread in threads {
        let joined = root.write(&file, &thread.tid.to_string());
        // A thread may end between the list and its move.
        joined.or_else(|error| if task::exists(thread.tid) { Err(error) } else { Ok(()) })?;
    }
    Ok(())
}

impl Renewal {
    /// The thread sits on the CPUs of the cell, as all of this process does, and works for a
    /// millisecond each time.
    fn begin(host: Arc<CellHost>, name: Name) -> io::Result<Self> {
        let (end, ended) = mpsc::channel();
        let renewing = move || {
            while ended.recv_timeout(RENEW_EVERY) == Err(RecvTimeoutError::Timeout) {
                // A renewal that fails is tried once more before the lease ends.
                let _ = renew(&host, &name, Stay::LEASE_S);
            }
        };
        let thread = std::thread::Builder::new().name("seatmap-lease".into()).spawn(renewing)?;
        Ok(Renewal { end, thread })
    }

    fn end(self) {
        drop(self.end);
        let _ = self.thread.join();
    }
}
