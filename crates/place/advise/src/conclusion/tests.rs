//! Each rule, with made-up evidence.

mod made;

use super::AdviceVerdict::{CannotTell, DoThis, LeaveIt};
use super::*;
use crate::Advice;
use crate::evidence::{BusyThread, Client, NeighbourProgram, Neighbours, UnseenFact};
use crate::trial::TrialResult;
use made::{talkers, trial};
use seatmap_data::machine::{CoreKind, Pu, Topology};
use seatmap_launch::sets::ComputerCpus;
use seatmap_watch::Gravity;

/// The control, a candidate without an effect, and one that gains, in percent.
const QUIET: [f64; 3] = [-1.0, 0.1, 1.0];
const NOTHING: [f64; 3] = [-1.0, 0.0, 1.0];
const GAIN: [f64; 3] = [5.0, 8.0, 11.0];

fn with(change: impl FnOnce(&mut Evidence)) -> Evidence {
    let mut evidence = talkers();
    change(&mut evidence);
    evidence
}

fn verdict(evidence: &Evidence) -> (AdviceVerdict, Reason) {
    let Conclusion { verdict, reason, .. } = conclude(evidence);
    (verdict, reason)
}

#[track_caller]
fn undecided(evidence: &Evidence, reason: Reason) {
    assert_eq!(verdict(evidence), (CannotTell, reason));
}

#[track_caller]
fn left_alone(evidence: &Evidence, reason: Reason) {
    assert_eq!(verdict(evidence), (LeaveIt, reason));
}

#[track_caller]
fn because(evidence: &Evidence, reason: Reason) {
    assert_eq!(verdict(evidence).1, reason);
}

#[test]
fn only_significant_trial_gain_is_recommended() {
    let better = with(|all| all.trial = Some(trial(QUIET, GAIN)));
    assert_eq!(verdict(&better).0, DoThis);
    for (control, seats, expected) in [
        (QUIET, [-1.0, 8.0, 11.0], Reason::NoneBetter),
        (QUIET, [-9.0, -5.0, -2.0], Reason::NoneBetter),
        (QUIET, [0.5, 1.5, 2.0], Reason::NoneBetter),
        // The gain is smaller than that of the control, where nothing changed.
        ([-9.0, -7.0, 1.0], [2.0, 6.0, 9.0], Reason::NoneBetter),
        ([1.0, 3.0, 5.0], GAIN, Reason::Drift),
    ] {
        let evidence = with(|all| all.trial = Some(trial(control, seats)));
        because(&evidence, expected);
    }
    let void = with(|all| {
        all.trial = Some(TrialResult { counted: 9, ..trial(QUIET, GAIN) });
    });
    undecided(&void, Reason::TrialVoid);
    let replaced = with(|all| {
        all.trial = Some(TrialResult { seated: 4, gone: 3, ..trial(QUIET, GAIN) });
    });
    left_alone(&replaced, Reason::ShortTasks);
    let refused = with(|all| {
        all.trial = Some(TrialResult { refused: 1, ..trial(QUIET, GAIN) });
    });
    let why = NoTrial::Refused;
    undecided(&refused, Reason::NotTried { why });
}

#[test]
fn small_possible_gain_leaves_program_alone() {
    let little = with(|all| {
        all.most_gain.as_mut().unwrap().percent = 0.9;
        // The messages take less time than this trial seems to save.
        all.trial = Some(trial(QUIET, GAIN));
    });
    left_alone(&little, Reason::LittleTalk);
    let unknown = with(|all| all.most_gain = None);
    undecided(&unknown, Reason::NotMeasured);
    let unseen = with(|all| all.talk = None);
    undecided(&unseen, Reason::TalkUnseen);
    let untried = with(|all| all.no_trial = Some(NoTrial::NoWork));
    assert_eq!(verdict(&untried).0, CannotTell);
    let seatless = with(|all| all.no_trial = Some(NoTrial::NoSeats));
    assert_eq!(verdict(&seatless).0, LeaveIt);
}

