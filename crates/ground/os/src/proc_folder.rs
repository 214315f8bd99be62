//! `/proc` held open, with one buffer for its small files: reading 10,000 threads takes a fraction
//! of a second.

use crate::root::Root;
use crate::{Tid, bytes};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RawDir, openat, readlinkat_raw, statat};
use rustix::io::pread;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

/// Longer than usual `stat` and `status` files.
const FIRST_BYTES: usize = 1 << 14;

/// About 1000 entries per call.
const ENTRIES_BYTES: usize = 1 << 15;

/// `PATH_MAX` of limits.h.
const LONGEST_LINK: usize = 4096;

/// Each takes about 6 KiB of kernel memory.
const MOST_KEPT: usize = 4096;

/// Listings of one process's threads, most of which end meanwhile.
const MOST_LISTINGS: usize = 16;

/// Descriptors for the rest of this process.
const LEFT_FREE: usize = 32;

/// The folder `/proc`, held open.
#[derive(Debug)]
pub struct ProcFolder {
    folder: OwnedFd,
    buffer: Vec<u8>,
    entries: Vec<MaybeUninit<u8>>,
    path: String,
    /// Open `schedstat` files by thread, and their limit.
    kept: HashMap<Tid, OwnedFd>,
    most_kept: usize,
}

impl ProcFolder {
    /// Opens `/proc`.
    ///
    /// # Errors
    /// The kernel's: it is not mounted.
    pub fn open(root: &Root) -> io::Result<Self> {
        let folder = openat(CWD, root.path("/proc"), folder_flags(), Mode::empty())?;
        let buffer = vec![0; FIRST_BYTES];
        let entries = vec![MaybeUninit::uninit(); ENTRIES_BYTES];
        Ok(ProcFolder {
            folder,
            buffer,
            entries,
            path: String::new(),
            kept: HashMap::new(),
            most_kept: 0,
        })
    }

    /// Keeps up to a limit of `schedstat` files open: opening one takes five times as long as
    /// reading it.
    pub fn keep_open(&mut self) {
        self.most_kept = MOST_KEPT.min(room_for_files().saturating_sub(LEFT_FREE) / 2);
    }

    /// Closes the files of ended threads.
    pub fn forget(&mut self, lives: impl Fn(Tid) -> bool) {
        self.kept.retain(|tid, _| lives(*tid));
    }

    /// Reads a file into the buffer.
    ///
    /// # Errors
    /// The kernel's: `ENOENT` and `ESRCH` if the process has exited, `EACCES` and `EPERM` for
    /// another user's.
    pub fn read(&mut self, path: fmt::Arguments<'_>) -> io::Result<&[u8]> {
        let file = self.at(path, OFlags::RDONLY | OFlags::CLOEXEC)?;
        let mut length = 0;
        loop {
            let taken = rustix::io::read(&file, &mut self.buffer[length..])?;
            length += taken;
            match taken {
                0 => return Ok(&self.buffer[..length]),
                _ if length == self.buffer.len() => self.buffer.resize(2 * length, 0),
                _ => {}
            }
        }
    }

    /// Reads `stat`, `schedstat` or `status`, which the kernel writes in one piece, with one call;
    /// [`ProcFolder::read`] needs two.
    ///
    /// # Errors
    /// As [`ProcFolder::read`].
    pub fn read_once(&mut self, path: fmt::Arguments<'_>) -> io::Result<&[u8]> {
        let file = self.at(path, OFlags::RDONLY | OFlags::CLOEXEC)?;
        let mut length = rustix::io::read(&file, &mut self.buffer[..])?;
        // With thousands of groups, `status` exceeds the buffer.
        while length == self.buffer.len() {
            self.buffer.resize(2 * length, 0);
            length += rustix::io::read(&file, &mut self.buffer[length..])?;
        }
        Ok(&self.buffer[..length])
    }

    /// A thread's `stat` line.
    ///
    /// # Errors
    /// As [`ProcFolder::read`].
    pub fn stat(&mut self, pid: Tid, tid: Tid) -> io::Result<&[u8]> {
        self.read_once(format_args!("{pid}/task/{tid}/stat"))
    }

    /// A thread's `schedstat` line.
    ///
    /// # Errors
    /// As [`ProcFolder::read`].
    pub fn schedstat(&mut self, pid: Tid, tid: Tid) -> io::Result<&[u8]> {
        let kept = self.kept.get(&tid).map(|file| pread(file, &mut self.buffer[..], 0));
        if let Some(Ok(length)) = kept {
            return Ok(&self.buffer[..length]);
        }
        // Its thread has ended; its number may be reused.
        self.kept.remove(&tid);
        let file =
            self.at(format_args!("{pid}/task/{tid}/schedstat"), OFlags::RDONLY | OFlags::CLOEXEC)?;
        let length = rustix::io::read(&file, &mut self.buffer[..])?;
        if self.kept.len() < self.most_kept {
            self.kept.insert(tid, file);
        }
        Ok(&self.buffer[..length])
    }

