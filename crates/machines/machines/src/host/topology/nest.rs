//! The nested sets of PUs that share something: which are kept, and their numbers.
//!
//! The files can contradict each other. A set that cuts an earlier set in two is omitted and
//! reported, so any two kept sets are disjoint or nested. As in hwloc, the groups of a level are
//! numbered by a walk through the tree, with siblings ordered by their first PU.

use seatmap_data::machine::import::ProfileNote;
use seatmap_os::CpuSet;
use std::collections::{HashMap, HashSet};

/// The kind of a set, from the outside: of two equal sets, the earlier kind contains the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SharingKind {
    /// NUMA nodes or groups of them; they order the sets inside them, and are not reported as a
    /// level.
    Memory,
    Drawer,
    Book,
    Package,
    Die,
    /// Caches beyond the third level.
    Outer,
    L3,
    Cluster,
    L2,
    Core,
    /// A cache of an unreported level.
    Inner,
}

impl SharingKind {
    fn name(self) -> &'static str {
        match self {
            SharingKind::Memory => "NUMA node",
            SharingKind::Drawer => "drawer",
            SharingKind::Book => "book",
            SharingKind::Package => "package",
            SharingKind::Die => "die",
            SharingKind::L3 => "L3 cache",
            SharingKind::Cluster => "cluster",
            SharingKind::L2 => "L2 cache",
            SharingKind::Core => "core",
            SharingKind::Outer | SharingKind::Inner => "cache",
        }
    }

    /// Whether a set only groups other sets: it is omitted if another set has the same PUs.
    fn is_group(self) -> bool {
        matches!(
            self,
            SharingKind::Memory | SharingKind::Drawer | SharingKind::Book | SharingKind::Cluster
        )
    }
}

#[derive(Debug)]
pub struct Shared {
    pub kind: SharingKind,
    pub set: CpuSet,
    pub os: Option<u32>,
}

pub struct Nest {
    shared: Vec<Shared>,
    of_pu: HashMap<u32, Vec<usize>>,
    contradictions: Vec<[(SharingKind, CpuSet); 2]>,
}

pub type SetNumbers = HashMap<(u32, SharingKind), u32>;

impl Nest {
    pub fn new(pus: &CpuSet) -> Self {
        Nest {
            shared: Vec::new(),
            of_pu: pus.iter().map(|os| (os, Vec::new())).collect(),
            contradictions: Vec::new(),
        }
    }

    /// Adds a set, unless it exists, is empty, or cuts another one.
    pub fn insert(&mut self, kind: SharingKind, set: CpuSet, os: Option<u32>) {
        let mut met = HashSet::new();
        for at in set.iter().filter_map(|pu| self.of_pu.get(&pu)).flatten() {
            let other = &self.shared[*at];
            let fits = !met.insert(*at) || set.is_subset(&other.set) || other.set.is_subset(&set);
            if !fits {
                let earlier = (other.kind, other.set.clone());
                self.contradictions.push([(kind, set), earlier]);
                return;
            }
            if other.kind == kind && kind != SharingKind::Memory && other.set == set {
                return;
            }
        }
        let at = self.shared.len();
        for pu in set.iter() {
            self.of_pu.entry(pu).or_default().push(at);
        }
        if !set.is_empty() {
            self.shared.push(Shared { kind, set, os });
        }
    }

    pub fn notes(&self) -> Vec<ProfileNote> {
        self.contradictions
            .iter()
            .map(|both| {
                let [left_out, earlier] = both
                    .each_ref()
                    .map(|(kind, set)| format!("{} of {}", kind.name(), set.named()));
                ProfileNote::Contradiction { left_out, earlier }
            })
            .collect()
    }

    /// Numbers the sets of these PUs, and sets without them that contain memory in use.
    pub fn numbers(mut self, allowed: &CpuSet, nodes: &[&CpuSet]) -> SetNumbers {
        let order = self.order();
        let kept: HashSet<usize> =
            order.iter().copied().filter(|at| self.is_kept(*at, allowed, nodes)).collect();
        let kept = without_needless_groups(&self.shared, kept, allowed);
        let mut numbers = SetNumbers::new();
        let mut next = HashMap::<SharingKind, u32>::new();
        for at in order.into_iter().filter(|at| kept.contains(at)) {
            let shared = &mut self.shared[at];
            let running = next.entry(shared.kind).or_default();
            // People know a package by the kernel's number; the kernel's other numbers repeat.
            let number =
                shared.os.filter(|_| shared.kind == SharingKind::Package).unwrap_or(*running);
            *running += 1;
            // An inner set comes later and replaces the set around it.
            numbers.extend(shared.set.iter().map(|pu| ((pu, shared.kind), number)));
        }
        numbers
    }

