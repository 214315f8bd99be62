//! The services of a computer: their load, their sets, and changes since.

use crate::floor::{FloorPlan, coloured};
use crate::page::{Page, Table, TableCell, cells, html_section, section};
use crate::words::{
    counted, counted_figure, figure, joined, lasting, signed, three_digits, visible,
};
use seatmap_data::machine::Profile;
use seatmap_os::CpuSet;
use seatmap_os::cpu_list::named;
use seatmap_services::apply::{AppliedPlan, ApplyResult};
use seatmap_services::drift::{DriftReport, ServiceDrift};
use seatmap_services::import::{ImportRemark, ImportedSeats};
use seatmap_services::plan::baselines::TOGETHER;
use seatmap_services::plan::cost::CostTerms;
use seatmap_services::plan::document::{PackingBaseline, PlanVerdict};
use seatmap_services::plan::replay::Lateness;
use seatmap_services::race::{RaceReport, RaceVerdict};
use seatmap_services::record::RecordedService;
use seatmap_services::recorder::NOT_ASKED;
use seatmap_services::{ServicesPlan, ServicesRecord};

/// The most letters of a strip; on larger machines a letter is several CPUs.
const STRIP: usize = 48;

/// Latenesses that differ by less than this ratio are equal.
const SAME_LATENESS: f64 = 1.05;

const MOST_PAIRS: usize = 8;

/// The services now, or over a recorded time.
pub fn record_page(record: &ServicesRecord) -> Page {
    let seconds = record.interval_s * record.samples() as f64;
    let cpus = CpuSet::of_list(&record.cpus).unwrap_or_default();
    let headline = format!(
        "{} on {} ({}), over {}: together they needed {} at their joint peak.",
        counted(record.services.len(), "service"),
        record.machine,
        counted(cpus.len(), "CPU"),
        lasting(seconds),
        counted_figure(record.joint_peak_cpus(), 2, "CPU")
    );
    Page {
        sections: vec![
            section("Load", loads(record)).unit("CPUs"),
            section("Sets", places(record, &cpus)),
            section("Messages", talk(record)).with(silence(record)),
            section("Device interrupts", interrupts(record)),
            section("Notes", restarts(record)),
        ],
        footer: "Observed by 'seatmap services'; nothing was changed.",
        ..Page::new(format!("Services on {}", record.machine), headline).headed()
    }
}

fn loads(record: &ServicesRecord) -> Table {
    Table::new("service | processes:> | threads:> | median:> | p99:> | max:> | waits:>").rows(
        record.services.iter().map(|one| {
            let load = one.summary();
            cells![
                &one.service.name,
                one.processes,
                one.threads,
                figure(load.median_cpus, 2),
                figure(load.p99_cpus, 2),
                figure(load.most_cpus, 2),
                figure(load.waited_cpus, 2)
            ]
        }),
    )
}

fn places(record: &ServicesRecord, cpus: &CpuSet) -> Table {
    Table::new("service | CPUs | | memory | target").rows(record.services.iter().map(|one| {
        let allowed = CpuSet::of_list(&one.allowed).unwrap_or_default();
        cells![
            &one.service.name,
            &one.allowed,
            strip(std::slice::from_ref(cpus), &allowed),
            memory(one),
            one.service.target().map_or_else(String::new, |target| target.to_string())
        ]
    }))
}

/// Memory by node, from half a MiB on; empty if unknown.
fn memory(one: &RecordedService) -> String {
    let mib = one.memory_bytes.iter().map(|(node, bytes)| (node, *bytes as f64 / 1048576.0));
    let words = mib
        .filter(|(_, mib)| *mib >= 0.5)
        .map(|(node, mib)| format!("{} MiB on node {node}", figure(mib, 0)));
    let words = joined(words, ", ");
    if words.is_empty() && one.memory_bytes.values().any(|bytes| *bytes > 0) {
        "under 1 MiB".to_owned()
    } else {
        words
    }
}

