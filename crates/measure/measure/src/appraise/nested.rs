//! A machine's nested groups of PUs.

use seatmap_data::machine::{Level, Profile, Pu};

/// From the outside. A node is usually inside a package; otherwise the package appears inside each
/// of its nodes.
const LEVELS: [Level; 9] = [
    Level::Drawer,
    Level::Book,
    Level::Package,
    Level::Numa,
    Level::Die,
    Level::L3,
    Level::Cluster,
    Level::L2,
    Level::Core,
];

/// A group of PUs, or one.
#[derive(Clone, Debug, PartialEq)]
pub struct PuGroup {
    /// One name for each level at which it is a whole group, from the outside.
    pub names: Vec<String>,
    /// Innermost of these levels; `None` for the machine, groups of near cores, and PUs.
    pub level: Option<Level>,
    /// OS indices, in order.
    pub pus: Vec<u32>,
    /// Inner groups; none for a single PU.
    pub inside: Vec<PuGroup>,
}

/// The machine as nested groups; if no level is known, groups of near cores.
pub fn machine(profile: &Profile) -> PuGroup {
    let mut pus: Vec<&Pu> = profile.topology.pus.iter().collect();
    let within =
        |pu: &Pu| (pu.package, pu.numa, pu.die, pu.l3, pu.cluster, pu.l2, pu.core, pu.smt, pu.os);
    pus.sort_by_key(|pu| (pu.drawer, pu.book, within(pu)));
    let mut all = group(&pus, &LEVELS);
    let is_flat = all.inside.len() == pus.len() && all.names.is_empty();
    if let Some(model) =
        profile.home_model.as_ref().filter(|model| is_flat && model.groups.len() > 1)
    {
        all.inside = near(&model.groups, &pus);
    }
    all
}

/// Divided by the first level that divides them; earlier levels add names.
fn group(pus: &[&Pu], levels: &[Level]) -> PuGroup {
    let mut here = PuGroup {
        names: Vec::new(),
        level: None,
        pus: pus.iter().map(|pu| pu.os).collect(),
        inside: Vec::new(),
    };
    if pus.len() == 1 {
        here.names = vec![of_pu(pus[0])];
        return here;
    }
    for (at, level) in levels.iter().enumerate() {
        let Some(parts) = divided(pus, *level) else { continue };
        match parts.as_slice() {
            [whole] => {
                here.names.push(name(*level, whole[0]));
                here.level = Some(*level);
            }
            several => {
                here.inside =
                    several.iter().map(|part| named(part, *level, &levels[at + 1..])).collect();
                return here;
            }
        }
    }
    here.inside = pus.iter().map(|pu| group(&[pu], &[])).collect();
    here
}

fn named(pus: &[&Pu], level: Level, below: &[Level]) -> PuGroup {
    let mut part = group(pus, below);
    if pus.len() > 1 {
        part.names.insert(0, name(level, pus[0]));
        part.level = part.level.or(Some(level));
    }
    part
}

fn divided<'a>(pus: &[&'a Pu], level: Level) -> Option<Vec<Vec<&'a Pu>>> {
    let mut parts: Vec<(u32, Vec<&Pu>)> = Vec::new();
    for pu in pus {
        let number = level.of(pu)?;
        match parts.iter_mut().find(|(of, _)| *of == number) {
            Some((_, part)) => part.push(pu),
            None => parts.push((number, vec![pu])),
        }
    }
    Some(parts.into_iter().map(|(_, part)| part).collect())
}

fn near(groups: &[Vec<u32>], pus: &[&Pu]) -> Vec<PuGroup> {
    let several = groups
        .iter()
        .enumerate()
        .map(|(at, near)| PuGroup {
            names: vec![format!("near cores {at}")],
            level: None,
            pus: near.clone(),
            inside: pus
                .iter()
                .filter(|pu| near.contains(&pu.os))
                .map(|pu| group(&[pu], &[]))
                .collect(),
        })
        .filter(|group| !group.inside.is_empty());
    let alone = pus.iter().filter(|pu| !groups.iter().any(|group| group.contains(&pu.os)));
    several.chain(alone.map(|pu| group(&[pu], &[]))).collect()
}

fn of_pu(pu: &Pu) -> String {
    let core = pu.core.map_or_else(String::new, |core| format!(", core {core}"));
    let kind = pu.kind.map_or_else(String::new, |kind| format!(", {} core", kind.word()));
    format!("CPU {}{core}{kind}", pu.os)
}

fn name(level: Level, pu: &Pu) -> String {
    format!("{} {}", word(level), level.of(pu).unwrap_or(0))
}

pub(crate) fn word(level: Level) -> &'static str {
    match level {
        Level::L2 => "L2",
        Level::L3 => "L3",
        Level::Numa => "NUMA node",
        level => level.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(group: &PuGroup) -> String {
        let inside: Vec<String> = group.inside.iter().map(text).collect();
        if inside.is_empty() {
            group.pus[0].to_string()
        } else {
            format!("{}({})", group.names.join("+"), inside.join(" "))
        }
    }

    #[test]
    fn equal_levels_merge_into_one_box() {
        let profile = crate::profiles_for_tests::two_packages();
        assert_eq!(
            text(&machine(&profile)),
            "(package 0+NUMA node 0(L3 0(0 1) L3 1(2 3)) package 1+NUMA node 1(L3 2(4 5) L3 3(6 7)))"
        );
    }

    #[test]
    fn hybrid_machine_has_cores_and_clusters() {
        let profile = seatmap_data::machine::catalog::load("core-i9-12900k").unwrap();
        let text = text(&machine(&profile));
        assert!(
            text.starts_with("package 0+L3 0(L2 0+core 0(0 1) ") || text.starts_with("package 0"),
            "{text}"
        );
    }

    #[test]
    fn distances_replace_a_missing_topology() {
        let topology = seatmap_data::machine::Topology::unknown(0..5);
        let profile = crate::profiles_for_tests::of_groups(topology, &[&[0, 1], &[2, 3]]);
        assert_eq!(text(&machine(&profile)), "(near cores 0(0 1) near cores 1(2 3) 4)");
    }
}
