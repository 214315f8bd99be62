//! Real programs under `run`, `check` and `observe`: the masks of their threads by the kernel,
//! while they work.

use super::answer::{Running, ask, start, start_program};
use super::is_among;
use super::kernel::{self, Kernel};
use crate::list::{self, CpuSet};
use crate::trial::{Fault, Outcome, Trial, ensure};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A program of the guest.
pub struct Program {
    /// Its name in the table.
    pub name: &'static str,
    /// Its executable in the guest; absent, the program is left out.
    pub file: &'static str,
    /// The command.
    pub words: &'static str,
    /// A line for the shell that makes it ready.
    prepare: &'static str,
    /// A line for the shell that ends with 0 once it works.
    is_ready: &'static str,
    /// A line for the shell that gives it work.
    load: &'static str,
}

/// The programs.
pub const PROGRAMS: [Program; 8] = [
    Program {
        name: "redis",
        file: "/usr/bin/redis-server",
        words: "redis-server --port 6379 --save --io-threads 2 --daemonize no",
        prepare: "true",
        is_ready: "echo PING | nc 127.0.0.1 6379 | grep -q PONG",
        load: "redis-benchmark -q -n 300 -c 4 -t set,get",
    },
    Program {
        name: "memcached",
        file: "/usr/bin/memcached",
        words: "memcached -u root -l 127.0.0.1 -p 11211 -t 4",
        prepare: "true",
        is_ready: "printf 'version\\r\\nquit\\r\\n' | nc 127.0.0.1 11211 | grep -q VERSION",
        load: "for n in 1 2 3 4 5; do \
               printf 'set a 0 0 1\\r\\nb\\r\\nget a\\r\\nquit\\r\\n' | nc 127.0.0.1 11211; done",
    },
    Program {
        name: "nginx",
        file: "/usr/sbin/nginx",
        words: "nginx -c /tmp/nginx/nginx.conf -p /tmp/nginx",
        prepare: "mkdir -p /tmp/nginx/html /var/log/nginx /var/lib/nginx; \
                  echo hello >/tmp/nginx/html/index.html; \
                  printf 'daemon off; user root root; worker_processes 3; pid /tmp/nginx/pid; \
                  error_log /tmp/nginx/error; events {}\\nhttp { access_log off; \
                  server { listen 127.0.0.1:8080; root /tmp/nginx/html; } }\\n' \
                  >/tmp/nginx/nginx.conf",
        is_ready: "wget -q -O - http://127.0.0.1:8080/ | grep -q hello",
        load: "for n in 1 2 3 4 5 6 7 8; do wget -q -O - http://127.0.0.1:8080/; done",
    },
    Program {
        name: "postgres",
        file: "/usr/lib/postgresql/15/bin/postgres",
        words: "sh /tmp/database",
        // It refuses to run as root.
        prepare: "sed -i /timezone/d /pgdata/postgresql.conf; \
                  chown -R postgres:postgres /pgdata; chmod -R go-rwx /pgdata; \
                  echo 'exec su -s /bin/sh postgres -c \"exec \
                  /usr/lib/postgresql/15/bin/postgres -D /pgdata -k /tmp -c shared_buffers=8MB \
                  -c listen_addresses=127.0.0.1 -c dynamic_shared_memory_type=mmap\"' \
                  >/tmp/database",
        is_ready: "grep -q ready /pgdata/postmaster.pid",
        load: "for n in 1 2 3; do printf '' | nc 127.0.0.1 5432; done",
    },
    Program {
        name: "OpenMP",
        file: "/bin/openmp",
        words: "openmp 60",
        prepare: "true",
        is_ready: "true",
        load: "sleep 1",
    },
    Program {
        name: "hackbench",
        file: "/usr/bin/hackbench",
        words: "hackbench -g 2 -f 4 -l 200000",
        prepare: "true",
        is_ready: "true",
        load: "sleep 1",
    },
    Program {
        name: "40 threads",
        file: "/bin/seatmap-lab",
        words: "seatmap-lab guest threads 40 --talk --seconds 60",
        prepare: "true",
        is_ready: "true",
        load: "sleep 1",
    },
    Program {
        name: "numactl",
        file: "/usr/bin/numactl",
        words: "numactl --localalloc seatmap-lab guest threads 4 --seconds 60",
        prepare: "true",
        is_ready: "true",
        load: "sleep 1",
    },
];

/// Seats each program that is in this guest.
pub fn run(only: &str) -> bool {
    let kernel = Kernel::read();
    let _ = shell("ifconfig lo 127.0.0.1 up");
    let mut is_right = true;
    for program in PROGRAMS.iter().filter(|program| is_among(only, program.name)) {
        if !Path::new(program.file).exists() {
            println!("programs: skipped: {} is not in this guest", program.name);
            continue;
        }
        let trial = Trial::of(program.name, "run, check and observe", || seat(&kernel, program));
        trial.tell();
        is_right &= trial.outcome != Outcome::Wrong;
    }
    is_right
}

