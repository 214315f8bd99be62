//! A part of the machine that looks slow because of a far home.

use super::{ProfileFinding, View};
use seatmap_data::statistics::{Ordered, median};
use std::collections::BTreeMap;

/// The smallest reported ratio; the published case has 1.8.
const SLOWER: f64 = 1.25;
/// Two sides are alike if distances inside their groups differ by less.
const ALIKE: f64 = 0.1;

/// Two halves of equally many groups with equal inner distances are symmetric hardware. If one half
/// is much slower between its groups, the line's home is in the other.
pub fn find(view: &View) -> Option<ProfileFinding> {
    let (one, other) = halves(view)?;
    let mut halves = [(between(view, &one)?, one), (between(view, &other)?, other)];
    halves.sort_by_key(|it| Ordered(it.0));
    let [(near_ns, near), (far_ns, far)] = halves;
    let inside_near = inside(view, &near)?;
    let inside_far = inside(view, &far)?;
    // Inside a group a line does not pass its home, so equal distances mean equal hardware.
    let alike = (inside_far / inside_near - 1.0).abs() < ALIKE;
    (alike && far_ns > SLOWER * near_ns).then(|| ProfileFinding::FarHome {
        pus: pus(view, &far),
        near_ns,
        far_ns,
    })
}

fn halves(view: &View) -> Option<(Vec<usize>, Vec<usize>)> {
    let mut of_sphere = BTreeMap::<usize, Vec<usize>>::new();
    for group in 0..view.model.groups.len() {
        let row = view.relations.group.iter().position(|of| *of == group)?;
        of_sphere.entry(view.relations.sphere[row]).or_default().push(group);
    }
    let largest = of_sphere.values().max_by_key(|groups| groups.len())?.clone();
    let others: Vec<usize> =
        of_sphere.values().filter(|groups| **groups != largest).flatten().copied().collect();
    let scattered = of_sphere.len() == 2 || of_sphere.len() == 1 + others.len();
    (scattered && largest.len() > 1 && largest.len() == others.len()).then_some((largest, others))
}

fn between(view: &View, half: &[usize]) -> Option<f64> {
    let pairs = half.iter().flat_map(|a| half.iter().filter(move |b| a < b).map(move |b| (*a, *b)));
    median(pairs.map(|pair| view.model.between_ns[pair]))
}

fn inside(view: &View, half: &[usize]) -> Option<f64> {
    median(half.iter().map(|group| view.model.between_ns[(*group, *group)]))
}

fn pus(view: &View, half: &[usize]) -> Vec<u32> {
    let mut pus: Vec<u32> =
        half.iter().flat_map(|group| view.model.groups[*group].iter().copied()).collect();
    pus.sort_unstable();
    pus
}
