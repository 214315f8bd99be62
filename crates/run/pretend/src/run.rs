//! Runs the program and answers its calls.

use crate::answers::{PretendedKernel, ProgramCall};
use crate::stage::StageFailure;
use crate::{HostFacts, MachineTree, PretendError, PretendedMachine, stage};
use seatmap_launch::{Ending, Executable, Signals, front};
use seatmap_os::listener::{CallAnswer, CallFilter, CallListener, TrappedCall, WaitingCall};
use seatmap_os::private_files::{PrivateFiles, namespace_remedy};
use seatmap_os::ready::Awaited;
use seatmap_os::{Root, Tid, checked, listener, ready};
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time between two looks at threads without calls, to find those ended by signals.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// After this many looks without a known process, the wait ends.
const MOST_IDLE_LOOKS: u32 = 20;

const START_EVERY: Duration = Duration::from_millis(2);

/// A program to run on a pretended machine.
#[derive(Clone, Debug)]
pub struct PretendRequest {
    /// The machine.
    pub machine: PretendedMachine,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Whether to redirect the program's output to stderr, leaving stdout for a document.
    pub leaves_stdout: bool,
}

/// An ended program's record.
pub struct PretendedRun {
    /// Its threads and calls.
    pub answers: PretendedKernel,
    /// How it ended.
    pub ending: Ending,
    /// The running time, in seconds.
    pub lasted_s: f64,
}

impl PretendRequest {
    /// Runs the program until its first process ends.
    ///
    /// # Errors
    /// [`PretendError`]: the program cannot run, or no machine can be shown.
    pub fn run(&self) -> Result<PretendedRun, PretendError> {
        let program = Executable::find(&self.command)?;
        let filter = CallFilter::new().ok_or(PretendError::Processor)?;
        let root = Root::new("/");
        let tree = MachineTree::of(&self.machine, &HostFacts::read(&root));
        let files = stage::files(&tree, &root);
        let signals = Arc::new(Signals::hold()?);
        let mut command = Command::new(program.file());
        command.arg0(&self.command[0]).args(&self.command[1..]);
        if self.leaves_stdout {
            command.stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned()?));
        }
        let (pid, listener, early) = start(command, files, filter, &signals)?;
        // Not before: a large machine's files take a second.
        let begun = Instant::now();
        let answers = PretendedKernel::new(self.machine.clone(), pid);
        let mut session = Session { answers, listener, begun };
        for call in early {
            session.answer(&call)?;
        }
        let ending = session.serve(pid, &signals)?;
        let lasted_s = session.look();
        session.leave_to_the_rest()?;
        Ok(PretendedRun { answers: session.answers, ending, lasted_s })
    }
}

/// Returns the first process, its listener, and its calls so far. A program that cannot be executed
/// ends by a call, which must be answered meanwhile.
fn start(
    mut command: Command,
    files: PrivateFiles,
    filter: CallFilter,
    signals: &Arc<Signals>,
) -> Result<(Tid, CallListener, Vec<WaitingCall>), PretendError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let (here, there) = UnixStream::pair()?;
    let (mut failures, reporter) = io::pipe()?;
    let signals = Arc::clone(signals);
    let socket = there.as_raw_fd();
    let report = reporter.as_raw_fd();
    // SAFETY: between fork and exec the child makes only system calls, and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            signals.restore_for_program();
            prepare(&files, &filter, socket).map_err(|(failure, error)| {
                let letter = failure.letter();
                libc::write(report, (&raw const letter).cast(), 1);
                error
            })
        });
    }
    let spawner = std::thread::spawn(move || {
        let spawned = command.spawn();
        drop((there, reporter));
        spawned
    });
    let listener = listener::receive_descriptor(&here)?.map(CallListener::new);
    let mut early = Vec::new();
    while let Some(listener) = listener.as_ref().filter(|_| !spawner.is_finished()) {
        if !readable([listener.as_raw_fd()], START_EVERY)?[0] {
            continue;
        }
        match listener.next()? {
            // The end of an unexecuted or very short program.
            Some(call) if call.call == TrappedCall::ExitGroup => {
                listener.answer(&call, CallAnswer::CarriedOut)?;
            }
            call => early.extend(call),
        }
    }
    let spawned = spawner.join().map_err(|_| io::Error::other("the starting thread failed"))?;
    match (spawned, listener) {
        (Ok(child), Some(listener)) => Ok((child.id() as Tid, listener, early)),
        (Ok(_), None) => Err(PretendError::Listener(io::ErrorKind::UnexpectedEof.into())),
        (Err(source), _) => {
            let mut letter = Vec::new();
            failures.read_to_end(&mut letter)?;
            let failure = letter.first().copied().and_then(StageFailure::of_letter);
            Err(refusal(failure, program, source))
        }
    }
}

fn prepare(
    files: &PrivateFiles,
    filter: &CallFilter,
    socket: RawFd,
) -> Result<(), (StageFailure, io::Error)> {
    files.take().map_err(|(part, error)| (part.into(), error))?;
    filter
        .put_up()
        .and_then(|listener| listener::send_descriptor(socket, listener))
        .map_err(|error| (StageFailure::Listener, error))
}

