//! For tests: checks whether this computer has what a test needs, by doing a piece of the test's
//! work.
//!
//! A program with the right name may still be unable to work: Debian's `openmpi-bin` provides
//! `mpicc` without `mpi.h`, and `gcc` without `libc6-dev` compiles nothing that includes a header.
//!
//! | function | asks |
//! |---|---|
//! | [`tool`] | can this tool do the minimum that its tests need? |
//! | [`program`] | does this program succeed with these arguments? |
//! | [`compiler`] | can this compiler build this source? |
//! | [`threads`], [`mpi`], [`thread_sanitizer`] | the sources of this workspace's tests |
//! | [`published`] | is this file in the folder `SEATMAP_DATA`? |
//! | [`many_files`] | nothing: provides a folder for thousands of small files |
//! | [`faults`] | nothing: lists mistakes in a printed text |
//! | [`tree`], [`plant`] | nothing: write small files, like a computer's `/proc` and `/sys` |
//! | [`skip`], [`skipped`] | nothing: report a skipped test with the reason |
//!
//! The test harness hides the output of passing tests. A skipped test passes, so [`skip`] writes
//! past the harness: `cargo test` shows skipped tests.
#![deny(missing_docs)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod prose;

pub use prose::faults;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{LazyLock, Mutex};

/// Answers so far, by question, because many tests ask the same.
static ANSWERS: LazyLock<Mutex<BTreeMap<String, bool>>> = LazyLock::new(Mutex::default);

const THREADS: &str = "#include <pthread.h>
static void *nothing(void *value) { return value; }
int main(void) {
    pthread_t thread;
    return pthread_create(&thread, 0, nothing, 0) || pthread_join(thread, 0);
}
";

/// An MPI program. It is only built, because running it takes a launcher.
const MPI: &str = "#include <mpi.h>
int main(int count, char **words) {
    MPI_Init(&count, &words);
    return MPI_Finalize();
}
";

/// [`skip`] with a formatted reason: `skipped!("needs {count} CPUs")`.
#[macro_export]
macro_rules! skipped {
    ($($reason:tt)*) => {
        $crate::skip(format_args!($($reason)*))
    };
}

/// Reports on standard error that the current test is skipped, and why.
pub fn skip(why: impl Display) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // One write, so that lines of concurrent tests stay whole. The standard library's macros would
    // be captured. An error means that standard error is closed, and is ignored.
    let _ = std::io::stderr().write_all(format!("skipped: {test}: {why}\n").as_bytes());
}

/// A file or folder of the published measurements, which are not part of the repository: the
/// environment variable `SEATMAP_DATA` names their folder. If it is missing, returns `None` and
/// [skips](skip) the test.
pub fn published(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("SEATMAP_DATA").unwrap_or_default();
    published_in(&folder, name).map_err(skip).ok()
}

/// Like [`published`] for a given folder, with the reason if the file is missing.
fn published_in(folder: &OsStr, name: &str) -> Result<PathBuf, String> {
    let path = Path::new(folder).join(name);
    let shown = folder.display();
    if folder.is_empty() {
        return Err("needs published measurements: set SEATMAP_DATA to their folder".into());
    }
    // Cargo runs the tests of each package in that package's folder.
    if path.is_relative() {
        return Err(format!("SEATMAP_DATA must be an absolute path, but is '{shown}'"));
    }
    if !Path::new(folder).is_dir() {
        return Err(format!("SEATMAP_DATA is '{shown}', which is not a folder"));
    }
    if !path.exists() {
        return Err(format!("SEATMAP_DATA is '{shown}', which has no '{name}'"));
    }
    Ok(path)
}

/// A folder for thousands of small files, like a machine's `/sys`, in memory if possible. ext4 does
/// not reuse an inode that was freed seconds ago: after a removal of many files, its search for a
/// free one takes ten times as long as everything else.
pub fn many_files() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// A folder with these files, by path and text.
pub fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    plant(folder.path(), files);
    folder
}

