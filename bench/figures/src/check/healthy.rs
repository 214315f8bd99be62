//! Healthy programs, as this computer has them installed.

use super::{Part, findings};
use seatmap_os::Tid;
use seatmap_watch::Criteria;
use std::error::Error;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The time after which a program has started its threads.
const STARTED: Duration = Duration::from_millis(1500);

/// Programs that sleep, that work on one CPU or on all, and that are bound on purpose.
const PROGRAMS: [(&str, &[&str]); 40] = [
    ("sleep", &["1000"]),
    ("bash", &["-c", "while :; do :; done"]),
    ("sh", &["-c", "while sleep 0.01; do :; done"]),
    ("python3", &["-c", "while True: pass"]),
    (
        "python3",
        &[
            "-c",
            "import threading,time\nfor _ in range(8): \
             threading.Thread(target=time.sleep,args=(99,)).start()",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "import threading\nfor _ in range(4): threading.Thread(target=lambda: [0 for _ in \
             iter(int, 1)]).start()",
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
    ("sh", &["-c", "exec zstd -T0 -c < /dev/zero"]),
    ("sh", &["-c", "exec pigz -c < /dev/zero"]),
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
    ("nginx", &["-p", ".", "-c", "nginx.conf"]),
    ("sh", &["postgres.sh"]),
    (
        "ffmpeg",
        &[
            "-f",
            "lavfi",
            "-i",
            "testsrc2=size=1280x720:rate=30",
            "-c:v",
            "libx264",
            "-f",
            "null",
            "-",
        ],
    ),
    ("7z", &["b", "999"]),
    ("python3", &["processes.py"]),
    ("./openmp", &[]),
    ("./goroutines", &[]),
    ("mpirun", &["--allow-run-as-root", "-n", "2", "./ranks"]),
    (
        "mpirun",
        &["--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "4", "./ranks"],
    ),
    ("hackbench", &["-l", "100000000"]),
    ("cyclictest", &["-q", "-t", "2"]),
];

/// Files that programs need, by name.
const FILES: [(&str, &str); 7] = [
    ("Sleeper.java", SLEEPER),
    ("nginx.conf", NGINX),
    ("postgres.sh", POSTGRES),
    ("processes.py", PROCESSES),
    ("openmp.c", OPENMP),
    ("goroutines.go", GOROUTINES),
    ("ranks.c", RANKS),
];

/// Commands that build programs; one that is refused leaves its program out.
const BUILDS: [&[&str]; 4] = [
    &["gcc", "-O1", "-fopenmp", "-o", "openmp", "openmp.c"],
    &["go", "build", "-o", "goroutines", "goroutines.go"],
    &["mpicc", "-O1", "-o", "ranks", "ranks.c"],
    &["sh", "postgres.sh", "init"],
];

/// Java with its service threads.
const SLEEPER: &str = "class Sleeper { public static void main(String[] a) throws Exception { \
                       Thread.sleep(100000); } }";

const NGINX: &str = "daemon off; pid nginx.pid; error_log stderr; worker_processes 2; events {}
http { access_log off; server { listen unix:nginx.sock; } }
";

/// PostgreSQL refuses to run as root.
const POSTGRES: &str = r#"set -e
bin=$(echo /usr/lib/postgresql/*/bin)
if [ "$1" = init ]; then
    chmod 755 . && install -d -o postgres data && exec setpriv --reuid postgres --clear-groups "$bin/initdb" -D data
fi
exec setpriv --reuid postgres --clear-groups "$bin/postgres" -D data -k "$PWD/data" -c listen_addresses=
"#;

const PROCESSES: &str = "import multiprocessing
def work(n):
    while True: n += 1
if __name__ == '__main__':
    multiprocessing.Pool(3).map(work, range(3))
";

const OPENMP: &str = "int main(void) {
    static volatile double sums[64];
    for (;;)
        #pragma omp parallel for
        for (int at = 0; at < 64; at++)
            for (int again = 0; again < 100000; again++) sums[at] += again;
}
";

const GOROUTINES: &str = "package main
func main() {
	work, done := make(chan int), make(chan int)
	for at := 0; at < 4; at++ {
		go func() { for n := range work { for i := 0; i < 10000; i++ { n += i }; done <- n } }()
	}
	go func() { for n := 0; ; n++ { work <- n } }()
	for { <-done }
}
";

const RANKS: &str = "#include <mpi.h>
int main(int count, char **words) {
    MPI_Init(&count, &words);
    for (double own = 1, sum;;) MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
";

/// A folder with the files, in which those programs are built that can be.
fn workshop() -> Result<tempfile::TempDir, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    for (name, text) in FILES {
        std::fs::write(folder.path().join(name), text)?;
    }
    for words in BUILDS {
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .current_dir(folder.path())
            .env("GOCACHE", folder.path().join("cache"));
        // A program that is not built cannot be started, and is told as absent then.
        let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
    Ok(folder)
}

/// The number of programs, the false alarms, and the programs that are absent.
pub fn alarms() -> Result<Part, Box<dyn Error>> {
    let topology = seatmap_host::topology::of_host()?;
    let folder = workshop()?;
    let mut count = 0;
    let mut alarms = Vec::new();
    let mut absent = Vec::new();
    for (program, arguments) in PROGRAMS {
        let mut command = Command::new(program);
        // A group of its own, so that servers with children are ended as a whole.
        command.args(arguments).current_dir(folder.path()).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else {
            absent.push(program.to_owned());
            continue;
        };
        std::thread::sleep(STARTED);
        let pid = child.id() as Tid;
        // A program that has ended by now is another version, or lacks a privilege: it can raise no
        // alarm.
        if child.try_wait()?.is_some() {
            absent.push(format!("{program} {}", arguments.join(" ")));
            continue;
        }
        let found = findings(&[pid], &topology, &Criteria::default());
        // SAFETY: the group is that of a child that has not been waited for.
        unsafe { libc::kill(-pid, libc::SIGKILL) };
        let _ = child.wait();
        count += 1;
        let wrong = found?.into_iter().filter(|finding| finding.is_wrong());
        alarms
            .extend(wrong.map(|finding| format!("{program}: {}: {}", finding.rule, finding.what)));
    }
    absent.dedup();
    Ok(Part { count, failed: alarms, absent })
}