fn talk(record: &ServicesRecord) -> Table {
    let mut pairs = Vec::from_iter(record.talk.iter().filter(|talk| talk.per_s >= 0.5));
    pairs.sort_by(|a, b| b.per_s.total_cmp(&a.per_s));
    Table::new("from | to | messages/s:>").rows(pairs.into_iter().take(MOST_PAIRS).map(|talk| {
        let [from, to] = [talk.from, talk.to].map(|at| record.services[at].service.name.clone());
        [from, to, three_digits(talk.per_s)]
    }))
}

fn silence(record: &ServicesRecord) -> Option<String> {
    let none = "No messages between or within these services were seen.";
    match &record.talk_unseen {
        Some(why) => (why != NOT_ASKED).then(|| format!("Messages were not observed: {why}.")),
        None => record.talk.is_empty().then(|| none.to_owned()),
    }
}

fn interrupts(record: &ServicesRecord) -> Table {
    let table = Table::new("CPU | interrupts/s:> | mostly");
    let busy = record.interrupts.iter().filter(|one| one.per_s >= 1.0);
    table.rows(busy.map(|one| cells![one.cpu, three_digits(one.per_s), &one.most]))
}

fn restarts(record: &ServicesRecord) -> Vec<String> {
    let restarted = record.services.iter().filter(|one| one.restarted).map(|one| {
        format!("'{}' restarted or ended meanwhile, so its load is not typical.", one.service.name)
    });
    restarted.collect()
}

/// The CPUs by group, with `#` for those of a set.
fn strip(groups: &[CpuSet], set: &CpuSet) -> String {
    let all: usize = groups.iter().map(CpuSet::len).sum();
    let per_letter = all.div_ceil(STRIP).max(1);
    let words = groups.iter().map(|group| -> String {
        let cpus = Vec::from_iter(group.iter());
        let letters = cpus.chunks(per_letter);
        letters
            .map(|some| if some.iter().any(|cpu| set.contains(*cpu)) { '#' } else { '.' })
            .collect()
    });
    joined(words, "|")
}

/// The sets of a plan, compared with other ways to divide the CPUs.
pub fn plan_page(plan: &ServicesPlan, profile: &Profile) -> Page {
    Page {
        sections: vec![
            section("Sets", sets(plan)),
            section("Compared with other policies", ways(plan))
                .unit("ms lost per CPU second that a service needs"),
            html_section("The machine", picture(plan, profile)),
            section("Notes", notes(plan)),
        ],
        footer: "Computed by 'seatmap services plan' from a record.",
        ..Page::new(format!("Services on {}", plan.machine), headline(plan)).headed()
    }
}

fn headline(plan: &ServicesPlan) -> String {
    let services = format!("{} on {}", counted(plan.services.len(), "service"), plan.machine);
    let Some(before) = plan.baselines.first() else {
        return format!("{services}: imported as written, not evaluated.");
    };
    let way = way_of(before);
    let [lost, lost_before] =
        [plan.cost_percent.unwrap_or(0.0), before.cost_percent].map(per_cpu_second);
    let model = match plan.verdict {
        PlanVerdict::AsWritten => ": imported as written, not evaluated.".to_owned(),
        PlanVerdict::Seat => format!(
            ". Model: with these sets a service loses {lost} per CPU second it needs; {way}, \
             {lost_before}."
        ),
        PlanVerdict::KeepLimits => format!(
            ": these sets respect the limits of the file. Model: with them a service loses {lost} \
             per CPU second it needs; {way}, which breaks the limits, {lost_before}."
        ),
        PlanVerdict::NothingToGain => format!(
            ": there is nothing to gain. Model: a service loses {lost_before} per CPU second it \
             needs {way}, and {lost} with sets."
        ),
    };
    let replay = plan.lateness.and_then(|late| other_verdict(plan, late, before));
    joined(std::iter::once(format!("{services}{model}")).chain(replay), " ")
}

