//! The advice for one program, on one screen.

use crate::page::{Page, Table, TableCell, section};
use crate::words::{
    agreeing, counted, counted_figure, figure, joined, lasting, signed, three_digits, time, visible,
};
use seatmap_advise::conclusion::{CLIENT_LIMIT_PERCENT, Confidence, WAITS_PERCENT};
use seatmap_advise::evidence::{BUSY_PERCENT, BusyThread, NeighbourProgram, NoTrial, UnseenFact};
use seatmap_advise::gain::MostGain;
use seatmap_advise::trial::{RateDifference, TrialResult, TriedSeats};
use seatmap_advise::{Advice, AdviceVerdict, Evidence, Reason};
use seatmap_data::document::shell_escaped;
use seatmap_launch::named::KnownWord;
use seatmap_trial::live::WorkMetric;

const MOST_NAMED: usize = 3;

/// The remedy for a short observation.
const LET_IT_RUN: &str = "let it run longer ('seatmap advise' takes half a minute, or --seconds)";

type Row = [TableCell; 2];

fn row(label: &'static str, words: impl Into<String>) -> Row {
    [label.into(), words.into().into()]
}

fn command(label: &'static str, command: &str) -> Row {
    [label.into(), TableCell::code(command)]
}

/// The page of an advice: everything observed, in order.
pub fn page(advice: &Advice) -> Page {
    let table = Table::new(":10 |").rows(rows(advice));
    Page {
        gap_below_headline: Some(""),
        sections: vec![section("Evidence, in the order of the checks", table)],
        footer: "Observed by 'seatmap advise'.",
        ..Page::new(format!("Advice for {}", advice.evidence.name), headline(advice))
    }
}

fn headline(advice: &Advice) -> String {
    let Evidence { name, pids, .. } = &advice.evidence;
    let who = match &pids[..] {
        [] => name.clone(),
        [pid] => format!("{name} ({pid})"),
        [first, rest @ ..] => format!("{name} ({first} and {} more)", rest.len()),
    };
    let verdict = match advice.conclusion.verdict {
        AdviceVerdict::DoThis => "DO THIS",
        AdviceVerdict::LeaveIt => "LEAVE IT",
        AdviceVerdict::CannotTell => "UNDECIDED",
    };
    format!("{who}: {verdict}")
}

fn rows(advice: &Advice) -> Vec<Row> {
    let evidence = &advice.evidence;
    let mut rows = vec![row("observed", looked_at(evidence))];
    rows.push(row("messages", talks(evidence)));
    rows.push(row("bottleneck", limits(advice)));
    rows.push(row("bound by", bound_by(evidence)));
    rows.extend(evidence.most_gain.as_ref().map(|most| row("estimate", estimate(most))));
    rows.extend(memory(evidence));
    rows.extend(together(evidence));
    rows.extend(tried_row(advice));
    rows.push(row("why", why(advice)));
    rows.extend(evidence.rival_setting.as_ref().map(|setting| row("setting", rival(setting))));
    if let Some(paste) = &advice.paste {
        rows.push(command("do", &paste.command));
        rows.extend(paste.word.as_ref().map(|word| row("CPUs", named(word))));
        rows.extend(paste.undo.as_ref().map(|undo| command("undo", undo)));
    }
    rows.extend(next(advice));
    rows.extend(not_seen(evidence));
    rows.push(row("confidence", confidence(advice.conclusion.confidence)));
    let changed = list("changed", evidence.left_changed.iter().map(|mask| visible(mask)));
    rows.push(changed.unwrap_or_else(|| row("changed", "nothing")));
    rows
}

fn named(known: &KnownWord) -> String {
    let by = known.by.as_ref().map_or_else(String::new, |by| format!(" ({by})"));
    format!("{} are exactly {} of this machine{by}", known.cpus, known.word)
}

/// An unobserved bound on useful threads for a program that waits for memory.
fn memory(evidence: &Evidence) -> Option<Row> {
    let memory = evidence.memory_threads.as_ref()?;
    let threads = counted(memory.threads, "thread");
    let carry = agreeing(memory.threads, "carries", "carry");
    let day = memory.measured.as_ref().map_or_else(String::new, |day| format!(" ({day})"));
    let words = format!(
        "{threads} {carry} 95 % of the measured memory bandwidth of its CPUs{day}: more gain \
         little if they wait for memory, which was not observed"
    );
    Some(row("memory", words))
}

