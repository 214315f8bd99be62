//! The settings by which programs choose their number of threads.
//!
//! A runtime is recognized by a process's mapped libraries, its executable (Go), or its threads'
//! names. The settings are those of the runtimes' manuals.

use CountSetting::{Line, Variable};
use RuntimeKind::{Executable, Library, Threads};

/// A runtime that starts a thread for each CPU, or a fixed number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedRuntime {
    /// The beginning of its library's name or of its threads' names, or `go`.
    pub name: &'static str,
    kind: RuntimeKind,
    /// The setting at the program's start.
    pub setting: CountSetting,
    /// A request that changes the number in a running program, with `{}` for it.
    live: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RuntimeKind {
    Library,
    Executable,
    Threads,
}

/// The setting of a number of threads, with `{}` for the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountSetting {
    /// An environment variable, and its value.
    Variable(&'static str, &'static str),
    /// An option, or a line of configuration or code.
    Line(&'static str),
}

impl CountSetting {
    /// The setting for this number, as typed: `OMP_NUM_THREADS=2`.
    pub fn with(self, threads: usize) -> String {
        match self {
            Variable(name, value) => format!("{name}={}", filled(value, threads)),
            Line(line) => filled(line, threads),
        }
    }
}

impl CountedRuntime {
    /// How a running program gets this number, as the rest of a sentence.
    pub fn live(&self, threads: usize) -> Option<String> {
        self.live.map(|live| filled(live, threads))
    }
}

fn filled(text: &str, threads: usize) -> String {
    text.replace("{}", &threads.to_string())
}

/// The name of Go's runtime.
pub const GO: &str = "go";

const OPENMP: CountSetting = Variable("OMP_NUM_THREADS", "{}");
const OPENBLAS: CountSetting = Variable("OPENBLAS_NUM_THREADS", "{}");
const TBB: CountSetting = Line("global_control(max_allowed_parallelism, {}) in its code");
const JAVA: CountSetting = Variable("JAVA_TOOL_OPTIONS", "-XX:ActiveProcessorCount={}");
const ONNX: CountSetting = Line("intra_op_num_threads={} in its session options");
const TOKIO: CountSetting = Variable("TOKIO_WORKER_THREADS", "{}");
const ERLANG: CountSetting = Variable("ERL_FLAGS", "'+S {}'");

const OPENMP_CALL: Option<&str> = Some("let it call omp_set_num_threads({})");
const OPENBLAS_CALL: Option<&str> = Some("let it call openblas_set_num_threads({})");
const ERLANG_CALL: Option<&str> = Some("let it call erlang:system_flag(schedulers_online, {})");

const RUNTIMES: &[CountedRuntime] = &[
    runtime(Library, "libgomp", OPENMP, OPENMP_CALL),
    runtime(Library, "libomp", OPENMP, OPENMP_CALL),
    runtime(Library, "libiomp5", OPENMP, OPENMP_CALL),
    runtime(Library, "libtorch_cpu", OPENMP, Some("let it call torch.set_num_threads({})")),
    runtime(Library, "libopenblas", OPENBLAS, OPENBLAS_CALL),
    runtime(Library, "libopenblasp", OPENBLAS, OPENBLAS_CALL),
    runtime(Library, "libscipy_openblas", OPENBLAS, OPENBLAS_CALL),
    runtime(Library, "libmkl_rt", Variable("MKL_NUM_THREADS", "{}"), None),
    runtime(Library, "libtbb", TBB, None),
    runtime(Library, "libjvm", JAVA, None),
    runtime(Library, "libonnxruntime", ONNX, None),
    runtime(Library, "onnxruntime_pybind11_state", ONNX, None),
    runtime(
        Executable,
        GO,
        Variable(super::GO_VARIABLE, "{}"),
        Some("let it call runtime.GOMAXPROCS({})"),
    ),
    runtime(Threads, "tokio-rt-worker", TOKIO, None),
    runtime(Threads, "tokio-runtime-w", TOKIO, None),
    runtime(Threads, "polars-", Variable("POLARS_MAX_THREADS", "{}"), None),
    runtime(Threads, "libuv-worker", Variable("UV_THREADPOOL_SIZE", "{}"), None),
    runtime(Threads, "V8Worker", Line("the option --v8-pool-size={}"), None),
    runtime(Threads, "mc-worker", Line("the option -t {}"), None),
    runtime(Threads, "nginx", Line("worker_processes {} in nginx.conf"), Some("reload it")),
    runtime(Threads, "erts_sched", ERLANG, ERLANG_CALL),
    runtime(Threads, "_scheduler", ERLANG, ERLANG_CALL),
];

