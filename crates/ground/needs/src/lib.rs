//! Asks the computer for the things that tests need, by doing a piece of their work. For tests.
//!
//! A program that has the right name may still be unable to do its work: Debian's `openmpi-bin`
//! brings an `mpicc` and no `mpi.h`, and a `gcc` without `libc6-dev` compiles nothing that includes
//! a header. So each function here lets the program do a small piece of the work that the test has
//! for it.
//!
//! | function | asks |
//! |---|---|
//! | [`tool`] | does this tool do the least that its tests want of it? |
//! | [`program`] | does this program start and end well with these arguments? |
//! | [`compiler`] | does this compiler make a program of these lines? |
//! | [`threads`], [`mpi`], [`thread_sanitizer`] | the lines that the tests of this workspace need |
//! | [`published`] | is this file below the folder that `SEATMAP_DATA` names? |
//! | [`many_files`] | nothing: it gives a folder for thousands of small files |
//! | [`skip`], [`skipped`] | nothing: they say that a test was skipped, and why |
//!
//! The harness hides what a passing test prints. A skipped test passes, so [`skip`] writes past the
//! harness: a test that was skipped is seen in the output of `cargo test`.
#![deny(missing_docs)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{LazyLock, Mutex};

/// Answers of this process, by what was asked: many tests ask the same.
static ANSWERS: LazyLock<Mutex<BTreeMap<String, bool>>> = LazyLock::new(Mutex::default);

/// A program with a thread.
const THREADS: &str = "#include <pthread.h>
static void *nothing(void *value) { return value; }
int main(void) {
    pthread_t thread;
    return pthread_create(&thread, 0, nothing, 0) || pthread_join(thread, 0);
}
";

/// A program of MPI. It is built and not started: that takes a launcher.
const MPI: &str = "#include <mpi.h>
int main(int count, char **words) {
    MPI_Init(&count, &words);
    return MPI_Finalize();
}
";

/// [`skip`], with a reason that is formatted: `skipped!("needs {count} CPUs")`.
#[macro_export]
macro_rules! skipped {
    ($($reason:tt)*) => {
        $crate::skip(format_args!($($reason)*))
    };
}

/// Says on the standard error that the test of this thread is skipped, and why.
pub fn skip(why: impl Display) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // One write, so that lines of tests that run side by side stay whole. The macros of the
    // standard library would be captured. Where the standard error is closed, nobody wants to know.
    let _ = std::io::stderr().write_all(format!("skipped: {test}: {why}\n").as_bytes());
}

/// A file or folder of the published measurements, which are not part of the repository: the
/// environment variable `SEATMAP_DATA` names their folder. `None`, and a [skipped](skip) test, if
/// it is not there.
pub fn published(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("SEATMAP_DATA").unwrap_or_default();
    published_in(&folder, name).map_err(skip).ok()
}

/// The same of this folder, or why it is not there.
fn published_in(folder: &OsStr, name: &str) -> Result<PathBuf, String> {
    let path = Path::new(folder).join(name);
    let shown = folder.display();
    if folder.is_empty() {
        return Err("needs published measurements: SEATMAP_DATA names no folder of them".into());
    }
    // Cargo runs the tests of each package in the folder of that package.
    if path.is_relative() {
        return Err(format!("SEATMAP_DATA must be an absolute path, and is '{shown}'"));
    }
    if !Path::new(folder).is_dir() {
        return Err(format!("SEATMAP_DATA is '{shown}', which is not a folder"));
    }
    if !path.exists() {
        return Err(format!("SEATMAP_DATA is '{shown}', which has no '{name}'"));
    }
    Ok(path)
}

/// A folder for thousands of small files, as a machine's `/sys` has them, in memory where that can
/// be had. ext4 gives no file an inode that was freed seconds ago: where others like these were
/// just removed, it looks for one ten times as long as all else takes.
pub fn many_files() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Whether a tool does the least that its tests want of it: a compiler builds, a launcher launches,
/// a browser reads a page, and another program tells its version. Where it does not, the test is
/// [skipped](skip).
pub fn tool(name: &str) -> bool {
    match name {
        "cc" | "gcc" | "g++" | "clang" => threads(name),
        _ if name.starts_with("mpicc") => mpi(name),
        // It ends well only where a cluster answers.
        "srun" => starts(name),
        _ => program(name, least(name)),
    }
}

