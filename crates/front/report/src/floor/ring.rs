//! Draws the stops of a ring: each core's threads outside it, its directory inside.

use super::parts::{DrawnLink, FloorSeat, HomeMark, Label, Point, arc, on_circle};
use super::{FloorPlan, SIDE, pus_at, seat_name};
use seatmap_data::machine::{Profile, Pu};
use seatmap_measure::appraise::Ways;

/// Room for the numbers of cores.
const MARGIN: f64 = 16.0;
const LARGEST: f64 = 34.0;
/// The spacing of seats, in seats.
const AIR: f64 = 1.15;
/// The gap between the two directions of the ring, and between them and their neighbours.
pub const LANE: f64 = 10.0;
/// The widest wire: a lane minus a gap.
pub const WIDEST: f64 = 8.0;
const MOST_LABELS: usize = 16;

/// The stops are the nodes in order, and the first half of the links goes up.
pub(super) fn floor(profile: &Profile, ways: Ways) -> FloorPlan {
    let stops = ways.fabric.nodes();
    let at_stop = Vec::from_iter((0..stops).map(|stop| pus_at(profile, &ways, stop as u16)));
    let deep = at_stop.iter().map(Vec::len).max().unwrap_or(0).max(1) as f64;
    // In seats: the radius of a circle with room for one seat of each stop.
    let around = stops as f64 * AIR / std::f64::consts::TAU;
    // This radius and the seats outside it fill half the side, minus the margin.
    let size = ((SIDE / 2.0 - MARGIN) / (around + deep * AIR)).min(LARGEST);
    let inner = SIDE / 2.0 - MARGIN - (deep - 0.5) * size * AIR;
    let middle = (SIDE / 2.0, SIDE / 2.0);
    let share = |stop: usize| stop as f64 / stops as f64;
    let ring = inner - size / 2.0 - LANE;
    let wires = wires(middle, ring, stops, &[0.0], |stop| format!("stop {stop}"));
    // Pairs bend from here to the middle and cross no wire.
    let inside = |stop: usize| on_circle(middle, ring - 2.0 * LANE, share(stop));
    let seat = |stop: usize, rank: usize, pu: &Pu| FloorSeat {
        os: pu.os,
        at: on_circle(middle, inner + rank as f64 * size * AIR, share(stop)),
        size,
        is_round: true,
        name: seat_name(pu, &format!("stop {stop}")),
        element: String::new(),
        anchor: inside(stop),
        hub: Some(middle),
    };
    FloorPlan {
        width: SIDE,
        height: SIDE,
        seats: at_stop
            .iter()
            .enumerate()
            .flat_map(|(stop, pus)| {
                Vec::from_iter(pus.iter().enumerate().map(|(rank, pu)| seat(stop, rank, pu)))
            })
            .collect(),
        wires,
        homes: ways
            .node_of_home
            .iter()
            .map(|node| HomeMark {
                at: inside((*node).into()),
                name: format!("directory at stop {node}"),
                hub: Some(middle),
            })
            .collect(),
        labels: labels(middle, &at_stop),
        ways: Some(ways),
        lane: WIDEST,
        ..FloorPlan::default()
    }
}

/// Both directions of a ring, the upward one outside, with tracks at these offsets.
pub fn wires(
    middle: Point,
    radius: f64,
    stops: usize,
    tracks: &[f64],
    name: impl Fn(usize) -> String,
) -> Vec<DrawnLink> {
    let wire = |radius: f64, stop: usize, step: f64| {
        let next = (stop as f64 + step).rem_euclid(stops as f64) as usize;
        let share = |at: f64| at / stops as f64;
        let along =
            |radius: f64| arc(middle, radius, share(stop as f64), share(stop as f64 + step));
        let tracks = tracks.iter().map(|aside| along(radius + aside)).collect();
        DrawnLink { path: along(radius), tracks, name: format!("{} to {}", name(stop), name(next)) }
    };
    // Fabric order: all links up, then all links down.
    let up = (0..stops).map(|stop| wire(radius, stop, 1.0));
    up.chain((0..stops).map(|stop| wire(radius - LANE, stop, -1.0))).collect()
}

fn labels(middle: Point, at_stop: &[Vec<&Pu>]) -> Vec<Label> {
    let step = at_stop.len().div_ceil(MOST_LABELS);
    (0..at_stop.len())
        .step_by(step)
        .filter_map(|stop| {
            let text = at_stop[stop].first()?.core?.to_string();
            let share = stop as f64 / at_stop.len() as f64;
            Some(Label { at: on_circle(middle, SIDE / 2.0 - MARGIN / 2.0, share), text })
        })
        .collect()
}
