//! Rankings of artificial times.

use super::*;
use crate::rank::TaskMapping;
use crate::rank::setup::tests::setup;

/// The last mapping is the fastest, and each run is a tenth slower than the one before.
pub fn times_of(setup: &Setup, shard: Option<Shard>) -> MappingTimes {
    let mut times = MappingTimes::new(setup.indices(shard).unwrap(), setup.runs);
    let count = TaskMapping::count(setup.tasks).unwrap();
    for job in times.missing() {
        let noise = (job.index * 7919 + u64::from(job.run) * 104_729) % 13;
        let base = (1000 + 50 * (count - job.index) + noise) as f64;
        assert!(times.set(job, base * 1.1_f64.powi(job.run as i32)));
    }
    times
}

pub fn ranked(setup: &Setup) -> Ranking {
    Ranking::new(setup.clone(), None, &times_of(setup, None)).unwrap()
}

#[test]
fn fastest_mean_ranks_first() {
    let ranking = ranked(&setup(4));
    assert_eq!((&ranking.best[..], &ranking.worst[..]), ("[0321]", "[0123]"));
    assert!(ranking.ranking.is_sorted_by(|a, b| a.mean_ns < b.mean_ns && a.rank + 1 == b.rank));
    assert_eq!(
        (ranking.mappings, ranking.rank_of["identity"], ranking.named[0].to_best),
        (6, 6, ranking.best_to_worst)
    );
    assert_eq!(ranking.by_run.iter().map(|run| run.rank_of_best).collect::<Vec<_>>(), [1, 1, 1]);
    assert_eq!(ranking.ranking[0].run_ranks, [1, 1, 1]);
    assert_eq!(ranking.ranking[5].run_ranks, [6, 6, 6]);
    assert_eq!(
        ranking.rank_correlation.as_ref().unwrap().with_later_runs,
        [vec![1.0, 1.0], vec![1.0]]
    );
    assert_eq!(ranking.below_mid_range_percent, 50.0, "the curve is straight");
    assert!((0.99..1.01).contains(&ranking.median_to_mean));
    assert_eq!(ranking.may_be_best.unwrap().mappings, 1);
}

#[test]
fn single_run_has_no_spread_statistics() {
    let ranking = ranked(&Setup { runs: 1, ..setup(4) });
    assert_eq!((ranking.rank_correlation, ranking.may_be_best), (None, None));
    assert_eq!(ranking.ranking[0].may_be_best, None);
}

#[test]
fn equal_times_are_ranked_in_lexicographic_order() {
    let setup = setup(4);
    let mut times = MappingTimes::new((0..6).collect(), setup.runs);
    times.missing().into_iter().for_each(|job| assert!(times.set(job, 5.0)));
    let ranking = Ranking::new(setup, None, &times).unwrap();
    assert!(ranking.ranking.iter().map(|row| row.index).eq(0..6));
    assert!(ranking.ranking.iter().all(|row| row.run_ranks == [1, 1, 1]));
    assert_eq!(ranking.rank_correlation, None);
}

#[test]
fn mirror_image_represents_omitted_mapping() {
    let mut reduced = setup(5);
    reduced.choice.is_reduced_by_symmetry = true;
    let ranking = ranked(&reduced);
    assert_eq!((ranking.mappings, ranking.named.len()), (12, 7));
}

#[test]
fn ranking_round_trips_through_json() {
    let ranking = ranked(&setup(5));
    let text = ranking.to_json();
    let former = text.replace("seatmap-mappings/1", "seatmap-ranking/1");
    assert_ne!(former, text);
    for text in [text, former] {
        assert_eq!(Ranking::from_json(&text).unwrap(), ranking);
    }
}

#[test]
fn invalid_files_are_refused() {
    let text = ranked(&setup(4)).to_json();
    let refused = |right: &str, wrong: &str| {
        assert!(text.contains(right), "{right}");
        Ranking::from_json(&text.replace(right, wrong)).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused("mappings/1", "mappings/2"), @"its format is 'seatmap-mappings/2', but this program reads seatmap-mappings/1");
    insta::assert_snapshot!(refused("\"rounds\":10", "\"rounds\":0"), @"no rounds, so there is nothing to time; leave --rounds out or write 1 or more");
    insta::assert_snapshot!(refused("\"runs\":3", "\"runs\":2"), @"the times of [0321] are not from this study, or are duplicates");
    insta::assert_snapshot!(refused("\"index\":5", "\"index\":4"), @"the times of [0312] are not from this study, or are duplicates");
    assert!(refused("\"tasks\":4", "\"tasks\":\"x\"").contains("invalid type: string \"x\""));
    insta::assert_snapshot!(refused("\"tasks\":4", "\"tasks\":5"), @"mappings of this study are missing");
    insta::assert_snapshot!(Ranking::from_json("{\n!").unwrap_err(), @"line 2, column 1: key must be a string");
}

#[test]
fn incomplete_times_are_not_ranked() {
    assert_eq!(Ranking::new(setup(4), None, &MappingTimes::new(vec![0, 1], 3)), None);
    assert_eq!(Ranking::new(setup(4), None, &MappingTimes::new(vec![], 3)), None);
}
