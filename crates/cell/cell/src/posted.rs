//! A guardian as the program sees it that posts it: its start, and the bytes that the two exchange.
//!
//! | byte to the guardian | means | answer |
//! |---|---|---|
//! | `m` | take the record's memory, and write its place into the record | `+`, or `-` on failure |
//! | `d` | all is well | none |
//! | `o` | all is well but for masks that lack CPUs, one a line to the end | none |

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

/// A creator sends this when it has finished.
pub(crate) const ALL_IS_WELL: u8 = b'd';

/// A creator sends this, and lines to the end, when threads lack CPUs that are offline.
pub(crate) const MASKS_ARE_OWED: u8 = b'o';

/// A creator sends this when there is memory to take.
pub(crate) const TAKE_MEMORY: u8 = b'm';

/// A guardian sends this when it is ready, or has done what it was asked for.
pub(crate) const YES: u8 = b'+';

/// A guardian sends this when it could not do so.
pub(crate) const NO: u8 = b'-';

/// How long a guardian that was asked to go is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The command that becomes a guardian, with the cell's name after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardianCommand(pub Vec<OsString>);

impl GuardianCommand {
    /// The command, ready for more words. It may live for days, and in a folder of its own would
    /// keep a file system from being unmounted.
    ///
    /// # Errors
    /// It has no words.
    pub fn command(&self) -> io::Result<Command> {
        let (program, arguments) =
            self.0.split_first().ok_or_else(|| io::Error::other("there is none"))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir("/");
        Ok(command)
    }
}

/// A guardian that has been posted, while its cell or its plan of services is being made or undone.
#[derive(Debug)]
pub struct PostedGuardian {
    pub(crate) pid: Tid,
    pipe: ChildStdin,
    answers: ChildStdout,
}

impl PostedGuardian {
    /// Has it take the memory that the record asks for; whether it could.
    pub(crate) fn take_memory(&mut self) -> bool {
        self.pipe.write_all(&[TAKE_MEMORY]).is_ok() && self.hear() == Some(YES)
    }

    /// Says that all is well. If this cannot be sent, the guardian is dead and the next command
    /// takes over.
    pub fn dismiss(mut self) {
        let _ = self.pipe.write_all(&[ALL_IS_WELL]);
    }

    /// Says that all is well but for what is left. A guardian stays for masks that lack CPUs which
    /// are offline, and is named as the one that waits for these.
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

/// Posts a guardian, and returns when it is there.
///
/// # Errors
/// [`CellError::Guardian`]: it cannot be started, or ends at once.
pub fn post(keeper: &GuardianCommand, name: &Name) -> Result<PostedGuardian, CellError> {
    let mut child = start(keeper, name).map_err(CellError::Guardian)?;
    let (pipe, answers) = child.stdin.take().zip(child.stdout.take()).ok_or_else(dead)?;
    let mut posted = PostedGuardian { pid: child.id() as Tid, pipe, answers };
    // A cell without its guardian would outlive this process.
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

/// Posts a guardian for a cell whose guardian died. If that fails, the next command tries again.
pub(crate) fn adopt(keeper: &GuardianCommand, record: &CellRecord) {
    let Ok(mut posted) = post(keeper, &record.name) else { return };
    if record.memory.is_some() {
        posted.take_memory();
    }
    posted.dismiss();
}

/// Asks the guardian of this name to go, and waits until it has.
pub fn relieve(run: &RunFolder, name: &Name) {
    let Some(pid) = run.guardian(name) else { return };
    // SAFETY: the guardian holds its lock, so that the number is its own.
    unsafe { libc::kill(pid, libc::SIGTERM) };
    let end = Instant::now() + PATIENCE;
    while run.guardian(name).is_some() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
}