/// The verdict of the replayed record, if it contradicts the plan's.
fn other_verdict(plan: &ServicesPlan, own: Lateness, before: &PackingBaseline) -> Option<String> {
    let seats = matches!(plan.verdict, PlanVerdict::Seat | PlanVerdict::KeepLimits);
    let [seated_ms, before_ms] = [own.p99_ms, before.lateness.p99_ms];
    let disagrees = if seats {
        seated_ms > SAME_LATENESS * before_ms
    } else {
        before_ms > SAME_LATENESS * seated_ms
    };
    let [seated, unseated] = [seated_ms, before_ms].map(|ms| lasting(ms / 1e3));
    disagrees.then(|| {
        format!(
            "Replaying the record says the opposite: with these sets 1 % of the work is {seated} \
             late or more; {}, {unseated}. 'seatmap services race' measures the running services.",
            way_of(before)
        )
    })
}

fn way_of(before: &PackingBaseline) -> &str {
    if before.name == TOGETHER { "with everything shared" } else { &before.name }
}

/// The time lost in each second that a service needs. It may exceed that second, so a percentage
/// would mislead.
fn per_cpu_second(percent: f64) -> String {
    match 10.0 * percent {
        ms @ 999.5.. => format!("{} s", figure(ms / 1e3, 1)),
        _ => format!("{} ms", lost(percent)),
    }
}

/// The milliseconds lost per second; small numbers have a decimal.
fn lost(percent: f64) -> String {
    let ms = 10.0 * percent;
    figure(ms, usize::from(ms < 9.95))
}

/// An empty text if the value was not recorded.
fn cpus(value: Option<f64>) -> String {
    value.map(|cpus| figure(cpus, 2)).unwrap_or_default()
}

fn sets(plan: &ServicesPlan) -> Table {
    let groups = Vec::from_iter(plan.caches.iter().filter_map(|list| CpuSet::of_list(list)));
    let rows = Table::new("service | CPUs | | median:> | p99:> | max:> | nodes | shares with")
        .rows(plan.services.iter().map(|one| {
            let others = plan
                .services
                .iter()
                .filter(|other| other.pool == one.pool && other.service.name != one.service.name)
                .map(|other| &other.service.name);
            cells![
                &one.service.name,
                &one.cpus,
                strip(&groups, &one.cpu_set()),
                cpus(one.median_cpus),
                cpus(one.p99_cpus),
                cpus(one.most_cpus),
                &one.nodes,
                joined(others, ", ")
            ]
        }));
    rows.where_filled(6)
}

/// Empty if the plan was not evaluated.
fn ways(plan: &ServicesPlan) -> Table {
    let Some(cost) = plan.cost else { return Table::default() };
    let columns = "policy | lost:> | waiting:> | sharing:> | caches:> | talk:> | memory:> | \
                   late p99:> | late:>";
    let own = plan.lateness.map(|late| way("this plan", cost, late));
    let bound = plan.bound_percent.map(lost).unwrap_or_default();
    let bound = ["lower bound", &bound, "", "", "", "", "", "", ""].map(TableCell::from);
    let others = plan.baselines.iter().map(|one| {
        let mark = if one.keeps_limits { "" } else { " (breaks limits)" };
        way(&format!("{}{mark}", one.name), one.cost, one.lateness)
    });
    Table::new(columns).rows(own.into_iter().chain(others).chain([bound]))
}

fn way(name: &str, cost: CostTerms, late: Lateness) -> [TableCell; 9] {
    cells![
        name,
        TableCell::strong(lost(cost.total())),
        lost(cost.waiting_percent),
        lost(cost.sharing_percent),
        lost(cost.caches_percent),
        lost(cost.talk_percent),
        lost(cost.memory_percent),
        format!("{} ms", figure(late.p99_ms, 1)),
        format!("{} %", figure(late.late_percent, 1))
    ]
}

