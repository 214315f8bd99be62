//! The communication within an observed program.

use crate::alike::alike;
use crate::page::{Page, PageSection, Table, cells, section};
use crate::words::{beyond, counted, counted_figure, joined, visible};
use seatmap_data::pattern::Outsider;
use seatmap_observe::{Observation, ObservedTask};
use std::collections::BTreeSet;

/// The page shows the first few; the document contains all.
const MOST_TASKS: usize = 16;
const MOST_PAIRS: usize = 12;
const MOST_PHASES: usize = 8;
const MOST_OUTSIDERS: usize = 3;

/// Below this share of a CPU, a task without messages is idle.
const IDLE: f64 = 0.001;

/// From this share of all messages on, an outside process may belong to the program.
const MUCH: f64 = 0.05;

/// The page of an observation: the busiest tasks, the heaviest pairs, the phases, the overhead, and
/// what could not be observed.
pub fn page(observation: &Observation) -> Page {
    let tasks = section("Tasks", task_table(observation));
    let sections = vec![
        tasks.with(left_out(observation)),
        pair_section(observation),
        phase_section(observation),
        section("Remarks", remarks(observation)),
    ];
    Page { lead: vec![head(observation)], sections, ..Page::default() }
}

fn head(observation: &Observation) -> String {
    format!(
        // Plural: an amount such as 16.8 M.
        "{}, {}, {} messages in {:.1} s, by {} ({})",
        counted(observation.tasks.len(), "task"),
        counted(observation.pattern("").edges.len(), "pair"),
        amount(observation.messages()),
        observation.seconds(),
        observation.method_words(),
        observation.means
    )
}

fn task_table(observation: &Observation) -> Table {
    let tasks = &observation.tasks;
    let sent = sent(observation);
    let knows_loads = tasks.iter().any(|task| task.cpu_s > 0.0);
    let idle = idle_tasks(observation);
    let mut order = Vec::from_iter((0..tasks.len()).filter(|task| !idle.contains(task)));
    order.sort_by(|a, b| tasks[*b].cpu_s.total_cmp(&tasks[*a].cpu_s));
    order.truncate(MOST_TASKS);
    order.sort_unstable();
    Table::new("task:> | name | path:> | of a CPU:> | sends/s:>").flush().rows(
        order.into_iter().map(|place| {
            let ObservedTask { name, path, cpu_s, .. } = &tasks[place];
            let percent = format!("{:.1} %", cpu_s / observation.seconds().max(1e-9) * 100.0);
            let load = if knows_loads { percent } else { "-".to_owned() };
            cells![place, name, path, load, rate(observation, sent[place])]
        }),
    )
}

fn left_out(observation: &Observation) -> Vec<String> {
    let idle = idle_tasks(observation).len();
    let others = (idle > 0).then(|| format!("... and {}", counted(idle, "idle task")));
    more(observation.tasks.len() - idle, MOST_TASKS, "more task")
        .into_iter()
        .chain(others)
        .collect()
}

/// Waiting helpers, and shells that started the program. Empty without CPU times.
fn idle_tasks(observation: &Observation) -> BTreeSet<usize> {
    let tasks = &observation.tasks;
    if tasks.iter().all(|task| task.cpu_s == 0.0) {
        return BTreeSet::new();
    }
    let talks =
        |task: usize| observation.shares.iter().any(|share| [share.from, share.to].contains(&task));
    (0..tasks.len())
        .filter(|task| tasks[*task].cpu_s < IDLE * observation.seconds() && !talks(*task))
        .collect()
}

fn pair_section(observation: &Observation) -> PageSection {
    let section = PageSection::new("Pairs");
    let shares = &observation.shares;
    if shares.is_empty() {
        return section.with(vec!["no messages between tasks were seen".to_owned()]);
    }
    let name =
        |task: usize| observation.tasks.get(task).map(|task| task.name.clone()).unwrap_or_default();
    let table = Table::new("from | | to | messages/s:> | by");
    let rows = shares.iter().take(MOST_PAIRS).map(|share| {
        let messages = rate(observation, share.messages);
        cells![name(share.from), "->", name(share.to), messages, share.kind]
    });
    section.with(table.flush().rows(rows)).with(more(shares.len(), MOST_PAIRS, "more row"))
}

