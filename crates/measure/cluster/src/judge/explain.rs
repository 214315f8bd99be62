//! Finds the bad parts: always the one that explains most of the remaining figures, single pairs
//! last.

use super::Court;
use super::effects::{Covered, Effects};
use super::part::{FaultLocation, NetworkPart, PartDirection};

pub struct Cause {
    pub part: NetworkPart,
    pub effects: Effects,
}

impl Cause {
    pub fn towards(&self, direction: PartDirection) -> FaultLocation {
        FaultLocation { part: self.part, direction }
    }
}

impl Court<'_> {
    /// Groups that are farther apart than others are not faults.
    pub fn causes(&self) -> Vec<Cause> {
        let mut model = self.network.usual.clone();
        let mut open: Vec<Covered> =
            self.parts().into_iter().map(|part| Covered::of(&self.network, part)).collect();
        let mut causes: Vec<Cause> = Vec::new();
        loop {
            let tried = open.iter().map(|part| self.effects(part, &model)).enumerate();
            // The last of equals, which is the smallest.
            let Some((at, effects)) = tried.max_by_key(|(_, effects)| effects.ways) else { break };
            if effects.ways == 0 {
                break;
            }
            effects.model.iter().for_each(|(at, value)| model[*at] = *value);
            causes.push(Cause { part: open.remove(at).part, effects });
        }
        causes.retain(|cause| !matches!(cause.part, NetworkPart::Tier(_)));
        // A connection through a bad part is not blamed as well.
        let group = &self.network.group;
        let others: Vec<[usize; 2]> = self
            .pairs
            .keys()
            .copied()
            .filter(|pair| !causes.iter().any(|cause| cause.part.covers(group, *pair)))
            .collect();
        let pairs = others.into_iter().map(|pair| {
            let part = NetworkPart::Pair(pair);
            Cause { part, effects: self.effects(&Covered::of(&self.network, part), &model) }
        });
        causes.extend(pairs.filter(|cause| cause.effects.ways > 0));
        causes
    }

    fn parts(&self) -> Vec<NetworkPart> {
        let group = &self.network.group;
        let mut groups: Vec<usize> = group.clone();
        groups.sort_unstable();
        groups.dedup();
        // In a group of one, the uplink and the switch are the node's own link.
        let several: Vec<usize> =
            groups.iter().copied().filter(|group| self.network.members(*group).len() > 1).collect();
        let mut parts = Vec::new();
        if groups.len() > 2 {
            let tiers = several
                .iter()
                .flat_map(|g| several.iter().filter(move |h| g < h).map(move |h| [*g, *h]));
            parts.extend(tiers.map(NetworkPart::Tier));
        }
        if groups.len() > 1 {
            parts.extend(several.iter().map(|group| NetworkPart::Switch(*group)));
            // With two groups, the path out of one is the path into the other.
            let most = if groups.len() == 2 { 1 } else { several.len() };
            parts.extend(several.iter().take(most).map(|group| NetworkPart::Uplink(*group)));
        }
        parts.extend((0..group.len()).map(NetworkPart::Node));
        parts
    }
}