const fn runtime(
    kind: RuntimeKind,
    name: &'static str,
    setting: CountSetting,
    live: Option<&'static str>,
) -> CountedRuntime {
    CountedRuntime { name, kind, setting, live }
}

/// The runtimes of mapped libraries, given `/proc/PID/maps`.
pub fn in_maps(maps: &[u8]) -> Vec<&'static CountedRuntime> {
    let files: Vec<&[u8]> = maps
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.rsplit(|byte| *byte == b'/').next())
        .collect();
    let libraries = RUNTIMES.iter().filter(|one| one.kind == Library);
    libraries.filter(|one| files.iter().any(|file| is_version(file, one.name))).collect()
}

/// `libgomp.so.1` and `libgomp-a34b3233.so.1.0.0` are versions of `libgomp`, and `libtbbmalloc.so`
/// is not one of `libtbb`.
fn is_version(file: &[u8], library: &str) -> bool {
    let rest = file.strip_prefix(library.as_bytes());
    rest.and_then(<[u8]>::first).is_some_and(|next| !next.is_ascii_alphabetic())
}

/// The runtime with this name.
pub fn named(name: &str) -> Option<&'static CountedRuntime> {
    RUNTIMES.iter().find(|one| one.name == name)
}

/// The runtime that gives this thread name. Some names begin with a number.
pub fn of_thread(name: &str) -> Option<&'static CountedRuntime> {
    let name = name.trim_start_matches(|letter: char| letter.is_ascii_digit());
    RUNTIMES.iter().find(|one| one.kind == Threads && name.starts_with(one.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_every_packager_are_recognized() {
        let maps = "7f0-7f1 r-xp 0 8:1 9 /usr/lib/libgomp.so.1.0.0\n\
                    7f1-7f2 r-xp 0 8:1 9 /x/numpy.libs/libscipy_openblas64_-8fb3d286.so\n\
                    7f2-7f3 r-xp 0 8:1 9 /x/numpy.libs/libgomp-a34b3233.so.1.0.0\n\
                    7f3-7f4 r-xp 0 8:1 9 /usr/lib/libtbbmalloc.so.2\n\
                    7f4-7f5 rw-p 0 0:0 0 [stack]\n";
        let names: Vec<&str> = in_maps(maps.as_bytes()).iter().map(|one| one.name).collect();
        assert_eq!(names, ["libgomp", "libscipy_openblas"]);
        assert!(is_version(b"libopenblasp-r0.3.21.so", "libopenblasp"));
        assert!(!is_version(b"libompitrace.so", "libomp") && !is_version(b"libgomp", "libgomp"));
    }

    #[test]
    fn settings_are_written_as_typed() {
        let typed = |name: &str| named(name).map(|one| one.setting.with(2));
        assert_eq!(typed("libomp").as_deref(), Some("OMP_NUM_THREADS=2"));
        assert_eq!(
            typed("libjvm").as_deref(),
            Some("JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=2")
        );
        assert_eq!(typed(GO).as_deref(), Some("GOMAXPROCS=2"));
        let live = named("libgomp").and_then(|one| one.live(2));
        assert_eq!(live.as_deref(), Some("let it call omp_set_num_threads(2)"));
        assert_eq!(typed("gcc"), None);
    }

    #[test]
    fn threads_are_recognized_by_name() {
        let setting = |name: &str| of_thread(name).map(|one| one.setting.with(1));
        assert_eq!(setting("tokio-rt-worker").as_deref(), Some("TOKIO_WORKER_THREADS=1"));
        assert_eq!(setting("polars-11").as_deref(), Some("POLARS_MAX_THREADS=1"));
        assert_eq!(setting("2_scheduler").as_deref(), Some("ERL_FLAGS='+S 1'"));
        assert_eq!((setting("go"), setting("libgomp"), setting("worker")), (None, None, None));
    }
}