/// Writes files into a folder, by path and text, with the folders above them.
pub fn plant(folder: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Whether a tool does the minimum that its tests need: a compiler builds, a launcher launches, a
/// browser reads a page, and other programs print their version. If not, the test is
/// [skipped](skip).
pub fn tool(name: &str) -> bool {
    match name {
        "cc" | "gcc" | "g++" | "clang" => threads(name),
        _ if name.starts_with("mpicc") => mpi(name),
        // It succeeds only if a cluster answers.
        "srun" => starts(name),
        _ => program(name, least(name)),
    }
}

/// Arguments with which a program does a little work, and exits.
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

/// Whether a program starts with these arguments and exits with 0. If not, the test is
/// [skipped](skip).
pub fn program(name: &str, arguments: &[&str]) -> bool {
    let question = format!("{name} {}", arguments.join(" "));
    let works = answer(&question, || ends_well(Command::new(name).args(arguments)));
    if !works {
        skip(format_args!("'{question}' does not work here"));
    }
    works
}

/// Whether a program starts, with any result. If not, the test is [skipped](skip).
pub fn starts(name: &str) -> bool {
    let works = answer(name, || quietly(&mut Command::new(name)).is_ok());
    if !works {
        skip(format_args!("cannot start '{name}'"));
    }
    works
}

/// Whether a compiler, with these options, builds this C source; the program is not run. If not,
/// the test is [skipped](skip).
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

/// Whether a compiler builds programs with threads.
pub fn threads(name: &str) -> bool {
    compiler(name, &["-pthread"], THREADS)
}

/// Whether an MPI compiler driver builds MPI programs.
pub fn mpi(name: &str) -> bool {
    compiler(name, &[], MPI)
}

/// Whether a compiler builds programs with ThreadSanitizer, and they run: some kernels map memory
/// at ThreadSanitizer's addresses.
pub fn thread_sanitizer(name: &str) -> bool {
    let options = ["-pthread", "-fsanitize=thread"];
    let works = answer(&format!("{name} tsan"), || compiles(name, &options, THREADS, runs));
    if !works {
        skip(format_args!("'{name} -fsanitize=thread' does not build programs that run here"));
    }
    works
}

fn runs(program: &str) -> bool {
    ends_well(&mut Command::new(program))
}

fn answer(question: &str, ask: impl FnOnce() -> bool) -> bool {
    // The lock is held during the question, so that each is asked only once.
    let mut answers = ANSWERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    *answers.entry(question.to_owned()).or_insert_with(ask)
}

fn ends_well(command: &mut Command) -> bool {
    quietly(command).is_ok_and(|status| status.success())
}

fn quietly(command: &mut Command) -> std::io::Result<ExitStatus> {
    // As root, Open MPI starts nothing without both of these confirmations. Jobs that share a
    // folder for their sessions remove each other's.
    let folder = tempfile::tempdir()?;
    command.env("TMPDIR", folder.path());
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
    // A compiler can succeed without output, so the file must exist.
    ends_well(&mut command) && program.is_file() && judge(program.to_str().unwrap())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_measurements_give_a_reason_naming_the_variable() {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().as_os_str();
        std::fs::write(folder.path().join("a.csv"), "").unwrap();
        assert_eq!(published_in(whole, "a.csv"), Ok(folder.path().join("a.csv")));
        let absent = folder.path().join("absent");
        let reasons = [
            (OsStr::new(""), "to their folder"),
            (OsStr::new("data"), "must be an absolute path, but is 'data'"),
            (absent.as_os_str(), "which is not a folder"),
        ];
        for (folder, reason) in reasons {
            let why = published_in(folder, "a.csv").unwrap_err();
            assert!(why.contains("SEATMAP_DATA") && why.contains(reason), "{why}");
        }
        assert!(published_in(whole, "b.csv").unwrap_err().contains("has no 'b.csv'"));
    }

    #[test]
    fn failing_program_counts_as_absent() {
        assert!(program("true", &[]));
        assert!(!program("false", &[]));
        assert!(!program("no-such-program", &["--version"]));
    }

    #[test]
    fn compiler_without_its_header_counts_as_absent() {
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