/// Clients seated with the program.
fn together(evidence: &Evidence) -> Option<Row> {
    let clients = evidence.together.iter().take(MOST_NAMED).map(|client| {
        let rate = counted_figure(client.per_s, 0, "wakeup");
        format!("{} ({}), {rate} per second", visible(&client.name), client.pid)
    });
    list("tried with", clients)
}

/// `None` without parts.
fn list(label: &'static str, parts: impl Iterator<Item: ToString>) -> Option<Row> {
    let parts = joined(parts, "; ");
    (!parts.is_empty()).then(|| row(label, parts))
}

fn rival(setting: &str) -> String {
    format!(
        "its OpenMP threads sleep at barriers; started with {setting} they spin, which may gain \
         more than any seat"
    )
}

/// Unobserved decisive facts.
fn not_seen(evidence: &Evidence) -> Option<Row> {
    let facts = evidence.unseen.iter().map(|fact| match fact {
        UnseenFact::Masks => "the CPU masks of some threads, which ended too early",
        UnseenFact::Waits => "how long its threads waited for a CPU",
        UnseenFact::Load => "how busy its CPUs were",
        UnseenFact::Connections => "whether it is connected to its neighbours",
        UnseenFact::DeviceWaits => "device waits of threads beyond the first 64",
    });
    list("not seen", facts)
}

fn looked_at(evidence: &Evidence) -> String {
    let busy = counted(evidence.busy.len(), "busy thread");
    let ended = match &evidence.failure {
        Some(failure) if evidence.has_ended => format!("; it {failure}"),
        _ if evidence.has_ended => "; it ended".to_owned(),
        _ => String::new(),
    };
    if evidence.threads == 0 && evidence.has_ended {
        return format!("nothing in {}{ended}", lasting(evidence.looked_s));
    }
    format!(
        "{busy} of {}, {} % of a CPU in total, for {}{ended}",
        evidence.threads,
        figure(evidence.used_percent, 0),
        lasting(evidence.looked_s)
    )
}

fn talks(evidence: &Evidence) -> String {
    let Some(talk) = &evidence.talk else {
        let why = evidence.talk_unseen.as_deref().unwrap_or("they could not be observed");
        return format!("not seen: {why}");
    };
    let inside = if evidence.threads == 1 {
        "it has one thread".to_owned()
    } else if talk.inside_per_s < 0.5 {
        "none seen between its threads".to_owned()
    } else {
        format!(
            "{}/s between its threads, in {}",
            three_digits(talk.inside_per_s),
            counted(talk.pairs, "pair")
        )
    };
    match evidence.first_client() {
        Some(client) => format!(
            "{inside}; {} ({}) on this computer wakes it {} times/s",
            client.name,
            client.pid,
            three_digits(client.per_s)
        ),
        None if talk.outside_per_s >= 1.0 => {
            format!("{inside}; the kernel wakes it {} times/s", three_digits(talk.outside_per_s))
        }
        None => match evidence.neighbours.partners.first() {
            Some(NeighbourProgram { name, pid, .. }) => {
                format!("{inside}; it is connected to {name} ({pid}) on this computer")
            }
            None => inside,
        },
    }
}

fn limits(advice: &Advice) -> String {
    use Reason::*;
    let evidence = &advice.evidence;
    match &advice.conclusion.reason {
        Setting { finding } => finding.what.clone(),
        Neighbours => neighbours(evidence),
        Steal => format!(
            "the host of this virtual machine: it gave {} % of the CPUs' time to others",
            figure(evidence.neighbours.steal_percent, 0)
        ),
        Device => "a disk or another device".to_owned(),
        Failed => "none: the command failed".to_owned(),
        TooShort | EndedUnseen => "not seen".to_owned(),
        OwnMask => format!(
            "its mask: {} need {}, but may use only {} {}",
            counted(evidence.ready_threads(), "busy thread"),
            counted_figure(evidence.wanted_percent / 100.0, 1, "CPU"),
            agreeing(evidence.cpu_count, "CPU", "CPUs"),
            evidence.cpus
        ),
        _ => usual_limit(evidence),
    }
}