/// Empty if the pattern did not change.
fn phase_section(observation: &Observation) -> PageSection {
    let phases = observation.phases();
    let shown = if phases.len() < 2 { 0 } else { MOST_PHASES };
    let table = Table::new("phase:> | time:> | pairs:> | messages/s:>").flush().rows(
        phases.iter().enumerate().take(shown).map(|(number, phase)| {
            let seconds = (phase.to_s - phase.from_s).max(1e-9);
            [
                number.to_string(),
                format!("{:.1} to {:.1} s", phase.from_s, phase.to_s),
                phase.edges.len().to_string(),
                amount(phase.messages() / seconds),
            ]
        }),
    );
    section("Phases", table).with(more(phases.len(), MOST_PHASES, "more phase"))
}

fn remarks(observation: &Observation) -> Vec<String> {
    let cost = match observation.overhead {
        Some(share) => format!("{:.2} % of the program's CPU time", share * 100.0),
        None => format!("not measured: {}", observation.unmeasured()),
    };
    let mut remarks = vec![format!("overhead: {cost}")];
    remarks.extend(outside(observation));
    remarks.extend(observation.unseen.iter().map(|line| format!("not counted: {line}")));
    let methods = observation.method_words();
    remarks.push(format!("not visible to {methods}: {}", observation.misses()));
    remarks.extend(observation.advice().map(|text| format!("hint: {text}")));
    remarks
}

/// Processes that woke the program from outside, and how to observe them too.
fn outside(observation: &Observation) -> Option<String> {
    let all: f64 = observation.outsiders.iter().map(|one| one.wakeups).sum();
    let groups = outsider_groups(observation);
    let named = joined(groups.iter().take(MOST_OUTSIDERS).map(|group| name(group)), ", ");
    let more = if groups.len() > MOST_OUTSIDERS { " and others" } else { "" };
    let counted = counted_figure(all, 0, "wakeup");
    let mut line = format!("not counted: {counted} from outside the program: {named}{more}");
    let group = groups.first()?;
    let first = group[0];
    // Kernel threads belong to no program, and a started command is observed alone.
    let is_worth_it = wakeups(group) >= MUCH * (all + observation.messages());
    if is_worth_it && !first.is_kernel && !first.name.is_empty() && !observation.from_start {
        let pids = group.iter().take(MOST_OUTSIDERS).map(|one| format!("-p {}", one.pid));
        line += &format!("; add {} to observe {} too", joined(pids, " "), visible(&first.name));
    }
    Some(line)
}

/// Outside processes by name, the most wakeups first.
fn outsider_groups(observation: &Observation) -> Vec<Vec<&Outsider>> {
    let mut groups = alike(&observation.outsiders, |one, other| one.name == other.name);
    groups.sort_by(|a, b| wakeups(b).total_cmp(&wakeups(a)));
    groups
}

fn wakeups(group: &[&Outsider]) -> f64 {
    group.iter().map(|one| one.wakeups).sum()
}

/// Processes that ended before their names could be read have none.
fn name(group: &[&Outsider]) -> String {
    let count = counted(group.len(), "process");
    match (group[0].name.as_str(), group) {
        ("", [one]) => format!("process {} (ended)", one.pid),
        ("", _) => format!("{count} (ended)"),
        (name, [one]) => format!("{} ({})", visible(name), one.pid),
        (name, _) => format!("{count} of {}", visible(name)),
    }
}

fn sent(observation: &Observation) -> Vec<f64> {
    let mut sent = vec![0.0; observation.tasks.len()];
    observation.shares.iter().for_each(|share| sent[share.from] += share.messages);
    sent
}

fn rate(observation: &Observation, messages: f64) -> String {
    amount(messages / observation.seconds().max(1e-9))
}

