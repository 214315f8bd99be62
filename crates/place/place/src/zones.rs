//! The fewest and the most tasks on groups of slots.

/// Groups of slots with their fewest and most tasks.
///
/// They express three constraints: at most one task per core, even numbers per PU (the mean rounded
/// down or up), and chips with equal shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zones {
    /// The zone of each slot.
    pub zone_of_slot: Vec<u32>,
    /// The fewest tasks in each zone.
    pub least: Vec<u32>,
    /// The most tasks in each zone.
    pub most: Vec<u32>,
}

impl Zones {
    /// One zone, without bounds.
    pub fn free(slots: usize) -> Self {
        Zones { zone_of_slot: vec![0; slots], least: vec![0], most: vec![slots as u32] }
    }

    /// Whether every assignment is allowed.
    pub fn are_free(&self) -> bool {
        self.least.len() <= 1
    }

    /// The number of these slots in each zone.
    pub fn count(&self, slots: &[u32]) -> Vec<u32> {
        let mut count = vec![0; self.least.len()];
        slots.iter().for_each(|slot| count[self.zone_of_slot[*slot as usize] as usize] += 1);
        count
    }

    /// Whether a task may move from one zone to another.
    pub fn allow(&self, count: &[u32], from: u32, to: u32) -> bool {
        let from = from as usize;
        let to = to as usize;
        from == to || (count[from] > self.least[from] && count[to] < self.most[to])
    }
}
