//! The pretended `/proc/stat`, with advancing times.
//!
//! A thread's time counts for its pretended CPU at the next look. If threads of one such CPU run on
//! several real ones, it is never idle, and busy for longer than real time.

use crate::PretendedMachine;
use crate::record::ProgramRecord;
use std::collections::{BTreeMap, HashMap};

/// The clock tick visible to programs (`USER_HZ`, include/asm-generic/param.h).
const TICK_NS: u64 = 1_000_000_000 / 100;

/// Each CPU's initial idle time, because readers divide by the sum.
const BEFORE_NS: u64 = 1_000_000_000;

#[derive(Clone, Copy)]
struct Times {
    user_ns: u64,
    idle_ns: u64,
}

#[derive(Default)]
pub struct PretendedCpuTimes {
    at_s: f64,
    run_ns: Vec<u64>,
    of: BTreeMap<u32, Times>,
}

impl PretendedCpuTimes {
    /// Lines about other things than CPUs are this computer's.
    pub fn stat(
        &mut self,
        machine: &PretendedMachine,
        record: &ProgramRecord,
        at_s: f64,
        host: &str,
    ) -> String {
        self.look(machine, record, at_s);
        let all = self.of.values();
        let all = Times {
            user_ns: all.clone().map(|times| times.user_ns).sum(),
            idle_ns: all.map(|times| times.idle_ns).sum(),
        };
        let mut text = line("cpu ", all);
        text.extend(self.of.iter().map(|(cpu, times)| line(&format!("cpu{cpu}"), *times)));
        let others = host.lines().filter(|line| !line.starts_with("cpu"));
        text.extend(others.map(|other| format!("{other}\n")));
        text
    }

    fn look(&mut self, machine: &PretendedMachine, record: &ProgramRecord, at_s: f64) {
        let passed_ns = ((at_s - self.at_s).max(0.0) * 1e9) as u64;
        self.at_s = at_s;
        self.run_ns.resize(record.threads.len(), 0);
        let mut busy: HashMap<u32, u64> = HashMap::new();
        for (at, thread) in record.threads.iter().enumerate() {
            let ran_ns = thread.run_ns.saturating_sub(self.run_ns[at]);
            self.run_ns[at] += ran_ns;
            *busy.entry(record.cpu_of(at)).or_default() += ran_ns;
        }
        for cpu in machine.online.iter() {
            let busy_ns = busy.get(&cpu).copied().unwrap_or_default();
            let times = self.of.entry(cpu).or_insert(Times { user_ns: 0, idle_ns: BEFORE_NS });
            times.user_ns += busy_ns;
            times.idle_ns += passed_ns.saturating_sub(busy_ns);
        }
    }
}

fn line(name: &str, times: Times) -> String {
    let [user, idle] = [times.user_ns, times.idle_ns].map(|ns| ns / TICK_NS);
    format!("{name} {user} 0 0 {idle} 0 0 0 0 0 0\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::made::small;
    use seatmap_os::CpuSet;

    fn times(text: &str, name: &str) -> [u64; 2] {
        let line = text.lines().find(|line| line.split(' ').next() == Some(name)).unwrap();
        let numbers: Vec<u64> =
            line.split_whitespace().skip(1).map(|word| word.parse().unwrap()).collect();
        [numbers[0], numbers[3]]
    }

    #[test]
    fn cpu_times_advance_on_cpus_of_threads() {
        let machine = small();
        let mut record = ProgramRecord::new(7, machine.allowed.clone());
        record.seat(0, CpuSet::single(3), 0.0);
        let mut cpu_times = PretendedCpuTimes::default();
        record.threads[0].run_ns = 250_000_000;
        let first = cpu_times.stat(&machine, &record, 1.0, "cpu 9 9\nbtime 77\n");
        assert_eq!(first.lines().count(), 10, "{first}");
        assert!(first.ends_with("btime 77\n") && first.starts_with("cpu  25 "), "{first}");
        assert_eq!([times(&first, "cpu3"), times(&first, "cpu4")], [[25, 175], [0, 200]]);
        record.seat(0, CpuSet::single(4), 1.0);
        record.threads[0].run_ns = 3_250_000_000;
        let second = cpu_times.stat(&machine, &record, 3.0, "");
        let now = ["cpu3", "cpu4"].map(|cpu| times(&second, cpu));
        assert_eq!(now, [[25, 375], [300, 200]], "busier than the time: never idle");
        assert_eq!(times(&second, "cpu"), [325, 375 + 200 + 6 * 400]);
    }
}
