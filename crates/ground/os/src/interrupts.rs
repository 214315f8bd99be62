//! Interrupt counts by source and CPU (`/proc/interrupts`, proc_interrupts(5)).
//!
//! With 256 CPUs the file has a megabyte, so it is parsed as bytes and only changed rows get a
//! name.

use crate::bytes::{self, lines, small, unsigned, words};
use crate::irq;
use crate::root::Root;

/// All counts at one moment.
#[derive(Clone, Debug, Default)]
pub struct Interrupts {
    cpus: Vec<u32>,
    rows: Vec<Row>,
    /// Row after row, one column per CPU.
    counts: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Row {
    label: Vec<u8>,
    about: Vec<u8>,
}

/// Interrupts of one source on one CPU.
#[derive(Debug, PartialEq)]
pub struct InterruptCount {
    /// Interrupt's number, or the kernel's letters: `24`, `LOC`, `RES`.
    pub irq: String,
    /// Its driver, device or meaning.
    pub name: String,
    /// Whether it belongs to the CPU, not to a device.
    pub is_per_cpu: bool,
    /// How many arrived.
    pub count: u64,
}

impl Interrupts {
    /// Reads the counts; empty if the file cannot be read.
    pub fn now(root: &Root) -> Self {
        std::fs::read(root.path("/proc/interrupts"))
            .map_or_else(|_| Interrupts::default(), |text| Interrupts::parse(&text))
    }

    /// Parses the file. Omits rows without a count per CPU (`ERR`, `MIS`).
    pub fn parse(text: &[u8]) -> Self {
        let mut lines = lines(text);
        let header = lines.next().unwrap_or_default();
        let cpus = words(header).filter_map(|name| small(name.strip_prefix(b"CPU")?)).collect();
        let mut table = Interrupts { cpus, ..Interrupts::default() };
        lines.for_each(|line| table.add(line));
        table
    }

    fn add(&mut self, line: &[u8]) {
        let columns = self.cpus.len();
        let before = self.counts.len();
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { return };
        let mut rest = &line[colon + 1..];
        while self.counts.len() < before + columns {
            rest = rest.trim_ascii_start();
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let Some(count) = unsigned(&rest[..digits]) else { break };
            self.counts.push(count);
            rest = &rest[digits..];
        }
        if columns > 0 && self.counts.len() == before + columns {
            self.rows.push(Row { label: line[..colon].trim_ascii().to_vec(), about: rest.to_vec() })
        } else {
            self.counts.truncate(before)
        }
    }

    /// A CPU's interrupts since an earlier reading, most frequent first.
    pub fn since(&self, earlier: &Interrupts, cpu: u32) -> Vec<InterruptCount> {
        let (Some(now), Some(then)) = (column(cpu, self), column(cpu, earlier)) else {
            return Vec::new();
        };
        let mut found: Vec<InterruptCount> = (0..self.rows.len())
            .filter_map(|at| {
                let row = &self.rows[at];
                let before = earlier.place(row, at).map_or(0, |at| earlier.count(at, then));
                let count = self.count(at, now).saturating_sub(before);
                (count > 0).then(|| InterruptCount {
                    irq: bytes::text(&row.label),
                    name: row.name(),
                    is_per_cpu: row.is_per_cpu(),
                    count,
                })
            })
            .collect();
        found.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.irq.cmp(&b.irq)));
        found
    }

    /// The CPUs with a column; empty if the file was unreadable.
    pub fn cpus(&self) -> &[u32] {
        &self.cpus
    }

    fn count(&self, row: usize, column: usize) -> u64 {
        self.counts[row * self.cpus.len() + column]
    }

    /// A source's row in this reading: at the same index, unless rows were added or removed.
    fn place(&self, row: &Row, guess: usize) -> Option<usize> {
        if self.rows.get(guess).is_some_and(|other| other.label == row.label) {
            Some(guess)
        } else {
            self.rows.iter().position(|other| other.label == row.label)
        }
    }
}

fn column(cpu: u32, table: &Interrupts) -> Option<usize> {
    table.cpus.iter().position(|known| *known == cpu)
}

/// Device interrupts on IBM Z, which has classes instead of numbers (`irqclass_sub_desc` in
/// arch/s390/kernel/irq.c). `I/O` and `AIO` are their sums.
const CLASSES: [&[u8]; 18] = [
    b"CIO", b"DAS", b"C15", b"C70", b"TAP", b"VMR", b"LCS", b"CTC", b"ADM", b"CSC", b"VIR", b"QAI",
    b"APB", b"PCF", b"PCD", b"MSI", b"VAI", b"GAL",
];

/// Whether a row's label is a device's: a number, or a class of IBM Z. Other letters are the
/// kernel's. A number may still belong to a CPU.
pub fn is_of_device(label: &str) -> bool {
    unsigned(label.as_bytes()).is_some() || CLASSES.contains(&label.as_bytes())
}

impl Row {
    fn is_per_cpu(&self) -> bool {
        let label = bytes::text(&self.label);
        !is_of_device(&label) || self.source().is_some_and(|source| source.is_per_cpu())
    }

