//! Threads of other programs.

use crate::files::SystemFiles;
use crate::judge::is_real_time;
use crate::seating::Stranger;
use crate::thread::percent;
use seatmap_data::grouped::by_key;
use seatmap_data::words::counted;
use seatmap_os::sched::{policy_name, threads_of_all};
use seatmap_os::{Tid, task};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Threads with smaller shares are ignored: 50 us of half a second.
const LEAST_PERCENT: f64 = 0.01;

/// The most listed threads per CPU, the busiest ones.
const MOST_LISTED: usize = 16;

/// Reading two small files per thread takes about 10 us.
const MOST_THREADS: u64 = 20_000;

#[derive(Clone, Default)]
pub struct Others {
    run_ns: HashMap<(Tid, Tid), u64>,
    at_ns: u64,
    is_left_out: bool,
}

impl Others {
    /// Reads the times, unless the computer has more than [`MOST_THREADS`].
    pub fn read(files: &mut SystemFiles, chosen: &BTreeSet<Tid>) -> Self {
        let count = files
            .proc
            .read_once(format_args!("loadavg"))
            .ok()
            .and_then(threads_of_all)
            .unwrap_or(0);
        let at_ns = files.now_ns();
        let mut others = Others { at_ns, is_left_out: count > MOST_THREADS, ..Others::default() };
        // Reading so many would take longer than the watching.
        if others.is_left_out {
            return others;
        }
        let own = task::own_pid();
        let pids = files.processes().unwrap_or_default();
        for pid in pids.into_iter().filter(|pid| !chosen.contains(pid) && *pid != own) {
            // Avoids `SystemFiles::threads`, because its notes on hidden processes are for chosen
            // ones.
            let tids = files.proc.threads(pid);
            if let Err(error) = &tids {
                files.note_shortage("strangers", pid, error);
            }
            for tid in tids.unwrap_or_default() {
                let times = files.times(pid, tid);
                others.run_ns.extend(times.map(|times| ((pid, tid), times.run_ns)));
            }
        }
        others
    }

    /// Notes that the computer has too many threads.
    pub fn note_left_out(&self, files: &mut SystemFiles) {
        if self.is_left_out {
            let most = counted(MOST_THREADS, "thread");
            let why = format!("not read: the computer has more than {most}");
            files.note("strangers", None, why);
        }
    }

    /// The threads that ran meanwhile, by their last CPU, busiest first.
    pub fn since(&self, earlier: &Others, files: &mut SystemFiles) -> BTreeMap<u32, Vec<Stranger>> {
        let watched_ns = self.at_ns.saturating_sub(earlier.at_ns);
        let ran = self.run_ns.iter().filter_map(|(ids, now)| {
            let before =
                earlier.run_ns.get(ids).copied().filter(|before| before <= now).unwrap_or(0);
            let share = percent(now - before, watched_ns);
            (share >= LEAST_PERCENT).then_some((*ids, share, percent(*now, watched_ns)))
        });
        let strangers = ran.filter_map(|(ids, share, of_new)| {
            let (cpu, started_ticks, mut stranger) = stranger(files, ids)?;
            let is_new = files.nanoseconds(started_ticks) >= earlier.at_ns;
            stranger.run_percent = if is_new { of_new } else { share };
            Some((cpu, stranger))
        });
        let mut found: BTreeMap<u32, Vec<Stranger>> = by_key(strangers);
        for strangers in found.values_mut() {
            strangers
                .sort_by(|a, b| b.run_percent.total_cmp(&a.run_percent).then(a.tid.cmp(&b.tid)));
            strangers.truncate(MOST_LISTED);
        }
        found
    }
}

/// The thread that has these numbers now, with its last CPU and its start.
fn stranger(files: &mut SystemFiles, (pid, tid): (Tid, Tid)) -> Option<(u32, u64, Stranger)> {
    let (cpu, started_ticks, stranger) = files.stat(pid, tid, |stat| {
        let policy = Some(policy_name(stat.policy)).filter(|policy| is_real_time(policy));
        let stranger = Stranger {
            pid,
            tid,
            name: stat.name(),
            run_percent: 0.0,
            mask: String::new(),
            real_time_policy: policy,
            real_time_priority: stat.real_time_priority,
        };
        (stat.cpu, stat.started_ticks, stranger)
    })?;
    let mask = files.mask(pid, tid).map(|mask| mask.to_string()).unwrap_or_default();
    Some((cpu?, started_ticks, Stranger { mask, ..stranger }))
}
