//! The observation as a table for people.

use crate::session::LEAST_S;
use crate::{Method, Observation, ObservedTask};
use seatmap_data::document::{left_aligned, right_aligned, visible};
use seatmap_data::statistics::words::{counted, counted_figure};
use std::collections::BTreeSet;

/// The most tasks and pairs shown; the document has all.
const MOST_TASKS: usize = 16;
const MOST_PAIRS: usize = 12;
const MOST_PHASES: usize = 8;
const MOST_OUTSIDERS: usize = 3;

/// The share of a CPU below which a task that talks to nobody did nothing.
const IDLE: f64 = 0.001;

/// The share of all messages from which a process outside seems to belong to the program.
const MUCH: f64 = 0.05;

impl Observation {
    /// The busiest tasks, the heaviest pairs, the phases, and what the observation took and could
    /// not see.
    #[must_use]
    pub fn table(&self) -> String {
        [self.head(), self.task_table(), self.pair_table(), self.phase_table(), self.remarks()]
            .concat()
    }

    fn head(&self) -> String {
        let pairs = self.pattern("").edges.len();
        format!(
            // Plural: an amount such as 16.8 M.
            "{}, {}, {} messages in {:.1} s, by {} ({})\n",
            counted(self.tasks.len(), "task"),
            counted(pairs, "pair"),
            amount(self.messages()),
            self.seconds(),
            self.method_words(),
            self.means
        )
    }

    fn task_table(&self) -> String {
        let sent = self.sent();
        let knows_loads = self.tasks.iter().any(|task| task.cpu_s > 0.0);
        let idle = self.idle_tasks();
        let mut order: Vec<usize> =
            (0..self.tasks.len()).filter(|task| !idle.contains(task)).collect();
        order.sort_by(|a, b| self.tasks[*b].cpu_s.total_cmp(&self.tasks[*a].cpu_s));
        order.truncate(MOST_TASKS);
        // The busiest are chosen, and shown in the order of their numbers.
        order.sort_unstable();
        let rows = order
            .iter()
            .map(|task| {
                let ObservedTask { name, path, cpu_s, .. } = &self.tasks[*task];
                let percent = format!("{:.1} %", cpu_s / self.seconds().max(1e-9) * 100.0);
                let load = if knows_loads { percent } else { "-".to_owned() };
                [task.to_string(), visible(name), visible(path), load, self.rate(sent[*task])]
            })
            .collect();
        let title = ["task", "name", "path", "of a CPU", "sends/s"];
        let others = match idle.len() {
            0 => String::new(),
            count => format!("... and {} that did nothing\n", counted(count, "task")),
        };
        let shown = self.tasks.len() - idle.len();
        aligned(title, rows) + &more(shown, MOST_TASKS, "more task") + &others
    }

    /// Tasks that hardly worked and talked to nobody: helpers that wait, and shells that started
    /// the program. Where CPU times are not known, none.
    fn idle_tasks(&self) -> BTreeSet<usize> {
        if self.tasks.iter().all(|task| task.cpu_s == 0.0) {
            return BTreeSet::new();
        }
        let talks =
            |task: usize| self.shares.iter().any(|share| [share.from, share.to].contains(&task));
        (0..self.tasks.len())
            .filter(|task| self.tasks[*task].cpu_s < IDLE * self.seconds() && !talks(*task))
            .collect()
    }

    fn pair_table(&self) -> String {
        if self.shares.is_empty() {
            return "\nno task was seen to talk to another one\n".to_owned();
        }
        let rows = self
            .shares
            .iter()
            .take(MOST_PAIRS)
            .map(|share| {
                [
                    self.visible_name(share.from),
                    "->".to_owned(),
                    self.visible_name(share.to),
                    self.rate(share.messages),
                    share.kind.to_string(),
                ]
            })
            .collect();
        aligned(["from", "", "to", "messages/s", "by"], rows)
            + &more(self.shares.len(), MOST_PAIRS, "more row")
    }

    fn visible_name(&self, task: usize) -> String {
        self.tasks.get(task).map(|task| visible(&task.name)).unwrap_or_default()
    }

    fn phase_table(&self) -> String {
        let phases = self.phases();
        if phases.len() < 2 {
            return String::new();
        }
        let rows = phases
            .iter()
            .enumerate()
            .take(MOST_PHASES)
            .map(|(number, phase)| {
                let seconds = (phase.to_s - phase.from_s).max(1e-9);
                let time = format!("{:.1} to {:.1} s", phase.from_s, phase.to_s);
                [
                    number.to_string(),
                    time,
                    phase.edges.len().to_string(),
                    amount(phase.messages() / seconds),
                    String::new(),
                ]
            })
            .collect();
        aligned(["phase", "time", "pairs", "messages/s", ""], rows)
            + &more(phases.len(), MOST_PHASES, "more phase")
    }