/// The bounds are those at which rounding adds a digit.
fn amount(number: f64) -> String {
    match number {
        ..9.95 => format!("{number:.1}"),
        ..9_999.5 => format!("{number:.0}"),
        ..9_999_500.0 => format!("{:.0} k", number / 1e3),
        _ => format!("{:.0} M", number / 1e6),
    }
}

fn more(all: usize, shown: usize, name: &str) -> Option<String> {
    beyond(all, shown).map(|more| format!("... and {}", counted(more, name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::pattern::Edge;
    use seatmap_observe::{Method, PairMessages, TalkKind, Window};

    #[test]
    fn table_shows_tasks_pairs_and_hints() {
        let task = |name: &str, path: &str| ObservedTask {
            name: name.to_owned(),
            path: path.to_owned(),
            pid: 1,
            tid: 1,
            cpu_s: 1.0,
        };
        let edge = Edge { from: 0, to: 1, bytes: 4000.0, messages: 4000.0 };
        let observation = Observation {
            methods: vec![Method::Wakeups],
            means: "eBPF".to_owned(),
            tasks: vec![task("app", "0"), task("worker", "0.0")],
            windows: vec![Window { from_s: 0.0, to_s: 2.0, edges: vec![edge] }],
            shares: vec![PairMessages { from: 0, to: 1, kind: TalkKind::Futex, messages: 4000.0 }],
            overhead: Some(0.0123),
            from_start: false,
            outsiders: Vec::new(),
            unseen: vec!["7 wakeups came from interrupts".to_owned()],
        };
        let outsider = |pid: i32, name: &str, wakeups: f64| Outsider {
            pid,
            name: name.to_owned(),
            wakeups,
            is_kernel: false,
        };
        let outsiders =
            vec![outsider(7, "curl", 600.0), outsider(8, "", 3.0), outsider(9, "curl", 500.0)];
        let mut driven = Observation { outsiders, ..observation.clone() };
        driven.tasks.push(ObservedTask { cpu_s: 0.0, ..task("helper", "0.1") });
        assert!(driven.document("app").next_step(None).is_some());
        let silent = Observation { shares: Vec::new(), ..observation.clone() };
        let pages = [&observation, &driven, &silent].map(|one| page(one).text(None));
        insta::assert_snapshot!("observed", pages.join("----\n"));
        assert_eq!(Observation { methods: vec![Method::Tsan], ..silent }.advice(), None);
        driven.outsiders[0].wakeups = 1e6;
        assert_eq!(driven.document("app").next_step(None), None, "noise has no next step");
        let methods = [
            (Method::Mpi, 0.0),
            (Method::Tsan, 0.0),
            (Method::C2c, 0.0),
            (Method::Wakeups, 0.01),
            (Method::Wakeups, 1.0),
        ];
        let costs = methods.map(|(method, cpu_s)| {
            let methods = vec![method];
            let mut unknown = Observation { overhead: None, methods, ..observation.clone() };
            unknown.tasks.iter_mut().for_each(|task| task.cpu_s = cpu_s);
            page(&unknown)
                .text(None)
                .lines()
                .find(|line| line.starts_with("overhead: "))
                .unwrap()
                .to_owned()
        });
        insta::assert_snapshot!("unknown-overhead", costs.join("\n"));
    }

    #[test]
    fn amounts_have_few_digits() {
        let amounts = [9.94, 9.96, 9_999.4, 9_999.6, 9_999_400.0, 9_999_600.0].map(amount);
        assert_eq!(amounts, ["9.9", "10", "9999", "10 k", "9999 k", "10 M"]);
    }

    #[test]
    fn omitted_rows_use_singular_and_plural() {
        assert_eq!(more(17, 16, "more task").unwrap(), "... and 1 more task");
        assert_eq!(more(18, 16, "more task").unwrap(), "... and 2 more tasks");
        assert_eq!(more(16, 16, "more task"), None);
    }
}
