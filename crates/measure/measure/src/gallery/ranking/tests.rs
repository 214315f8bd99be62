//! Rankings of synthetic machines.

use super::*;
use crate::profiles_for_tests::measured;
use seatmap_data::machine::{Profile, SeatSpeed, Topology};
use seatmap_data::pattern::generate;
use seatmap_machines::catalog::{Machine, MachineKind};

fn even(name: &str, pus: u32, ns: f64) -> Profile {
    Profile { name: name.to_owned(), ..measured(Topology::unknown(0..pus), |_, _| ns) }
}

fn gallery(profiles: Vec<Profile>) -> Gallery {
    let mut gallery = Gallery::default();
    for profile in profiles {
        let mut machine =
            Machine::read(&profile.name, profile.to_json().as_bytes(), "2026-01-01").unwrap();
        machine.kind = MachineKind::Profile(Box::new(profile.clone()));
        gallery.add(machine, profile);
    }
    gallery
}

fn request<'a>(gallery: &'a Gallery, pattern: &'a Pattern) -> RankingRequest<'a> {
    RankingRequest {
        gallery,
        pattern,
        objective: None,
        waiting: MessageWait::AsObserved,
        smt: SmtUse::Auto,
        kind: None,
        equal_seats: false,
        time: SearchTime::Kicks(20),
        rounds: crate::appraise::rehearsal::ROUNDS,
        threads: 1,
        seed: 1,
        date: "2026-01-01".to_owned(),
        tool: "test".to_owned(),
    }
}

fn ranked(gallery: &Gallery, pattern: &Pattern) -> MachineRanking {
    request(gallery, pattern).rank(&mut |_, _| {}).unwrap()
}

fn names(ranking: &MachineRanking) -> Vec<&str> {
    ranking.ranked.iter().map(|machine| machine.time.machine.as_str()).collect()
}

#[test]
fn nearest_machine_is_first_and_times_match_messages() {
    let gallery =
        gallery(vec![even("far", 8, 300.0), even("near", 8, 50.0), even("middle", 8, 100.0)]);
    let pattern = generate("ring:8").unwrap();
    let mut heard = Vec::new();
    let ranking =
        request(&gallery, &pattern).rank(&mut |done, all| heard.push((done, all))).unwrap();
    assert_eq!(names(&ranking), ["near", "middle", "far"]);
    let messages: f64 = pattern.edges.iter().map(|edge| edge.messages).sum();
    let near = &ranking.ranked[0];
    assert_eq!((near.time.time_ns, near.time.bound_ns), (50.0 * messages, 50.0 * messages));
    assert_eq!(ranking.ranked[2].times_best, 6.0);
    assert!(!near.is_apart && ranking.ranked[1].is_apart && ranking.ranked[2].is_apart);
    assert_eq!(heard, [(0, 3), (1, 3), (2, 3), (3, 3)]);
    assert_eq!(ranking.like_machines, None);
}

#[test]
fn unusable_machines_are_left_out_and_named() {
    let mut unknown = even("unknown", 8, 1.0);
    unknown.core_distance = None;
    let gallery = gallery(vec![even("small", 4, 10.0), unknown, even("fits", 8, 100.0)]);
    let pattern = generate("ring:8").unwrap();
    let ranking = ranked(&gallery, &pattern);
    assert_eq!(names(&ranking), ["fits"]);
    let reasons: Vec<LeftOutReason> =
        ranking.left_out.iter().map(|machine| machine.reason.clone()).collect();
    assert_eq!(reasons, [LeftOutReason::TooSmall { pus: 4 }, LeftOutReason::NoDistances]);
    assert!(reasons[0].to_string().contains("4 PUs"));
}

#[test]
fn machine_without_the_needed_figures_is_not_ranked() {
    let mut known = even("known", 4, 200.0);
    let alone = vec![1.0; 4];
    known.speed = Some(SeatSpeed { pus: (0..4).collect(), alone, together: None, work: None });
    let gallery = gallery(vec![even("unknown", 4, 10.0), known]);
    let mut pattern = generate("ring:4").unwrap();
    pattern.load_ns = Some(1000.0);
    let ranking = ranked(&gallery, &pattern);
    assert_eq!((ranking.objective, names(&ranking)), (Objective::Time, vec!["known"]));
    assert_eq!(ranking.incomplete[0].time.machine, "unknown");
    assert_eq!(ranking.incomplete[0].not_considered, [MissingFigure::Speed]);
    pattern.load_ns = None;
    let ranking = ranked(&gallery, &pattern);
    assert_eq!((names(&ranking), ranking.incomplete.len()), (vec!["unknown", "known"], 0));
    let asleep = RankingRequest { waiting: MessageWait::Asleep, ..request(&gallery, &pattern) };
    let ranking = asleep.rank(&mut |_, _| {}).unwrap();
    assert!(ranking.ranked.is_empty() && ranking.waits);
    assert_eq!(ranking.incomplete[1].not_considered, [MissingFigure::Wakeups]);
}

#[test]
fn ranking_includes_the_difference_of_like_machines() {
    let [mut old, mut new] = [even("old", 8, 100.0), even("new", 8, 240.0)];
    for profile in [&mut old, &mut new] {
        profile.environment.cpu_model = Some("EPYC".to_owned());
    }
    let gallery = gallery(vec![new, old, even("other", 8, 1000.0)]);
    let pattern = generate("ring:8").unwrap();
    let ranking = ranked(&gallery, &pattern);
    let like = ranking.like_machines.unwrap();
    assert_eq!((like.pairs, like.machines), (1, ["new".to_owned(), "old".to_owned()]));
    assert!((like.ratio - 2.4).abs() < 0.01, "{}", like.ratio);
}

#[test]
fn requests_without_a_time_are_refused() {
    let machines = gallery(vec![even("one", 4, 10.0)]);
    let mut pattern = generate("ring:4").unwrap();
    let congestion =
        RankingRequest { objective: Some(Objective::Congestion), ..request(&machines, &pattern) };
    assert_eq!(congestion.rank(&mut |_, _| {}).unwrap_err(), RankingError::NoTime);
    let none = Gallery::default();
    assert_eq!(request(&none, &pattern).rank(&mut |_, _| {}).unwrap_err(), RankingError::Empty);
    pattern.edges.clear();
    let silent = request(&machines, &pattern).rank(&mut |_, _| {}).unwrap_err();
    assert!(matches!(silent, RankingError::Silent(_)) && silent.is_input());
}
