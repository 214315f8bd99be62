//! A machine's cores in a circle with threads, homes of lines and traffic on them: before, and after.
//!
//! Cores stand in the order of their numbers, which on a ring is their order around it; packages, and on machines of one
//! the groups of near cores, are arcs of their own. A profile tells no more of a fabric than that.

use super::number;
use maud::{Markup, html};
use seatmap_machine::{Profile, Pu};
use seatmap_pattern::Pattern;
use seatmap_plan::Plan;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// Side of one picture, in user units.
const SIDE: f64 = 420.0;
const MIDDLE: f64 = SIDE / 2.0;
/// Where cores stand.
const RADIUS: f64 = 168.0;
/// Where homes are marked: inside the cores.
const HOMES: f64 = 152.0;
/// Where groups are drawn: outside of them.
const GROUPS: f64 = 186.0;
/// Edges that are drawn, the heaviest first; more would be one blot.
const MOST_EDGES: usize = 400;

/// A channel as drawn: two PUs, the PU at its line's home, and its weight.
type Way = (u32, u32, Option<u32>, f64);

/// The machine as the system would seat the tasks (in order, on CPUs in the order of their numbers), and as the plan does.
pub(crate) fn floor(profile: &Profile, pattern: &Pattern, plan: &Plan) -> Markup {
    let floor = Floor::of(profile);
    let mut cpus: Vec<u32> = profile.topology.os_indices().collect();
    cpus.sort_unstable();
    let placements = [("as the system would seat it", cpus, false), ("as planned", plan.placement.clone(), true)];
    html! {
        div style="display:flex;flex-wrap:wrap;gap:1em" {
            @for (title, placement, is_planned) in &placements {
                figure style="margin:0" {
                    (floor.picture(title, &placement[..placement.len().min(pattern.tasks)], &ways(profile, pattern, plan, placement, *is_planned)))
                    figcaption { (title) }
                }
            }
        }
        p { "Dots are cores: blue where threads sit, rings inside where lines have their homes. Lines are traffic, over the home of the channel's line where that is known." }
    }
}

/// The heaviest edges, each over its line's home: the plan's choice, or the candidate lines as they come.
fn ways(profile: &Profile, pattern: &Pattern, plan: &Plan, placement: &[u32], is_planned: bool) -> Vec<Way> {
    let lines = profile.home_model.as_ref().and_then(|model| model.lines.as_ref()).filter(|lines| lines.resolvable);
    let at_home = |home: usize| lines.and_then(|lines| lines.nearest_pu.get(home)).copied();
    let as_it_comes = |at: usize| {
        let homes = &lines?.home_of_line;
        at_home(*homes.get(at % homes.len().max(1))? as usize)
    };
    let planned = |from: usize, to: usize| {
        let is_it = |ends: (usize, usize)| ends == (from, to) || ends == (to, from);
        at_home(plan.channels.iter().find(|channel| is_it((channel.from, channel.to)))?.home)
    };
    let mut edges: Vec<_> = pattern.edges.iter().enumerate().collect();
    edges.sort_by(|a, b| b.1.bytes.total_cmp(&a.1.bytes));
    let way = |(at, edge): (usize, &seatmap_pattern::Edge)| {
        let home = if is_planned { planned(edge.from, edge.to) } else { as_it_comes(at) };
        Some((
            *placement.get(edge.from)?,
            *placement.get(edge.to)?,
            home.filter(|_| !plan.channels.is_empty()),
            edge.bytes,
        ))
    };
    edges.into_iter().take(MOST_EDGES).filter_map(way).collect()
}

/// Where everything stands.
struct Floor {
    /// The angle of each PU's core, as a share of the circle.
    at: BTreeMap<u32, f64>,
    /// Each group's name, and the shares where it begins and ends.
    groups: Vec<(String, f64, f64)>,
}

impl Floor {
    fn of(profile: &Profile) -> Self {
        let group_of = groups(profile);
        let core = |pu: &Pu| (group_of(pu), pu.core.unwrap_or(pu.os), if pu.core.is_none() { pu.os } else { 0 });
        let mut cores: BTreeMap<(u32, u32, u32), Vec<u32>> = BTreeMap::new();
        profile.topology.pus.iter().for_each(|pu| cores.entry(core(pu)).or_default().push(pu.os));
        let names: Vec<u32> = cores.keys().map(|(group, _, _)| *group).collect();
        let count = names.len().max(1) as f64;
        let mut floor = Floor { at: BTreeMap::new(), groups: Vec::new() };
        for (place, ((group, _, _), pus)) in cores.iter().enumerate() {
            let share = |offset: f64| (place as f64 + offset) / count;
            floor.at.extend(pus.iter().map(|os| (*os, share(0.5))));
            match floor.groups.last_mut().filter(|_| place > 0 && names[place - 1] == *group) {
                Some(last) => last.2 = share(0.9),
                None => floor.groups.push((group.to_string(), share(0.1), share(0.9))),
            }
        }
        floor
    }

