//! One ranking from its parts.

use super::{MappingTimes, Ranking, RankingError, Setup, Shard};
use std::collections::BTreeSet;

const MOST_LISTED: usize = 8;

/// The whole of these parts, as if one process had run it.
///
/// # Errors
/// The index of the faulty part and the error; no index for [`RankingError::Missing`] and others
/// without a single faulty part.
pub fn merge(parts: &[Ranking]) -> Result<Ranking, (Option<usize>, RankingError)> {
    let first = parts.first().ok_or((None, RankingError::Nothing))?;
    let of = whole(first.shard).map_err(|error| (Some(0), error))?.of;
    let indices = first.setup.indices(None).map_err(|error| (Some(0), error.into()))?;
    let mut times = MappingTimes::new(indices, first.setup.runs);
    let mut missing: BTreeSet<u32> = (1..=of).collect();
    for (at, part) in parts.iter().enumerate() {
        add(part, &first.setup, of, &mut missing)
            // Only for a part of this study, because its indices mean nothing in another one.
            .and_then(|()| part.fill(&mut times))
            .map_err(|error| (Some(at), error))?;
    }
    if !missing.is_empty() {
        let list: Vec<String> =
            missing.iter().take(MOST_LISTED).map(|number| format!("{number}/{of}")).collect();
        return Err((
            None,
            RankingError::Missing { of, missing: missing.len(), list: list.join(", ") },
        ));
    }
    Ranking::new(first.setup.clone(), None, &times).ok_or((None, RankingError::Incomplete))
}

fn add(
    part: &Ranking,
    setup: &Setup,
    of: u32,
    missing: &mut BTreeSet<u32>,
) -> Result<(), RankingError> {
    let shard = whole(part.shard)?;
    let other_parts = (shard.of != of).then_some("other --shard parts");
    match setup.difference(&part.setup).or(other_parts) {
        Some(what) => Err(RankingError::Other(what)),
        None if !missing.remove(&shard.number) => Err(RankingError::Twice(shard)),
        None => Ok(()),
    }
}

fn whole(part: Option<Shard>) -> Result<Shard, RankingError> {
    part.ok_or(RankingError::Whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::Setup;
    use crate::rank::ranking::tests::{ranked, times_of};
    use crate::rank::setup::tests::setup;

    fn parts(setup: &Setup, of: u32) -> Vec<Ranking> {
        let part = |number| {
            let shard = Shard { number, of };
            Ranking::new(setup.clone(), Some(shard), &times_of(setup, Some(shard))).unwrap()
        };
        (1..=of).map(part).collect()
    }

    #[test]
    fn shards_merge_in_any_order() {
        let mut parts = parts(&setup(5), 7);
        parts.swap(0, 5);
        let read: Vec<Ranking> =
            parts.iter().map(|part| Ranking::from_json(&part.to_json()).unwrap()).collect();
        assert_eq!(read, parts);
        assert_eq!(merge(&read).unwrap().to_json(), ranked(&setup(5)).to_json());
    }

    #[test]
    fn shards_of_different_studies_are_refused() {
        let all = parts(&setup(5), 3);
        let told = |parts: &[Ranking]| {
            let (at, error) = merge(parts).unwrap_err();
            format!("{at:?} {error}")
        };
        insta::assert_snapshot!(told(&[]), @"None there is nothing to merge");
        insta::assert_snapshot!(told(&all[..1]), @"None 2 of 3 parts are missing: 2/3, 3/3");
        insta::assert_snapshot!(told(&[all[0].clone(), all[0].clone()]), @"Some(1) part 1/3 is given twice");
        let other = parts(&Setup { rounds: 11, ..setup(5) }, 3);
        insta::assert_snapshot!(told(&[all[0].clone(), other[1].clone()]), @"Some(1) it belongs to another study than the first file: other --rounds");
        let more = parts(&setup(5), 4);
        insta::assert_snapshot!(told(&[all[0].clone(), more[1].clone()]), @"Some(1) it belongs to another study than the first file: other --shard parts");
        insta::assert_snapshot!(told(&[ranked(&setup(5))]), @"Some(0) it is complete, not a part made with --shard");
    }
}
