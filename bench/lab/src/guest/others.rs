//! Machines other than this computer: one from gathered files, and one shown to a program.

use super::answer::{ask, document, number};
use super::kernel::KernelFacts;
use super::threads::told;
use super::verbs::Question;
use crate::list::{self, CpuNumbers};
use crate::trial::{VerbFailure, ensure};
use std::collections::{BTreeMap, BTreeSet};

pub const QUESTIONS: [Question; 2] = [
    Question { verb: "import", text: "the gathered files of this computer", ask: import },
    Question { verb: "pretend", text: "a program that sees another machine", ask: pretend },
];

/// The guest's root folder contains `sys` and `proc`, like gathered files.
fn import(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let profile = document(&["import", "/", "--json"])?;
    let pus = profile["topology"]["pus"].as_array().cloned().unwrap_or_default();
    let cpus: CpuNumbers = pus.iter().filter_map(|pu| number(&pu["os"])).collect();
    ensure(cpus == kernel.online, || {
        format!("CPUs {}, the kernel has {}", list::show(&cpus), list::show(&kernel.online))
    })?;
    let mut compared = Vec::new();
    for level in ["core", "l2", "l3", "package", "numa"] {
        let mut parts = BTreeMap::<u32, CpuNumbers>::new();
        for pu in &pus {
            if let (Some(part), Some(cpu)) = (number(&pu[level]), number(&pu["os"])) {
                parts.entry(part).or_default().insert(cpu);
            }
        }
        let found: BTreeSet<CpuNumbers> = parts.into_values().collect();
        let expected = &kernel.parts[level];
        ensure(found == *expected, || format!("{level}: {found:?}, the kernel has {expected:?}"))?;
        compared.push(format!("{} {level}", found.len()));
    }
    Ok(format!("{} CPUs: {}", cpus.len(), compared.join(", ")))
}

fn pretend(_: &KernelFacts) -> Result<String, VerbFailure> {
    let words = ["pretend", "core-i9-12900k", "-q", "--", "seatmap-lab", "guest", "threads", "1"];
    let answer = ask(&words)?;
    if answer.code == Some(2) {
        return Err(VerbFailure::Refused(answer.err.trim().to_owned()));
    }
    let threads = told(&answer.done()?.out);
    let all: CpuNumbers = (0..24).collect();
    ensure(threads.len() == 1 && threads[0].cpus == all, || format!("{threads:?}"))?;
    Ok("its 24 CPUs".to_owned())
}