#[test]
fn neighbour_on_many_cpus_delays_openmp_team() {
    let team = |has_openmp, threads: usize, percent| {
        with(|all| {
            let thread = all.busy[0].clone();
            all.busy = vec![BusyThread { percent: 94.0, ..thread }; threads];
            all.used_percent = 94.0 * threads as f64;
            all.cpu_count = 16;
            all.has_openmp = has_openmp;
            all.neighbours.percent = percent;
            all.waits_percent = 6.0;
            all.trial = Some(trial(QUIET, NOTHING));
        })
    };
    undecided(&team(true, 16, 6.0), Reason::Neighbours);
    for other in [team(false, 16, 6.0), team(true, 15, 6.0), team(true, 16, 2.0)] {
        because(&other, Reason::NoneBetter);
    }
}

#[test]
fn neighbours_decide_only_if_program_waits() {
    let crowd = |waits_percent: f64| {
        with(|all| {
            all.neighbours = Neighbours {
                percent: 40.0,
                programs: vec![NeighbourProgram {
                    pid: 3,
                    name: "rustc".to_owned(),
                    percent: 160.0,
                }],
                ..Neighbours::default()
            };
            all.waits_percent = waits_percent;
            all.trial = Some(trial(QUIET, NOTHING));
        })
    };
    undecided(&crowd(30.0), Reason::Neighbours);
    left_alone(&crowd(2.0), Reason::NoneBetter);
    // Two threads on one CPU wait for each other half of the time.
    let own = Evidence { cpu_count: 1, ..crowd(55.0) };
    because(&own, Reason::OneCpu);
    let both = Evidence { cpu_count: 1, ..crowd(75.0) };
    because(&both, Reason::Neighbours);
    // A program that hardly gets any CPU time does not sleep.
    let starved = Evidence { used_percent: 3.0, wanted_percent: 100.0, ..crowd(97.0) };
    undecided(&starved, Reason::Neighbours);
    let elsewhere = Evidence { is_elsewhere: true, ..crowd(30.0) };
    assert_eq!(verdict(&elsewhere).1, Reason::NoneBetter, "neighbours here, and not there");
    let stolen = with(|all| all.neighbours.steal_percent = 20.0);
    assert_eq!(verdict(&stolen), (CannotTell, Reason::Steal), "nothing was tried");
    let tried = |steal_percent: f64| {
        with(|all| {
            all.neighbours.steal_percent = steal_percent;
            all.trial = Some(trial(QUIET, NOTHING));
        })
    };
    left_alone(&tried(20.0), Reason::NoneBetter);
    undecided(&tried(60.0), Reason::Steal);
    let drifting = with(|all| {
        all.neighbours.steal_percent = 20.0;
        all.trial = Some(trial([3.0, 5.0, 7.0], NOTHING));
    });
    undecided(&drifting, Reason::Steal);
}

#[test]
fn saturated_client_takes_precedence_over_seats() {
    let driven = |busiest_percent| {
        with(|all| {
            let client = Client {
                pid: 3,
                name: "client".to_owned(),
                per_s: 1e4,
                percent: 95.0,
                busiest_percent,
            };
            all.talk.as_mut().unwrap().clients = vec![client];
            all.trial = Some(trial(QUIET, NOTHING));
        })
    };
    left_alone(&driven(95.0), Reason::ClientAtLimit);
    assert_eq!(
        verdict(&driven(48.0)).1,
        Reason::NoneBetter,
        "two threads of it wait half the time"
    );
}

#[test]
fn waiting_for_partners_is_not_blamed_on_neighbours() {
    let beside = |by_partners: f64| {
        with(|all| {
            all.neighbours.percent = 15.0;
            let partner = |percent| NeighbourProgram { pid: 3, name: "client".to_owned(), percent };
            all.neighbours.partners = vec![partner(by_partners)];
            all.waits_percent = 26.0;
            all.used_percent = 61.0;
            all.busy.truncate(1);
        })
    };
    left_alone(&beside(140.0), Reason::OneThread);
    because(&beside(20.0), Reason::Neighbours);
}

