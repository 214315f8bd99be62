//! Chooses bound programs.

use super::{ChoiceError, programs};
use crate::files::SystemFiles;
use crate::seating::CellCpus;
use seatmap_os::hierarchy::{ControlGroups, Hierarchies};
use seatmap_os::sched::ThreadStatus;
use seatmap_os::{CpuSet, Tid, isolated, layout};
use std::collections::{BTreeSet, HashMap};

pub fn processes(
    files: &mut SystemFiles,
    known: &BTreeSet<Tid>,
) -> Result<BTreeSet<Tid>, ChoiceError> {
    let mut defaults = Defaults::read(files);
    let mut found = BTreeSet::new();
    for program in programs(files, known)? {
        let allowed = defaults.of(files, program.pid);
        let tids = files.threads(program.pid);
        let is_bound = tids.into_iter().any(|tid| {
            // Only this computer's kernel answers system calls; another root has only files.
            let mask = files.asked_mask(tid).or_else(|| {
                let status = files.proc.status(program.pid, tid).ok()?;
                ThreadStatus::parse(status).mask()
            });
            mask.is_some_and(|mask| !allowed.contains(&mask))
        });
        if is_bound {
            found.insert(program.pid);
        }
    }
    if found.is_empty() {
        Err(ChoiceError::Empty("the set of bound programs".to_owned()))
    } else {
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
        let isolated = isolated::beside_others(&files.root);
        let online = layout::online(&files.root).unwrap_or_default();
        let hierarchies = Hierarchies::read(&files.root);
        let cells =
            CellCpus::all(&files.root).iter().flat_map(|cell| cell.set().list().0).collect();
        Defaults { online, isolated, cells, hierarchies, known: HashMap::new() }
    }

    /// The group's CPUs, and those without isolated ones.
    fn of(&mut self, files: &mut SystemFiles, pid: Tid) -> Vec<CpuSet> {
        let membership = files.proc.read(format_args!("{pid}/cgroup")).map(String::from_utf8_lossy);
        let groups = membership
            .map(|text| self.hierarchies.groups(&files.root, pid, &text))
            .unwrap_or_default();
        // Processes of one group share the result.
        if let Some(known) = self.known.get(&groups) {
            return known.clone();
        }
        let cpus = Hierarchies::limits(&files.root, &groups).cpus;
        let all =
            cpus.and_then(|cpus| CpuSet::of_list(&cpus)).unwrap_or_else(|| self.online.clone());
        let masks = vec![all.without(&self.isolated).without(&self.cells), all];
        self.known.insert(groups, masks.clone());
        masks
    }
}