fn usual_limit(evidence: &Evidence) -> String {
    if evidence.cpu_count == 0 {
        return "not seen: it ended before its CPUs were read".to_owned();
    }
    let room = 100.0 * evidence.cpu_count as f64 - evidence.used_percent;
    let at_limit = evidence.busy.first().filter(|thread| thread.percent >= 90.0);
    let slow = evidence.first_client().filter(|one| one.busiest_percent >= CLIENT_LIMIT_PERCENT);
    // An always busy thread does not wait.
    if let Some(client) = slow.filter(|_| at_limit.is_none()) {
        let percent = figure(client.busiest_percent, 0);
        return format!("it waits for {}, which used {percent} % of a CPU", client.name);
    }
    if evidence.waits_percent >= WAITS_PERCENT {
        return crowded(evidence);
    }
    if room < 10.0 * evidence.cpu_count as f64 {
        return "its CPUs are busy".to_owned();
    }
    if let Some(thread) = at_limit {
        let percent = figure(thread.percent, 0);
        return format!("its thread '{}', at {percent} % of a CPU", thread.name);
    }
    match evidence.own_order() {
        Some(threads) => format!(
            "itself: on average {} of its {} ran at a time",
            figure(threads, 1),
            counted(evidence.busy.len(), "busy thread")
        ),
        None if evidence.talk.is_none() => format!("unknown: it used {}", share_of_cpus(evidence)),
        None => format!("none: it waits for requests, and used {}", share_of_cpus(evidence)),
    }
}

fn share_of_cpus(evidence: &Evidence) -> String {
    let percent = evidence.used_percent / evidence.cpu_count.max(1) as f64;
    format!("{} % of {}", figure(percent, 0), counted(evidence.cpu_count, "CPU"))
}

/// The program is busy with itself and those it works with.
fn crowded(evidence: &Evidence) -> String {
    let partners = &evidence.neighbours.partners;
    let with = match &partners[..] {
        [] => String::new(),
        _ => format!("; its partners share them: {}", with_percents(partners)),
    };
    format!(
        "its CPUs: it waited for one in {} % of its runnable time{with}",
        figure(evidence.waits_percent, 0)
    )
}

fn with_percents(programs: &[NeighbourProgram]) -> String {
    let named = programs.iter().take(MOST_NAMED).map(|NeighbourProgram { name, pid, percent }| {
        format!("{name} ({pid}, {} % of a CPU)", figure(*percent, 0))
    });
    joined(named, ", ")
}

fn neighbours(evidence: &Evidence) -> String {
    let names = with_percents(&evidence.neighbours.programs);
    let itself = if evidence.ready_threads() > evidence.cpu_count {
        let busy = counted(evidence.ready_threads(), "busy thread");
        format!(" (its own {busy} share {})", counted(evidence.cpu_count, "CPU"))
    } else {
        String::new()
    };
    let named: f64 =
        evidence.neighbours.programs.iter().take(MOST_NAMED).map(|one| one.percent).sum();
    let rest = evidence.neighbours.percent * evidence.cpu_count as f64 - named;
    let who = match (names.is_empty(), rest >= 10.0) {
        (true, _) => "many short-lived or small programs".to_owned(),
        (false, true) => format!("{names}, and many short-lived or small ones"),
        (false, false) => names,
    };
    format!(
        "others used {} % of its CPUs' time: {who}; it waited for a CPU in {} % of its runnable \
         time{itself}",
        figure(evidence.neighbours.percent, 0),
        figure(evidence.waits_percent, 0)
    )
}

fn bound_by(evidence: &Evidence) -> String {
    let mut cpus = match evidence.cpu_count {
        0 => "unknown CPUs".to_owned(),
        count => format!("{} {}", agreeing(count, "CPU", "CPUs"), evidence.cpus),
    };
    let bound = evidence.bound_threads();
    if !bound.is_empty() {
        let threads = counted(bound.len(), "busy thread");
        cpus += &format!("; {threads} pinned individually ({})", listed(&bound));
    }
    match (&evidence.quotas[..], &evidence.quotas_unseen) {
        ([], None) => format!("{cpus}; no CPU quota"),
        ([], Some(why)) => format!("{cpus}; CPU quota unknown ({why})"),
        (quotas, None) => format!("{cpus}; CPU quota {}", quotas.join(", ")),
        (quotas, Some(why)) => {
            format!("{cpus}; CPU quota {}; others unknown ({why})", quotas.join(", "))
        }
    }
}

