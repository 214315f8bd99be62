//! Kernel and hardware counters over a program and its children (perf_event_open(2)).

use crate::perf_event::{self, ANY_CPU, ATTRIBUTE_BYTES, Attributes, THIS_THREAD};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};

/// From `include/uapi/linux/perf_event.h`.
const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
const RAW: u32 = 4;

/// Count only after the next execve(2), and in children too.
const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
const ENABLE_ON_EXEC: u64 = 1 << 12;

/// perf(1)'s names of events.
const NAMED: [(&str, u32, u64); 17] = [
    ("cycles", HARDWARE, 0),
    ("instructions", HARDWARE, 1),
    ("cache-references", HARDWARE, 2),
    ("cache-misses", HARDWARE, 3),
    ("branches", HARDWARE, 4),
    ("branch-misses", HARDWARE, 5),
    ("bus-cycles", HARDWARE, 6),
    ("stalled-cycles-frontend", HARDWARE, 7),
    ("stalled-cycles-backend", HARDWARE, 8),
    ("ref-cycles", HARDWARE, 9),
    ("cpu-clock", SOFTWARE, 0),
    ("task-clock", SOFTWARE, 1),
    ("page-faults", SOFTWARE, 2),
    ("context-switches", SOFTWARE, 3),
    ("cpu-migrations", SOFTWARE, 4),
    ("minor-faults", SOFTWARE, 5),
    ("major-faults", SOFTWARE, 6),
];

/// An event: one of [`CounterEvent::names`], or `r` and a hexadecimal number for the processor's
/// events.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterEvent {
    name: String,
    kind: u32,
    number: u64,
}

impl CounterEvent {
    /// The event with this name.
    pub fn named(name: &str) -> Option<Self> {
        let known = NAMED
            .iter()
            .find(|(known, ..)| *known == name)
            .map(|(_, kind, number)| (*kind, *number));
        let (kind, number) = known
            .or_else(|| Some((RAW, u64::from_str_radix(name.strip_prefix('r')?, 16).ok()?)))?;
        Some(CounterEvent { name: name.to_owned(), kind, number })
    }

    /// The names known to [`CounterEvent::named`].
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|(name, ..)| *name)
    }

    /// Whether it needs no hardware counter.
    pub fn is_software(&self) -> bool {
        self.kind == SOFTWARE
    }
}

impl fmt::Display for CounterEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A count from the next program executed by a child of the calling thread, with its threads and
/// children.
#[derive(Debug)]
pub struct Counter(File);

impl Counter {
    /// Prepares a count for children that the calling thread starts from now on.
    ///
    /// # Errors
    /// The kernel's: ENOENT without such a counter (as in most virtual machines), EACCES if
    /// `/proc/sys/kernel/perf_event_paranoid` forbids it.
    pub fn of_children(event: &CounterEvent) -> io::Result<Self> {
        let attributes = Attributes {
            kind: event.kind,
            size: ATTRIBUTE_BYTES,
            config: event.number,
            flags: DISABLED | INHERIT | ENABLE_ON_EXEC,
            ..Attributes::default()
        };
        // SAFETY: the attributes have `ATTRIBUTE_BYTES` bytes and no address.
        let event = unsafe { perf_event::open(&attributes, THIS_THREAD, ANY_CPU)? };
        Ok(Counter(File::from(event)))
    }

    /// The count so far; clocks are in nanoseconds.
    ///
    /// # Errors
    /// The kernel's.
    pub fn read(&mut self) -> io::Result<u64> {
        let mut count = [0; 8];
        self.0.read_exact(&mut count)?;
        Ok(u64::from_ne_bytes(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn event_names_are_parsed() {
        assert!(CounterEvent::named("task-clock").is_some_and(|event| event.is_software()));
        assert!(
            CounterEvent::named("r01c2")
                .is_some_and(|event| event.number == 0x1c2 && !event.is_software())
        );
        assert_eq!(
            [CounterEvent::named("tasks"), CounterEvent::named("r"), CounterEvent::named("rxyz")],
            [None, None, None]
        );
        assert_eq!(ATTRIBUTE_BYTES, 72);
    }

    #[test]
    fn child_page_faults_are_counted_without_own_ones() {
        let mut counter = match Counter::of_children(&CounterEvent::named("page-faults").unwrap()) {
            Ok(counter) => counter,
            Err(error) => return seatmap_needs::skipped!("{error}"),
        };
        std::hint::black_box(vec![1_u8; 1 << 20]);
        assert_eq!(counter.read().unwrap(), 0);
        assert!(
            Command::new("sh").args(["-c", "/bin/true; /bin/true"]).status().unwrap().success()
        );
        let count = counter.read().unwrap();
        assert!(count > 50, "{count}");
    }
}
