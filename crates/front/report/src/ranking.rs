//! The machines of a gallery ranked for a pattern.

use crate::page::{Page, Table, TableCell, cells, section};
use crate::words::{counted, duration, figure, joined, visible};
use seatmap_data::machine::OriginKind;
use seatmap_data::plan::Objective;
use seatmap_measure::gallery::MachineRanking;
use seatmap_measure::gallery::ranking::{MachineTime, RankedMachine};

/// The page of a ranking: the fastest machine, the table, and cautions.
pub fn page(ranking: &MachineRanking) -> Page {
    let pattern = visible(&ranking.pattern);
    let headline = headline(ranking, &pattern);
    Page {
        sections: vec![
            section("Machines", ranked(&ranking.ranked)).unit(unit(ranking)),
            section("Not ranked: figures are missing", incomplete(ranking)),
            section("Left out", left_out(ranking)),
            section("How to read the times", crate::page::Block::List(remarks(ranking))),
        ],
        footer: "Best seats: found by a search on each machine. At least: a lower bound. In order: \
                 the first task on the first CPU, and so on.",
        ..Page::new(format!("Machines for {pattern}"), headline).headed()
    }
}

fn headline(ranking: &MachineRanking, pattern: &str) -> String {
    let tasks = counted(ranking.tasks, "task");
    let Some(first) = ranking.ranked.first() else {
        return format!("No machine can be ranked for {pattern} ({tasks}).");
    };
    let name = visible(&first.time.machine);
    let time = duration(first.time.time_ns);
    if ranking.ranked.len() == 1 {
        return format!(
            "{name} needs {time} for {pattern} ({tasks}); no other machine can be ranked."
        );
    }
    let near = ranking.ranked.iter().skip(1).filter(|machine| !machine.is_apart).count();
    let also = match near {
        0 => String::new(),
        _ => format!(
            " {} may be as fast: a longer search may find better seats there.",
            counted(near, "machine")
        ),
    };
    format!("{name} is fastest for {pattern} ({tasks}): {time}.{also}")
}

fn unit(ranking: &MachineRanking) -> &'static str {
    match ranking.objective {
        Objective::Time => "time of the slowest seat",
        Objective::Simulated => "time of a simulated run",
        _ => "sum of the round trips of all messages",
    }
}

fn ranked(machines: &[RankedMachine]) -> Table {
    Table::new(
        ":> | machine | figures | PUs:> | best seats:> | of the first:> | at least:> | in order:>",
    )
    .rows(machines.iter().enumerate().map(|(at, machine)| {
        let time = &machine.time;
        cells![
            at + 1,
            &time.machine,
            origin(time.origin),
            time.pus,
            TableCell::strong(duration(time.time_ns)),
            format!("{} times", figure(machine.times_best, 2)),
            bound(time),
            duration(time.in_order_ns)
        ]
    }))
}

fn incomplete(ranking: &MachineRanking) -> Table {
    Table::new(
        "machine | figures | PUs:> | best seats:> | at least:> | in order:> | not considered",
    )
    .rows(ranking.incomplete.iter().map(|machine| {
        let time = &machine.time;
        let missing = machine.not_considered.iter().map(|one| one.words());
        cells![
            &time.machine,
            origin(time.origin),
            time.pus,
            duration(time.time_ns),
            bound(time),
            duration(time.in_order_ns),
            joined(missing, " and ")
        ]
    }))
}

/// `proven` if the time reaches the bound.
fn bound(time: &MachineTime) -> String {
    if time.is_optimal { "proven".to_owned() } else { duration(time.bound_ns) }
}

fn left_out(ranking: &MachineRanking) -> Table {
    Table::new("left out | why")
        .rows(ranking.left_out.iter().map(|machine| cells![&machine.machine, &machine.reason]))
}

pub(crate) fn origin(kind: OriginKind) -> &'static str {
    match kind {
        OriginKind::Measured => "measured",
        OriginKind::Imported => "imported",
        OriginKind::Model => "modelled",
    }
}