    /// The point of a PU's core at a distance from the middle.
    fn point(&self, os: u32, radius: f64) -> Option<(f64, f64)> {
        self.at.get(&os).map(|share| on_circle(*share, radius))
    }

    fn picture(&self, title: &str, placement: &[u32], ways: &[Way]) -> Markup {
        let heaviest = ways.iter().map(|way| way.3).fold(f64::MIN_POSITIVE, f64::max);
        html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {SIDE} {SIDE}")) width=(SIDE) height=(SIDE) role="img"
                aria-label=(title) {
                @if self.groups.len() > 1 {
                    @for (_, from, to) in &self.groups { path d=(arc(*from, *to)) fill="none" stroke="#8888" stroke-width="5" {} }
                }
                g fill="none" stroke="#d8573b" {
                    @for way in ways {
                        @if let Some(path) = self.path(way) {
                            path d=(path) stroke-width=(number(0.6 + 1.4 * way.3 / heaviest)) stroke-opacity="0.5" {}
                        }
                    }
                }
                @for (x, y) in self.at.keys().filter_map(|os| self.point(*os, RADIUS)) {
                    circle cx=(number(x)) cy=(number(y)) r="3" fill="#8886" {}
                }
                @for (x, y) in placement.iter().filter_map(|os| self.point(*os, RADIUS)) {
                    circle cx=(number(x)) cy=(number(y)) r="4" fill="#3b7dd8" {}
                }
                @for (x, y) in ways.iter().filter_map(|way| self.point(way.2?, HOMES)) {
                    circle cx=(number(x)) cy=(number(y)) r="3" fill="none" stroke="#009e73" {}
                }
            }
        }
    }

    /// From one end over the home, or a bow through the middle, to the other.
    fn path(&self, (from, to, home, _): &Way) -> Option<String> {
        let ((x, y), (to_x, to_y)) = (self.point(*from, RADIUS)?, self.point(*to, RADIUS)?);
        let ends = [x, y, to_x, to_y].map(number);
        let [x, y, to_x, to_y] = &ends;
        Some(match home.and_then(|home| self.point(home, HOMES)) {
            Some((over_x, over_y)) => format!("M{x} {y}L{} {}L{to_x} {to_y}", number(over_x), number(over_y)),
            None => format!("M{x} {y}Q{MIDDLE} {MIDDLE} {to_x} {to_y}"),
        })
    }
}

/// The package of a PU, or where there is one alone its group of near cores.
fn groups(profile: &Profile) -> impl Fn(&Pu) -> u32 {
    let mut packages: Vec<Option<u32>> = profile.topology.pus.iter().map(|pu| pu.package).collect();
    packages.dedup();
    let near = profile.home_model.as_ref().map(|model| model.groups.clone()).unwrap_or_default();
    move |pu| match packages.len() > 1 {
        true => pu.package.unwrap_or(u32::MAX),
        false => near.iter().position(|group| group.contains(&pu.os)).map_or(u32::MAX, |group| group as u32),
    }
}

fn on_circle(share: f64, radius: f64) -> (f64, f64) {
    let angle = share * TAU;
    (MIDDLE + radius * angle.sin(), MIDDLE - radius * angle.cos())
}

fn arc(from: f64, to: f64) -> String {
    let ((x, y), (to_x, to_y)) = (on_circle(from, GROUPS), on_circle(to, GROUPS));
    let is_large = u8::from(to - from > 0.5);
    format!("M{} {}A{GROUPS} {GROUPS} 0 {is_large} 1 {} {}", number(x), number(y), number(to_x), number(to_y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_stands_on_a_core_of_its_own_place() {
        let profile = crate::samples::two_groups();
        let pattern = seatmap_pattern::generate("ring:4").unwrap();
        let plan = Plan::new("sample", vec![0, 1, 4, 5]);
        let text = floor(&profile, &pattern, &plan).into_string();
        assert_eq!((text.matches("<svg").count(), text.matches("#3b7dd8").count()), (2, 8));
        // A ring of four has as many edges, in each of the two pictures.
        assert_eq!(text.matches("stroke-opacity").count(), 2 * pattern.edges.len());
    }

    #[test]
    fn a_channel_goes_over_its_home() {
        let floor = Floor { at: [(0, 0.0), (1, 0.25), (2, 0.5)].into(), groups: Vec::new() };
        assert_eq!(floor.path(&(0, 2, None, 1.0)).unwrap(), "M210 42Q210 210 210 378");
        assert_eq!(floor.path(&(0, 2, Some(1), 1.0)).unwrap(), "M210 42L362 210L210 378");
        assert!(floor.path(&(0, 9, None, 1.0)).is_none());
    }
}