    fn order(&mut self) -> Vec<usize> {
        let shared = &self.shared;
        self.of_pu.values_mut().for_each(|around| {
            around.sort_by_cached_key(|at| {
                (std::cmp::Reverse(shared[*at].set.len()), shared[*at].kind, *at)
            })
        });
        let mut order: Vec<usize> = (0..shared.len()).collect();
        order.sort_by_cached_key(|at| {
            let around = shared[*at]
                .set
                .first()
                .and_then(|pu| self.of_pu.get(&pu))
                .map_or(&[][..], Vec::as_slice);
            // The sets from the root down to this one, by their first PUs: such lists sort in the
            // order of the walk.
            let depth = around.iter().position(|other| other == at).map_or(0, |depth| depth + 1);
            around[..depth].iter().map(|other| shared[*other].set.first()).collect::<Vec<_>>()
        });
        order
    }

    fn is_kept(&self, at: usize, allowed: &CpuSet, nodes: &[&CpuSet]) -> bool {
        let Shared { kind, set, .. } = &self.shared[at];
        let around = set.first().and_then(|pu| self.of_pu.get(&pu)).map_or(&[][..], Vec::as_slice);
        // No other set equals a kept group.
        let outermost = kind.is_group()
            || around.iter().find(|other| {
                self.shared[**other].set == *set && !self.shared[**other].kind.is_group()
            }) == Some(&at);
        match kind {
            SharingKind::Memory => false,
            kind if kind.is_group() && self.is_needless(at, around) => false,
            _ => {
                set.meets(allowed)
                    || nodes.iter().any(|node| {
                        !node.is_empty() && (node.is_subset(set) && (outermost || **node != *set))
                    })
            }
        }
    }

    /// Whether a set that is not a group, or an earlier group of another kind, has the same PUs.
    fn is_needless(&self, at: usize, around: &[usize]) -> bool {
        let Shared { kind, set, .. } = &self.shared[at];
        around.iter().any(|other| {
            let Shared { kind: theirs, set: same, .. } = &self.shared[*other];
            let instead = !theirs.is_group() || (*theirs != SharingKind::Memory && *other < at);
            theirs != kind && same == set && instead
        })
    }
}

/// Omits a kind of group if its groups hold the same PUs in use as the sets of another kind. In a
/// partly used machine, only a cluster may remain of a package.
fn without_needless_groups(
    shared: &[Shared],
    mut kept: HashSet<usize>,
    allowed: &CpuSet,
) -> HashSet<usize> {
    for group in [SharingKind::Cluster, SharingKind::Book, SharingKind::Drawer] {
        let sets: HashSet<CpuSet> = sets_of(shared, &kept, group, allowed).into_iter().collect();
        let others = [
            SharingKind::Drawer,
            SharingKind::Book,
            SharingKind::Package,
            SharingKind::Die,
            SharingKind::Outer,
            SharingKind::L3,
            SharingKind::L2,
            SharingKind::Core,
        ];
        let is_machine = sets.len() == 1 && sets.contains(allowed);
        let is_another = others.into_iter().filter(|kind| *kind != group).any(|kind| {
            let theirs = sets_of(shared, &kept, kind, allowed);
            !sets.is_empty()
                && theirs.len() == sets.len()
                && theirs.iter().all(|set| sets.contains(set))
        });
        if is_machine || is_another {
            kept.retain(|at| shared[*at].kind != group);
        }
    }
    kept
}

fn sets_of(
    shared: &[Shared],
    kept: &HashSet<usize>,
    kind: SharingKind,
    allowed: &CpuSet,
) -> Vec<CpuSet> {
    let of_kind = kept.iter().filter(|at| shared[**at].kind == kind);
    of_kind.map(|at| shared[*at].set.within(allowed)).collect()
}
