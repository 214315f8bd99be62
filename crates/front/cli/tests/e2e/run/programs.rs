//! The programs in `tests/programs`, built once, and the CPUs to seat them on.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");
const BUILT: &str = env!("CARGO_TARGET_TMPDIR");

/// Two CPUs of this process. If there is only one, it is returned twice.
pub fn two_cpus() -> [u32; 2] {
    let cpus = seatmap_os::affinity::current().unwrap();
    [cpus[0], *cpus.get(1).unwrap_or(&cpus[0])]
}

pub fn are_two([first, second]: [u32; 2]) -> bool {
    if first == second {
        seatmap_needs::skipped!("one CPU leaves no choice");
    }
    first != second
}

/// Adds two CPUs to a program. `None` if the program or a second CPU is missing.
pub fn on_two_cpus<T>(program: Option<T>) -> Option<(T, [u32; 2])> {
    let cpus = two_cpus();
    program.filter(|_| are_two(cpus)).map(|program| (program, cpus))
}

pub fn list(cpus: &[u32]) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

pub fn on(cpus: &[u32]) -> String {
    format!("--cpus {}", list(cpus))
}

pub fn own_mask() -> String {
    mask_of("/proc/thread-self")
}

/// The mask of a process or thread, given its folder in `/proc`.
pub fn mask_of(folder: &str) -> String {
    let status = std::fs::read_to_string(format!("{folder}/status")).unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.unwrap().trim().to_owned()
}

pub fn source(name: &str) -> String {
    format!("{SOURCES}/{name}")
}

pub fn c() -> Option<&'static str> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    built(&BUILT, "c-dynamic", "threads.c", "gcc", &["-pthread", "-o"])
}

pub fn brood() -> Option<&'static str> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    built(&BUILT, "brood", "brood.c", "gcc", &["-pthread", "-o"])
}

pub fn static_c() -> Option<&'static str> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    built(&BUILT, "c-static", "threads.c", "gcc", &["-pthread", "-static", "-o"])
}

pub fn creators() -> Option<&'static str> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    built(&BUILT, "creators", "creators.c", "gcc", &["-pthread", "-o"])
}

pub fn memory() -> Option<&'static str> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    built(&BUILT, "memory", "memory.c", "gcc", &["-pthread", "-o"])
}

pub fn filtered() -> Option<&'static str> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    built(&BUILT, "filtered", "filtered.c", "gcc", &["-pthread", "-o"])
}

pub fn spin() -> Option<&'static str> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    built(&BUILT, "spin", "spin.c", "gcc", &["-O1", "-pthread", "-o"])
}

/// An OpenMP program with barriers.
pub fn barriers() -> Option<&'static str> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    built(&BUILT, "barriers", "barriers.c", "gcc", &["-O1", "-fopenmp", "-o"])
}

/// A program whose workers have faulty binding logic.
pub fn pinning() -> Option<&'static str> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    built(&BUILT, "pinning", "pinning.c", "gcc", &["-O1", "-pthread", "-o"])
}

/// A static program that opens files by many spellings of their paths.
pub fn spellings() -> Option<&'static str> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    built(&BUILT, "spellings", "spellings.c", "gcc", &["-O1", "-pthread", "-static", "-o"])
}

/// A program that prints how many threads Rust would start.
pub fn parallelism() -> Option<&'static str> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    built(&BUILT, "parallelism", "parallelism.rs", "rustc", &["--edition=2024", "-o"])
}

pub fn rust() -> Option<&'static str> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    built(&BUILT, "rust", "threads.rs", "rustc", &["--edition=2024", "-o"])
}

/// The Go program, which is always static.
pub fn go() -> Option<&'static str> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    built(&BUILT, "go", "threads.go", go_tool(), &["build", "-o"])
}

fn go_tool() -> &'static str {
    if installed("go") { "go" } else { "/usr/local/go/bin/go" }
}

pub fn go_builds(source: &str, to: &Path, options: &[&str]) -> bool {
    let mut command = Command::new(go_tool());
    command.arg("build").args(options).arg("-o").arg(to).arg(source);
    let done = is_built(&mut command);
    if !done {
        seatmap_needs::skipped!("go does not build {source}");
    }
    done
}

pub fn installed(program: &str) -> bool {
    seatmap_needs::tool(program)
}

fn is_built(command: &mut Command) -> bool {
    command.env("GOFLAGS", "-mod=mod").env("GO111MODULE", "off");
    command.output().is_ok_and(|output| output.status.success())
}

fn built(
    cell: &'static OnceLock<Option<PathBuf>>,
    name: &str,
    file: &str,
    compiler: &str,
    options: &[&str],
) -> Option<&'static str> {
    let build = || {
        let to = Path::new(BUILT).join(format!("threads-{name}"));
        let mut command = Command::new(compiler);
        // Go requires its options before the file.
        command.args(options).arg(&to).arg(source(file));
        let done = is_built(&mut command);
        if !done {
            seatmap_needs::skipped!("{compiler} {options:?} does not build {file}");
        }
        done.then_some(to)
    };
    cell.get_or_init(build).as_deref().and_then(Path::to_str)
}
