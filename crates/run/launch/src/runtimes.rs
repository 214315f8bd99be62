//! The runtimes of a program's processes.

use crate::allocator::SeatAllocator;
use crate::runtime::LanguageRuntime;
use seatmap_data::document::visible;
use seatmap_os::{Root, Tid, task};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

#[derive(Default)]
pub struct Runtimes {
    of: HashMap<Tid, LanguageRuntime>,
    files: HashMap<PathBuf, LanguageRuntime>,
    pub roaming: Vec<PathBuf>,
    pub narrowed: Vec<Narrowed>,
}

#[derive(Debug, PartialEq)]
pub struct Narrowed {
    pub file: PathBuf,
    pub runtime: LanguageRuntime,
    /// Whether it is the started program.
    pub is_first: bool,
}

impl Narrowed {
    pub fn sentence(&self, cpus: usize) -> String {
        self.runtime.narrowed(&visible(&self.file.display().to_string()), cpus)
    }
}

#[derive(Clone, Copy, PartialEq)]
pub enum SeatFit {
    Roams,
    Narrow,
    /// Threads have no separate seats, or there is one seat.
    Whole,
}

impl Runtimes {
    /// `fit` gives the effect of seats on a runtime.
    pub fn note(&mut self, pid: Tid, file: &Path, fit: impl Fn(LanguageRuntime) -> SeatFit) {
        let is_first = self.files.is_empty();
        let known = self.files.get(file).copied();
        let runtime = known.unwrap_or_else(|| LanguageRuntime::of(file));
        if known.is_none() {
            self.files.insert(file.to_owned(), runtime);
        }
        match runtime {
            LanguageRuntime::Ordinary => self.of.remove(&pid),
            other => self.of.insert(pid, other),
        };
        if !runtime.asks_again() || known.is_some() {
            return;
        }
        match fit(runtime) {
            SeatFit::Roams => self.roaming.push(file.to_owned()),
            SeatFit::Narrow if !is_sized(runtime, pid) => {
                self.narrowed.push(Narrowed { file: file.to_owned(), runtime, is_first });
            }
            SeatFit::Narrow | SeatFit::Whole => {}
        }
    }

    pub fn meet(&mut self, pid: Tid, fit: impl Fn(LanguageRuntime) -> SeatFit) {
        let Some(file) = task::program_file(pid) else { return };
        self.note(pid, &file, fit);
        self.narrowed.iter_mut().for_each(|narrowed| narrowed.is_first = false);
    }

    pub fn of(&self, pid: Tid) -> LanguageRuntime {
        self.of.get(&pid).copied().unwrap_or(LanguageRuntime::Ordinary)
    }

    pub fn remove(&mut self, pid: Tid) {
        self.of.remove(&pid);
    }
}

/// The effect of seats on a runtime that counts CPUs repeatedly. If a plan has the paths of
/// threads, a thread of Java or Node has its own seat, because the plan was made from that program.
/// A strict seating keeps each thread on its seat, and so does a cell, where the kernel moves no
/// thread.
pub fn fit(seating: &SeatAllocator, widens: bool, runtime: LanguageRuntime) -> SeatFit {
    let has_narrow_seats = seating.seats.cpus.iter().any(|seat| *seat != seating.whole);
    if seating.ordered_tasks() == 0 || !has_narrow_seats {
        return SeatFit::Whole;
    }
    let is_known = seating.has_paths() && runtime != LanguageRuntime::Go;
    if widens && !is_known { SeatFit::Roams } else { SeatFit::Narrow }
}

fn is_sized(runtime: LanguageRuntime, pid: Tid) -> bool {
    let root = Root::new("/");
    let variables = task::environment(&root, pid);
    runtime.is_sized(&task::arguments(&root, pid), &|name| {
        let (_, value) = variables.iter().find(|(known, _)| known == name)?;
        Some(value.clone())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtimes_are_reported_as_roaming_or_narrowed() {
        let own = Tid::try_from(std::process::id()).unwrap();
        let [java, node] = ["/opt/jdk/bin/java", "/usr/bin/node"].map(Path::new);
        let mut runtimes = Runtimes::default();
        runtimes.note(own, node, |_| SeatFit::Narrow);
        runtimes.note(own, java, |_| SeatFit::Roams);
        runtimes.note(own, java, |_| SeatFit::Narrow);
        assert_eq!(
            (&runtimes.roaming[..], runtimes.of(own)),
            (&[java.to_owned()][..], LanguageRuntime::Java)
        );
        let narrowed =
            Narrowed { file: node.to_owned(), runtime: LanguageRuntime::Node, is_first: true };
        assert_eq!(runtimes.narrowed, [narrowed]);
        runtimes.note(own, Path::new("/bin/true"), |_| SeatFit::Narrow);
        assert_eq!(runtimes.of(own), LanguageRuntime::Ordinary);
    }

    #[test]
    fn runtime_with_all_seats_is_not_reported() {
        let own = Tid::try_from(std::process::id()).unwrap();
        let mut runtimes = Runtimes::default();
        runtimes.note(own, Path::new("/opt/jdk/bin/java"), |_| SeatFit::Whole);
        assert!(runtimes.roaming.is_empty() && runtimes.narrowed.is_empty());
    }
}