    /// A thread's `status` file.
    ///
    /// # Errors
    /// As [`ProcFolder::read`].
    pub fn status(&mut self, pid: Tid, tid: Tid) -> io::Result<&[u8]> {
        self.read_once(format_args!("{pid}/task/{tid}/status"))
    }

    /// The numeric names in a folder, sorted: processes or descriptors.
    ///
    /// # Errors
    /// As [`ProcFolder::read`].
    pub fn numbers(&mut self, path: fmt::Arguments<'_>) -> io::Result<Vec<Tid>> {
        let mut found = self.listed(path)?;
        found.sort_unstable();
        Ok(found)
    }

    /// A process's threads, sorted.
    ///
    /// If the thread that was just listed ends, the kernel ends the listing and omits later threads
    /// (`next_tid` in fs/proc/base.c). In large folders it may also skip threads or list some
    /// twice. So the listing is repeated until its last thread lives and enough are listed.
    ///
    /// # Errors
    /// As [`ProcFolder::read`].
    pub fn threads(&mut self, pid: Tid) -> io::Result<Vec<Tid>> {
        let mut found = Vec::new();
        for _ in 0..MOST_LISTINGS {
            let listed = self.listed(format_args!("{pid}/task"))?;
            let count = self.folders(format_args!("{pid}/task")).unwrap_or(0);
            let is_enough = listed.len() as u64 >= count;
            let last = listed.last().copied();
            found.extend(listed);
            if is_enough && last.is_none_or(|tid| self.has(format_args!("{pid}/task/{tid}"))) {
                break;
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn has(&mut self, path: fmt::Arguments<'_>) -> bool {
        self.spell(path);
        statat(&self.folder, &*self.path, AtFlags::empty()).is_ok()
    }

    /// In the kernel's order.
    fn listed(&mut self, path: fmt::Arguments<'_>) -> io::Result<Vec<Tid>> {
        let folder = self.at(path, folder_flags())?;
        let mut entries = RawDir::new(folder, &mut self.entries);
        let mut found = Vec::new();
        while let Some(entry) = entries.next() {
            found.extend(
                bytes::small::<u32>(entry?.file_name().to_bytes())
                    .and_then(|it| Tid::try_from(it).ok()),
            );
        }
        Ok(found)
    }

    /// Counts subfolders, from the link count alone.
    ///
    /// # Errors
    /// As [`ProcFolder::read`].
    pub fn folders(&mut self, path: fmt::Arguments<'_>) -> io::Result<u64> {
        self.spell(path);
        #[allow(clippy::useless_conversion, reason = "the count has 32 bits on some processors")]
        let links = u64::from(statat(&self.folder, &*self.path, AtFlags::empty())?.st_nlink);
        // Two links are its name and dot. File systems that do not count report 1.
        Ok(links.saturating_sub(2))
    }

    /// The target of a link.
    ///
    /// # Errors
    /// As [`ProcFolder::read`].
    pub fn link(&mut self, path: fmt::Arguments<'_>) -> io::Result<String> {
        self.spell(path);
        if self.buffer.len() < LONGEST_LINK {
            self.buffer.resize(LONGEST_LINK, 0);
        }
        let length = readlinkat_raw(&self.folder, &*self.path, &mut self.buffer[..])?;
        Ok(bytes::text(&self.buffer[..length]))
    }

    fn at(&mut self, path: fmt::Arguments<'_>, flags: OFlags) -> io::Result<OwnedFd> {
        self.spell(path);
        Ok(openat(&self.folder, &*self.path, flags, Mode::empty())?)
    }

    fn spell(&mut self, path: fmt::Arguments<'_>) {
        self.path.clear();
        // Writing to a `String` does not fail.
        let _ = self.path.write_fmt(path);
    }
}

/// Raises this process's limit of open files and returns it.
fn room_for_files() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let target =
        limit.maximum.unwrap_or(u64::MAX).min(MOST_KEPT as u64 * 4).max(limit.current.unwrap_or(0));
    let raised =
        setrlimit(Resource::Nofile, Rlimit { current: Some(target), maximum: limit.maximum });
    let room = if raised.is_ok() { target } else { limit.current.unwrap_or(0) };
    usize::try_from(room).unwrap_or(usize::MAX)
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC
}

/// Whether an error means that the process or thread has exited.
pub fn has_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH))
}

