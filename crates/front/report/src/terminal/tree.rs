//! Draws a topology as a tree: package, NUMA node, die, L3, and the PUs of each core.

use seatmap_data::machine::{Pu, Topology};
use seatmap_data::statistics::words::joined;
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
    let pus: Vec<&Pu> = topology.pus.iter().collect();
    let known: Vec<_> = LEVELS.into_iter().filter(|(_, level)| topology.count(level) > 0).collect();
    branch(&pus, &known, 1)
}

fn branch(pus: &[&Pu], levels: &[Level], depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let Some(((name, level), inner)) = levels.split_first() else {
        return format!("{indent}PUs {}\n", cores(pus));
    };
    let mut text = String::new();
    for (number, members) in grouped(pus, level) {
        // PUs without a number on this level are below a question mark.
        let number = number.map_or("?".to_owned(), |number| number.to_string());
        text += &match inner {
            [] => format!("{indent}{name} {number}: PUs {}\n", cores(&members)),
            _ => format!("{indent}{name} {number}\n{}", branch(&members, inner, depth + 1)),
        };
    }
    text
}

/// PUs by level, in order of first appearance.
fn grouped<'a>(
    pus: &[&'a Pu],
    level: impl Fn(&Pu) -> Option<u32>,
) -> Vec<(Option<u32>, Vec<&'a Pu>)> {
    let mut groups: Vec<(Option<u32>, Vec<&Pu>)> = Vec::new();
    let mut place = std::collections::HashMap::new();
    for pu in pus {
        let at = *place.entry(level(pu)).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, members)) => members.push(pu),
            None => groups.push((level(pu), vec![pu])),
        }
    }
    groups
}

/// `0+4 1+5` if cores have two PUs, else a plain CPU list.
fn cores(pus: &[&Pu]) -> String {
    let cores = grouped(pus, |pu| pu.core);
    // PUs with an unknown core form a group, but not a core.
    let smt = cores.iter().any(|(core, members)| core.is_some() && members.len() > 1);
    if !smt {
        return CpuList(pus.iter().map(|pu| pu.os).collect()).to_string();
    }
    let cores = cores.iter().map(|(_, members)| joined(members.iter().map(|pu| pu.os), "+"));
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