fn shell(line: &str) -> bool {
    Command::new("sh").args(["-c", line]).output().is_ok_and(|output| output.status.success())
}

fn seat(kernel: &Kernel, program: &Program) -> Result<String, Fault> {
    ensure(shell(program.prepare), || format!("'{}' fails", program.prepare))?;
    let cpus = kernel.spread();
    let list = cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let mut words = vec!["run", "--strict", "--cpus", &list, "--"];
    words.extend(program.words.split_whitespace());
    let mut runner = start(&words)?;
    let before = kernel::processes();
    let result = work(kernel, program, &cpus, &mut runner, &before);
    for pid in descendants(runner.pid()) {
        let _ = Command::new("kill").arg(pid.to_string()).output();
    }
    // It ends as its program does: by the signal.
    let answer = runner.end();
    answer.has_no_panic()?;
    let left: Vec<u32> =
        kernel::processes().into_iter().filter(|pid| !before.contains(pid)).collect();
    let said = result.map_err(|fault| match fault {
        Fault::Wrong(text) => Fault::Wrong(format!("{text}; {}", answer.show())),
        refused @ Fault::Refused(_) => refused,
    })?;
    ensure(left.is_empty(), || format!("processes {left:?} stay behind"))?;
    Ok(said)
}

/// The program's processes: all below the runner, without helpers of `seatmap` itself.
fn descendants(runner: u32) -> Vec<u32> {
    let mut found = vec![runner];
    let all = kernel::processes();
    let mut at = 0;
    while at < found.len() {
        let above = found[at];
        found.extend(all.iter().filter(|pid| parent(**pid) == Some(above)));
        at += 1;
    }
    found.into_iter().filter(|pid| !is_seatmap(*pid)).collect()
}

fn parent(pid: u32) -> Option<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let word = text.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    word.trim().parse().ok()
}

fn is_seatmap(pid: u32) -> bool {
    std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe.ends_with("seatmap"))
}

fn work(
    kernel: &Kernel,
    program: &Program,
    cpus: &[u32],
    runner: &mut Running,
    _: &[u32],
) -> Result<String, Fault> {
    for _ in 0..200 {
        if !descendants(runner.pid()).is_empty() && shell(program.is_ready) {
            break;
        }
        ensure(!runner.has_ended(), || format!("{} has ended", program.name))?;
        std::thread::sleep(Duration::from_millis(200));
    }
    ensure(shell(program.load), || format!("'{}' fails", program.load))?;
    let pids = descendants(runner.pid());
    ensure(!pids.is_empty(), || "no process of it lives".to_owned())?;
    let seats: CpuSet = cpus.iter().copied().collect();
    let mut threads = 0;
    let mut used = CpuSet::new();
    for pid in &pids {
        for mask in kernel::threads(*pid).into_iter().filter_map(|tid| kernel::mask(*pid, tid)) {
            threads += 1;
            ensure(mask.len() == 1 && mask.is_subset(&seats), || {
                format!(
                    "a thread of {pid} may run on {}, the seats are {cpus:?}",
                    list::show(&mask)
                )
            })?;
            used.extend(mask);
        }
    }
    // Seats go round in order of creation, and helpers that have ended had some.
    let expected = threads.min(2);
    ensure(used.len() >= expected, || format!("{threads} threads on {}", list::show(&used)))?;
    let mut check = vec!["check".to_owned(), "--json".into(), "--seconds".into(), "0.3".into()];
    check.extend(pids.iter().flat_map(|pid| ["--pid".to_owned(), pid.to_string()]));
    let words: Vec<&str> = check.iter().map(String::as_str).collect();
    let seating = ask(&words)?.document()?;
    for thread in seating["threads"].as_array().into_iter().flatten() {
        let cpus = list::parse_words(thread["mask"].as_str().unwrap_or_default());
        let tid = thread["tid"].as_u64().and_then(|tid| u32::try_from(tid).ok());
        let own = tid.and_then(|tid| kernel::mask(tid, tid));
        ensure(own.is_none_or(|own| own == cpus), || format!("check has {thread}"))?;
    }
    let pid = pids[0].to_string();
    let observer =
        start_program("seatmap", &["observe", "--pid", &pid, "--seconds", "2", "--json"])?;
    let _ = shell(program.load);
    let pattern = observer.end().done()?.document()?;
    let tasks = pattern["tasks"].as_u64().unwrap_or_default();
    ensure(tasks > 0, || format!("observed nothing: {pattern}"))?;
    let edges = pattern["edges"].as_array().map_or(0, Vec::len);
    let nodes = kernel.nodes.len();
    Ok(format!(
        "threads {threads}, processes {}, CPUs {}, edges seen {edges}, nodes {nodes}",
        pids.len(),
        list::show(&used)
    ))
}
