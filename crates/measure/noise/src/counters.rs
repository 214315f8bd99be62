//! The kernel's tables of events, a column a CPU.

/// `/proc/interrupts` or `/proc/softirqs`: names, and how often each has come to each CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    cpus: Vec<u32>,
    rows: Vec<(String, Vec<u64>)>,
}

impl Table {
    /// Parses either. The columns are those of online CPUs; rows without a figure for each (`ERR`, `MIS`) are of no
    /// CPU and left out.
    pub(super) fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        let header = lines.next().unwrap_or_default();
        let cpus: Vec<u32> =
            header.split_whitespace().filter_map(|name| name.strip_prefix("CPU")?.parse().ok()).collect();
        let rows = lines.filter_map(|line| row(line, cpus.len())).collect();
        Table { cpus, rows }
    }

    /// The names and counts of the events on this CPU since an earlier reading; counters that did not change are left
    /// out.
    pub(super) fn since(&self, earlier: &Table, cpu: u32) -> Vec<(String, u64)> {
        let (Some(now), Some(then)) = (self.column(cpu), earlier.column(cpu)) else { return Vec::new() };
        let came = |(name, counts): &(String, Vec<u64>)| {
            let before = earlier.rows.iter().find(|(other, _)| other == name).map_or(0, |(_, counts)| counts[then]);
            let count = counts[now].saturating_sub(before);
            (count > 0).then(|| (name.clone(), count))
        };
        self.rows.iter().filter_map(came).collect()
    }

    fn column(&self, cpu: u32) -> Option<usize> {
        self.cpus.iter().position(|known| *known == cpu)
    }
}

fn row(line: &str, columns: usize) -> Option<(String, Vec<u64>)> {
    let (label, rest) = line.split_once(':')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let counts: Vec<u64> = fields.iter().take(columns).map_while(|field| field.parse().ok()).collect();
    (columns > 0 && counts.len() == columns).then(|| (name(label.trim(), &fields[columns..]), counts))
}

/// `LOC Local timer interrupts`, `IRQ 36 virtio1-req.0`, `TIMER`. Behind the counts of a numbered interrupt stand its
/// chip, its number there with or before the way that it triggers, and who asked for it.
fn name(label: &str, about: &[&str]) -> String {
    if label.parse::<u32>().is_err() {
        return [&[label], about].concat().join(" ");
    }
    let mut owner = about.get(2..).unwrap_or_default();
    if let Some((&("Level" | "Edge"), rest)) = owner.split_first() {
        owner = rest;
    }
    format!("IRQ {label} {}", owner.join(" ")).trim_end().to_owned()
}

/// Time that a hypervisor took from a CPU so far, in clock ticks (`/proc/stat`; proc_stat(5), 8th figure of a `cpuN`
/// line).
pub(super) fn steal(stat: &str, cpu: u32) -> Option<u64> {
    let name = format!("cpu{cpu}");
    let line = stat.lines().find(|line| line.split_whitespace().next() == Some(&name))?;
    line.split_whitespace().nth(8)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "           CPU0       CPU3
 24:          1          0  IO-APIC   5-edge      ACPI:Ged
 36:          0         10 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0, spare
 57:          0          0  GICv3  27 Level     arch_timer
LOC:        100        200   Local timer interrupts
ERR:          0
";

    #[test]
    fn the_difference_of_two_readings_is_by_cpu() {
        let after = BEFORE.replace("         10 PCI", "         17 PCI").replace("        200 ", "        950 ");
        let after = after + " 99:          0          4 PCI-MSI 3-edge late\n";
        let (before, after) = (Table::parse(BEFORE), Table::parse(&after));
        let named = |name: &str, count| (name.to_owned(), count);
        let wanted = [
            named("IRQ 36 virtio1-req.0, spare", 7),
            named("LOC Local timer interrupts", 750),
            named("IRQ 99 late", 4),
        ];
        assert_eq!(after.since(&before, 3), wanted);
        assert!(after.since(&before, 0).is_empty() && after.since(&before, 1).is_empty());
        assert!(before.rows.iter().any(|(name, _)| name == "IRQ 57 arch_timer"));
        assert!(!before.rows.iter().any(|(name, _)| name.starts_with("ERR")));
    }

    #[test]
    fn softirqs_have_the_same_shape() {
        let text = "                    CPU0       CPU1\n       TIMER:     622034     561911\n";
        let table = Table::parse(text);
        assert_eq!(table.since(&Table::parse(&text.replace("561911", "561900")), 1), [("TIMER".to_owned(), 11)]);
    }

    #[test]
    fn nonsense_is_empty() {
        for text in ["", "CPU0\n:::\n", "no header\n 1: 2 3\n"] {
            assert!(Table::parse(text).rows.is_empty(), "{text:?}");
        }
    }

    #[test]
    fn steal_is_the_eighth_figure() {
        let stat = "cpu  1 2 3 4 5 6 7 8 9 0\ncpu1 1 2 3 4 5 6 7 33 9 0\ncpu12 1 2 3 4 5 6 7 44 9 0\n";
        assert_eq!((steal(stat, 1), steal(stat, 12), steal(stat, 2)), (Some(33), Some(44), None));
    }
}