fn picture(plan: &ServicesPlan, profile: &Profile) -> maud::Markup {
    let pools = plan.services.iter().map(|one| one.pool).max().map_or(0, |last| last + 1);
    let mut names = vec![String::new(); pools];
    let mut owners = Vec::new();
    for one in &plan.services {
        if names[one.pool].is_empty() {
            owners.extend(one.cpu_set().iter().map(|cpu| (cpu, one.pool)));
        } else {
            names[one.pool] += ", ";
        }
        names[one.pool] += &one.service.name;
    }
    owners.sort_unstable();
    coloured(&FloorPlan::of(profile, None), &names, &owners)
}

fn notes(plan: &ServicesPlan) -> Vec<String> {
    let proven = "Proven: no other sets of adjacent cores lose 1 % less than these.";
    let assumed = "Core distances are assumed by level; 'seatmap measure' measures them.";
    let unseen = plan.talk_unseen.as_ref();
    let notes = [
        plan.is_proven.then(|| proven.to_owned()),
        plan.distances_are_assumed.then(|| assumed.to_owned()),
        unseen.map(|why| format!("Messages were not observed ({why}), and count as none.")),
        (!plan.interrupts.is_empty()).then(|| {
            format!(
                "Device interrupts and packets should go to CPUs {} ('seatmap services apply \
                 --interrupts --rps').",
                plan.interrupts
            )
        }),
        (plan.samples > 0).then(|| {
            format!(
                "Evaluated on {} of {}; 'late' is from replaying the record on the sets.",
                counted(plan.samples, "sample"),
                lasting(plan.interval_s)
            )
        }),
    ];
    notes.into_iter().flatten().collect()
}

/// The sets in other tools' files.
pub fn import_page(imported: &ImportedSeats, profile: &Profile) -> Page {
    let seats = &imported.seats;
    let seated = seats.iter().filter(|seat| seat.cpus.is_some()).count();
    let headline = format!(
        "{}, {seated} of them pinned to CPUs of {}: imported as written, not evaluated.",
        counted(seats.len(), "service"),
        profile.name
    );
    let known: CpuSet = profile.topology.os_indices().collect();
    let rows =
        Table::new("service | CPUs | | nodes | target | source").rows(seats.iter().map(|seat| {
            cells![
                &seat.service.name,
                seat.cpus.clone().unwrap_or_default(),
                strip(std::slice::from_ref(&known), &seat.cpu_set()),
                seat.nodes.clone().unwrap_or_default(),
                seat.service.target().map_or_else(String::new, |target| target.to_string()),
                seat.sources.join(", ")
            ]
        }));
    let rows = rows.where_filled(3);
    Page {
        sections: vec![section("Sets", rows), section("Notes", import_notes(imported))],
        footer: "Imported by 'seatmap services import'; nothing was changed.",
        ..Page::new(format!("Services of {}", profile.name), headline).headed()
    }
}

fn import_notes(seats: &ImportedSeats) -> Vec<String> {
    let detailed = seats.seats.iter().filter(|seat| !seat.details.is_empty());
    let details =
        detailed.map(|seat| format!("{}: {}.", seat.service.name, seat.details.join("; ")));
    let housekeeping = seats.housekeeping.as_ref().map(|cpus| {
        format!("CPUs {cpus} are reserved for housekeeping: housekeeping = \"{cpus}\".")
    });
    details.chain(housekeeping).chain(seats.remarks.iter().map(import_remark)).collect()
}