#[test]
fn idle_openmp_runtime_is_not_a_team() {
    let made = |used_percent| {
        with(|all| {
            all.has_openmp = true;
            all.used_percent = used_percent;
        })
    };
    assert!(made(190.0).has_team());
    assert!(!made(98.0).has_team(), "two programs, one after the other");
    assert!(!Evidence { has_openmp: false, ..made(190.0) }.has_team());
}

#[test]
fn own_order_requires_few_outside_messages() {
    let asked =
        |outside_per_s| with(|all| all.talk.as_mut().unwrap().outside_per_s = outside_per_s);
    assert_eq!(asked(2.0).own_order(), Some(1.21));
    assert_eq!(asked(300.0).own_order(), Some(1.21), "of ten thousand messages");
    assert_eq!(asked(3000.0).own_order(), None);
    assert_eq!(with(|all| all.talk = None).own_order(), None);
}

#[test]
fn programs_without_two_busy_threads_are_left_alone() {
    let idle = with(|all| all.used_percent = 2.0);
    left_alone(&idle, Reason::HardlyRuns);
    assert_eq!(conclude(&idle).confidence, High);
    let unseen = Evidence { requests_unseen: true, ..idle };
    assert_eq!(conclude(&unseen).confidence, Medium);
    let one = with(|all| {
        all.busy.truncate(1);
        all.used_percent = 61.0;
    });
    because(&one, Reason::OneThread);
    let alone = with(|all| all.cpu_count = 1);
    because(&alone, Reason::OneCpu);
    let short = with(|all| {
        all.busy.truncate(1);
        all.used_percent = 190.0;
    });
    because(&short, Reason::ShortTasks);
    // A hundred long-lived threads each do little, so their messages decide.
    let spread = |percent: f64| {
        with(|all| {
            all.busy.clear();
            all.lasting_percent = 120.0;
            all.most_gain.as_mut().unwrap().percent = percent;
        })
    };
    left_alone(&spread(0.1), Reason::LittleTalk);
    undecided(&spread(9.0), Reason::SmallTasks);
    let disk = with(|all| {
        all.used_percent = 20.0;
        all.device_wait_percent = 80.0;
    });
    because(&disk, Reason::Device);
    let moment = with(|all| {
        all.has_ended = true;
        all.looked_s = 0.1;
    });
    undecided(&moment, Reason::TooShort);
    // Without an observation, the threads of an exited program are unknown.
    let ended = |threads| {
        with(|all| {
            all.has_ended = true;
            all.talk = None;
            all.threads = threads;
            all.busy.clear();
            all.used_percent = 0.0;
            all.wanted_percent = 0.0;
        })
    };
    undecided(&ended(0), Reason::EndedUnseen);
    assert_eq!(verdict(&ended(1)), (LeaveIt, Reason::HardlyRuns), "seen while it lived");
}

#[test]
fn affinity_mask_differs_from_single_cpu_computer() {
    let bound = with(|all| {
        (all.cpus, all.cpu_count) = ("1".to_owned(), 1);
        all.unbound_cpus = "0-3".to_owned();
        all.wanted_percent = 200.0;
    });
    undecided(&bound, Reason::OwnMask);
    let content = Evidence { wanted_percent: 61.0, ..bound.clone() };
    assert_eq!(verdict(&content).1, Reason::OneCpu, "it wants no more than it has");
    let alone = Evidence { unbound_cpus: "1".to_owned(), ..bound };
    because(&alone, Reason::OneCpu);
    let split = with(|all| all.busy[0].cpus = "1".to_owned());
    assert_eq!(split.bound_threads().len(), 1);
    let why = NoTrial::Bound;
    let untried = Evidence { no_trial: Some(why.clone()), ..split };
    undecided(&untried, Reason::NotTried { why });
}

#[test]
fn failed_command_gets_no_advice() {
    let failed = with(|all| {
        all.failure = Some("ended with exit code 3".to_owned());
        all.has_ended = true;
    });
    undecided(&failed, Reason::Failed);
    let trial = Some(trial(QUIET, GAIN));
    let in_trial = Evidence { trial, has_ended: false, ..failed };
    undecided(&in_trial, Reason::Failed);
}

