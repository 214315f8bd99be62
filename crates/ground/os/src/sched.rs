//! Scheduling facts of a thread: `stat`, `schedstat`, `status` and `sched` in `/proc/PID/task/TID`.
//!
//! The parsers allocate nothing, because a scan reads tens of thousands of these files.

use crate::bytes::{self, lines, signed, small, unsigned, value, words};
use crate::{CpuSet, Tid, checked, rights};

/// `PF_KTHREAD` of `include/linux/sched.h`.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// `PF_NO_SETAFFINITY`.
const BOUND: u64 = 0x0400_0000;

/// Policies by number (`include/uapi/linux/sched.h`); 4 was never used.
const POLICIES: [&str; 8] = ["other", "fifo", "rr", "batch", "4", "idle", "deadline", "ext"];

/// The scheduling fields of a `stat` line (proc_pid_stat(5)).
#[derive(Debug, PartialEq)]
pub struct Stat<'a> {
    /// Name, at most 15 bytes.
    pub name: &'a [u8],
    /// State letter.
    pub state: u8,
    /// Parent or adopter of its process.
    pub parent: Tid,
    /// Process group.
    pub group: Tid,
    /// Session, by its leader.
    pub session: Tid,
    /// Foreground process group of its terminal; negative without one.
    pub terminal_group: Tid,
    /// Whether it is a kernel thread.
    pub is_kernel: bool,
    /// Whether the kernel bound it to its CPUs.
    pub is_bound: bool,
    /// CPU time in user mode, in clock ticks.
    pub user_ticks: u64,
    /// CPU time, in clock ticks.
    pub run_ticks: u64,
    /// CPU time of reaped children, in clock ticks.
    pub reaped_ticks: u64,
    /// Nice value.
    pub nice: i32,
    /// Start time, in clock ticks after the boot.
    pub started_ticks: u64,
    /// The last CPU; `None` on kernels with shorter lines.
    pub cpu: Option<u32>,
    /// Real-time priority; 0 for other policies.
    pub real_time_priority: u32,
    /// Policy number.
    pub policy: u32,
}

impl<'a> Stat<'a> {
    /// Parses a line. The name in parentheses may contain some.
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        let opened = line.iter().position(|byte| *byte == b'(')?;
        let closed =
            line.iter().rposition(|byte| *byte == b')').filter(|closed| *closed > opened)?;
        // The first field after the name is the manual's third.
        let mut fields = words(&line[closed + 1..]);
        let mut next = 3;
        let mut field = |number: usize| {
            let skipped = number - next;
            next = number + 1;
            fields.nth(skipped)
        };
        let state = *field(3)?.first()?;
        let parent = small_signed(field(4)?)?;
        let group = small_signed(field(5)?)?;
        let session = small_signed(field(6)?)?;
        let terminal_group = small_signed(field(8)?)?;
        let flags = unsigned(field(9)?)?;
        let user_ticks = unsigned(field(14)?)?;
        Some(Stat {
            name: &line[opened + 1..closed],
            state,
            parent,
            group,
            session,
            terminal_group,
            is_kernel: flags & KERNEL_THREAD != 0,
            is_bound: flags & BOUND != 0,
            user_ticks,
            run_ticks: user_ticks.saturating_add(unsigned(field(15)?)?),
            reaped_ticks: unsigned(field(16)?)?.saturating_add(unsigned(field(17)?)?),
            nice: small_signed(field(19)?)?,
            started_ticks: unsigned(field(22)?)?,
            cpu: field(39).and_then(small),
            real_time_priority: field(40).and_then(small).unwrap_or(0),
            policy: field(41).and_then(small).unwrap_or(0),
        })
    }

    /// Whether it has ended, even if not yet reaped.
    pub fn has_ended(&self) -> bool {
        [b'Z', b'X'].contains(&self.state)
    }

    /// The name as text.
    pub fn name(&self) -> String {
        bytes::text(self.name)
    }
}

fn small_signed(bytes: &[u8]) -> Option<i32> {
    i32::try_from(signed(bytes)?).ok()
}

