//! The observation as a table for people.

use crate::session::LEAST_S;
use crate::{Method, Observation, Task};
use seatmap_document::visible;
use seatmap_statistics::words::counted;

/// The most tasks and pairs shown; the document has all.
const MOST_TASKS: usize = 16;
const MOST_PAIRS: usize = 12;
const MOST_PHASES: usize = 8;

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
        let mut order: Vec<usize> = (0..self.tasks.len()).collect();
        order.sort_by(|a, b| self.tasks[*b].cpu_s.total_cmp(&self.tasks[*a].cpu_s));
        order.truncate(MOST_TASKS);
        // The busiest are chosen, and shown in the order of their numbers.
        order.sort_unstable();
        let rows = order
            .iter()
            .map(|task| {
                let Task { name, path, cpu_s, .. } = &self.tasks[*task];
                let percent = format!("{:.1} %", cpu_s / self.seconds().max(1e-9) * 100.0);
                let load = if knows_loads { percent } else { "-".to_owned() };
                [task.to_string(), visible(name), visible(path), load, self.rate(sent[*task])]
            })
            .collect();
        let title = ["task", "name", "path", "of a CPU", "sends/s"];
        aligned(title, rows) + &more(self.tasks.len(), MOST_TASKS, "more task")
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
        let advice = self.advice().map(|text| format!("hint: {text}\n")).unwrap_or_default();
        format!(
            "\noverhead: {cost}\n{unseen}cannot be seen by {}: {}\n{advice}",
            self.method_words(),
            self.misses()
        )
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
                let width = widths[column];
                if right[column] {
                    format!("{:>width$}", row[column])
                } else {
                    format!("{:<width$}", row[column])
                }
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
    use crate::{Kind, Method, Share, Window};
    use seatmap_pattern::Edge;

    #[test]
    fn the_table_has_tasks_pairs_and_remarks() {
        let task = |name: &str, path: &str| Task {
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
            shares: vec![Share { from: 0, to: 1, kind: Kind::Futex, messages: 4000.0 }],
            overhead: Some(0.0123),
            from_start: false,
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
        let hint = "hint: 2 threads of one process used 2.0 s of CPU time and were seen to exchange 0 messages";
        assert!(silent.table().contains(hint), "{}", silent.table());
        assert_eq!(Observation { methods: vec![Method::Pages], ..silent }.advice(), None);
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
