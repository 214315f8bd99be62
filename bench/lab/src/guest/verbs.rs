//! Compares every verb on this computer with the kernel and hwloc.

use super::kernel::{self, KernelFacts};
use super::{cells, figures, is_among, living, others, seats};
use crate::list;
use crate::trial::{VerbFailure, VerbOutcome, VerbTrial, ensure};

pub struct Question {
    pub verb: &'static str,
    pub text: &'static str,
    pub ask: fn(&KernelFacts) -> Result<String, VerbFailure>,
}

pub fn run(only: &str) -> bool {
    let kernel = KernelFacts::read();
    println!("verbs: {}", describe(&kernel));
    let judge = Question { verb: "lab", text: "the kernel and hwloc agree", ask: judges_agree };
    let mut is_right = true;
    let groups: [&[Question]; 5] = [
        &seats::QUESTIONS,
        &figures::QUESTIONS,
        &living::QUESTIONS,
        &cells::QUESTIONS,
        &others::QUESTIONS,
    ];
    let questions = std::iter::once(&judge).chain(groups.into_iter().flatten());
    for question in questions.filter(|question| is_among(only, question.verb)) {
        let trial = VerbTrial::of(question.verb, question.text, || (question.ask)(&kernel));
        trial.tell();
        is_right &= trial.outcome != VerbOutcome::Wrong;
    }
    is_right
}

fn describe(kernel: &KernelFacts) -> String {
    let parts = kernel.parts.iter().map(|(level, parts)| format!("{} {level}", parts.len()));
    let parts = parts.collect::<Vec<_>>().join(", ");
    let nodes = kernel
        .nodes
        .iter()
        .map(|node| format!("{}:{}:{}M", node.id, list::show(&node.cpus), node.memory_kib >> 10));
    let nodes = nodes.collect::<Vec<_>>().join(" ");
    format!(
        "CPUs {}, offline '{}', isolated '{}', parts {parts}, nodes {nodes}, ranks {:?}",
        list::show(&kernel.online),
        list::show(&kernel.offline),
        list::show(&kernel.isolated),
        kernel.ranks.values().collect::<std::collections::BTreeSet<_>>()
    )
}

/// The kernel and hwloc must agree before they can judge.
fn judges_agree(kernel: &KernelFacts) -> Result<String, VerbFailure> {
    let Some(hwloc) = kernel::hwloc() else {
        return Err(VerbFailure::Refused(
            "lstopo is not in this guest: the kernel judges alone".into(),
        ));
    };
    let levels = [
        ("core", "Core"),
        ("l2", "L2Cache"),
        ("l3", "L3Cache"),
        ("die", "Die"),
        ("package", "Package"),
        ("numa", "NUMANode"),
    ];
    let mut compared = Vec::new();
    for (level, kind) in levels {
        let (Some(own), Some(theirs)) = (kernel.parts.get(level), hwloc.get(kind)) else {
            continue;
        };
        // hwloc splits caches that do not fit its tree, and gives a node without CPUs those of the
        // nearest node.
        if own == theirs {
            compared.push(format!("{} {level}", own.len()));
        } else if level != "numa" {
            println!("verbs: hwloc has {level} {theirs:?}");
        }
    }
    ensure(!compared.is_empty(), || "hwloc and the kernel agree on nothing".to_owned())?;
    Ok(format!("alike: {}", compared.join(", ")))
}