/// The gain of the nearest seats over the farthest ones, by measured costs.
fn estimate(most: &MostGain) -> String {
    let effect = &most.effect;
    if effect.messages == 0.0 {
        return "none: no messages between its threads were seen".to_owned();
    }
    let rate = three_digits(effect.messages / effect.observed_s);
    let step_ns = (effect.farthest_s - effect.planned_s) / effect.messages.max(1.0) * 1e9;
    let share = match most.percent {
        100.0.. => "more than its whole time (messages overlap; only a trial can tell)".to_owned(),
        percent => {
            let percent = figure(percent, if percent < 10.0 { 2 } else { 0 });
            format!("{percent} % of its time, by measured costs")
        }
    };
    format!(
        // Plural: a rate.
        "{share}: {rate} messages/s x {} (farthest CPUs {}, nearest {}) on {}",
        time(step_ns),
        time(effect.farthest_ns),
        time(effect.farthest_ns - step_ns),
        most.machine
    )
}

fn tried_row(advice: &Advice) -> Option<Row> {
    let evidence = &advice.evidence;
    if let Some(trial) = &evidence.trial {
        return Some(row("tried", tried(trial)));
    }
    let is_said = matches!(advice.conclusion.reason, Reason::NotTried { .. });
    let why = evidence.no_trial.as_ref().filter(|_| !is_said)?;
    Some(row("tried", format!("nothing: {}", not_tried(why, evidence))))
}

fn tried(trial: &TrialResult) -> String {
    let arms = joined(trial.candidates.iter().map(arm), ", ");
    format!(
        "{} by {} in {} ({} counted), {}{}; the default against itself {}",
        if arms.is_empty() { "no seats" } else { &arms },
        trial.work,
        counted(trial.rounds, "round"),
        trial.counted,
        lasting(trial.seconds),
        if trial.has_ended { ", until the program ended" } else { "" },
        difference(trial.control)
    )
}

fn arm(tried: &TriedSeats) -> String {
    let first = format!("'{}' {}", tried.candidate.name, difference(tried.difference));
    match tried.repeat {
        Some(_) => format!("{first} (tried again: {})", difference(tried.repeat)),
        None => first,
    }
}

fn difference(difference: Option<RateDifference>) -> String {
    difference.map_or(
        "not read".to_owned(),
        |RateDifference { percent, low_percent, high_percent }| {
            format!(
                "{} % [{} to {}]",
                signed(percent, 1),
                signed(low_percent, 1),
                signed(high_percent, 1)
            )
        },
    )
}

fn by_neighbours(evidence: &Evidence) -> String {
    if let Some(how) = &evidence.gives_way {
        let change = evidence.gives_way_remedy.as_ref().map_or_else(
            || "change the neighbour's policy".to_owned(),
            |command| format!("'{command}' makes them equal"),
        );
        return format!(
            "its neighbours have priority ({how}): {change} if this is not intended; or stop or \
             move them, or create a cell"
        );
    }
    if evidence.has_team() {
        return "a thread that loses its CPU holds up the others, which spin at a barrier: stop or \
                move the neighbours, create a cell, or try OMP_WAIT_POLICY=passive"
            .to_owned();
    }
    "its neighbours limit its speed: stop or move them, or create a cell".to_owned()
}