#[test]
fn interrupted_command_is_judged_by_observed_part() {
    let cut = with(|all| {
        all.failure = Some("ended with exit code 124".to_owned());
        all.is_cut = true;
        all.has_ended = true;
    });
    let untried = Reason::NotTried { why: NoTrial::Ended };
    undecided(&cut, untried.clone());
    let idle = Evidence { used_percent: 1.0, wanted_percent: 1.0, ..cut.clone() };
    left_alone(&idle, Reason::HardlyRuns);
    let moment = Evidence { looked_s: 0.1, ..cut.clone() };
    undecided(&moment, Reason::TooShort);
    // The trial had no time for a comparison.
    let begun = TrialResult { has_ended: true, control: None, ..TrialResult::default() };
    let in_trial = Evidence { has_ended: false, trial: Some(begun), ..cut };
    undecided(&in_trial, untried);
}

#[test]
fn wrong_setting_takes_precedence_with_remedy() {
    let finding = Finding {
        rule: "quota".to_owned(),
        gravity: Gravity::Wrong,
        what: "the quota was used up".to_owned(),
        pid: Some(7),
        tids: Vec::new(),
        cpus: String::new(),
        since_s: None,
        at_most_s: None,
        measure: None,
        remedy: Some("echo 200000 100000 > cpu.max".to_owned()),
        remedy_kind: None,
        advice: None,
    };
    let capped = with(|all| {
        all.findings = vec![Finding { remedy: None, ..finding.clone() }, finding.clone()];
        all.neighbours.steal_percent = 50.0;
        all.undo = Some("echo 50000 100000 > cpu.max".to_owned());
    });
    let advice = Advice::of("made", "2026-01-31T12:00:00Z", capped);
    assert_eq!(advice.conclusion.verdict, DoThis);
    let paste = advice.paste.unwrap();
    assert_eq!(paste.command, "echo 200000 100000 > cpu.max");
    assert_eq!(paste.undo.unwrap(), "echo 50000 100000 > cpu.max");
    let without = with(|all| all.findings = vec![Finding { remedy: None, ..finding }]);
    assert_eq!(verdict(&without).0, CannotTell);
}

#[test]
fn fewer_threads_come_before_higher_quota() {
    let quota = Finding {
        remedy: Some("echo 200000 100000 > cpu.max".to_owned()),
        ..Finding::wrong("quota", "it was stopped")
    };
    let finding = Finding {
        advice: Some("start it with OMP_NUM_THREADS=2".to_owned()),
        ..Finding::wrong("too-many-threads", "8 threads wait for each other")
    };
    let both = with(|all| all.findings = vec![quota, finding.clone()]);
    let advice = Advice::of("made", "2026-01-31T12:00:00Z", both);
    assert_eq!(
        (advice.conclusion.verdict, advice.conclusion.reason),
        (DoThis, Reason::Setting { finding })
    );
    assert_eq!(advice.paste, None, "no command changes a running program");
}

#[test]
fn quota_takes_precedence_over_neighbours_and_masks() {
    let quota = Finding { pid: Some(7), ..Finding::wrong("quota", "it was stopped") };
    let stopped = with(|all| {
        all.findings = vec![quota.clone()];
        all.neighbours.percent = 60.0;
        all.waits_percent = 90.0;
        (all.cpus, all.cpu_count) = ("1".to_owned(), 1);
        all.unbound_cpus = "0-3".to_owned();
        all.wanted_percent = 800.0;
    });
    let setting = Reason::Setting { finding: quota };
    undecided(&stopped, setting);
    assert_eq!(conclude(&stopped).confidence, High);
}

#[test]
fn own_ready_threads_are_not_blamed_on_neighbours() {
    let many = |ready| {
        with(|all| {
            all.busy.truncate(1);
            (all.cpus, all.cpu_count, all.ready) = ("0-1".to_owned(), 2, ready);
            all.neighbours.percent = 20.0;
            all.waits_percent = 70.0;
        })
    };
    because(&many(1), Reason::Neighbours);
    assert_ne!(verdict(&many(8)).1, Reason::Neighbours);
}

