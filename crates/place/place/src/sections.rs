//! Divides tasks over chips or sections first, then over PUs.

use crate::build::{PlaceGround, count, groups};
use crate::{Level, PlaceError, PlaceMethod, PlaceRequest, Problem, Pus, Zones, unfit};
use seatmap_data::machine::{Profile, Square};
use seatmap_data::statistics::words::{counted, joined};
use std::borrow::Cow;

/// Packages (or NUMA nodes, or the home model's groups) for a partition, equal arcs for pizza
/// slices.
pub fn sections(request: &PlaceRequest, pus: &Pus) -> Result<Option<Vec<u32>>, PlaceError> {
    match request.method {
        PlaceMethod::Partition => chips(request, pus).map(Some),
        PlaceMethod::Pizza(sections) => slices(request, pus, sections).map(Some),
        PlaceMethod::Auto | PlaceMethod::GetCore => Ok(None),
    }
}

fn chips(request: &PlaceRequest, pus: &Pus) -> Result<Vec<u32>, PlaceError> {
    [Level::Package, Level::Numa]
        .into_iter()
        .filter_map(|level| groups(level, request.profile, pus).ok())
        .chain(std::iter::once_with(|| groups_of_model(request.profile, pus)).flatten())
        .find(|groups| groups.iter().any(|group| *group > 0))
        .ok_or_else(|| {
            let why = "a partition needs at least two chips, but all these PUs are on one";
            PlaceError::Unfit(why.to_owned())
        })
}

/// `None` if the home model lacks a PU.
pub fn groups_of_model(profile: &Profile, pus: &Pus) -> Option<Vec<u32>> {
    let of = profile.home_model.as_ref()?.group_of(&pus.os);
    of.into_iter().map(|group| group.map(|group| group as u32)).collect()
}

/// Along a ring, cores are in numerical order.
fn slices(request: &PlaceRequest, pus: &Pus, sections: usize) -> Result<Vec<u32>, PlaceError> {
    let cores = groups(Level::Core, request.profile, pus)
        .unwrap_or_else(|_| (0..pus.os.len() as u32).collect());
    let count = count(&cores);
    if sections < 2 || !count.is_multiple_of(sections) {
        let fitting = (2..=count).filter(|sections| count.is_multiple_of(*sections));
        return unfit(format!(
            "{} do not divide {}; {} do",
            counted(sections, "section"),
            counted(count, "core"),
            joined(fitting, ", ")
        ));
    }
    Ok(cores.into_iter().map(|core| (core as usize * sections / count) as u32).collect())
}

fn divided(
    problem: &Problem,
    section_of_pu: &[u32],
    is_partition: bool,
) -> Result<Problem, PlaceError> {
    let n = problem.distance.n();
    let sections = count(section_of_pu).max(1);
    let farthest = (0..n).flat_map(|i| problem.distance.row(i)).copied().fold(0.0, f32::max);
    let price = farthest * CROSSING;
    let distance = Square::from_fn(n, |i, j| {
        problem.distance[(i, j)] + if section_of_pu[i] == section_of_pu[j] { 0.0 } else { price }
    });
    if !problem.zones.are_free() {
        return unfit("sections need a PU for each task");
    }
    let zone_of_slot: Vec<u32> =
        problem.pu_of_slot.iter().map(|pu| section_of_pu[*pu as usize]).collect();
    let (least, most) = shares(problem, &zone_of_slot, sections, is_partition)?;
    Ok(Problem { distance, zones: Zones { zone_of_slot, least, most }, ..problem.clone() })
}

/// Crossings decide first: in multiples of the largest distance.
const CROSSING: f32 = 1000.0;

fn shares(
    problem: &Problem,
    zone_of_slot: &[u32],
    sections: usize,
    is_partition: bool,
) -> Result<(Vec<u32>, Vec<u32>), PlaceError> {
    let mut room = vec![0_u32; sections];
    zone_of_slot.iter().for_each(|zone| room[*zone as usize] += 1);
    let tasks = problem.tasks();
    let largest = components(problem).into_iter().max().unwrap_or(0);
    let even = tasks.div_ceil(sections);
    // Slices may hold the largest component uncut.
    let wanted = if is_partition { even } else { even.max(largest) };
    let most: Vec<u32> = room.iter().map(|room| (*room).min(wanted as u32)).collect();
    if most.iter().sum::<u32>() < tasks as u32 {
        return Ok((vec![0; sections], room));
    }
    let floor = if is_partition { tasks / sections } else { 0 };
    let least: Vec<u32> = most.iter().map(|most| (floor as u32).min(*most)).collect();
    Ok((least, most))
}

fn components(problem: &Problem) -> Vec<usize> {
    let mut seen = vec![false; problem.tasks()];
    let mut sizes = Vec::new();
    for start in 0..problem.tasks() {
        let mut open = vec![start];
        let mut size = 0;
        while let Some(task) = open.pop() {
            if !std::mem::replace(&mut seen[task], true) {
                size += 1;
                open.extend(problem.traffic.of(task).map(|(with, _)| with));
            }
        }
        sizes.push(size);
    }
    sizes
}

impl PlaceGround<'_> {
    /// The weight between sections, and all, if there are sections.
    pub fn crossing(&self, pu_of: &[usize]) -> Option<(f64, f64)> {
        let section_of_pu = self.sections.as_ref()?;
        let mut crossing = 0.0;
        let mut all = 0.0;
        for (task, with, weight) in self.problem.traffic.edges() {
            let is_inside = section_of_pu[pu_of[task]] == section_of_pu[pu_of[with]];
            all += weight;
            crossing += if is_inside { 0.0 } else { weight };
        }
        Some((crossing, all))
    }

    /// With sections, their tasks are spread evenly, and crossings cost more than every distance.
    pub fn searched(&self) -> Result<Cow<'_, Problem>, PlaceError> {
        let is_partition = self.request.method == PlaceMethod::Partition;
        Ok(match &self.sections {
            Some(sections) => Cow::Owned(divided(&self.problem, sections, is_partition)?),
            None => Cow::Borrowed(&self.problem),
        })
    }
}
