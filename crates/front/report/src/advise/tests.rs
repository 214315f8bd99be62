//! Tests the printed advice: a screen for each verdict, and words for each reason.

use super::*;
use seatmap_advise::commands::Paste;
use seatmap_advise::conclusion::Conclusion;
use seatmap_advise::evidence::{BusyThread, ProgramTalk};
use seatmap_advise::memory::MemoryThreads;

fn text(advice: &Advice) -> String {
    page(advice).text(Some(80))
}

fn advice(verdict: AdviceVerdict, reason: Reason, evidence: Evidence) -> Advice {
    let conclusion = Conclusion { verdict, reason, confidence: Confidence::High };
    let begun = "2026-01-31T12:00:00Z";
    Advice { conclusion, ..Advice::of("made", begun, evidence) }
}

fn evidence(text: &str) -> Evidence {
    serde_json::from_str(text).unwrap()
}

/// A server whose client is at its limit.
fn server() -> Evidence {
    evidence(include_str!("tests/server.json"))
}

/// Threads communicate so much that seats were tried.
fn pipeline() -> Evidence {
    evidence(include_str!("tests/pipeline.json"))
}

/// A team whose CPUs others use too.
fn crowded() -> Evidence {
    evidence(include_str!("tests/crowded.json"))
}

#[test]
fn memory_row_says_what_was_not_observed() {
    let measured = Some("2026-11-30".to_owned());
    let memory_threads = Some(MemoryThreads { threads: 1, measured });
    let evidence = Evidence { memory_threads, ..pipeline() };
    let page = text(&advice(AdviceVerdict::LeaveIt, Reason::LittleTalk, evidence));
    let words = Vec::from_iter(page.split_whitespace()).join(" ");
    let wanted = "1 thread carries 95 % of the measured memory bandwidth of its CPUs (2026-11-30): \
                  more gain little if they wait for memory, which was not observed";
    assert!(words.contains(wanted), "{page}");
}

#[test]
fn interrupted_command_should_run_longer() {
    let evidence = Evidence {
        failure: Some("was ended by signal 15 (SIGTERM)".to_owned()),
        is_cut: true,
        has_ended: true,
        command: Some("./app".to_owned()),
        ..server()
    };
    let ended = Reason::NotTried { why: NoTrial::Ended };
    for reason in [ended, Reason::TooShort] {
        let cut = text(&advice(AdviceVerdict::CannotTell, reason.clone(), evidence.clone()));
        let words = Vec::from_iter(cut.split_whitespace()).join(" ");
        assert!(words.contains("for 6.0 s; it was ended by signal 15 (SIGTERM)"), "{cut}");
        assert!(words.contains("let it run longer") && !words.contains("seatmap tune"), "{cut}");
        let whole = Evidence { failure: None, is_cut: false, ..evidence.clone() };
        let whole = text(&advice(AdviceVerdict::CannotTell, reason, whole));
        assert!(whole.contains("seatmap tune -- ./app") && !whole.contains("longer"), "{whole}");
    }
}

#[test]
fn advice_fits_a_screen() {
    let better = |evidence: &Evidence| {
        let seats = evidence.trial.as_ref().unwrap().candidates[0].clone();
        Reason::Better { seats }
    };
    let mut found = advice(AdviceVerdict::DoThis, better(&pipeline()), pipeline());
    let Reason::Better { seats } = &found.conclusion.reason else { unreachable!() };
    found.paste = Some(Paste::of_seats(seats, &[7, 8], "0-1"));
    let all = [
        advice(AdviceVerdict::LeaveIt, Reason::ClientAtLimit, server()),
        found,
        advice(AdviceVerdict::CannotTell, Reason::Neighbours, crowded()),
    ];
    let texts = Vec::from_iter(all.iter().map(text));
    for text in &texts {
        assert!(text.lines().count() <= 16, "{text}");
    }
    insta::assert_snapshot!(texts.join("\n"));
    assert!(page(&all[1]).html().contains("DO THIS"));
}

#[test]
fn word_for_better_seats_has_its_reason() {
    let word = KnownWord {
        word: "kind:performance/no-smt".to_owned(),
        cpus: "0,2".to_owned(),
        by: Some("cpu_core".to_owned()),
    };
    let paste = Paste { command: "x".to_owned(), word: Some(word), ..Paste::default() };
    let reason = Reason::NoneBetter;
    let found = advice(AdviceVerdict::DoThis, reason, pipeline());
    let found = text(&Advice { paste: Some(paste), ..found });
    let words = Vec::from_iter(found.split_whitespace()).join(" ");
    let row = "CPUs 0,2 are exactly kind:performance/no-smt of this machine (cpu_core)";
    assert!(words.contains(row), "{found}");
}

