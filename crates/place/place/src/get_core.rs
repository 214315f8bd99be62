//! `GetCore`: threads next to the home of their line.

use crate::build::PlaceGround;
use crate::channels::{heaviest_first, homes};
use crate::{PlaceError, no_distances};
use seatmap_data::statistics::Ordered;

/// Puts both threads of each channel on the free PUs nearest to its line's home (Algorithm 4 of Liu
/// et al. 2015).
///
/// Channel k uses candidate line k.
pub fn get_core(ground: &PlaceGround) -> Result<Vec<u32>, PlaceError> {
    let PlaceGround { request, problem, pus, .. } = ground;
    let homes = homes(request)?;
    let (known, model) = match (&request.profile.core_distance, &request.profile.home_model) {
        (Some(known), Some(model)) => (known, model),
        _ => return Err(no_distances(request.profile)),
    };
    let mut slot_of: Vec<u32> = problem.fixed.iter().map(|slot| slot.unwrap_or(u32::MAX)).collect();
    let mut free: Vec<bool> =
        (0..problem.slots()).map(|slot| !slot_of.contains(&(slot as u32))).collect();
    let pairs = heaviest_first(&problem.traffic).into_iter().enumerate();
    let seats = pairs.flat_map(|(channel, (from, to))| {
        // Lines repeat; a model without lines uses the homes in turn.
        let home = match &model.lines {
            Some(lines) if !lines.home_of_line.is_empty() => {
                lines.home_of_line[channel % lines.home_of_line.len()] as usize
            }
            _ => channel % homes,
        };
        [(from, home), (to, home)]
    });
    // Tasks without a channel go next to home 0.
    for (task, home) in seats.chain((0..problem.tasks()).map(|task| (task, 0))) {
        let offset_ns = |slot: usize| {
            let row = known.index_of(pus.os[problem.pu(slot as u32)])?;
            model.offset_ns.get(row)?.get(home).copied()
        };
        let nearest = (0..free.len())
            .filter(|slot| free[*slot])
            .min_by_key(|slot| Ordered(offset_ns(*slot).unwrap_or(f64::INFINITY)));
        if let Some(slot) = nearest.filter(|_| slot_of[task] == u32::MAX) {
            slot_of[task] = slot as u32;
            free[slot] = false;
        }
    }
    slot_of.extend((0..problem.slots() as u32).filter(|slot| free[*slot as usize]));
    Ok(slot_of)
}
