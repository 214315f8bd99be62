//! Draws a topology as a tree: package, NUMA node, die, L3, and the PUs of each core.

use crate::alike::alike;
use crate::words::joined;
use seatmap_data::machine::{Pu, Topology};
use seatmap_os::CpuList;

type Level = (&'static str, fn(&Pu) -> Option<u32>);

/// Levels from the outside to the inside; unknown ones are omitted.
const LEVELS: [Level; 4] = [
    ("package", |pu| pu.package),
    ("NUMA node", |pu| pu.numa),
    ("die", |pu| pu.die),
    ("L3", |pu| pu.l3),
];

/// A line for every part; the innermost lists the PUs by core.
pub fn tree(topology: &Topology) -> String {
    let pus = Vec::from_iter(topology.pus.iter());
    let known = Vec::from_iter(LEVELS.into_iter().filter(|(_, level)| topology.count(level) > 0));
    branch(&pus, &known, 1)
}

fn branch(pus: &[&Pu], levels: &[Level], depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let Some(((name, level), inner)) = levels.split_first() else {
        return format!("{indent}PUs {}\n", cores(pus));
    };
    let mut text = String::new();
    for members in alike(pus.iter().copied(), |a, b| level(a) == level(b)) {
        // PUs without a number on this level are below a question mark.
        let number = level(members[0]).map_or("?".to_owned(), |number| number.to_string());
        text += &match inner {
            [] => format!("{indent}{name} {number}: PUs {}\n", cores(&members)),
            _ => format!("{indent}{name} {number}\n{}", branch(&members, inner, depth + 1)),
        };
    }
    text
}

/// `0+4 1+5` if cores have two PUs, else a plain CPU list.
fn cores(pus: &[&Pu]) -> String {
    let cores = alike(pus, |a, b| a.core == b.core);
    // PUs with an unknown core form a group, but not a core.
    let smt = cores.iter().any(|members| members[0].core.is_some() && members.len() > 1);
    if !smt {
        return CpuList(pus.iter().map(|pu| pu.os).collect()).to_string();
    }
    let cores = cores.iter().map(|members| joined(members.iter().map(|pu| pu.os), "+"));
    joined(cores, " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::grouped as sample;

    #[test]
    fn known_levels_are_nested() {
        let mut topology = sample(8, 2).topology;
        for pu in &mut topology.pus[..4] {
            pu.core = Some(pu.os / 2);
        }
        insta::assert_snapshot!(tree(&topology), @"
        package 0
          NUMA node 0
            L3 0: PUs 0+1
            L3 1: PUs 2+3
        package 1
          NUMA node 1
            L3 2: PUs 4,5
            L3 3: PUs 6,7
        ");
    }

    #[test]
    fn unknown_topology_is_listed_flat() {
        assert_eq!(tree(&Topology::unknown([0, 1, 2, 5])), "  PUs 0-2,5\n");
    }
}
