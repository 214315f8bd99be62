//! Draws tiles in rows and columns, with both directions of each link between them, each on its
//! right-hand side.

use super::parts::{DrawnLink, FloorArea, FloorSeat, HomeMark, Label, Point};
use super::{FloorPlan, SIDE, pus_at, seat_name};
use crate::svg::point;
use seatmap_data::machine::{Profile, Pu};
use seatmap_measure::appraise::Ways;
use seatmap_sim::coherent::fabric::Link;

/// Room for memory controllers.
const MARGIN: f64 = 34.0;
/// The distance from one tile to the next.
const LARGEST: f64 = 96.0;
/// A tile's share of that distance.
const TILE: f64 = 0.68;
/// The share below a tile's seats, for its number and its home.
const FOOT: f64 = 0.24;
/// Offset of a link's direction, as a share of the distance between tiles.
const LANE: f64 = 0.1;
const WIDEST: f64 = 9.0;
const MEMORY: Point = (24.0, 30.0);

struct Tiles {
    columns: u16,
    pitch: f64,
    margin: f64,
}

pub fn floor(profile: &Profile, ways: Ways, columns: u16, memories: &[u16]) -> FloorPlan {
    let margin = if memories.is_empty() { 0.0 } else { MARGIN };
    let rows = ways.fabric.nodes() as u16 / columns.max(1);
    let pitch = ((SIDE - 2.0 * margin) / f64::from(columns))
        .min(SIDE / f64::from(rows.max(1)))
        .min(LARGEST);
    let tiles = Tiles { columns, pitch, margin };
    let mut floor = FloorPlan {
        width: 2.0 * margin + pitch * f64::from(columns),
        height: pitch * f64::from(rows),
        // The two directions are twice LANE apart; this leaves a gap between them.
        lane: (1.7 * LANE * pitch).min(WIDEST),
        wires: ways.fabric.links().iter().map(|link| tiles.wire(link)).collect(),
        homes: ways
            .node_of_home
            .iter()
            .map(|node| HomeMark {
                at: tiles.foot(*node, 0.18),
                name: format!("message buffer of tile {node}"),
                hub: None,
            })
            .collect(),
        ..FloorPlan::default()
    };
    for tile in 0..columns * rows {
        let pus = pus_at(profile, &ways, tile);
        floor.areas.push(tiles.area(tile, &pus));
        floor.seats.extend(tiles.seats(tile, &pus));
        floor.labels.push(Label { at: tiles.foot(tile, -0.24), text: tile.to_string() });
    }
    floor.areas.extend(memories.iter().map(|tile| tiles.memory(*tile)));
    floor.ways = Some(ways);
    floor
}

impl Tiles {
    fn middle(&self, tile: u16) -> Point {
        let place = |at: u16| (f64::from(at) + 0.5) * self.pitch;
        (self.margin + place(tile % self.columns), place(tile / self.columns))
    }

    fn side(&self) -> f64 {
        self.pitch * TILE
    }

    fn area(&self, tile: u16, pus: &[&Pu]) -> FloorArea {
        let (x, y) = self.middle(tile);
        let side = self.side();
        FloorArea {
            names: vec![format!("tile {tile}")],
            corner: (x - side / 2.0, y - side / 2.0),
            width: side,
            height: side,
            pus: pus.iter().map(|pu| pu.os).collect(),
            ..FloorArea::default()
        }
    }

    /// Seats as nearly square as possible.
    fn seats(&self, tile: u16, pus: &[&Pu]) -> Vec<FloorSeat> {
        let columns = (pus.len() as f64).sqrt().ceil().max(1.0);
        let rows = (pus.len() as f64 / columns).ceil().max(1.0);
        let (x, y) = self.middle(tile);
        let side = self.side();
        let cell = side * 0.94 / columns;
        let cell_height = side * (0.94 - FOOT) / rows;
        let size = 0.92 * cell.min(cell_height);
        pus.iter()
            .enumerate()
            .map(|(at, pu)| {
                let column = (at % columns as usize) as f64;
                let row = (at / columns as usize) as f64;
                let middle = (
                    x + (column + 0.5 - columns / 2.0) * cell,
                    y - side * 0.47 + (row + 0.5) * cell_height,
                );
                FloorSeat {
                    os: pu.os,
                    at: middle,
                    size,
                    name: seat_name(pu, &format!("tile {tile}")),
                    anchor: middle,
                    ..FloorSeat::default()
                }
            })
            .collect()
    }

    fn foot(&self, tile: u16, aside: f64) -> Point {
        let (x, y) = self.middle(tile);
        (x + aside * self.side(), y + self.side() * (0.5 - FOOT / 2.0))
    }

    fn wire(&self, link: &Link) -> DrawnLink {
        let (x, y) = self.middle(link.from);
        let (to_x, to_y) = self.middle(link.to);
        // In Rust, the signum of 0.0 is 1, which would shift straight links.
        let sign =
            |difference: f64| if difference.abs() < 1e-9 { 0.0 } else { difference.signum() };
        let right = sign(to_x - x);
        let down = sign(to_y - y);
        let aside_x = -down * self.pitch * LANE;
        let aside_y = right * self.pitch * LANE;
        let half = self.side() / 2.0;
        let path = format!(
            "M{}L{}",
            point((x + right * half + aside_x, y + down * half + aside_y)),
            point((to_x - right * half + aside_x, to_y - down * half + aside_y))
        );
        DrawnLink {
            tracks: vec![path.clone()],
            path,
            name: format!("tile {} to tile {}", link.from, link.to),
        }
    }

    fn memory(&self, tile: u16) -> FloorArea {
        let (_, y) = self.middle(tile);
        let is_left = tile % self.columns < self.columns / 2;
        let right = 2.0 * self.margin + self.pitch * f64::from(self.columns);
        FloorArea {
            names: vec!["MC".to_owned()],
            corner: (if is_left { 4.0 } else { right - MEMORY.0 - 4.0 }, y - MEMORY.1 / 2.0),
            width: MEMORY.0,
            height: MEMORY.1,
            ..FloorArea::default()
        }
    }
}
