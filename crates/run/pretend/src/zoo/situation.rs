//! The situations in which a machine is shown.

use seatmap_data::machine::Topology;
use seatmap_os::CpuSet;

/// A state in which containers and administrators leave a machine.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// Its name, in tables and documents.
    pub name: &'static str,
    options: fn(&Topology) -> Option<Vec<String>>,
}

impl Situation {
    /// The whole machine, with which the others are compared.
    pub const WHOLE: Situation = Situation { name: "whole", options: |_| Some(Vec::new()) };

    /// All situations, the whole machine first.
    pub const ALL: [Situation; 7] = [
        Situation::WHOLE,
        Situation { name: "hole", options: hole },
        Situation { name: "offline", options: offline },
        Situation { name: "no-smt", options: no_smt },
        Situation { name: "one-cpu", options: one_cpu },
        Situation { name: "quota", options: |topology| quota(topology, "1.5") },
        Situation { name: "quota-v1", options: |topology| quota(topology, "1.5@v1") },
    ];

    /// The options of `seatmap pretend` for this situation of a machine; `None` if it is too small
    /// or has no SMT.
    pub fn options(&self, topology: &Topology) -> Option<Vec<String>> {
        (self.options)(topology)
    }
}

fn option(name: &str, cpus: &CpuSet) -> Option<Vec<String>> {
    (!cpus.is_empty()).then(|| vec![name.to_owned(), cpus.to_string()])
}

/// The second and the last quarter of the CPUs, as in a container with half of the machine: without
/// CPU 0, and with a gap. On most servers the two quarters are each other's siblings.
fn hole(topology: &Topology) -> Option<Vec<String>> {
    let quarter = topology.pus.len() / 4;
    let cpus = topology.os_indices().enumerate();
    let cpus = cpus.filter(|(at, _)| quarter > 0 && at / quarter % 2 == 1);
    option("--cpus", &cpus.map(|(_, cpu)| cpu).collect())
}

/// CPU 3, or the last of fewer.
fn offline(topology: &Topology) -> Option<Vec<String>> {
    let cpu = topology.os_indices().take(4).skip(1).last()?;
    option("--offline", &CpuSet::single(cpu))
}

/// All siblings but the first of each core.
fn no_smt(topology: &Topology) -> Option<Vec<String>> {
    let siblings = topology.pus.iter().filter(|pu| pu.smt.is_some_and(|smt| smt > 0));
    option("--offline", &siblings.map(|pu| pu.os).collect())
}

/// The last CPU, because programs that ignore the mask take the first.
fn one_cpu(topology: &Topology) -> Option<Vec<String>> {
    let last = topology.os_indices().max()?;
    (topology.pus.len() > 1).then_some(())?;
    option("--cpus", &CpuSet::single(last))
}

/// A fraction of CPU time, because programs round differently.
fn quota(topology: &Topology, typed: &str) -> Option<Vec<String>> {
    (topology.pus.len() > 1).then(|| vec!["--quota".to_owned(), typed.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::made;

    fn all(topology: &Topology) -> Vec<String> {
        let options = Situation::ALL
            .map(|one| one.options(topology).map_or("-".to_owned(), |options| options.join(" ")));
        options.into()
    }

    #[test]
    fn situations_fit_the_machine() {
        let whole = made::topology();
        let expected = [
            "",
            "--cpus 2,3,6,7",
            "--offline 3",
            "--offline 1,3,5,7",
            "--cpus 7",
            "--quota 1.5",
            "--quota 1.5@v1",
        ];
        assert_eq!(all(&whole), expected);
        let pair = Topology { pus: vec![whole.pus[0].clone(), whole.pus[2].clone()] };
        assert_eq!(
            all(&pair),
            ["", "-", "--offline 2", "-", "--cpus 2", "--quota 1.5", "--quota 1.5@v1"]
        );
        let single = Topology { pus: vec![whole.pus[0].clone()] };
        assert_eq!(all(&single), ["", "-", "-", "-", "-", "-", "-"]);
    }
}
