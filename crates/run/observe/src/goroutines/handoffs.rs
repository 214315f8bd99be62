//! Counts the goroutines that threads hand to each other.

use super::functions::FunctionsError;
use super::programs::Goroutines;
use super::{functions, programs};
use crate::TalkKind;
use crate::talk::{LINE_BYTES, ThreadMessages};
use crate::wakeups::{EbpfError, Tables};
use seatmap_data::document::{visible, with_causes};
use seatmap_launch::runtime::is_of_go;
use seatmap_os::bpf::{EbpfLink, EbpfProgram};
use seatmap_os::{Tid, i32_at, task, u64_at};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::path::Path;
use std::time::Duration;

/// An estimate from two goroutines that exchange a value (`bench/observe/handoffs.go`) on a virtual
/// machine.
const AT_FUNCTION: Duration = Duration::from_nanos(925);

/// The thread that ends a goroutine's wait calls `ready`; the one that continues it calls `execute`
/// (`runtime/proc.go` of Go's sources). The end of a wait for the network bypasses `ready`, and is
/// not counted.
const FUNCTIONS: [&str; 2] = ["runtime.ready", "runtime.execute"];

/// Device and inode: containers may have other files of the same name.
type FileId = (u64, u64);

enum Found {
    Other,
    Watched {
        #[expect(dead_code, reason = "the programs are attached while the links live")]
        links: [EbpfLink; 2],
    },
    Unwatched(String),
}

pub struct GoroutineHandoffs {
    goroutines: Goroutines,
    programs: [EbpfProgram; 2],
    files: HashMap<FileId, Found>,
    threads: HashMap<Tid, Tid>,
    pids: HashSet<Tid>,
}

impl GoroutineHandoffs {
    pub fn begin(tables: &Tables) -> Result<Self, EbpfError> {
        let goroutines = Goroutines::new()?;
        let programs = [
            EbpfProgram::load_probe("seatmap_ready", &programs::ready(tables, &goroutines))?,
            EbpfProgram::load_probe("seatmap_execute", &programs::execute(tables, &goroutines))?,
        ];
        Ok(GoroutineHandoffs {
            goroutines,
            programs,
            files: HashMap::new(),
            threads: HashMap::new(),
            pids: HashSet::new(),
        })
    }

    pub fn meet(&mut self, tid: Tid, pid: Tid) {
        self.threads.insert(tid, pid);
    }

    pub fn forget(&mut self, tid: Tid) {
        self.threads.remove(&tid);
    }

    pub fn look(&mut self) {
        let distinct: BTreeSet<Tid> = self.threads.values().copied().collect();
        self.pids = distinct.into_iter().filter(|pid| self.is_watched(*pid)).collect();
    }

    fn is_watched(&mut self, pid: Tid) -> bool {
        let Some(file) = task::program_id(pid) else { return self.pids.contains(&pid) };
        let programs = &self.programs;
        let found = self.files.entry(file).or_insert_with(|| found(programs, pid));
        matches!(found, Found::Watched { .. })
    }

    pub fn is_between(&self, talk: &ThreadMessages) -> bool {
        let mut pids = [talk.from, talk.to].into_iter().map(|tid| self.threads.get(&tid));
        pids.all(|pid| pid.is_some_and(|pid| self.pids.contains(pid)))
    }

    /// A goroutine that one thread made ready and another continued moves at least one cache line.
    pub fn talk(&self) -> io::Result<Vec<ThreadMessages>> {
        let mut talk = Vec::new();
        self.goroutines.pairs.take(|key, value| {
            let threads = i32_at(key, 0).zip(i32_at(key, 4)).zip(u64_at(value, 0));
            if let Some(((from, to), count)) = threads {
                let messages = count as f64;
                let bytes = messages * LINE_BYTES;
                talk.push(ThreadMessages { from, to, kind: TalkKind::Goroutine, messages, bytes });
            }
        })?;
        Ok(talk)
    }

    pub fn time(&self) -> io::Result<Duration> {
        let calls = self.goroutines.calls.counts()?.first().copied().unwrap_or_default();
        Ok(AT_FUNCTION.mul_f64(calls as f64))
    }

    pub fn unseen(&self) -> Vec<String> {
        let reasons = self.files.values().filter_map(|found| match found {
            Found::Unwatched(reason) => Some(reason.clone()),
            _ => None,
        });
        let mut unseen: Vec<String> = reasons.collect();
        unseen.sort();
        if self.files.values().all(|found| matches!(found, Found::Other)) {
            unseen.push("goroutines: the program is not a Go program".to_owned());
        }
        unseen
    }
}

/// The path is the process's, perhaps in a container.
fn found(programs: &[EbpfProgram; 2], pid: Tid) -> Found {
    let file = task::program_link(pid);
    if !is_of_go(&file) {
        return Found::Other;
    }
    match watched(programs, &file) {
        Ok(links) => Found::Watched { links },
        Err(error) => {
            let path = task::program_file(pid).unwrap_or_default();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            Found::Unwatched(format!("goroutines of {}: {}", visible(&name), with_causes(&error)))
        }
    }
}

fn watched(
    [ready, execute]: &[EbpfProgram; 2],
    file: &Path,
) -> Result<[EbpfLink; 2], FunctionsError> {
    let [at_ready, at_execute] = functions::places(file, FUNCTIONS)?;
    // A goroutine counts only if both functions are watched, so the later one comes first.
    let executes = execute.link_at(file, at_execute)?;
    Ok([ready.link_at(file, at_ready)?, executes])
}
