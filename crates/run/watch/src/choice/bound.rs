//! Chooses bound programs.

use super::{ChoiceError, Chooser, Chosen};
use crate::files::SystemFiles;
use crate::seating::CellCpus;
use seatmap_os::hierarchy::{ControlGroups, Hierarchies};
use seatmap_os::{CpuSet, Tid, isolated, layout};
use std::collections::{BTreeSet, HashMap};

impl Chooser<'_> {
    pub fn bound(&mut self) -> Chosen {
        let mut defaults = Defaults::read(self.files);
        let mut found = BTreeSet::new();
        for program in self.programs()? {
            let allowed = defaults.of(self.files, program.pid);
            let tids = self.files.threads(program.pid);
            let is_bound = tids.into_iter().any(|tid| {
                let mask = self.files.mask(program.pid, tid);
                mask.is_some_and(|mask| !allowed.contains(&mask))
            });
            if is_bound {
                found.insert(program.pid);
            }
        }
        if found.is_empty() {
            return Err(ChoiceError::Empty("the set of bound programs".to_owned()));
        }
        Ok(found)
    }
}

struct Defaults {
    online: CpuSet,
    isolated: CpuSet,
    /// Threads without these are not bound by their program.
    cells: CpuSet,
    hierarchies: Hierarchies,
    known: HashMap<ControlGroups, Vec<CpuSet>>,
}

impl Defaults {
    fn read(files: &SystemFiles) -> Self {
        Defaults {
            online: layout::online(&files.root).unwrap_or_default(),
            isolated: isolated::beside_others(&files.root),
            cells: CellCpus::all(&files.root).iter().flat_map(CellCpus::set).collect(),
            hierarchies: Hierarchies::read(&files.root),
            known: HashMap::new(),
        }
    }

    /// The group's CPUs, and those without isolated ones.
    fn of(&mut self, files: &mut SystemFiles, pid: Tid) -> Vec<CpuSet> {
        let membership = files.proc.read(format_args!("{pid}/cgroup")).map(String::from_utf8_lossy);
        let groups = membership
            .map(|text| self.hierarchies.groups(&files.root, pid, &text))
            .unwrap_or_default();
        // Processes of one group share the result.
        let masks = self.known.entry(groups).or_insert_with_key(|groups| {
            let cpus = Hierarchies::limits(&files.root, groups).cpus;
            let all =
                cpus.and_then(|cpus| CpuSet::of_list(&cpus)).unwrap_or_else(|| self.online.clone());
            vec![all.without(&self.isolated).without(&self.cells), all]
        });
        masks.clone()
    }
}