fn import_remark(remark: &ImportRemark) -> String {
    use ImportRemark::*;
    match remark {
        NothingToSeat { file } => {
            format!("{file} says nothing about CPUs or memory.")
        }
        UnreadFile { file, problem } => format!("{file} was not read: {problem}."),
        ReversedRange { unit, key, range } => {
            format!(
                "{unit}: systemd ignores the range {range} of {key}=, which ends before it begins."
            )
        }
        UnreadSetting { unit, key, value } => format!(
            "{unit}: '{value}' of {key}= is not a list known before the unit starts; 'systemctl \
             show --property Id,{key} {unit}' prints it."
        ),
        NoPolicy { file } => {
            format!("{file}: the policy is 'none', so kubelet gives no pod exclusive CPUs.")
        }
        UnreadKeys { file, keys } => format!(
            "{file} has {}, which this version does not read: CPUs of some pods may be missing.",
            keys.join(", ")
        ),
        SharedPool { cpus } => {
            format!("All pods without exclusive CPUs run on CPUs {cpus}; they are not listed.")
        }
        ManyUnits { unit } => format!(
            "{unit} applies to several units; 'systemctl show --property \
             Id,AllowedCPUs,CPUAffinity UNIT' prints the settings of one."
        ),
        CpusOfNodes { unit } => format!(
            "{unit}: CPUAffinity=numa follows its memory nodes when it starts, so its CPUs are \
             unknown here."
        ),
        AffinityOutside { unit, affinity, allowed } => {
            format!("{unit} requests CPUs {affinity}, but its group allows only CPUs {allowed}.")
        }
        AutoPlacement { domain } => {
            format!("{domain}: placement='auto' chooses its CPUs when it starts.")
        }
        PartlyPinned { domain, pinned, vcpus } => format!(
            "{domain}: {pinned} of {} are pinned; the others may run anywhere.",
            counted(vcpus, "vCPU")
        ),
        EmulatorAnywhere { domain } => {
            format!("{domain}: its emulator may run anywhere; <emulatorpin> pins it.")
        }
        SharedCpus { first, second, cpus, is_claimed: true } => format!(
            "{first} and {second} both claim {}, but one of them needs exclusive CPUs.",
            named(cpus)
        ),
        SharedCpus { first, second, cpus, is_claimed: false } => {
            format!("{first} and {second} share {}, but not all of their CPUs.", named(cpus))
        }
    }
}

/// An applied plan, in words.
pub fn seated(seated: &ApplyResult) -> String {
    let applied = &seated.applied;
    let mut text = format!(
        "plan '{}' is applied: {}, {} changed ({}); {}\n",
        applied.name,
        counted(applied.plan.services.len(), "service"),
        counted(seated.changes, "setting"),
        counted(seated.threads, "thread"),
        standing(applied)
    );
    let interrupts = counted(seated.interrupts_left.len(), "interrupt");
    let queues = counted(seated.queues_left.len(), "queue");
    let left = [
        (&*format!("the kernel refused to move {interrupts}"), &seated.interrupts_left),
        (&format!("the kernel refused to redirect the packets of {queues}"), &seated.queues_left),
        (
            "memory was not moved (only units, containers and groups take nodes)",
            &seated.memory_left,
        ),
    ];
    for (what, names) in left.into_iter().filter(|(_, names)| !names.is_empty()) {
        text += &format!("{what}: {}\n", visible(&names.join(", ")));
    }
    text
}

/// How long a plan stays applied, in words.
pub fn standing(applied: &AppliedPlan) -> String {
    match applied.left_s() {
        Some(left) => format!(
            "it is undone automatically in {}; 'seatmap services undo {}' undoes it now",
            lasting(left as f64),
            applied.name
        ),
        None => format!("'seatmap services undo {}' undoes it", applied.name),
    }
}

/// The result of a race.
pub fn race_page(report: &RaceReport) -> Page {
    let rows = Table::new("service | work %:> | from:> | to:> | limit:> | rounds:> | metric").rows(
        report.services.iter().map(|one| {
            let change = one.change_percent.map(|change| change.map(|percent| signed(percent, 1)));
            let [centre, low, high] = change.unwrap_or_default();
            let limit = format!("-{}", figure(one.limit_percent, 1));
            let by = one.metric.clone().unwrap_or_else(|| "no metric: not judged".to_owned());
            cells![&one.name, centre, low, high, limit, one.counted, by]
        }),
    );
    Page { sections: vec![section("Services", rows)], ..Page::new("Race", raced(report)).headed() }
}

