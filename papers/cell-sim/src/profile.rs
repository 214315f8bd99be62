//! The profile of a Cell model: topology and core distances, in the form of a measured profile.

use crate::channels::{Bed, ChannelProgram, Channels, ProgramNeeds};
use crate::{CellBed, CellModel};
use seatmap_data::machine::{CoreDistance, Matrix, Origin, OriginKind, Profile, Pu, Topology};
use seatmap_sim::SimError;
use std::sync::Arc;

/// Round trips per distance. A few are enough, because a model's times never vary.
const ROUNDS: u32 = 32;

/// Round trips of a mailbox message.
struct RoundTrips;

impl ChannelProgram for RoundTrips {
    type Output = u64;

    fn shape(&self) -> ProgramNeeds {
        ProgramNeeds { tasks: 2, local_bytes: 16, memory_bytes: 16, signals_or: false }
    }

    fn task<C: Channels>(&self, channels: &C, rank: usize) -> u64 {
        let began = channels.cycles();
        for round in 0..ROUNDS {
            if rank == 0 {
                // On the Cell, mailboxes are closest to a cache line that two cores exchange.
                channels.mailbox_write(1, round);
                channels.mailbox_read();
            } else {
                channels.mailbox_read();
                channels.mailbox_write(0, round);
            }
        }
        channels.cycles() - began
    }
}

/// Profiles a model: SPEs are PUs, chips are packages and NUMA nodes, and a core distance is the
/// round trip of a mailbox message.
///
/// # Errors
/// [`SimError`] if the model cannot run.
pub fn profile(model: &Arc<CellModel>) -> Result<Profile, SimError> {
    let count = model.spes();
    let mut bed = CellBed::new(Arc::clone(model));
    let mut median_ns = Matrix::from_fn(count, |_, _| 0.0);
    for a in 0..count {
        // A round trip is the same from both ends.
        for b in 0..a {
            let cycles = bed.run(&[a as u32, b as u32], &RoundTrips, 0)?[0];
            let ns = cycles as f64 * bed.ns_per_cycle() / f64::from(ROUNDS);
            median_ns[(a, b)] = ns;
            median_ns[(b, a)] = ns;
        }
    }
    let origin = Origin {
        kind: OriginKind::Model,
        source: model.sources.join("; "),
        date: None,
        tool: None,
    };
    let mut profile = Profile::new(
        &model.name,
        origin,
        Topology {
            pus: (0..count)
                .map(|os| Pu {
                    os: os as u32,
                    core: Some(os as u32),
                    smt: Some(0),
                    l2: None,
                    l3: None,
                    die: None,
                    numa: Some((os / model.spes.len()) as u32),
                    package: Some((os / model.spes.len()) as u32),
                    ..Pu::default()
                })
                .collect(),
        },
    );
    profile.core_distance = Some(CoreDistance::imported((0..count as u32).collect(), median_ns));
    Ok(profile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn chips_become_distant_packages() {
        let model = catalog::load("cell-qs20").unwrap().unwrap();
        let profile = profile(&model).unwrap();
        profile.check().unwrap();
        let ns = &profile.core_distance.as_ref().unwrap().median_ns;
        assert!(
            (ns[(0, 1)] - 158.1).abs() < 8.0 && (ns[(0, 8)] - 589.9).abs() < 20.0,
            "{} {}",
            ns[(0, 1)],
            ns[(0, 8)]
        );
        assert!(ns[(0, 7)] > ns[(0, 2)], "six hops and one");
    }
}
