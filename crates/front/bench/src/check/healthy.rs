//! Healthy programs, as this computer has them installed.

use super::{Part, findings};
use seatmap_os::Tid;
use seatmap_watch::Asked;
use std::error::Error;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The time after which a program has started its threads.
const STARTED: Duration = Duration::from_millis(1500);

/// Programs that sleep, that work on one CPU or on all, and that are bound on purpose.
const PROGRAMS: [(&str, &[&str]); 29] = [
    ("sleep", &["1000"]),
    ("bash", &["-c", "while :; do :; done"]),
    ("sh", &["-c", "while sleep 0.01; do :; done"]),
    ("python3", &["-c", "while True: pass"]),
    (
        "python3",
        &["-c", "import threading,time\nfor _ in range(8): threading.Thread(target=time.sleep,args=(99,)).start()"],
    ),
    (
        "python3",
        &[
            "-c",
            "import threading\nfor _ in range(4): threading.Thread(target=lambda: [0 for _ in iter(int, 1)]).start()",
        ],
    ),
    ("python3", &["-m", "http.server", "0"]),
    ("node", &["-e", "setInterval(() => {}, 10)"]),
    ("node", &["-e", "for (;;) ;"]),
    ("java", &["Sleeper.java"]),
    ("perl", &["-e", "while (1) {}"]),
    ("awk", &["BEGIN { while (1) i++ }"]),
    ("openssl", &["speed", "-seconds", "30", "sha256"]),
    ("openssl", &["speed", "-multi", "2", "-seconds", "30", "sha256"]),
    ("sha256sum", &["/dev/zero"]),
    ("xz", &["-T0", "-c", "/dev/zero"]),
    ("gzip", &["-c", "/dev/zero"]),
    ("zstd", &["-T0", "-f", "-c", "/dev/zero"]),
    ("pigz", &["-c", "/dev/zero"]),
    ("tail", &["-f", "/dev/null"]),
    ("dd", &["if=/dev/zero", "of=/dev/null"]),
    ("redis-server", &["--port", "0", "--unixsocket", "redis.sock", "--save", ""]),
    ("memcached", &["-u", "root", "-s", "memcached.sock"]),
    ("stress-ng", &["--cpu", "2", "--timeout", "30"]),
    ("sysbench", &["cpu", "--threads=2", "--time=30", "run"]),
    ("taskset", &["-c", "0", "sleep", "1000"]),
    ("taskset", &["-c", "0", "perl", "-e", "select undef, undef, undef, 0.001 while 1"]),
    ("nice", &["-n", "19", "perl", "-e", "while (1) {}"]),
    ("chrt", &["--idle", "0", "perl", "-e", "while (1) {}"]),
];

/// Java with its service threads.
const SLEEPER: &str =
    "class Sleeper { public static void main(String[] a) throws Exception { Thread.sleep(100000); } }";

/// The number of programs, the false alarms, and the programs that are absent.
pub fn alarms() -> Result<Part, Box<dyn Error>> {
    let topology = seatmap_host::topology::of_host()?;
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("Sleeper.java"), SLEEPER)?;
    let (mut count, mut alarms, mut absent) = (0, Vec::new(), Vec::new());
    for (program, arguments) in PROGRAMS {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder.path()).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else {
            absent.push(program.to_owned());
            continue;
        };
        std::thread::sleep(STARTED);
        let pid = child.id() as Tid;
        let lives = child.try_wait()?.is_none();
        let found = if lives { findings(&[pid], &topology, &Asked::default()) } else { Ok(Vec::new()) };
        // SAFETY: the group is that of a child that has not been waited for where it lives.
        unsafe { libc::kill(-pid, libc::SIGKILL) };
        let _ = child.wait();
        if !lives {
            absent.push(format!("{program} {}", arguments.join(" ")));
            continue;
        }
        count += 1;
        let wrong = found?.into_iter().filter(|finding| finding.is_wrong());
        alarms.extend(wrong.map(|finding| format!("{program}: {}: {}", finding.rule, finding.what)));
    }
    absent.dedup();
    Ok(Part { count, failed: alarms, absent })
}