    fn remarks(&self) -> String {
        let cost = match self.overhead {
            Some(share) => format!("{:.2} % of the program's CPU time", share * 100.0),
            None => format!("not measured: {}", self.unmeasured()),
        };
        let unseen: String =
            self.unseen.iter().map(|line| format!("not counted: {}\n", visible(line))).collect();
        let outside = self.outside().map(|line| format!("{line}\n")).unwrap_or_default();
        let advice = self.advice().map(|text| format!("hint: {text}\n")).unwrap_or_default();
        format!(
            "\noverhead: {cost}\n{outside}{unseen}cannot be seen by {}: {}\n{advice}",
            self.method_words(),
            self.misses()
        )
    }

    /// The processes that woke the program from outside, and how to observe them with it.
    fn outside(&self) -> Option<String> {
        let all: f64 = self.outsiders.iter().map(|one| one.wakeups).sum();
        let groups = self.outsider_groups();
        let named: Vec<String> = groups.iter().take(MOST_OUTSIDERS).map(Outside::name).collect();
        let more = if groups.len() > MOST_OUTSIDERS { " and others" } else { "" };
        let counted = counted_figure(all, 0, "wakeup");
        let mut line =
            format!("not counted: {counted} from outside the program: {}{more}", named.join(", "));
        let first = groups.first()?;
        // The kernel's own threads belong to nobody, and a command cannot take others in.
        let is_worth_it = first.wakeups >= MUCH * (all + self.messages());
        if is_worth_it && !first.is_kernel && !first.name.is_empty() && !self.from_start {
            let pids: Vec<String> =
                first.pids.iter().take(MOST_OUTSIDERS).map(|pid| format!("-p {pid}")).collect();
            line += &format!("; {} observes {} with it", pids.join(" "), visible(first.name));
        }
        Some(line)
    }

    /// Processes outside by their names, the most wakeups first.
    fn outsider_groups(&self) -> Vec<Outside<'_>> {
        let mut groups: Vec<Outside> = Vec::new();
        for one in &self.outsiders {
            match groups.iter_mut().find(|group| group.name == one.name) {
                Some(group) => {
                    group.wakeups += one.wakeups;
                    group.pids.push(one.pid);
                }
                None => groups.push(Outside {
                    name: &one.name,
                    pids: vec![one.pid],
                    wakeups: one.wakeups,
                    is_kernel: one.is_kernel,
                }),
            }
        }
        groups.sort_by(|a, b| b.wakeups.total_cmp(&a.wakeups));
        groups
    }

    /// Why the overhead was not measured.
    fn unmeasured(&self) -> &'static str {
        let program_s: f64 = self.tasks.iter().map(|task| task.cpu_s).sum();
        match self.methods[..] {
            [Method::C2c] => "the processor takes the samples",
            // The library's time is part of the program's, whatever that used.
            [Method::Mpi] | [Method::Tsan] => "the program itself counts, within its own CPU time",
            _ if program_s < LEAST_S => "the program used too little CPU time",
            _ => "the kernel did not say how long its part took",
        }
    }

    /// The messages that each task sent.
    fn sent(&self) -> Vec<f64> {
        let mut sent = vec![0.0; self.tasks.len()];
        self.shares.iter().for_each(|share| sent[share.from] += share.messages);
        sent
    }

    fn rate(&self, messages: f64) -> String {
        amount(messages / self.seconds().max(1e-9))
    }
}

/// Processes outside the program that have one name.
struct Outside<'a> {
    /// Empty for those that had ended before their names could be read.
    name: &'a str,
    pids: Vec<i32>,
    wakeups: f64,
    is_kernel: bool,
}

impl Outside<'_> {
    fn name(&self) -> String {
        match (self.name, &self.pids[..]) {
            ("", [pid]) => format!("process {pid}, which has ended"),
            ("", pids) => format!("{} that have ended", counted(pids.len(), "process")),
            (name, [pid]) => format!("{} ({pid})", visible(name)),
            (name, pids) => format!("{} of {}", counted(pids.len(), "process"), visible(name)),
        }
    }
}

/// A number with its multiplier. The bounds are those at which rounding adds a digit.
fn amount(number: f64) -> String {
    match number {
        ..9.95 => format!("{number:.1}"),
        ..9_999.5 => format!("{number:.0}"),
        ..9_999_500.0 => format!("{:.0} k", number / 1e3),
        _ => format!("{:.0} M", number / 1e6),
    }
}

fn more(all: usize, shown: usize, name: &str) -> String {
    if all > shown { format!("... and {}\n", counted(all - shown, name)) } else { String::new() }
}