fn why(advice: &Advice) -> String {
    use Reason::*;
    let evidence = &advice.evidence;
    let words = match &advice.conclusion.reason {
        Setting { finding } => {
            finding.advice.as_deref().unwrap_or_else(|| setting(advice.conclusion.verdict))
        }
        HardlyRuns if evidence.requests_unseen => {
            "it hardly runs, so seats cannot make it faster; only its owner and root can see its \
             io_uring waits for disks"
        }
        HardlyRuns => "it hardly runs, so seats cannot make it faster",
        Neighbours => return by_neighbours(evidence),
        Steal => "no seats in this machine can regain that time",
        Device => "its threads wait for a device; seats cannot make it faster",
        OneCpu => return one_cpu(evidence),
        OwnMask => {
            return format!(
                "other programs use the rest of CPUs {} too, so the gain is unknown: widen the \
                 mask if it is not intended, and run advise again",
                evidence.unbound_cpus
            );
        }
        Failed => {
            let failure = evidence.failure.as_deref().unwrap_or_default();
            return format!("it {failure}: check its own output first");
        }
        ShortTasks => {
            "short-lived threads and processes do its work: leave their placement to the kernel"
        }
        SmallTasks => {
            return format!(
                "threads below {} % of a CPU each do most of its work: seats are tried only for \
                 busier ones",
                figure(BUSY_PERCENT, 0)
            );
        }
        TooShort if evidence.is_cut => {
            return format!("it was stopped before anything could be observed: {LET_IT_RUN}");
        }
        TooShort => "it ended before anything could be observed",
        EndedUnseen => {
            "it ended too early, and could not be observed from its start: let it run for 10 s or \
             longer"
        }
        OneThread => "it has one busy thread, so seats change little",
        ClientAtLimit => {
            "the program it waits for is at its limit: let a client send more at once (pipelining, \
             more clients); run advise on a server"
        }
        TalkUnseen => {
            "seats depend on the messages between threads, which were not observed: run this \
             outside containers as root, or with CAP_BPF and CAP_PERFMON"
        }
        NotMeasured => {
            "the machine's distances or wakeup costs are unknown: run 'seatmap measure' there"
        }
        LittleTalk => {
            let saw_memory = evidence.most_gain.as_ref().is_some_and(|most| most.effect.saw_memory);
            let memory = if saw_memory { "" } else { "; shared memory was not observed" };
            return format!("its messages take too little of its time for seats to matter{memory}");
        }
        NotTried { why } => return not_tried(why, evidence),
        TrialVoid => {
            "the load of other programs changed between the periods, so they cannot be compared"
        }
        Drift => "the default differed from itself, so no difference is reliable",
        Unclear { seats } => return unclear(seats),
        NoneBetter => return none_better(evidence),
        Better { seats } => return better(seats, evidence),
    };
    words.to_owned()
}

fn unclear(seats: &TriedSeats) -> String {
    let [switches, user_time] =
        [seats.switches, seats.user_time].map(|one| signed(one.map_or(0.0, |one| one.percent), 0));
    format!(
        "'{}' changes its switches by {switches} % and its user time by {user_time} %, which \
         need not follow its work: only a total of the work can tell",
        seats.candidate.name
    )
}

fn none_better(evidence: &Evidence) -> String {
    let mut tried = evidence.trial.iter().flat_map(|trial| &trial.candidates);
    match tried.find(|tried| tried.is_unrepeated()) {
        Some(tried) => format!("the first gain of '{}' did not repeat", tried.candidate.name),
        None => "no tried seats are shown to be better".to_owned(),
    }
}

fn setting(verdict: AdviceVerdict) -> &'static str {
    match verdict {
        AdviceVerdict::DoThis => "this setting is wrong, whatever the seats",
        _ => "this limits its speed, whatever the seats; no command here can fix it",
    }
}

fn one_cpu(evidence: &Evidence) -> String {
    if evidence.unbound_cpus.is_empty() || evidence.unbound_cpus == evidence.cpus {
        return "it may use only one CPU, so there is only one seat".to_owned();
    }
    format!("its mask allows only CPU {}, which is enough for its work", evidence.cpus)
}

fn better(seats: &TriedSeats, evidence: &Evidence) -> String {
    let percent = seats.difference.map_or(0.0, |gain| gain.percent);
    // The time saved for the same work.
    let saved_percent = 100.0 * percent / (100.0 + percent);
    let most = evidence.most_gain.as_ref().map_or(f64::INFINITY, |most| most.percent);
    let beyond =
        if saved_percent > most { "; its messages cost more than in the measurement" } else { "" };
    let name = &seats.candidate.name;
    format!("it does {} % more work with the seats '{name}'{beyond}", figure(percent, 1))
}