    /// The controller (possibly several words) and the number there.
    fn source(&self) -> Option<irq::InterruptSource> {
        let about: Vec<&[u8]> = words(&self.about).collect();
        let at = self.number_at(&about)?;
        let digits = about[at].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let hwirq = unsigned(&about[at][..digits]);
        Some(irq::InterruptSource {
            chip: bytes::text(&about[..at].join(&b' ')),
            hwirq,
            handlers: self.name(),
        })
    }

    /// The word with the controller's number. Xen writes a kind instead, such as `-virq`.
    fn number_at(&self, about: &[&[u8]]) -> Option<usize> {
        unsigned(&self.label)?;
        about
            .iter()
            .skip(1)
            .position(|word| {
                word.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-')
            })
            .map(|at| at + 1)
    }

    /// After the counts come the chip, its number with or before the trigger type, and the
    /// handlers. Without a handler, the chip's name.
    fn name(&self) -> String {
        let about: Vec<&[u8]> = words(&self.about).collect();
        let is_number = unsigned(&self.label).is_some();
        let behind = self.number_at(&about).map_or(2, |at| at + 1);
        let mut owner = if is_number { about.get(behind..).unwrap_or_default() } else { &about };
        if let Some((way, rest)) = owner.split_first()
            && is_number
            && [&b"Level"[..], b"Edge"].contains(way)
        {
            owner = rest;
        }
        bytes::text(&if owner.is_empty() { &about } else { owner }.join(&b' '))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BEFORE: &str = "           CPU0       CPU3
 24:          1          0  IO-APIC   5-edge      ACPI:Ged
 36:          0         10 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0, spare
 57:          0          0  GICv3  27 Level     arch_timer
 99:          0          0  GICv3  28
LOC:        100        200   Local timer interrupts
ERR:          0
";

    fn came(irq: &str, name: &str, count: u64) -> InterruptCount {
        let is_per_cpu =
            irq.parse::<u32>().is_err() || name.contains("arch_timer") || name.starts_with("GICv3");
        InterruptCount { irq: irq.to_owned(), name: name.to_owned(), is_per_cpu, count }
    }

    #[test]
    fn names_and_owners_are_parsed_on_every_architecture() {
        let text = "           CPU0
  5:          0  RISC-V INTC   5 Edge      riscv-timer
 12:          0  SiFive PLIC  10 Edge      ttyS0
 16:          0      XICS   2 Edge      IPI
 17:          0  xen-percpu    -virq      timer0
 18:          0  MIPS   7  timer
DAS:          0  [I/O] DASD
I/O:          0
CLK:          0  [EXT] Clock Comparator
";
        let after = text
            .replace("          0 ", "          9 ")
            .replace("I/O:          0", "I/O:          9");
        let before = Interrupts::parse(text.as_bytes());
        let after = Interrupts::parse(after.as_bytes());
        let found = after.since(&before, 0);
        let found: Vec<(&str, &str, bool)> = found
            .iter()
            .map(|came| (came.irq.as_str(), came.name.as_str(), came.is_per_cpu))
            .collect();
        let wanted = [
            ("12", "ttyS0", false),
            ("16", "IPI", true),
            ("17", "timer0", true),
            ("18", "timer", true),
            ("5", "riscv-timer", true),
            ("CLK", "[EXT] Clock Comparator", true),
            ("DAS", "[I/O] DASD", false),
            ("I/O", "", true),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn difference_of_two_readings_is_per_cpu() {
        let after = BEFORE
            .replace("         10 PCI", "         17 PCI")
            .replace("        200 ", "        950 ");
        let after = after
            .replace(" 24:", " 12:  0  3  chip 1-edge new\n 24:")
            .replace("0  GICv3  28", "1  GICv3  28");
        let after = after.replace("          0  GICv3  27", "          2  GICv3  27");
        let before = Interrupts::parse(BEFORE.as_bytes());
        let after = Interrupts::parse(after.as_bytes());
        let wanted = [
            came("LOC", "Local timer interrupts", 750),
            came("36", "virtio1-req.0, spare", 7),
            came("12", "new", 3),
            came("57", "arch_timer", 2),
            came("99", "GICv3 28", 1),
        ];
        assert_eq!(after.since(&before, 3), wanted);
        assert!(after.since(&before, 0).is_empty() && after.since(&before, 1).is_empty());
    }

    #[test]
    fn malformed_table_is_empty() {
        for text in ["", "CPU0\n:::\n", "no header\n 1: 2 3\n", "CPU0 CPU1\n1: 7\n"] {
            let table = Interrupts::parse(text.as_bytes());
            assert!(table.rows.is_empty() && table.counts.is_empty(), "{text:?}");
        }
    }

    #[test]
    fn local_interrupt_table_is_complete() {
        let Ok(text) = std::fs::read("/proc/interrupts") else {
            return seatmap_needs::skipped!("no /proc/interrupts");
        };
        let table = Interrupts::parse(&text);
        assert_eq!(table.counts.len(), table.cpus.len() * table.rows.len());
        assert!(table.since(&table, table.cpus[0]).is_empty());
    }

    proptest! {
        #[test]
        fn parser_survives_any_bytes(mut text: Vec<u8>, cut in 0..BEFORE.len(), header: bool) {
            if header {
                text = [&BEFORE.as_bytes()[..cut], &text].concat();
            }
            let table = Interrupts::parse(&text);
            let before = Interrupts::parse(BEFORE.as_bytes());
            let _ = (table.since(&before, 0), before.since(&table, 3));
        }
    }
}
