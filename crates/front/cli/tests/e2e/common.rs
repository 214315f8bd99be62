//! Helpers that the suites of both programs share. Each suite names its program.

use serde_json::Value;
use std::ffi::OsStr;
use std::fmt::Debug;
use std::fs::File;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Part of a command line: a string of words separated by blanks, a list of words that may contain
/// blanks, or a tuple of parts.
pub trait Arguments: Debug {
    fn words(&self) -> Vec<&str>;
}

impl Arguments for str {
    fn words(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl Arguments for String {
    fn words(&self) -> Vec<&str> {
        self.as_str().words()
    }
}

impl Arguments for [&str] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> Arguments for [&str; N] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<S: AsRef<str> + Debug> Arguments for Vec<S> {
    fn words(&self) -> Vec<&str> {
        self.iter().map(AsRef::as_ref).collect()
    }
}

impl<T: Arguments + ?Sized> Arguments for &T {
    fn words(&self) -> Vec<&str> {
        (**self).words()
    }
}

impl<A: Arguments, B: Arguments> Arguments for (A, B) {
    fn words(&self) -> Vec<&str> {
        [self.0.words(), self.1.words()].concat()
    }
}

impl<A: Arguments, B: Arguments, C: Arguments> Arguments for (A, B, C) {
    fn words(&self) -> Vec<&str> {
        [self.0.words(), self.1.words(), self.2.words()].concat()
    }
}

pub trait Json {
    fn elements(&self) -> &Vec<Value>;
    fn text(&self) -> &str;
    fn whole(&self) -> u64;
    fn number(&self) -> f64;
}

impl Json for Value {
    #[track_caller]
    fn elements(&self) -> &Vec<Value> {
        self.as_array().unwrap()
    }

    #[track_caller]
    fn text(&self) -> &str {
        self.as_str().unwrap()
    }

    #[track_caller]
    fn whole(&self) -> u64 {
        self.as_u64().unwrap()
    }

    #[track_caller]
    fn number(&self) -> f64 {
        self.as_f64().unwrap()
    }
}

/// A temporary working folder, home and state for one test.
pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn file<'a>(&self, name: &'a str, bytes: impl AsRef<[u8]>) -> &'a str {
        std::fs::write(self.path(name), bytes).unwrap();
        name
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn read_json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    pub fn command(&self, arguments: impl Arguments) -> Command {
        let mut command = self.command_of(crate::PROGRAM);
        command.args(arguments.words());
        command
    }

    /// A command for another program in the same environment.
    pub fn command_of(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder()).env("HOME", self.folder()).env("NO_COLOR", "1");
        command.env("XDG_STATE_HOME", self.path("state"));
        // Without a login a user has no runtime folder; root always has `/run`. SAFETY: the call
        // cannot fail and touches nothing.
        let is_root = unsafe { libc::geteuid() } == 0;
        if !is_root && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
            command.env("XDG_RUNTIME_DIR", self.folder());
        }
        command
    }

    pub fn run(&self, arguments: impl Arguments) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub fn stdout(&self, arguments: impl Arguments) -> String {
        let output = self.run(&arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn json(&self, arguments: impl Arguments) -> Value {
        serde_json::from_str(&self.stdout(arguments)).unwrap()
    }

    /// The stderr of a command that must exit with `code`.
    #[track_caller]
    pub fn stderr(&self, arguments: impl Arguments, code: i32) -> String {
        let output = self.run(&arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        stderr(&output)
    }

    /// The stderr of a command that must exit with 2 and an empty stdout.
    pub fn refusal(&self, arguments: impl Arguments) -> String {
        let output = self.run(&arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?} printed on stdout");
        assert!(!stderr.contains("panicked"), "{stderr}");
        // Another test may be measuring.
        let waits = |line: &&str| line.contains(": another measurement of this host");
        stderr.lines().filter(|line| !waits(line)).collect::<Vec<_>>().join("\n")
    }

    /// As [`Self::refusal`], and it must be one line that begins with the program's name.
    pub fn one_line_refusal(&self, arguments: impl Arguments) -> String {
        let line = self.refusal(arguments);
        let name = Path::new(crate::PROGRAM).file_name().unwrap().to_str().unwrap();
        assert!(line.starts_with(&format!("{name}: ")) && line.lines().count() == 1, "{line}");
        line
    }

    #[track_caller]
    pub fn refuses(&self, arguments: impl Arguments, words: &str) {
        let line = self.one_line_refusal(&arguments);
        assert!(line.contains(words), "{arguments:?}: {line}");
    }
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[track_caller]
pub fn assert_contains(text: &str, words: &str) {
    assert!(text.contains(words), "no {words:?} in: {text}");
}

/// Whether programs can be observed here, which requires privileges and kernel thread ids.
pub fn can_observe() -> bool {
    static REFUSAL: OnceLock<Option<String>> = OnceLock::new();
    let refusal = REFUSAL.get_or_init(|| {
        let output = Place::new().run("observe -- true");
        (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
    });
    if let Some(refusal) = refusal {
        seatmap_needs::skipped!("{refusal}");
    }
    refusal.is_none()
}

pub fn can_pretend() -> bool {
    !is_no_pretence(&Place::new().run("pretend xeon-8375c-2s -q true"))
}

pub fn is_no_pretence(output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let refusals = ["allows no user namespace", "cannot mount the files", "passes no system calls"];
    let is_refused = refusals.iter().any(|refusal| said.contains(refusal));
    if is_refused {
        seatmap_needs::skipped!("{said}");
    }
    is_refused
}

/// The shell's built-in `kill`, because small systems lack the program.
pub fn kill() -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "kill \"$@\"", "sh"]);
    command
}

/// The first two CPUs of this process, as a list. `None` if there is only one.
pub fn two_cpus() -> Option<String> {
    let cpus = seatmap_os::affinity::current().unwrap();
    if cpus.len() < 2 {
        seatmap_needs::skipped!("a distance needs two CPUs");
    }
    cpus.get(..2).map(|two| format!("{},{}", two[0], two[1]))
}

pub fn files(place: &Place) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(place.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "state")
        .collect();
    names.sort();
    names
}