fn not_tried(why: &NoTrial, evidence: &Evidence) -> String {
    use NoTrial::*;
    let words = match why {
        NoWork if evidence.command.is_some() => {
            "seats could matter, but its work cannot be measured: race whole runs of it, or give a \
             figure of its work with --metric"
        }
        NoWork => {
            "seats could matter, but its work cannot be measured: give a figure of it with --metric"
        }
        MetricFailed { why } => {
            return format!("the metric gave no value: {why}");
        }
        Bound => {
            return format!(
                "busy threads are pinned individually ({}), which no trial changes: unpin them, \
                 and run advise again",
                listed(&evidence.bound_threads())
            );
        }
        NoSeats => "no seats differ from the kernel's placement",
        Ended if evidence.is_cut => {
            return format!(
                "seats could matter, but it was stopped before they could be compared: {LET_IT_RUN}"
            );
        }
        Ended => "seats could matter, but it ended before they could be compared",
        Refused => "this user may not move its threads: run this as its owner or as root",
        Elsewhere => "seats could matter there, but only runs on that machine can tell",
    };
    words.to_owned()
}

fn listed(threads: &[&BusyThread]) -> String {
    let named = threads.iter().take(3).map(|one| format!("{} on {}", one.tid, one.cpus));
    joined(named, ", ") + if threads.len() > 3 { ", ..." } else { "" }
}

fn next(advice: &Advice) -> Option<Row> {
    let evidence = &advice.evidence;
    if let Reason::Better { .. } = advice.conclusion.reason {
        let program = program_options(evidence)?;
        let metric = metric_option(evidence);
        return Some(command("prove", &format!("seatmap advise --prove {program}{metric}")));
    }
    next_line(&advice.conclusion.reason, evidence).map(|line| command("next", &line))
}

fn next_line(reason: &Reason, evidence: &Evidence) -> Option<String> {
    let is_race = matches!(
        reason,
        Reason::TooShort | Reason::NotTried { why: NoTrial::Ended | NoTrial::NoWork }
    );
    // A race between truncated runs would compare nothing.
    if let Some(line) = evidence.command.as_ref().filter(|_| is_race && !evidence.is_cut) {
        return Some(format!("seatmap tune -- {line}"));
    }
    if let Some((setting, line)) = evidence.rival_setting.as_ref().zip(evidence.command.as_ref()) {
        let active = shell_escaped(&format!("active=env {setting} {line}"));
        return Some(format!("seatmap bench --compare {active} -- {line}"));
    }
    if !evidence.forbidden_clients.is_empty() {
        let clients = evidence.forbidden_clients.iter().map(|client| &client.pid);
        let pids = evidence.pids.iter().chain(clients).map(|pid| format!("--pid {pid}"));
        return Some(format!("sudo seatmap advise {}", joined(pids, " ")));
    }
    match reason {
        Reason::OwnMask | Reason::NotTried { why: NoTrial::Bound } => {
            let cpus = &evidence.unbound_cpus;
            let lines = evidence.pids.iter().map(|pid| format!("taskset -acp {cpus} {pid}"));
            // The screen has no room for all processes of a large server.
            let has_room = (1..=MOST_NAMED).contains(&evidence.pids.len());
            has_room.then(|| joined(lines, " && "))
        }
        Reason::Unclear { .. }
        | Reason::NotTried { why: NoTrial::NoWork | NoTrial::MetricFailed { .. } } => {
            let program = program_options(evidence)?;
            Some(format!("seatmap advise {program} --metric 'command:LINE THAT PRINTS A TOTAL'"))
        }
        _ => None,
    }
}

fn program_options(evidence: &Evidence) -> Option<String> {
    evidence.chosen_by.clone().or_else(|| match &evidence.pids[..] {
        [pid] => Some(format!("--pid {pid}")),
        // A command started for the observation may have started others.
        _ => None,
    })
}

/// The option that selects the trial's metric; empty for bytes and for switches with user time.
fn metric_option(evidence: &Evidence) -> String {
    let work = evidence.trial.as_ref().map_or("", |trial| &trial.work);
    match WorkMetric::parse(work) {
        Ok(metric) => format!(" --metric {}", shell_escaped(&metric.to_string())),
        Err(_) => String::new(),
    }
}

fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::High => "high: measured",
        Confidence::Medium => "medium: valid for the observed load",
        Confidence::Low => "low: a decisive fact is unknown",
    }
}

#[cfg(test)]
mod tests;