/// The policy's name, such as `fifo`, or its number.
pub fn policy_name(policy: u32) -> String {
    POLICIES.get(policy as usize).map_or_else(|| policy.to_string(), |name| (*name).to_owned())
}

/// Explains a refused mask: `EBUSY` for a deadline thread, whose bandwidth is reserved on all CPUs
/// of its root domain (Documentation/scheduler/sched-deadline.rst).
pub fn mask_refusal(tid: Tid, error: &std::io::Error) -> String {
    let line = std::fs::read(format!("/proc/{tid}/task/{tid}/stat")).unwrap_or_default();
    let policy = Stat::parse(&line).map(|stat| policy_name(stat.policy));
    match (error.raw_os_error(), policy.as_deref()) {
        (Some(libc::EBUSY), Some("deadline")) => format!(
            "the kernel cannot narrow the mask of a SCHED_DEADLINE thread ('chrt --other --pid 0 \
             {tid}' sets the usual policy)"
        ),
        _ => format!("{error}{}", rights::way_out(error)),
    }
}

/// A thread's times since its start (`schedstat`, sched-stats.rst).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTimes {
    /// CPU time in nanoseconds, up to the last tick.
    pub run_ns: u64,
    /// Time spent runnable without a CPU, if counted.
    pub wait_ns: Option<u64>,
}

impl ThreadTimes {
    /// Parses a `schedstat` file.
    pub fn parse(counts: &[u8]) -> Option<Self> {
        let mut counts = words(counts);
        Some(ThreadTimes {
            run_ns: unsigned(counts.next()?)?,
            wait_ns: Some(unsigned(counts.next()?)?),
        })
    }
}

/// The calling thread's times, if counted.
pub fn own_times() -> Option<ThreadTimes> {
    ThreadTimes::parse(&std::fs::read("/proc/thread-self/schedstat").ok()?)
}

/// The fields of a `status` file (proc_pid_status(5)) that matter for seats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThreadStatus<'a> {
    /// Effective user.
    pub user: Option<u32>,
    /// Thread's process.
    pub pid: Option<Tid>,
    /// Allowed CPUs, as a list.
    pub cpus: &'a [u8],
    /// Switches because it waited.
    pub voluntary_switches: u64,
    /// Switches because it was preempted.
    pub forced_switches: u64,
}

impl<'a> ThreadStatus<'a> {
    /// Parses a `status` file; lines may be missing.
    pub fn parse(text: &'a [u8]) -> Self {
        let mut status = ThreadStatus::default();
        for line in lines(text) {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            let value = line[colon + 1..].trim_ascii();
            match &line[..colon] {
                // Real, effective, saved, file system.
                b"Uid" => status.user = words(value).nth(1).and_then(small),
                b"Tgid" => status.pid = small_signed(value),
                b"Cpus_allowed_list" => status.cpus = value,
                b"voluntary_ctxt_switches" => {
                    status.voluntary_switches = unsigned(value).unwrap_or(0)
                }
                b"nonvoluntary_ctxt_switches" => {
                    status.forced_switches = unsigned(value).unwrap_or(0)
                }
                _ => {}
            }
        }
        status
    }

    /// Allowed CPUs, if valid.
    pub fn mask(&self) -> Option<CpuSet> {
        let list = std::str::from_utf8(self.cpus).ok().filter(|list| !list.is_empty())?;
        CpuSet::of_list(list)
    }
}

/// Migrations since the thread's start, from its `sched` file, if counted.
pub fn migrations(sched: &[u8]) -> Option<u64> {
    unsigned(value(sched, b"se.nr_migrations")?)
}

/// All threads, from `loadavg` (proc_loadavg(5)): `0.20 0.18 0.12 1/80 11206`.
pub fn threads_of_all(loadavg: &[u8]) -> Option<u64> {
    let field = words(loadavg).nth(3)?;
    unsigned(field.splitn(2, |byte| *byte == b'/').nth(1)?)
}

