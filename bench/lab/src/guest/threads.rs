//! The program that experiments place: its threads report their masks, and stay.

use crate::list::{self, CpuNumbers};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ThreadOptions {
    /// The number of threads, including the first.
    count: usize,
    /// How many seconds they stay.
    #[arg(long, default_value_t = 0.0)]
    seconds: f64,
    /// Each odd thread sends to the next one and waits for its answer, as long as they stay.
    #[arg(long)]
    talk: bool,
    /// Private memory that each thread touches, in MiB.
    #[arg(long, default_value_t = 4)]
    mib: usize,
}

/// Starts the threads; each prints `thread K tid T cpus LIST nodes N0=PAGES,...` once all have
/// started.
pub fn run(options: ThreadOptions) {
    let count = options.count.max(1);
    let all_live = Arc::new(Barrier::new(count));
    let until = Duration::from_secs_f64(options.seconds);
    let mut channels = talkers(count, options.talk);
    let own = channels.remove(0);
    let mut threads = Vec::new();
    for (at, channel) in (1..count).zip(channels) {
        let all_live = Arc::clone(&all_live);
        threads.push(std::thread::spawn(move || stay(at, &all_live, options, until, channel)));
    }
    stay(0, &all_live, options, until, own);
    for thread in threads {
        let _ = thread.join();
    }
}

type Talk = Option<(SyncSender<()>, Receiver<()>)>;

/// Threads 1 and 2 talk, 3 and 4, and so on; the first thread is silent.
fn talkers(count: usize, is_talking: bool) -> Vec<Talk> {
    let mut ends: Vec<Talk> = (0..count).map(|_| None).collect();
    for at in (1..count.saturating_sub(1)).step_by(2).filter(|_| is_talking) {
        let (to_second, from_first) = sync_channel(0);
        let (to_first, from_second) = sync_channel(0);
        ends[at] = Some((to_second, from_second));
        ends[at + 1] = Some((to_first, from_first));
    }
    ends
}

fn stay(at: usize, all_live: &Barrier, options: ThreadOptions, until: Duration, talk: Talk) {
    // All threads exist before the first reports or ends.
    all_live.wait();
    let memory = vec![1_u8; options.mib << 20];
    println!("{}", word(at, &memory));
    let begun = Instant::now();
    match talk {
        Some((to, from)) if at % 2 == 1 => {
            while begun.elapsed() < until && to.send(()).is_ok() && from.recv().is_ok() {}
        }
        Some((to, from)) => while from.recv().is_ok() && to.send(()).is_ok() {},
        None => {
            while begun.elapsed() < until {
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    }
}

fn word(at: usize, memory: &[u8]) -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let cpus = value(&status, "Cpus_allowed_list:");
    let tid = value(&status, "Pid:");
    format!("thread {at} tid {tid} cpus {cpus} nodes {}", nodes(memory.as_ptr() as usize))
}

fn value<'a>(status: &'a str, name: &str) -> &'a str {
    status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("?").trim()
}

fn nodes(address: usize) -> String {
    let text = std::fs::read_to_string("/proc/thread-self/numa_maps").unwrap_or_default();
    let below = text.lines().filter(|line| start(line).is_some_and(|start| start <= address));
    let Some(line) = below.max_by_key(|line| start(line)) else { return "-".to_owned() };
    let pages = line.split(' ').filter(|word| {
        word.starts_with('N') && word[1..].starts_with(|letter: char| letter.is_ascii_digit())
    });
    pages.collect::<Vec<_>>().join(",")
}

fn start(line: &str) -> Option<usize> {
    usize::from_str_radix(line.split(' ').next()?, 16).ok()
}

#[derive(Clone, Debug)]
pub struct ToldThread {
    pub tid: u32,
    pub cpus: CpuNumbers,
    pub pages: Vec<(u32, u64)>,
}

pub fn told(said: &str) -> Vec<ToldThread> {
    let mut threads: Vec<_> = said.lines().filter_map(told_thread).collect();
    threads.sort_by_key(|(at, _)| *at);
    threads.into_iter().map(|(_, thread)| thread).collect()
}

fn told_thread(line: &str) -> Option<(u32, ToldThread)> {
    let words: Vec<&str> = line.split(' ').collect();
    let ["thread", at, "tid", tid, "cpus", cpus, "nodes", nodes] = words[..] else {
        return None;
    };
    let thread = ToldThread {
        tid: tid.parse().ok()?,
        cpus: list::parse(cpus).ok()?.into_iter().collect(),
        pages: nodes.split(',').filter_map(pages).collect(),
    };
    Some((at.parse().ok()?, thread))
}

/// From `N0=1024`.
fn pages(word: &str) -> Option<(u32, u64)> {
    let (node, pages) = word.strip_prefix('N')?.split_once('=')?;
    Some((node.parse().ok()?, pages.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_read_back_in_order() {
        let told = told("thread 1 tid 12 cpus 3 nodes N0=5\nthread 0 tid 11 cpus 0-1 nodes -\n");
        assert_eq!(told[0].cpus, CpuNumbers::from([0, 1]));
        assert_eq!((told[1].tid, told[1].pages.as_slice()), (12, [(0, 5)].as_slice()));
    }
}
