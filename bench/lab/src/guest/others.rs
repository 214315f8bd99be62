//! Verbs that ask little of the computer: they must answer here as anywhere.

use super::answer::{ask, document};
use super::figures::number;
use super::kernel::Kernel;
use super::threads::told;
use super::verbs::Question;
use crate::list::{self, CpuSet};
use crate::trial::{Fault, ensure};
use std::collections::{BTreeMap, BTreeSet};

/// The questions.
pub const QUESTIONS: [Question; 5] = [
    Question { verb: "machines", text: "the list", ask: machines },
    Question { verb: "pattern", text: "a generated pattern", ask: pattern },
    Question { verb: "import", text: "the gathered files of this computer", ask: import },
    Question { verb: "pretend", text: "a program that sees another machine", ask: pretend },
    Question { verb: "model", text: "a model that is run", ask: model },
];

fn machines(_: &Kernel) -> Result<String, Fault> {
    let found = document(&["machines", "--json"])?;
    let count = found["machines"].as_array().map_or(0, Vec::len);
    ensure(count > 5, || format!("{count} machines: {found}"))?;
    Ok(format!("{count} machines"))
}

fn pattern(_: &Kernel) -> Result<String, Fault> {
    let found = document(&["pattern", "show", "ring:4", "--json"])?;
    let edges = found["edges"].as_array().map_or(0, Vec::len);
    ensure(edges == 4, || format!("a ring of 4 has {edges} edges: {found}"))?;
    Ok("4 edges".to_owned())
}

/// The root folder of the guest holds `sys` and `proc`, as gathered files do: all of its CPUs are
/// read, by the same reader as the host's, and compared with the kernel's parts.
fn import(kernel: &Kernel) -> Result<String, Fault> {
    let profile = document(&["import", "/", "--json"])?;
    let pus = profile["topology"]["pus"].as_array().cloned().unwrap_or_default();
    let cpus: CpuSet = pus.iter().filter_map(|pu| number(&pu["os"])).collect();
    ensure(cpus == kernel.online, || {
        format!("CPUs {}, the kernel has {}", list::show(&cpus), list::show(&kernel.online))
    })?;
    let mut compared = Vec::new();
    for level in ["core", "l2", "l3", "package", "numa"] {
        let mut parts = BTreeMap::<u32, CpuSet>::new();
        for pu in &pus {
            if let (Some(part), Some(cpu)) = (number(&pu[level]), number(&pu["os"])) {
                parts.entry(part).or_default().insert(cpu);
            }
        }
        let found: BTreeSet<CpuSet> = parts.into_values().collect();
        let expected = &kernel.parts[level];
        ensure(found == *expected, || format!("{level}: {found:?}, the kernel has {expected:?}"))?;
        compared.push(format!("{} {level}", found.len()));
    }
    Ok(format!("{} CPUs: {}", cpus.len(), compared.join(", ")))
}

fn pretend(_: &Kernel) -> Result<String, Fault> {
    let words = ["pretend", "core-i9-12900k", "-q", "--", "seatmap-lab", "guest", "threads", "1"];
    let answer = ask(&words)?;
    if answer.code == Some(2) {
        return Err(Fault::Refused(answer.err.trim().to_owned()));
    }
    let threads = told(&answer.done()?.out);
    let all: CpuSet = (0..24).collect();
    ensure(threads.len() == 1 && threads[0].cpus == all, || format!("{threads:?}"))?;
    Ok("its 24 CPUs".to_owned())
}

fn model(_: &Kernel) -> Result<String, Fault> {
    let words = ["place", "--on", "scc-48", "--pattern", "ring:8", "--seconds", "1", "--json"];
    let plan = document(&words)?;
    let placement = super::seats::placement(&plan);
    ensure(placement.len() == 8, || plan.to_string())?;
    Ok("8 tasks".to_owned())
}
