//! Compares machines with the same processor.

use crate::comparison::ProfileComparison;
use crate::gallery::Gallery;

/// Two machines of a gallery with the same processor.
pub struct LikePair {
    /// Their indices in the gallery.
    pub places: [usize; 2],
    /// Comparison of their classes and facts.
    pub comparison: ProfileComparison,
}

/// All pairs of machines with distances and the same processor.
pub fn like_pairs(gallery: &Gallery) -> Vec<LikePair> {
    let machines = gallery.machines();
    let mut pairs = Vec::new();
    for (second, other) in machines.iter().enumerate() {
        for (first, one) in machines[..second].iter().enumerate() {
            let [a, b] = [&one.profile, &other.profile];
            let is_like = a.environment.cpu_model.is_some()
                && a.environment.cpu_model == b.environment.cpu_model
                && a.core_distance.is_some()
                && b.core_distance.is_some();
            if is_like {
                let mut comparison = ProfileComparison::of(a, b);
                // Shared profiles have only their processor's name.
                comparison.machines = [one.name.clone(), other.name.clone()];
                pairs.push(LikePair { places: [first, second], comparison });
            }
        }
    }
    pairs
}