/// A new terminal: the keyboard's end and the program's end.
pub fn terminal() -> (File, OwnedFd) {
    let mut keys = 0;
    let mut programs = 0;
    let none = std::ptr::null_mut();
    // SAFETY: the two descriptors are writable, and null is allowed for name, settings and size.
    let status =
        unsafe { libc::openpty(&raw mut keys, &raw mut programs, none, none.cast(), none.cast()) };
    assert_eq!(status, 0);
    // SAFETY: openpty just opened both, and nothing else owns them.
    let (keys, programs) = unsafe { (OwnedFd::from_raw_fd(keys), OwnedFd::from_raw_fd(programs)) };
    // SAFETY: the descriptor is open; the program must not inherit the keyboard's end.
    unsafe { libc::fcntl(keys.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
    (keys.into(), programs)
}

pub fn in_front_of(terminal: OwnedFd, command: &mut Command) {
    command.stdin(terminal);
    // SAFETY: both calls are async-signal-safe; stdin is the terminal by now.
    unsafe {
        command.pre_exec(|| {
            libc::setsid();
            libc::ioctl(0, libc::TIOCSCTTY, 0);
            Ok(())
        });
    }
}

/// This user has no other processes, so the process limit counts only those of the test.
const ANOTHER_USER: u32 = 54_321;

/// Runs the binary as a user limited to one thread. `None` if this process cannot change its user.
pub fn with_one_thread(arguments: impl Arguments) -> Option<Output> {
    let mut command = Command::new(crate::PROGRAM);
    let place = Place::new();
    std::fs::set_permissions(place.folder(), std::fs::Permissions::from_mode(0o777)).unwrap();
    command.args(arguments.words()).current_dir(place.folder()).env("HOME", "/nowhere");
    let limit = || {
        let most = libc::rlimit { rlim_cur: 1, rlim_max: 1 };
        // SAFETY: the limit is only read.
        match unsafe { libc::setrlimit(libc::RLIMIT_NPROC, &raw const most) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: setrlimit may be called between fork and exec.
    unsafe { command.pre_exec(limit) };
    let output = command.uid(ANOTHER_USER).gid(ANOTHER_USER).output();
    output.inspect_err(|error| seatmap_needs::skipped!("no other user here: {error}")).ok()
}

/// The variables in which launchers pass ranks and the address of rank 0.
const LAUNCHERS: [&str; 8] = [
    "SLURM_PROCID",
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
    "PMIX_RANK",
    "MASTER_ADDR",
    "SEATMAP_SECRET",
    "RANK",
    "WORLD_SIZE",
];

/// A rank of a job of `size` ranks, described by plain environment variables.
pub fn rank(place: &Place, rank: usize, size: usize, arguments: impl Arguments) -> Command {
    let mut command = place.command(arguments);
    outside(&mut command).env("RANK", rank.to_string()).env("WORLD_SIZE", size.to_string());
    command
}

pub fn outside(command: &mut Command) -> &mut Command {
    for name in LAUNCHERS {
        command.env_remove(name);
    }
    command
}

/// A process that ends even if the test fails.
pub struct Guarded(pub Child);

impl Guarded {
    pub fn ended_by(&mut self, signal: i32) -> Option<i32> {
        // SAFETY: the child has not been waited for.
        assert_eq!(unsafe { libc::kill(self.0.id() as i32, signal) }, 0);
        self.0.wait().unwrap().code()
    }

    fn lives(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }
}

impl Deref for Guarded {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for Guarded {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if self.lives() {
            // SIGKILL would leave the cell to its guardian. SAFETY: the child has not been waited
            // for.
            unsafe { libc::kill(self.0.id() as i32, libc::SIGTERM) };
        }
        // A frozen process reacts only to SIGKILL.
        let began = Instant::now();
        while self.lives() && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn begun(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}
