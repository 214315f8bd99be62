//! Starts a guardian and talks to it.
//!
//! | byte to the guardian | meaning | answer |
//! |---|---|---|
//! | `m` | allocate the record's memory; add its path to the record | `+`, or `-` on failure |
//! | `d` | success | none |
//! | `o` | success, but masks lack CPUs; one mask per line follows | none |

use crate::error::CellError;
use crate::fault;
use crate::name::Name;
use crate::record::CellRecord;
use crate::run_folder::RunFolder;
use crate::undo::Left;
use seatmap_os::Tid;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) const ALL_IS_WELL: u8 = b'd';

pub(crate) const MASKS_ARE_OWED: u8 = b'o';

pub(crate) const TAKE_MEMORY: u8 = b'm';

/// The guardian is ready, or has done as requested.
pub(crate) const YES: u8 = b'+';

pub(crate) const NO: u8 = b'-';

/// How long to wait until a guardian exits.
const PATIENCE: Duration = Duration::from_secs(2);

/// The command that starts a guardian; the cell's name is appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardianCommand(pub Vec<OsString>);

impl GuardianCommand {
    /// The command, ready for more arguments. It runs in `/`, because it may live for days and
    /// would keep another file system mounted.
    ///
    /// # Errors
    /// The command is empty.
    pub fn command(&self) -> io::Result<Command> {
        let (program, arguments) =
            self.0.split_first().ok_or_else(|| io::Error::other("there is none"))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir("/");
        Ok(command)
    }
}

/// A running guardian, while its cell or plan of services is created or undone.
#[derive(Debug)]
pub struct PostedGuardian {
    pub(crate) pid: Tid,
    pipe: ChildStdin,
    answers: ChildStdout,
}

impl PostedGuardian {
    /// Requests the record's memory. Returns whether it was allocated.
    pub(crate) fn take_memory(&mut self) -> bool {
        self.pipe.write_all(&[TAKE_MEMORY]).is_ok() && self.hear() == Some(YES)
    }

    /// Reports success. If this cannot be sent, the guardian is dead and the next command takes
    /// over.
    pub fn dismiss(mut self) {
        let _ = self.pipe.write_all(&[ALL_IS_WELL]);
    }

    /// Reports success with remaining settings. The guardian stays for masks that lack offline
    /// CPUs, and is named as their waiter.
    #[must_use]
    pub fn dismiss_with(mut self, left: Vec<Left>) -> Vec<Left> {
        let lines: String = Left::owed(&left).map(|thread| format!("{thread}\n")).collect();
        if lines.is_empty() {
            self.dismiss();
            return left;
        }
        let words = [&[MASKS_ARE_OWED], lines.as_bytes()].concat();
        match self.pipe.write_all(&words) {
            Ok(()) => left.into_iter().map(|one| one.waited_for(self.pid)).collect(),
            Err(_) => left,
        }
    }

    fn hear(&mut self) -> Option<u8> {
        let mut answer = [0];
        self.answers.read_exact(&mut answer).ok().map(|()| answer[0])
    }
}

/// Starts a guardian, and returns when it is ready.
///
/// # Errors
/// [`CellError::Guardian`]: it cannot start, or exits at once.
pub fn post(keeper: &GuardianCommand, name: &Name) -> Result<PostedGuardian, CellError> {
    let mut child = start(keeper, name).map_err(CellError::Guardian)?;
    let (pipe, answers) = child.stdin.take().zip(child.stdout.take()).ok_or_else(dead)?;
    let mut posted = PostedGuardian { pid: child.id() as Tid, pipe, answers };
    // Without a guardian, the cell would outlive this process.
    if posted.hear() == Some(YES) { Ok(posted) } else { Err(dead()) }
}

fn dead() -> CellError {
    CellError::Guardian(io::Error::other("it ended at once"))
}

fn start(keeper: &GuardianCommand, name: &Name) -> io::Result<Child> {
    let mut command = keeper.command()?;
    fault::spare_guardian(&mut command).arg(name.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
}

/// Starts a guardian for a cell that lost its own. If this fails, the next command tries again.
pub(crate) fn adopt(keeper: &GuardianCommand, record: &CellRecord) {
    let Ok(mut posted) = post(keeper, &record.name) else { return };
    if record.memory.is_some() {
        posted.take_memory();
    }
    posted.dismiss();
}

/// Ends this cell's guardian, and waits until it has exited.
pub fn relieve(run: &RunFolder, name: &Name) {
    let Some(pid) = run.guardian(name) else { return };
    // SAFETY: the guardian holds its lock, so the number is its own.
    unsafe { libc::kill(pid, libc::SIGTERM) };
    let end = Instant::now() + PATIENCE;
    while run.guardian(name).is_some() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
}