/// The parts of the times, the omitted parts, and how reliable they are.
fn remarks(ranking: &MachineRanking) -> Vec<String> {
    let mut remarks = vec![
        match ranking.objective {
            Objective::Time => {
                "Times are computed from each machine's figures: the work of the slowest seat and \
                 its messages. The fastest CPUs of all machines count as equally fast, because \
                 profiles have only relative speeds."
            }
            Objective::Simulated => {
                "Times are of the messages on a model of each machine, without the work between \
                 them."
            }
            _ => {
                "Times are computed from each machine's distances, one round trip per message. \
                 Computing speed is ignored."
            }
        }
        .to_owned(),
    ];
    remarks.push(trust(ranking));
    if ranking.waits && !ranking.incomplete.is_empty() {
        remarks.push(
            "The tasks sleep until a message arrives, and a wakeup takes longer than any distance. \
             '--spinning' ranks all machines by distances alone."
                .to_owned(),
        );
    }
    remarks
}

fn trust(ranking: &MachineRanking) -> String {
    let times = ranking.ranked.iter().map(|one| &one.time);
    let mut times = times.chain(ranking.incomplete.iter().map(|one| &one.time));
    let model = if times.any(|time| time.origin == OriginKind::Model) {
        "Ratios compare computed times, many of them from models; they are not measured gains. "
    } else {
        "Ratios compare computed times; they are not measured gains. "
    };
    let like = match &ranking.like_machines {
        Some(like) => format!(
            "Profiles of the same processor differ here by up to {} times ({} and {}, '{}', the \
             widest of {}), so smaller ratios may come from firmware or kernel.",
            figure(like.ratio, 2),
            visible(&like.machines[0]),
            visible(&like.machines[1]),
            like.class,
            counted(like.pairs, "pair")
        ),
        None => "This gallery has no two computers with the same processor, so their usual \
                 difference is unknown."
            .to_owned(),
    };
    format!("{model}{like}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::pattern::generate;
    use seatmap_machines::catalog::Machine;
    use seatmap_measure::gallery::{Gallery, RankingRequest};
    use seatmap_place::search::SearchTime;
    use seatmap_place::{MessageWait, SmtUse};

    fn ranking(names: &[&str], pattern: &str, waiting: MessageWait) -> MachineRanking {
        let mut gallery = Gallery::default();
        for name in names {
            let machine = Machine::bundled(name).unwrap();
            gallery.add(machine, seatmap_data::machine::catalog::load(name).unwrap());
        }
        let request = RankingRequest {
            gallery: &gallery,
            pattern: &generate(pattern).unwrap(),
            objective: None,
            waiting,
            smt: SmtUse::Auto,
            kind: None,
            equal_seats: false,
            time: SearchTime::Kicks(50),
            rounds: seatmap_measure::appraise::rehearsal::ROUNDS,
            threads: 1,
            seed: 1,
            date: "2026-01-01".to_owned(),
            tool: "test".to_owned(),
        };
        request.rank(&mut |_, _| {}).unwrap()
    }

    #[test]
    fn ranking_explains_its_times() {
        let names = ["graviton3", "epyc-7r13-2s", "core-i9-12900k"];
        let text = page(&ranking(&names, "ring:32", MessageWait::AsObserved)).text(None);
        let head = "epyc-7r13-2s is fastest for ring:32 (32 tasks): 2.132 us.\n";
        assert!(text.starts_with(head), "{text}");
        for part in [
            "graviton3     modelled   64    2.970 us    1.39 times",
            "core-i9-12900k  too small: 24 PUs",
            "Computing speed is ignored.",
            "they are not measured gains",
            "This gallery has no two computers",
        ] {
            assert!(text.contains(part), "'{part}' in {text}");
        }
    }

    #[test]
    fn machines_with_missing_figures_are_listed_separately() {
        let text = page(&ranking(&["graviton3"], "ring:8", MessageWait::Asleep)).text(None);
        assert!(text.starts_with("No machine can be ranked for ring:8"), "{text}");
        assert!(text.contains("the cost of wakeups") && text.contains("--spinning"), "{text}");
    }
}
