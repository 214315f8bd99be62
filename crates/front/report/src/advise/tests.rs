//! Advice as it is printed: a screen for each verdict, and words for each reason.

use super::*;
use seatmap_advise::conclusion::Conclusion;
use seatmap_advise::evidence::{BusyThread, Client, Neighbours, ProgramTalk};
use seatmap_advise::trial::TriedSeats;
use seatmap_live::Candidate;
use seatmap_plan::Effect;

fn advice(verdict: Verdict, reason: Reason, evidence: Evidence) -> Advice {
    let conclusion = Conclusion { verdict, reason, confidence: Confidence::High };
    let begun = "2026-01-31T12:00:00Z";
    Advice { conclusion, ..Advice::of("made", begun, evidence) }
}

/// A server whose client is at its limit.
fn server() -> Evidence {
    Evidence {
        name: "redis-server".to_owned(),
        pids: vec![21_407],
        looked_s: 6.0,
        threads: 5,
        busy: vec![BusyThread {
            tid: 21_407,
            name: "redis-server".to_owned(),
            percent: 64.0,
            ..BusyThread::default()
        }],
        used_percent: 64.3,
        cpus: "0-1".to_owned(),
        cpu_count: 2,
        unbound_cpus: "0-1".to_owned(),
        talk: Some(ProgramTalk {
            outside_per_s: 64_000.0,
            clients: vec![Client {
                pid: 23_690,
                name: "redis-benchmark".to_owned(),
                per_s: 63_900.0,
                percent: 94.0,
            }],
            ..ProgramTalk::default()
        }),
        ..Evidence::default()
    }
}

#[test]
fn a_command_that_was_cut_short_is_to_run_longer() {
    let evidence = Evidence {
        failure: Some("was ended by signal 15 (SIGTERM)".to_owned()),
        is_cut: true,
        has_ended: true,
        command: Some("./app".to_owned()),
        ..server()
    };
    let ended = Reason::NotTried { why: NoTrial::Ended };
    for reason in [ended, Reason::TooShort] {
        let cut = text(&advice(Verdict::CannotTell, reason.clone(), evidence.clone()));
        let words = cut.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(words.contains("for 6.0 s; it was ended by signal 15 (SIGTERM)"), "{cut}");
        assert!(words.contains("let it run longer") && !words.contains("seatmap tune"), "{cut}");
        let whole = Evidence { failure: None, is_cut: false, ..evidence.clone() };
        let whole = text(&advice(Verdict::CannotTell, reason, whole));
        assert!(whole.contains("seatmap tune -- ./app") && !whole.contains("longer"), "{whole}");
    }
}

/// Threads that talk so much that seats were tried.
fn pipeline() -> Evidence {
    let difference = Difference { percent: 12.3, low_percent: 9.8, high_percent: 14.9 };
    let control = Difference { percent: 0.2, low_percent: -1.1, high_percent: 1.4 };
    let seats = TriedSeats {
        candidate: Candidate {
            name: "together".to_owned(),
            seats: vec![Some("0".to_owned()), Some("0".to_owned())],
        },
        tids: vec![8, 9],
        difference: Some(difference),
    };
    let effect = Effect {
        observed_s: 6.0,
        messages: 60_000.0,
        outside_wakeups: 0.0,
        saw_memory: false,
        nearest_ns: 2_000.0,
        farthest_ns: 22_000.0,
        planned_s: 0.12,
        farthest_s: 1.32,
    };
    Evidence {
        name: "pipeline".to_owned(),
        pids: vec![7, 8],
        busy: vec![
            BusyThread {
                tid: 8,
                name: "stage".to_owned(),
                percent: 55.0,
                cpus: "0-1".to_owned()
            };
            2
        ],
        used_percent: 110.0,
        quotas: vec!["1.5 CPUs (/sys/fs/cgroup/a/cpu.max)".to_owned()],
        talk: Some(ProgramTalk { inside_per_s: 10_000.0, pairs: 2, ..ProgramTalk::default() }),
        most_gain: Some(MostGain { machine: "made".to_owned(), percent: 20.0, effect }),
        trial: Some(TrialResult {
            work: "bytes".to_owned(),
            seconds: 18.0,
            rounds: 20,
            counted: 18,
            control: Some(control),
            candidates: vec![seats],
            ..TrialResult::default()
        }),
        ..server()
    }
}

/// A program beside neighbours.
fn crowded() -> Evidence {
    Evidence {
        name: "stencil".to_owned(),
        busy: vec![
            BusyThread {
                tid: 8,
                name: "w".to_owned(),
                percent: 54.0,
                ..BusyThread::default()
            };
            2
        ],
        has_openmp: true,
        waits_percent: 41.0,
        neighbours: Neighbours {
            percent: 46.0,
            programs: vec![Neighbour { pid: 1827, name: "rustc".to_owned(), percent: 61.0 }],
            ..Neighbours::default()
        },
        talk: None,
        talk_unseen: Some("this user may not load programs into the kernel".to_owned()),
        ..server()
    }
}

#[test]
fn advice_fits_a_screen() {
    let better = |evidence: &Evidence| {
        let seats = evidence.trial.as_ref().unwrap().candidates[0].clone();
        Reason::Better { seats }
    };
    let mut found = advice(Verdict::DoThis, better(&pipeline()), pipeline());
    let Reason::Better { seats } = &found.conclusion.reason else { unreachable!() };
    found.paste = Some(Paste::of_seats(seats, &[7, 8], "0-1"));
    let all = [
        advice(Verdict::LeaveIt, Reason::ClientAtLimit, server()),
        found,
        advice(Verdict::CannotTell, Reason::Neighbours, crowded()),
    ];
    let texts: Vec<String> = all.iter().map(text).collect();
    for text in &texts {
        assert!(text.lines().count() <= 16, "{text}");
    }
    insta::assert_snapshot!(texts.join("\n"));
    assert!(html(&all[1]).contains("DO THIS"));
}

#[test]
fn every_reason_has_its_words() {
    for why in [
        NoTrial::NoWork,
        NoTrial::MetricFailed { why: "the line printed no number".to_owned() },
        NoTrial::Bound,
        NoTrial::Goroutines,
        NoTrial::NoSeats,
        NoTrial::Ended,
        NoTrial::Refused,
        NoTrial::Elsewhere,
    ] {
        let advice = advice(Verdict::CannotTell, Reason::NotTried { why }, pipeline());
        let words = super::why(&advice);
        assert!(seatmap_statistics::words::faults(&words).is_empty(), "{words}");
    }
    for reason in [
        Reason::HardlyRuns,
        Reason::OwnMask,
        Reason::Failed,
        Reason::Neighbours,
        Reason::Steal,
        Reason::Device,
        Reason::OneCpu,
        Reason::OneThread,
        Reason::ShortTasks,
        Reason::SmallTasks,
        Reason::TooShort,
        Reason::EndedUnseen,
        Reason::ClientAtLimit,
        Reason::TalkUnseen,
        Reason::NotMeasured,
        Reason::LittleTalk,
        Reason::TrialVoid,
        Reason::Drift,
        Reason::NoneBetter,
    ] {
        for row in rows(&advice(Verdict::CannotTell, reason, pipeline())) {
            let faults = seatmap_statistics::words::faults(&row.words);
            assert!(faults.is_empty(), "{faults:?}");
        }
    }
}