/// Columns below their titles; numbers to the right.
fn aligned<const N: usize>(title: [&str; N], rows: Vec<[String; N]>) -> String {
    let all: Vec<[String; N]> = std::iter::once(title.map(str::to_owned)).chain(rows).collect();
    let widths: [usize; N] = std::array::from_fn(|column| {
        all.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
    });
    // Numbers stand to the right. A title says nothing about its column.
    let right: [bool; N] = std::array::from_fn(|column| {
        all[1..].iter().all(|row| row[column].starts_with(|c: char| c.is_ascii_digit()))
    });
    let mut text = "\n".to_owned();
    for row in &all {
        let cells: Vec<String> = (0..N)
            .map(|column| {
                let aligned = if right[column] { right_aligned } else { left_aligned };
                aligned(&row[column], widths[column])
            })
            .collect();
        text += cells.join("  ").trim_end();
        text += "\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Method, PairMessages, TalkKind, Window};
    use seatmap_data::pattern::{Edge, Outsider};

    #[test]
    fn the_table_has_tasks_pairs_and_remarks() {
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
        let table = observation.table();
        assert!(
            table.starts_with("2 tasks, 1 pair, 4000 messages in 2.0 s, by wakeups (eBPF)\n\n"),
            "{table}"
        );
        assert!(table.contains("\n   0  app        0    50.0 %     2000\n"), "{table}");
        assert!(
            table.contains(
                "\nfrom      to      messages/s  by\napp   ->  worker        2000  futex\n"
            ),
            "{table}"
        );
        let outsider = |pid: i32, name: &str, wakeups: f64| Outsider {
            pid,
            name: name.to_owned(),
            wakeups,
            is_kernel: false,
        };
        let outsiders =
            vec![outsider(7, "curl", 600.0), outsider(8, "", 3.0), outsider(9, "curl", 500.0)];
        let mut driven = Observation { outsiders, ..observation.clone() };
        assert!(driven.table().contains(
            "not counted: 1103 wakeups from outside the program: 2 processes of curl, process 8, \
             which has ended; -p 7 -p 9 observes curl with it\n"
        ));
        assert!(driven.document("app").next_step(None).starts_with("next: "));
        driven.outsiders[0].wakeups = 1e6;
        assert_eq!(driven.document("app").next_step(None), "", "noise has no next step");
        driven.tasks.push(ObservedTask { cpu_s: 0.0, ..task("helper", "0.1") });
        let folded = driven.table();
        assert!(folded.starts_with("3 tasks, 1 pair") && !folded.contains("helper"));
        assert!(folded.contains("\n... and 1 task that did nothing\n"), "{folded}");
        assert!(table.contains("overhead: 1.23 % of the program's CPU time"), "{table}");
        assert!(!table.contains("hint: "), "{table}");
        let no_cost = |methods: &[Method], cpu_s: f64| {
            let mut observation = Observation { overhead: None, ..observation.clone() };
            observation.methods = methods.to_vec();
            observation.tasks.iter_mut().for_each(|task| task.cpu_s = cpu_s);
            let table = observation.table();
            table.lines().find(|line| line.starts_with("overhead: ")).unwrap().to_owned()
        };
        for method in [Method::Mpi, Method::Tsan] {
            assert!(no_cost(&[method], 0.0).ends_with("counts, within its own CPU time"));
        }
        assert!(no_cost(&[Method::C2c], 0.0).ends_with("the processor takes the samples"));
        assert!(no_cost(&[Method::Wakeups], 0.01).ends_with("used too little CPU time"));
        assert!(no_cost(&[Method::Wakeups], 1.0).ends_with("how long its part took"));
        let silent = Observation { shares: Vec::new(), ..observation };
        let hint = "hint: 2 threads of one process used 2.0 s of CPU time and were seen to \
                    exchange 0 messages";
        assert!(silent.table().contains(hint), "{}", silent.table());
        assert_eq!(Observation { methods: vec![Method::Tsan], ..silent }.advice(), None);
    }

    #[test]
    fn amounts_have_few_digits() {
        let amounts = [9.94, 9.96, 9_999.4, 9_999.6, 9_999_400.0, 9_999_600.0].map(amount);
        assert_eq!(amounts, ["9.9", "10", "9999", "10 k", "9999 k", "10 M"]);
    }

    #[test]
    fn the_last_one_that_is_left_out_is_not_several() {
        assert_eq!(more(17, 16, "more task"), "... and 1 more task\n");
        assert_eq!(more(18, 16, "more task"), "... and 2 more tasks\n");
        assert_eq!(more(16, 16, "more task"), "");
    }
}
