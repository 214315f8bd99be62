//! Draws packages, nodes, dies, cache groups, cores and PUs as nested boxes.

use super::pack::{Packed, packed};
use super::parts::{FloorArea, FloorSeat, HomeMark, Point};
use super::{FloorPlan, SIDE};
use seatmap_data::machine::{Level, Profile};
use seatmap_measure::appraise::nested::{self, PuGroup};

/// The height left for the picture on a laptop's screen.
const HIGHEST: f64 = 480.0;
/// A larger seat would be no more legible.
const LARGEST: f64 = 40.0;
/// At the smallest size, a few thousand seats fit.
const STEPS: u32 = 76;
const STEP: f64 = 0.5;
/// Width / height; the best depends on the machine.
const RATIOS: [f64; 5] = [1.6, 1.1, 0.8, 2.2, 0.5];
/// The widest border of a core, and of larger parts.
const NARROW: f64 = 2.5;
const WIDE: f64 = 6.0;
/// Room for the borders of the outermost boxes.
const MARGIN: f64 = 5.0;

pub fn floor(profile: &Profile) -> FloorPlan {
    let machine = nested::machine(profile);
    let size = |step: u32| LARGEST - STEP * f64::from(step);
    let steps = Vec::from_iter(0..=STEPS);
    // A machine that fits at one size also fits at smaller ones.
    let step = steps.partition_point(|step| fitting(&machine, size(*step)).is_none()) as u32;
    // A machine that does not fit is drawn at the smallest size, larger than the floor.
    let packed =
        fitting(&machine, size(step)).unwrap_or_else(|| packed(&machine, size(STEPS), 1.0));
    let mut floor = FloorPlan {
        width: packed.width + 2.0 * MARGIN,
        height: packed.height + 2.0 * MARGIN,
        ..FloorPlan::default()
    };
    lay(&packed, (MARGIN, MARGIN), &mut floor);
    floor.homes = homes(profile, &floor);
    floor
}

fn fitting(machine: &PuGroup, size: f64) -> Option<Packed<'_>> {
    RATIOS.iter().map(|ratio| packed(machine, size, *ratio)).find(|packed| {
        packed.width <= SIDE - 2.0 * MARGIN && packed.height <= HIGHEST - 2.0 * MARGIN
    })
}

fn lay(packed: &Packed, corner: Point, floor: &mut FloorPlan) {
    let PuGroup { names, level, pus, inside } = packed.group;
    let Packed { width, height, caption, .. } = *packed;
    if inside.is_empty() {
        let at = (corner.0 + width / 2.0, corner.1 + height / 2.0);
        floor.seats.push(FloorSeat {
            os: pus[0],
            at,
            size: width,
            name: names.join(", "),
            anchor: at,
            ..FloorSeat::default()
        });
        return;
    }
    if !names.is_empty() {
        // A core's box of two or four seats has no room for a wide border.
        let border = if *level == Some(Level::Core) { NARROW } else { WIDE };
        let names = names.clone();
        let pus = pus.clone();
        floor.areas.push(FloorArea { names, corner, width, height, pus, border, caption });
    }
    packed.inside.iter().for_each(|((x, y), part)| lay(part, (corner.0 + x, corner.1 + y), floor));
}

/// The homes that a profile distinguishes, at their nearest PUs.
fn homes(profile: &Profile, floor: &FloorPlan) -> Vec<HomeMark> {
    let lines = profile
        .home_model
        .as_ref()
        .and_then(|model| model.lines.as_ref())
        .filter(|lines| lines.resolvable);
    let known = lines.map_or(&[][..], |lines| &lines.nearest_pu);
    // All or none: a home's number is its index in the list.
    known
        .iter()
        .enumerate()
        .map(|(at, os)| {
            let seat = floor.seat(*os)?;
            // In the upper right corner, so the seat's number stays visible.
            let aside = 0.5 * seat.size - 1.0;
            let at_seat = (seat.at.0 + aside, seat.at.1 - aside);
            Some(HomeMark {
                at: at_seat,
                name: format!("home {at}, nearest to CPU {os}"),
                hub: None,
            })
        })
        .collect::<Option<Vec<_>>>()
        .unwrap_or_default()
}