#[test]
fn unseen_facts_lower_confidence() {
    let idle = with(|all| all.used_percent = 2.0);
    let crowd = with(|all| {
        all.neighbours.percent = 40.0;
        all.waits_percent = 30.0;
    });
    let confidence = |evidence: &Evidence, unseen: &[UnseenFact], quota: Option<&str>| {
        let unseen = unseen.to_vec();
        let quotas_unseen = quota.map(str::to_owned);
        conclude(&Evidence { unseen, quotas_unseen, ..evidence.clone() }).confidence
    };
    assert_eq!(confidence(&crowd, &[], None), High);
    assert_eq!(confidence(&crowd, &[UnseenFact::Connections], None), Low);
    assert_eq!(confidence(&crowd, &[], Some("a container")), Low);
    assert_eq!(confidence(&idle, &[UnseenFact::Waits], None), Medium);
    let unknown = with(|all| {
        (all.cpus, all.cpu_count) = (String::new(), 0);
        all.unbound_cpus = "0-3".to_owned();
        all.wanted_percent = 300.0;
        all.trial = Some(trial(QUIET, NOTHING));
    });
    assert_eq!(verdict(&unknown).1, Reason::NoneBetter, "neither one CPU nor its mask");
}

#[test]
fn pasted_seats_include_undo_command() {
    let better = with(|all| all.trial = Some(trial(QUIET, GAIN)));
    let paste = Advice::of("made", "2026-01-31T12:00:00Z", better).paste.unwrap();
    assert_eq!(paste.command, "taskset -cp 1 8; taskset -cp 1 9");
    assert_eq!(paste.undo.unwrap(), "taskset -cp 0-3 8; taskset -cp 0-3 9");
    let moving = with(|all| {
        all.trial = Some(trial(QUIET, GAIN));
        (all.has_goroutines, all.pids) = (true, vec![8, 40]);
    });
    let paste = Advice::of("made", "2026-01-31T12:00:00Z", moving).paste.unwrap();
    assert_eq!(paste.command, "taskset -acp 1 8; taskset -acp 1 40", "also later threads");
    assert_eq!(paste.undo.unwrap(), "taskset -acp 0-3 8; taskset -acp 0-3 40");
}

/// Four CPUs, one of them of this kind, the others of another.
fn one_apart(cpu: u32, own: CoreKind, other: CoreKind) -> ComputerCpus {
    let kind = |os| Some(if os == cpu { own } else { other });
    let pus = (0..4).map(|os| Pu { os, core: Some(os), kind: kind(os), ..Pu::default() });
    ComputerCpus::of_machine(Topology { pus: pus.collect() }, None)
}

#[test]
fn better_seats_are_named_by_a_fitting_word() {
    use CoreKind::{Efficiency, Performance};
    let better = with(|all| all.trial = Some(trial(QUIET, GAIN)));
    let advice = |evidence: &Evidence| Advice::of("made", "2026-01-31T12:00:00Z", evidence.clone());
    let worded = |computer: &ComputerCpus| advice(&better).worded(computer).paste.unwrap();
    let paste = worded(&one_apart(1, Performance, Efficiency));
    let word = paste.word.unwrap();
    assert_eq!((word.word.as_str(), word.cpus.as_str()), ("kind:performance", "1"));
    let command = "taskset -cp $(seatmap cpus kind:performance) 8; \
                   taskset -cp $(seatmap cpus kind:performance) 9";
    assert_eq!(paste.command, command);
    assert_eq!(paste.undo.unwrap(), "taskset -cp 0-3 8; taskset -cp 0-3 9");
    for other in [one_apart(2, Performance, Efficiency), one_apart(9, Performance, Efficiency)] {
        assert_eq!(worded(&other), advice(&better).paste.unwrap(), "no word is CPU 1");
    }
    let unshown = with(|all| all.trial = Some(trial(QUIET, NOTHING)));
    let unshown = advice(&unshown).worded(&one_apart(1, Performance, Efficiency));
    assert_eq!(unshown.paste, None, "no trial confirmed seats");
}