#[test]
fn lower_priority_program_gets_renice_command() {
    let evidence = Evidence {
        gives_way: Some("nice 19 against nice 0".to_owned()),
        gives_way_remedy: Some("renice -n 0 -p 7".to_owned()),
        ..crowded()
    };
    let told = why(&advice(AdviceVerdict::CannotTell, Reason::Neighbours, evidence));
    let words = "its neighbours have priority (nice 19 against nice 0): 'renice -n 0 -p 7' makes \
                 them equal if this is not intended";
    assert!(told.starts_with(words), "{told}");
}

#[test]
fn unknown_masks_are_not_shown_as_bound() {
    let evidence =
        Evidence { cpus: String::new(), cpu_count: 0, unseen: vec![UnseenFact::Masks], ..server() };
    let said = text(&advice(AdviceVerdict::LeaveIt, Reason::OneThread, evidence));
    assert!(said.contains("  bound by    unknown CPUs; "), "{said}");
    assert!(said.contains("  not seen    the CPU masks of some threads"), "{said}");
}

#[test]
fn limit_names_what_delays_program() {
    let limit = |change: &dyn Fn(&mut Evidence)| {
        let mut evidence = server();
        change(&mut evidence);
        limits(&advice(AdviceVerdict::LeaveIt, Reason::LittleTalk, evidence))
    };
    let client = |all: &mut Evidence, percent| {
        all.talk.as_mut().unwrap().clients[0].busiest_percent = percent;
    };
    assert!(limit(&|_| ()).starts_with("it waits for redis-benchmark, which used 94 %"));
    let full = limit(&|all| all.busy[0].percent = 95.0);
    assert_eq!(full, "its thread 'redis-server', at 95 % of a CPU");
    let pair = limit(&|all| {
        all.busy = vec![BusyThread { percent: 95.0, ..all.busy[0].clone() }; 2];
        all.used_percent = 190.0;
    });
    assert_eq!(pair, "its CPUs are busy");
    let crowded = limit(&|all| {
        client(all, 47.0);
        all.waits_percent = 26.0;
        let partner = NeighbourProgram { pid: 7, name: "benchmark".to_owned(), percent: 90.0 };
        all.neighbours.partners = vec![partner];
    });
    let words = "its CPUs: it waited for one in 26 % of its runnable time; its partners share \
                 them: benchmark (7, 90 % of a CPU)";
    assert_eq!(crowded, words);
    let asked = limit(&|all| client(all, 47.0));
    assert_eq!(asked, "none: it waits for requests, and used 32 % of 2 CPUs");
    let alone = limit(&|all| {
        all.busy.push(all.busy[0].clone());
        all.talk = Some(ProgramTalk::default());
    });
    assert_eq!(alone, "itself: on average 0.6 of its 2 busy threads ran at a time");
    assert_eq!(limit(&|all| all.talk = None), "unknown: it used 32 % of 2 CPUs");
}

#[test]
fn unmeasurable_command_is_raced_as_whole() {
    let evidence = Evidence { command: Some("./app x".to_owned()), ..pipeline() };
    let reason = Reason::NotTried { why: NoTrial::NoWork };
    let command = text(&advice(AdviceVerdict::CannotTell, reason.clone(), evidence));
    assert!(command.contains("next        seatmap tune -- ./app x\n"), "{command}");
    let server =
        text(&advice(AdviceVerdict::CannotTell, reason, Evidence { pids: vec![7], ..pipeline() }));
    assert!(server.contains("seatmap advise --pid 7 --metric"), "{server}");
}

#[test]
fn every_reason_has_correct_words() {
    for why in [
        NoTrial::NoWork,
        NoTrial::MetricFailed { why: "the line printed no number".to_owned() },
        NoTrial::Bound,
        NoTrial::NoSeats,
        NoTrial::Ended,
        NoTrial::Refused,
        NoTrial::Elsewhere,
    ] {
        let advice = advice(AdviceVerdict::CannotTell, Reason::NotTried { why }, pipeline());
        let words = super::why(&advice);
        assert!(seatmap_needs::faults(&words).is_empty(), "{words}");
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
        let said = page(&advice(AdviceVerdict::CannotTell, reason, pipeline())).text(None);
        for line in said.lines() {
            // The label of a row stands two blanks or more before its words.
            let words = line.trim_start().split_once("  ").map_or(line, |(_, words)| words);
            let faults = seatmap_needs::faults(words.trim_start());
            assert!(faults.is_empty(), "{faults:?}");
        }
    }
}
