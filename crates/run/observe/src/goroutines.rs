//! Programs of Go under observation: their goroutines talk, and the kernel sees threads.
//!
//! | module | does |
//! |---|---|
//! | `functions` | where the functions of Go's runtime begin in a program's file |
//! | `programs` | the programs that run in the kernel when the runtime calls them |
//! | `handoffs` | attaches them, and reads which thread handed goroutines to which |

mod functions;
mod handoffs;
mod programs;

pub(crate) use handoffs::{GoroutineHandoffs, HandoffsError};

use seatmap_data::document::visible;
use seatmap_launch::runtime::is_of_go;
use seatmap_os::{Tid, task};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

/// The programs of Go that were seen to run.
#[derive(Debug, Default)]
pub(crate) struct GoPrograms {
    /// Whether the program in a file was built by Go's compiler.
    files: HashMap<PathBuf, bool>,
}

impl GoPrograms {
    /// Looks at the programs that these processes run now. One whose file this user may not see
    /// counts as another program.
    pub(crate) fn look(&mut self, pids: impl IntoIterator<Item = Tid>) {
        let distinct: BTreeSet<Tid> = pids.into_iter().collect();
        for file in distinct.into_iter().filter_map(task::program_file) {
            self.files.entry(file).or_insert_with_key(|file| is_of_go(file));
        }
    }

    /// A sentence's beginning about the talk that is not seen of them; `None` where there are none.
    /// `is_counted` says that the threads' pairs are those of the goroutines which they handed on.
    pub(crate) fn unseen(&self, is_counted: bool) -> Option<String> {
        let of_go = self.files.iter().filter(|(_, is_of_go)| **is_of_go);
        let names: BTreeSet<String> = of_go
            .filter_map(|(file, _)| Some(visible(&file.file_name()?.to_string_lossy()).to_string()))
            .collect();
        let names: Vec<String> = names.into_iter().collect();
        let hint = if is_counted { "" } else { "; the method goroutines counts what they hand on" };
        (!names.is_empty()).then(|| {
            format!(
                "goroutines of {}, which Go hands to whichever thread is free: the pairs are those \
                 of threads{hint}",
                names.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_in_other_languages_are_not_told() {
        let mut programs = GoPrograms::default();
        programs.look([std::process::id() as Tid, 0, Tid::MAX]);
        assert_eq!(programs.unseen(false), None);
        programs.files.insert("/srv/bin/server".into(), true);
        let [asks, counts] = [false, true].map(|is_counted| programs.unseen(is_counted).unwrap());
        assert!(asks.starts_with("goroutines of server, which Go") && asks.contains("the method"));
        assert!(counts.ends_with("the pairs are those of threads"), "{counts}");
    }
}
