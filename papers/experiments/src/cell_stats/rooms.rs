//! The chips, memories and workers of a machine.

use seatmap_data::machine::{Level, Topology};

/// The PUs for workers, chip by chip, and those for the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rooms {
    /// Each chip's workers.
    pub chips: Vec<Vec<u32>>,
    /// The controller: the PPE, or any PU without a worker.
    pub controller: Option<u32>,
    /// Memory modules.
    pub modules: usize,
    /// A worker's name: SPE, or CPU.
    pub worker: &'static str,
    /// Whether the machine is deterministic, so that a long run can be compared with a short one.
    pub is_deterministic: bool,
    /// Whether thread creation and system calls take realistic time: only on models of the Cell.
    pub has_system: bool,
}

impl Rooms {
    /// An ordinary computer: a level's groups are chips, and the first CPU is the controller if
    /// there is another. `None` if the topology does not have that level.
    pub fn of_computer(
        topology: &Topology,
        pus: &[u32],
        class: Level,
        modules: usize,
    ) -> Option<Self> {
        let groups = class.groups(topology, pus)?;
        let count = groups.iter().max().map_or(0, |last| *last as usize + 1);
        let mut chips = vec![Vec::new(); count];
        pus.iter().zip(groups).for_each(|(os, group)| chips[group as usize].push(*os));
        let controller = pus.first().copied().filter(|_| pus.len() > 1);
        Some(Rooms {
            chips,
            controller,
            modules,
            worker: "CPU",
            is_deterministic: false,
            has_system: false,
        })
    }

    /// Seats for this many workers, on one chip first and then on the others; `None` if the machine
    /// has fewer.
    pub fn workers(&self, chip: usize, count: usize) -> Option<Vec<u32>> {
        let others = (0..self.chips.len()).filter(|other| *other != chip);
        let order = std::iter::once(chip).chain(others);
        let seats: Vec<u32> =
            order.filter_map(|chip| self.chips.get(chip)).flatten().copied().take(count).collect();
        (seats.len() == count && chip < self.chips.len()).then_some(seats)
    }

    /// The first chip's first worker, and this many other workers of a chip.
    pub fn workers_beside_the_first(&self, chip: usize, count: usize) -> Option<Vec<u32>> {
        let first = *self.chips.first()?.first()?;
        // One more than needed, because the first worker may be among them.
        let others =
            self.workers(chip, count + 1)?.into_iter().filter(|seat| *seat != first).take(count);
        Some(std::iter::once(first).chain(others).collect())
    }

    /// Workers.
    pub fn count(&self) -> usize {
        self.chips.iter().map(Vec::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topology_groups_become_chips() {
        let topology = &seatmap_data::machine::catalog::load("xeon-e5-2680-2s").unwrap().topology;
        let rooms =
            |class| Rooms::of_computer(topology, &[8, 0, 9, 16, 24], class, 2).unwrap().chips;
        assert_eq!(rooms(Level::Package), [vec![8, 9, 24], vec![0, 16]]);
        assert_eq!(rooms(Level::Core), [vec![8, 24], vec![0, 16], vec![9]]);
        assert_eq!(Rooms::of_computer(topology, &[0, 4711], Level::Package, 2), None);
    }

    #[test]
    fn chips_fill_in_order() {
        let rooms = Rooms {
            chips: vec![vec![0, 1, 2], vec![3, 4, 5]],
            controller: Some(6),
            modules: 2,
            worker: "SPE",
            is_deterministic: true,
            has_system: true,
        };
        assert_eq!(rooms.workers(1, 4), Some(vec![3, 4, 5, 0]));
        assert_eq!(rooms.workers(0, 7), None);
        assert_eq!(rooms.workers(2, 1), None);
        assert_eq!(rooms.workers_beside_the_first(1, 2), Some(vec![0, 3, 4]));
        assert_eq!(rooms.workers_beside_the_first(0, 2), Some(vec![0, 1, 2]));
    }
}