/// Whether an error means missing permission.
pub fn is_refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::ThreadTimes;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

    fn made() -> (tempfile::TempDir, ProcFolder) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("proc/7/task/12")).unwrap();
        std::fs::create_dir_all(folder.path().join("proc/7/task/9")).unwrap();
        std::fs::create_dir_all(folder.path().join("proc/7/task/other")).unwrap();
        let held = ProcFolder::open(&Root::new(folder.path())).unwrap();
        (folder, held)
    }

    #[test]
    fn files_of_any_length_are_read_whole() {
        let (folder, mut held) = made();
        for length in [0, 5, FIRST_BYTES - 1, FIRST_BYTES, FIRST_BYTES + 1, 100_000] {
            std::fs::write(folder.path().join("proc/7/maps"), "x".repeat(length)).unwrap();
            assert_eq!(held.read(format_args!("7/{}", "maps")).unwrap().len(), length);
        }
    }

    #[test]
    fn status_of_any_length_is_read_whole() {
        for length in [0, FIRST_BYTES - 1, FIRST_BYTES, 100_000] {
            let (folder, mut held) = made();
            std::fs::write(folder.path().join("proc/7/task/9/status"), "x".repeat(length)).unwrap();
            assert_eq!(held.status(7, 9).unwrap().len(), length);
        }
    }

    #[test]
    fn numbers_are_sorted_and_other_names_skipped() {
        let (_folder, mut held) = made();
        assert_eq!(held.numbers(format_args!("7/task")).unwrap(), [9, 12]);
        assert_eq!(held.threads(7).unwrap(), [9, 12]);
        assert_eq!(held.numbers(format_args!(".")).unwrap(), [7]);
        assert!(has_gone(&held.threads(8).unwrap_err()));
        assert!(has_gone(&held.read(format_args!("8/stat")).unwrap_err()));
    }

    #[test]
    fn links_are_read() {
        let (folder, mut held) = made();
        std::os::unix::fs::symlink("/usr/bin/some program", folder.path().join("proc/7/exe"))
            .unwrap();
        assert_eq!(held.link(format_args!("7/exe")).unwrap(), "/usr/bin/some program");
        assert!(!is_refused(&held.link(format_args!("7/cwd")).unwrap_err()));
    }

    #[test]
    fn open_file_stays_current_and_belongs_to_one_thread() {
        let mut held = ProcFolder::open(&Root::new("/")).unwrap();
        held.keep_open();
        let own = std::process::id() as Tid;
        let run_ns = |held: &mut ProcFolder| {
            ThreadTimes::parse(held.schedstat(own, own).unwrap()).unwrap().run_ns
        };
        let first = run_ns(&mut held);
        let kept = held.kept.len();
        assert_eq!(kept, 1);
        // The test's first thread waits, so its times do not change.
        let (name, named) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            name.send(crate::task::own_tid()).unwrap();
            let mut work = 0u64;
            while ended.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                work = std::hint::black_box(work + 1);
            }
        });
        let tid = named.recv().unwrap();
        let ran_ns = |held: &mut ProcFolder| {
            held.schedstat(own, tid).ok().and_then(ThreadTimes::parse).map(|it| it.run_ns)
        };
        let before = ran_ns(&mut held).unwrap();
        while ran_ns(&mut held).unwrap() == before {}
        assert_eq!(held.kept.len(), 2);
        end.send(()).unwrap();
        thread.join().unwrap();
        while ran_ns(&mut held).is_some() {}
        assert_eq!(held.kept.len(), 1, "a file of an ended thread is closed");
        held.forget(|_| false);
        assert!(held.kept.is_empty() && run_ns(&mut held) >= first);
    }

    #[test]
    fn own_process_is_listed() {
        let mut held = ProcFolder::open(&Root::new("/")).unwrap();
        let own = std::process::id() as Tid;
        assert!(held.numbers(format_args!(".")).unwrap().contains(&own));
        assert!(
            held.folders(format_args!("{own}/task")).unwrap() > 0
                && held.folders(format_args!("x")).is_err()
        );
        assert!(held.read_once(format_args!("{own}/task/{own}/stat")).unwrap().len() > 50);
    }

    #[derive(Default)]
    struct Chain {
        youngest: AtomicI32,
        is_over: AtomicBool,
    }

    /// Starts a successor and ends, so that the last thread of a listing often ends meanwhile.
    fn succeed(chain: Arc<Chain>) {
        chain.youngest.store(crate::task::own_tid(), Ordering::SeqCst);
        if !chain.is_over.load(Ordering::SeqCst) {
            std::thread::spawn(|| succeed(chain));
        }
    }

    #[test]
    fn living_threads_are_listed_while_others_end() {
        let chains: [Arc<Chain>; 3] = Default::default();
        chains.iter().cloned().for_each(succeed);
        let mut held = ProcFolder::open(&Root::new("/")).unwrap();
        let own = std::process::id() as Tid;
        let mut missing = Vec::new();
        for _ in 0..20_000 {
            let youngest = chains.each_ref().map(|chain| chain.youngest.load(Ordering::SeqCst));
            let listed = held.threads(own).unwrap();
            let unlisted = youngest.into_iter().filter(|tid| !listed.contains(tid));
            missing.extend(unlisted.filter(|tid| held.has(format_args!("{own}/task/{tid}"))));
        }
        chains.iter().for_each(|chain| chain.is_over.store(true, Ordering::SeqCst));
        assert!(missing.is_empty(), "{missing:?}");
    }
}