/// Gives the calling process's session the largest CPU share: nice -20 for its autogroup, or else
/// for the process (sched(7)). Allocates nothing, for use between fork(2) and execve(2).
///
/// # Errors
/// The kernel's: EPERM or EACCES without CAP_SYS_NICE.
pub fn prefer_own_session() -> std::io::Result<()> {
    let highest = c"-20";
    // SAFETY: the path ends with a zero byte.
    let file =
        unsafe { libc::open(c"/proc/self/autogroup".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    let status = if file < 0 {
        // SAFETY: the call takes numbers only.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) as isize }
    } else {
        // SAFETY: the text is as long as stated, and the descriptor is open and used nowhere else.
        unsafe {
            let written = libc::write(file, highest.as_ptr().cast(), highest.count_bytes());
            libc::close(file);
            written
        }
    };
    checked(status as i64).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINE: &[u8] =
        b"17 (a) R (b) S 2 3 4 0 -1 2097216 1 2 3 4 50 7 0 0 -2 -5 1 0 4711 9 9 9 9 9 9 9 9 9 9 9 9 9 9 \
        9 17 6 99 1 0 0 0\n";

    #[test]
    fn stat_fields_match_the_manual() {
        let stat = Stat::parse(LINE).unwrap();
        assert_eq!((stat.name(), stat.state, stat.parent), ("a) R (b".to_owned(), b'S', 2));
        assert_eq!((stat.user_ticks, stat.run_ticks), (50, 57));
        assert_eq!((stat.nice, stat.started_ticks), (-5, 4711));
        assert_eq!((stat.cpu, stat.real_time_priority, stat.policy), (Some(6), 99, 1));
        assert!(stat.is_kernel && !stat.has_ended());
    }

    #[test]
    fn short_stat_line_uses_defaults() {
        let cut = &LINE[..LINE.iter().rposition(|byte| *byte == b'7').unwrap()];
        let stat = Stat::parse(cut).unwrap();
        assert_eq!((stat.cpu, stat.real_time_priority, stat.policy), (None, 0, 0));
        for cut in ["", "17", "17 (a", "17 (a)", ")17(", "17 (a) R 1 2"] {
            assert_eq!(Stat::parse(cut.as_bytes()), None, "{cut}");
        }
    }

    #[test]
    fn policies_have_names() {
        assert_eq!([0, 1, 6, 7].map(policy_name), ["other", "fifo", "deadline", "ext"]);
        assert_eq!(policy_name(31), "31");
    }

    #[test]
    fn times_and_switches_are_parsed() {
        assert_eq!(
            ThreadTimes::parse(b"901049 753629 2\n"),
            Some(ThreadTimes { run_ns: 901_049, wait_ns: Some(753_629) })
        );
        assert_eq!((ThreadTimes::parse(b"901049"), ThreadTimes::parse(b"")), (None, None));
        let text = b"Name:\tx\nTgid:\t12\nUid:\t0\t65534\t0\t0\nCpus_allowed_list:\t0-1,7\n\
            voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n";
        let status = ThreadStatus::parse(text);
        assert_eq!((status.user, status.pid), (Some(65534), Some(12)));
        assert_eq!((status.voluntary_switches, status.forced_switches), (5, 6));
        assert_eq!(status.mask(), CpuSet::of_list("0-1,7"));
        assert_eq!(ThreadStatus::parse(b"Cpus_allowed_list: x").mask(), None);
        assert_eq!(
            migrations(b"x (1, #threads: 1)\nse.nr_migrations      :        17\n"),
            Some(17)
        );
        assert_eq!(threads_of_all(b"0.20 0.18 0.12 1/80 11206\n"), Some(80));
    }

    proptest! {
        #[test]
        fn parsers_survive_any_bytes(bytes: Vec<u8>) {
            let _ = (Stat::parse(&bytes), ThreadTimes::parse(&bytes), ThreadStatus::parse(&bytes).mask());
            let _ = (migrations(&bytes), threads_of_all(&bytes));
        }

        #[test]
        fn parser_survives_cut_or_changed_lines(at in 0..LINE.len(), byte: u8, cut in 0..LINE.len()) {
            let mut line = LINE.to_vec();
            line[at] = byte;
            line.truncate(cut);
            let _ = Stat::parse(&line);
        }
    }
}