fn raced(report: &RaceReport) -> String {
    let rounds = counted(report.rounds, "round");
    let back = "the plan is undone";
    match &report.verdict {
        RaceVerdict::Kept => format!(
            "{rounds}: a service gains and none loses more than its limit. Plan '{}' stays \
             applied; 'seatmap services undo {}' undoes it.",
            report.plan, report.plan
        ),
        RaceVerdict::NoGain => format!("{rounds}: no service is shown to gain; {back}."),
        RaceVerdict::MayLose { services } => {
            format!("{rounds}: {} may lose more than the limit; {back}.", services.join(", "))
        }
        RaceVerdict::TooFewRounds { services } => {
            format!("{rounds}: too few have a reading of {}; {back}.", services.join(", "))
        }
    }
}

/// The differences between an applied plan and the services now, for a terminal.
pub fn drift_text(report: &DriftReport) -> String {
    let mut lines = Vec::from_iter(report.faults.iter().map(drifted));
    if lines.is_empty() {
        lines.push(format!("plan '{}': every service is on its planned CPUs", report.plan));
    }
    for service in &report.started_anew {
        lines.push(format!("{service}: it restarted since, and is on its set"));
    }
    lines.iter().map(|line| format!("{}\n", visible(line))).collect()
}

fn drifted(fault: &ServiceDrift) -> String {
    use ServiceDrift::*;
    match fault {
        Gone { service } => {
            format!("{service}: not running; start it, or plan without it")
        }
        Outside { service, cpus, threads, of, restarted } => format!(
            "{service}: {threads} of {} may run outside CPUs {cpus}{}; undo and apply the plan \
             again",
            counted(*of, "thread"),
            if *restarted { ", because it restarted" } else { "" }
        ),
        Rewritten { service, file, planned, found } => format!(
            "{service}: {file} was set to '{planned}', but is '{found}'; another program writes it"
        ),
        OtherCpus { service, words, planned, found } => format!(
            "{service}: '{words}' named CPUs {planned}, and names {} now; plan again",
            if found.is_empty() { "none" } else { found }
        ),
        Offline { services, cpus } => {
            let having = services.join(", ");
            let having = if having.is_empty() { "no service".to_owned() } else { having };
            let online = CpuSet::of_list(cpus).unwrap_or_default();
            let online = seatmap_os::cpus::bring_online(&online);
            format!("CPUs {cpus} are offline (planned for {having}); run '{online}', or plan again")
        }
        NewCpus { cpus } => {
            format!("CPUs {cpus} are online but in no set; plan again to use them")
        }
        NewService { service, target, used_cpus } => format!(
            "{service} ({target}) uses {} but is not in the plan; add it with 'seatmap services \
             init'",
            counted_figure(*used_cpus, 2, "CPU")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_strip_groups_cpus_and_scales_down() {
        let groups = ["0-3", "4-7"].map(|list| CpuSet::of_list(list).unwrap());
        let set = CpuSet::of_list("2-4").unwrap();
        assert_eq!(strip(&groups, &set), "..##|#...");
        let large = [CpuSet::of_list("0-95").unwrap()];
        let drawn = strip(&large, &CpuSet::of_list("0,95").unwrap());
        assert_eq!((drawn.len(), &drawn[..2], &drawn[46..]), (48, "#.", ".#"));
    }

    #[test]
    fn small_memory_is_not_shown_as_zero() {
        for (memory_bytes, words) in [
            ([(0, 7 << 20), (3, 4096)], "7 MiB on node 0"),
            ([(0, 8192), (3, 4096)], "under 1 MiB"),
            ([(0, 0), (3, 0)], ""),
        ] {
            let memory_bytes = memory_bytes.into();
            let one = RecordedService { memory_bytes, ..RecordedService::default() };
            assert_eq!(memory(&one), words);
        }
    }

    #[test]
    fn drift_sentence_names_remedy() {
        let fault = ServiceDrift::Outside {
            service: "redis".into(),
            cpus: "0-1".into(),
            threads: 2,
            of: 5,
            restarted: true,
        };
        assert_eq!(
            drifted(&fault),
            "redis: 2 of 5 threads may run outside CPUs 0-1, because it restarted; undo and apply \
             the plan again"
        );
    }
}