/// Arguments with which a program does a little of its work, and ends.
fn least(name: &str) -> &'static [&'static str] {
    match name {
        "chromium" => &["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "about:blank"],
        "go" => &["version"],
        "java" | "javac" => &["-version"],
        "lstopo-no-graphics" => &["--of", "console", "-"],
        _ if name.starts_with("mpirun") || name.starts_with("mpiexec") => &["-np", "1", "true"],
        "nginx" => &["-v"],
        "numactl" => &["--show"],
        "sh" => &["-c", "true"],
        "unshare" => &["--mount", "true"],
        _ => &["--version"],
    }
}

/// Whether a program starts with these arguments and ends with 0. Where it does not, the test is
/// [skipped](skip).
pub fn program(name: &str, arguments: &[&str]) -> bool {
    let question = format!("{name} {}", arguments.join(" "));
    let works = answer(&question, || ends_well(Command::new(name).args(arguments)));
    if !works {
        skip(format_args!("'{question}' does not work here"));
    }
    works
}

/// Whether a program can be started, however it ends. Where it cannot, the test is [skipped](skip).
pub fn starts(name: &str) -> bool {
    let works = answer(name, || quietly(&mut Command::new(name)).is_ok());
    if !works {
        skip(format_args!("'{name}' cannot be started"));
    }
    works
}

/// Whether a compiler, with these options, makes a program of this C source. Where it does not, the
/// test is [skipped](skip). The program is not started.
pub fn compiler(name: &str, options: &[&str], source: &str) -> bool {
    let question = format!("{name} {} {source}", options.join(" "));
    let works = answer(&question, || compiles(name, options, source, |_| true));
    if !works {
        let first = source.lines().next().unwrap_or_default();
        skip(format_args!(
            "'{name} {}' cannot build a program that begins with '{first}'",
            options.join(" ")
        ));
    }
    works
}

/// Whether a compiler makes programs with threads.
pub fn threads(name: &str) -> bool {
    compiler(name, &["-pthread"], THREADS)
}

/// Whether a compiler driver of MPI makes programs of MPI.
pub fn mpi(name: &str) -> bool {
    compiler(name, &[], MPI)
}

/// Whether a compiler makes programs with ThreadSanitizer, and they run: some kernels map memory
/// where it has its own.
pub fn thread_sanitizer(name: &str) -> bool {
    let options = ["-pthread", "-fsanitize=thread"];
    let works = answer(&format!("{name} tsan"), || compiles(name, &options, THREADS, runs));
    if !works {
        skip(format_args!("'{name} -fsanitize=thread' makes no program that runs here"));
    }
    works
}

fn runs(program: &str) -> bool {
    ends_well(&mut Command::new(program))
}

fn answer(question: &str, ask: impl FnOnce() -> bool) -> bool {
    // Held while asking, so that a question is asked once.
    let mut answers = ANSWERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    *answers.entry(question.to_owned()).or_insert_with(ask)
}

fn ends_well(command: &mut Command) -> bool {
    quietly(command).is_ok_and(|status| status.success())
}

fn quietly(command: &mut Command) -> std::io::Result<ExitStatus> {
    // Open MPI starts nothing for root that has not said twice that it means it.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()
}

fn compiles(name: &str, options: &[&str], source: &str, judge: impl FnOnce(&str) -> bool) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("asked.c");
    std::fs::write(&path, source).unwrap();
    let program = folder.path().join("asked");
    let mut command = Command::new(name);
    command.args(options).arg("-o").arg(&program).arg(&path);
    // A compiler may say yes and make nothing: the file is what counts.
    ends_well(&mut command) && program.is_file() && judge(program.to_str().unwrap())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_measurements_are_there_or_the_reason_names_the_variable() {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().as_os_str();
        std::fs::write(folder.path().join("a.csv"), "").unwrap();
        assert_eq!(published_in(whole, "a.csv"), Ok(folder.path().join("a.csv")));
        let absent = folder.path().join("absent");
        let reasons = [
            (OsStr::new(""), "names no folder"),
            (OsStr::new("data"), "must be an absolute path, and is 'data'"),
            (absent.as_os_str(), "which is not a folder"),
        ];
        for (folder, reason) in reasons {
            let why = published_in(folder, "a.csv").unwrap_err();
            assert!(why.contains("SEATMAP_DATA") && why.contains(reason), "{why}");
        }
        assert!(published_in(whole, "b.csv").unwrap_err().contains("has no 'b.csv'"));
    }

    #[test]
    fn what_does_not_work_is_not_there() {
        assert!(program("true", &[]));
        assert!(!program("false", &[]));
        assert!(!program("no-such-program", &["--version"]));
    }

    #[test]
    fn a_compiler_without_its_header_is_no_compiler() {
        assert!(
            !compiler("true", &[], "int main(void) { return 0; }"),
            "it says yes and makes nothing"
        );
        assert!(!compiler("no-such-compiler", &[], ""));
        if threads("cc") {
            assert!(!compiler(
                "cc",
                &[],
                "#include <no-such-header.h>\nint main(void) { return 0; }\n"
            ));
        }
    }
}
