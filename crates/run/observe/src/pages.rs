//! The method `pages`: which threads share memory, sampled by `libseatmap_trace` in the program
//! itself.
//!
//! The library takes pages away for a moment and says which threads came to ask for them, at which
//! address. It sends records over a socket, whose name the program finds in its environment.
//!
//! | module | does |
//! |---|---|
//! | `record` | the records, parsed |
//! | `listener` | the socket: the processes that send records |
//! | `watcher` | words that are watched by the processor's debug registers: who writes them |
//! | `shared` | what the records say together: lines of memory that pass between threads |

mod listener;
mod record;
mod shared;
mod watcher;

use crate::Method;
use crate::source::{Source, count_of};
use crate::talk::{Look, Talk};
use listener::{Listener, Sender};
use seatmap_os::{Tid, userfault};
use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use watcher::{Watcher, Word};

/// The variable that names the socket.
const VARIABLE: &str = "SEATMAP_PAGES";

/// The variable that names libraries which are loaded before all others (ld.so(8)).
const PRELOAD: &str = "LD_PRELOAD";

/// Why a program sends no records.
const NOT_LOADED: &str = "the program did not load libseatmap_trace.so: one that is linked \
                          statically, as Go's are, or that changes its user does not";

/// Why pages cannot be sampled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PagesError {
    /// The kernel does not tell of faults.
    #[error("userfaultfd: {0} (it needs Linux 6.8 and root, or CAP_SYS_PTRACE)")]
    Faults(#[source] io::Error),
    /// There can be no socket.
    #[error("a socket for what the program tells: {0}")]
    Socket(#[source] io::Error),
}

/// Samples of a command's pages, until this is dropped. Another source follows its threads.
pub(crate) struct Pages {
    threads: Box<dyn Source>,
    /// Whether the talk that the other source sees counts as well.
    combines: bool,
    listener: Listener,
    /// The processes of the program that are known.
    followed: HashSet<Tid>,
    watcher: Result<Watcher, io::Error>,
    library: PathBuf,
}

impl Pages {
    /// Listens for a command that loads this library. `threads` follows its threads, and tells what
    /// it sees of their talk where both are combined.
    pub(crate) fn begin(
        library: &Path,
        threads: Box<dyn Source>,
        combines: bool,
    ) -> Result<Self, PagesError> {
        userfault::check().map_err(PagesError::Faults)?;
        let listener = Listener::begin().map_err(PagesError::Socket)?;
        let watcher = Watcher::begin();
        Ok(Pages {
            threads,
            combines,
            listener,
            followed: HashSet::new(),
            watcher,
            library: library.to_owned(),
        })
    }

    /// Takes in the words that were watched, and asks for the next.
    fn watch(&mut self) {
        let Ok(watcher) = &self.watcher else { return };
        for watched in watcher.watched() {
            let senders = &mut self.listener.senders;
            // A process's number can be given again: the latest process with it is the one that was
            // watched.
            let own = senders.iter_mut().rev().find(|sender| sender.pid == watched.word.pid);
            own.into_iter().for_each(|sender| sender.take_watched(&watched));
        }
        let senders = self.listener.senders.iter();
        let mut words: Vec<Word> = senders.flat_map(Sender::words_to_watch).collect();
        // Chance keeps the words of one process from taking every turn.
        fastrand::shuffle(&mut words);
        watcher.watch_first(words);
    }

    fn sampled(&self) -> impl Iterator<Item = &Sender> {
        self.listener.senders.iter().filter(|sender| sender.refused.is_none())
    }

    /// Why no process was sampled, where that is so.
    fn blindness(&self) -> Option<String> {
        if self.sampled().next().is_some() {
            return None;
        }
        let refused = self.listener.senders.iter().find_map(|sender| sender.refused);
        Some(match refused {
            Some(error) => format!("userfaultfd: {}", io::Error::from_raw_os_error(error)),
            None => NOT_LOADED.to_owned(),
        })
    }

    fn memory(&self) -> Option<String> {
        let left_out = sum(self.sampled().map(|sender| sender.left_out_bytes));
        let sampled = sum(self.sampled().map(|sender| sender.sampled_bytes));
        let all = left_out.saturating_add(sampled);
        let [left_out_mb, all_mb] = [left_out, all].map(|bytes| bytes / 1_000_000);
        (left_out > 0).then(|| {
            format!("{left_out_mb} MB of {all_mb} MB were not sampled: there is more than fits")
        })
    }
}

/// A sum of what programs say of themselves, which may be any number.
fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

impl Source for Pages {
    fn name(&self) -> String {
        if self.combines {
            format!("{} and userfaultfd", self.threads.name())
        } else {
            "userfaultfd".to_owned()
        }
    }

    fn methods(&self) -> Vec<Method> {
        let others = if self.combines { self.threads.methods() } else { Vec::new() };
        others.into_iter().chain([Method::Pages]).collect()
    }

    fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut preload = self.library.clone().into_os_string();
        // Libraries that the user preloads stay.
        if let Some(others) = std::env::var_os(PRELOAD).filter(|others| !others.is_empty()) {
            preload.push(" ");
            preload.push(others);
        }
        vec![(PRELOAD, preload), (VARIABLE, self.listener.name().into())]
    }

    fn follow(&mut self, pid: Tid) -> io::Result<()> {
        self.followed.insert(pid);
        self.threads.follow(pid)
    }

    fn follow_own_children(&mut self, on: bool) -> io::Result<()> {
        self.threads.follow_own_children(on)
    }

    fn tells_cpu_times(&self) -> bool {
        self.threads.tells_cpu_times()
    }

    fn look(&mut self) -> io::Result<Look> {
        // The threads come first, as senders are judged by the processes that are known.
        let look = self.threads.look()?;
        self.followed.extend(look.threads.iter().map(|thread| thread.pid));
        self.listener.look(&self.followed)?;
        self.watch();
        let own: Vec<Tid> = self.listener.senders.iter().map(|sender| sender.tid).collect();
        self.threads.leave_out(&own);
        let talk = if self.combines { look.talk } else { Vec::new() };
        Ok(Look { talk, threads: look.threads, own })
    }

    fn last_talk(&mut self) -> Vec<Talk> {
        // A look that fails leaves what was read before.
        let _ = self.listener.look(&self.followed);
        self.listener.senders.iter().flat_map(Sender::talk).collect()
    }

    fn failure(&self) -> Option<String> {
        // Where other methods see talk as well, blindness is a remark (`unseen`).
        self.blindness().filter(|_| !self.combines)
    }

    fn has_processes(&self) -> io::Result<bool> {
        self.threads.has_processes()
    }

    fn kernel_time(&mut self) -> Option<Duration> {
        let of_samples: Duration = self.listener.senders.iter().map(Sender::cost).sum();
        let of_words = self.watcher.as_ref().map_or(Duration::ZERO, Watcher::cost);
        Some(self.threads.kernel_time()? + of_samples + of_words)
    }

    fn outsiders(&self) -> Vec<seatmap_pattern::Outsider> {
        self.threads.outsiders()
    }

    fn unseen(&self) -> Vec<String> {
        let others = if self.combines { self.threads.unseen() } else { Vec::new() };
        let senders = &self.listener.senders;
        let forks: u64 = senders.iter().map(|sender| sender.forks).sum();
        let lost = sum(senders.iter().map(|sender| sender.lost));
        let refused = senders.iter().filter(|sender| sender.refused.is_some()).count();
        let sentences = [
            count_of(
                forks,
                "fork",
                [
                    "began a process that started no program: its memory was not sampled",
                    "began processes that started no program: their memory was not sampled",
                ],
            ),
            count_of(
                lost,
                "sample",
                [
                    "was lost: it came faster than it was read",
                    "were lost: they came faster than they were read",
                ],
            ),
            count_of(
                self.listener.strangers,
                "connection",
                [
                    "of another user was refused: it tells nothing of this program",
                    "of other users were refused: they tell nothing of this program",
                ],
            ),
            count_of(
                refused as u64,
                "process",
                [
                    "was not sampled: the kernel told it of no faults",
                    "were not sampled: the kernel told them of no faults",
                ],
            ),
            self.memory(),
            self.blindness()
                .filter(|_| self.combines)
                .map(|reason| format!("shared pages: {reason}")),
            self.watcher.as_ref().err().map(|error| {
                format!(
                    "who writes which word: watchpoints: {error}; threads that use neighbouring \
                     lines may count as sharing"
                )
            }),
        ];
        others.into_iter().chain(sentences.into_iter().flatten()).collect()
    }
}
