//! Go programs under observation: goroutines communicate, but the kernel sees only threads.

mod functions;
mod handoffs;
mod programs;

pub use handoffs::GoroutineHandoffs;

use seatmap_data::document::visible;
use seatmap_launch::runtime::is_of_go;
use seatmap_os::{Tid, task};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

#[derive(Default)]
pub struct GoPrograms {
    files: HashMap<PathBuf, bool>,
}

impl GoPrograms {
    /// An unreadable file counts as another language's.
    pub fn look(&mut self, pids: impl IntoIterator<Item = Tid>) {
        let distinct: BTreeSet<Tid> = pids.into_iter().collect();
        for file in distinct.into_iter().filter_map(task::program_file) {
            self.files.entry(file).or_insert_with_key(|file| is_of_go(file));
        }
    }

    /// The beginning of a sentence. `is_counted` says whether handed goroutines are counted.
    pub fn unseen(&self, is_counted: bool) -> Option<String> {
        let of_go = self.files.iter().filter(|(_, is_of_go)| **is_of_go);
        let names: BTreeSet<String> = of_go
            .filter_map(|(file, _)| Some(visible(&file.file_name()?.to_string_lossy()).to_string()))
            .collect();
        let names: Vec<String> = names.into_iter().collect();
        let hint = if is_counted { "" } else { "; --method goroutines counts their handoffs" };
        (!names.is_empty()).then(|| {
            format!(
                "goroutines of {}, which Go runs on any free thread: the pairs are those of \
                 threads{hint}",
                names.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_go_programs_are_reported() {
        let mut programs = GoPrograms::default();
        programs.look([std::process::id() as Tid, 0, Tid::MAX]);
        assert_eq!(programs.unseen(false), None);
        programs.files.insert("/srv/bin/server".into(), true);
        let [asks, counts] = [false, true].map(|is_counted| programs.unseen(is_counted).unwrap());
        assert!(
            asks.starts_with("goroutines of server, which Go")
                && asks.contains("--method goroutines")
        );
        assert!(counts.ends_with("the pairs are those of threads"), "{counts}");
    }
}