fn refusal(failure: Option<StageFailure>, program: String, source: io::Error) -> PretendError {
    match failure {
        Some(StageFailure::UserNamespace) => {
            let remedy = namespace_remedy(&Root::new("/"));
            PretendError::UserNamespace { remedy, source }
        }
        // Another pretended machine covers a file, and nothing can be mounted on a removed file.
        Some(StageFailure::Mounts) if source.raw_os_error() == Some(libc::ENOENT) => {
            PretendError::Nested
        }
        Some(StageFailure::Mounts) => PretendError::Mounts(source),
        // Another process listens already; seccomp(2).
        Some(StageFailure::Listener) if source.raw_os_error() == Some(libc::EBUSY) => {
            PretendError::Nested
        }
        Some(StageFailure::Listener) => PretendError::Listener(source),
        None => PretendError::Start { program, source },
    }
}

struct Session {
    answers: PretendedKernel,
    listener: CallListener,
    begun: Instant,
}

impl Session {
    fn at_s(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Returns the time of the look.
    fn look(&mut self) -> f64 {
        let at_s = self.at_s();
        self.answers.record.refresh_all(at_s);
        at_s
    }

    fn serve(&mut self, pid: Tid, signals: &Signals) -> io::Result<Ending> {
        let news = signals.descriptor()?;
        loop {
            let both = [Awaited::data(&self.listener), Awaited::data(&news)];
            let [calls, came] = ready::wait(both, Some(LOOK_EVERY))?;
            if calls.has_data
                && let Some(call) = self.listener.next()?
            {
                self.answer(&call)?;
            }
            if came.has_data {
                while let Some(came) = signals.next(Duration::ZERO) {
                    came.pass_on(pid);
                }
            }
            if calls.has_ended {
                // No process is left, but the kernel still removes its files.
                ready::wait([Awaited::data(&news)], Some(START_EVERY))?;
            } else if !calls.has_data && !came.has_data {
                self.look();
            }
            // The news may have gone to another thread.
            if !calls.has_data
                && let Some(ending) = ending(pid, signals)?
            {
                return Ok(ending);
            }
        }
    }

    /// Without answers they could not even end.
    fn leave_to_the_rest(&mut self) -> io::Result<()> {
        if is_over(&self.listener, Duration::ZERO)? {
            return Ok(());
        }
        // SAFETY: this process has no other thread that could hold a lock.
        match unsafe { libc::fork() } {
            ..0 => Err(io::Error::last_os_error()),
            0 => {
                // Readers of the terminal and pipes wait for their end.
                front::silence(&[0, 1, 2]);
                // Kernels before 5.10 do not report that no process is left.
                let mut idle_looks = 0;
                while let Ok(false) = is_over(&self.listener, LOOK_EVERY)
                    && idle_looks < MOST_IDLE_LOOKS
                {
                    self.look();
                    idle_looks = if self.answers.record.is_over() { idle_looks + 1 } else { 0 };
                    let has_calls = readable([self.listener.as_raw_fd()], Duration::ZERO);
                    if has_calls.is_ok_and(|[has_calls]| has_calls)
                        && let Ok(Some(call)) = self.listener.next()
                    {
                        // Its process has ended.
                        let _ = self.answer(&call);
                    }
                }
                // SAFETY: ends this copy of the process, without the other's cleanup.
                unsafe { libc::_exit(0) }
            }
            _ => Ok(()),
        }
    }

    fn answer(&mut self, call: &WaitingCall) -> io::Result<()> {
        let at_s = self.at_s();
        let answer = match self.listener.memory(call) {
            Ok(memory) => self.answers.answer(&ProgramCall {
                tid: call.tid,
                call: call.call,
                arguments: call.arguments,
                memory: &memory,
                at_s,
            }),
            // This user cannot see its memory and masks.
            Err(_) => CallAnswer::CarriedOut,
        };
        self.listener.answer(call, answer)
    }
}

fn ending(pid: Tid, signals: &Signals) -> io::Result<Option<Ending>> {
    let mut status = 0;
    // SAFETY: `status` is writable.
    let changed = unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG | libc::WUNTRACED) };
    if checked(changed)? == 0 {
        return Ok(None);
    }
    if libc::WIFSTOPPED(status) {
        signals.stop_unless(libc::WSTOPSIG(status), || false);
        return Ok(None);
    }
    Ok(Some(Ending::of(ExitStatus::from_raw(status))))
}

fn is_over(listener: &CallListener, wait: Duration) -> io::Result<bool> {
    let [calls] = ready::wait([Awaited::data(listener)], Some(wait))?;
    Ok(calls.has_ended)
}

fn readable<const COUNT: usize>(
    descriptors: [RawFd; COUNT],
    wait: Duration,
) -> io::Result<[bool; COUNT]> {
    let ready = ready::wait(descriptors.map(|fd| Awaited::data(&fd)), Some(wait))?;
    Ok(ready.map(|one| one.has_data))
}
