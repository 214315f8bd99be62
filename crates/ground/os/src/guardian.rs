//! A process that restores what its creator changed, if the creator dies.
//!
//! A creator [posts](Guardian::post) a guardian before its first change and holds the writing end
//! of a pipe to it. If the pipe ends without a last line, the creator has died. The guardian has
//! its own session, so neither Ctrl-C nor a closed terminal reaches it.
//!
//! | line to the guardian | means | answer |
//! |---|---|---|
//! | `done` | all is well | none |
//! | `owed`, then masks, then `done` | all is well, but these threads lack offline CPUs | none |
//! | any other | what to restore, or a request; each user has its own | the user's |
//!
//! | user | what to restore is | until |
//! |---|---|---|
//! | a cell, a plan of services | in a journal | the end of its lease and memory |
//! | `run --auto`, `advise` | in a [ledger](crate::heirs::SeatLedger) | the creator's exit |
//! | `tune --vary` | in names and texts of switches | the creator's exit |

use crate::Tid;
use crate::owed::ThreadMask;
use std::ffi::OsString;
use std::io::{self, BufRead, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The creator's last line.
const DONE: &str = "done";

const OWED: &str = "owed";

/// The guardian is ready, or did what a line requests.
const YES: u8 = b'+';

/// The guardian could not do what a line requests.
const NO: u8 = b'-';

/// The process name, with the prefix of all Seatmap helpers.
const PROCESS_NAME: &std::ffi::CStr = c"seatmap-guard";

/// The command that becomes a guardian.
#[derive(Clone, Debug)]
pub struct GuardianCommand(pub Vec<OsString>);

impl GuardianCommand {
    /// The command, to which words can be added. It runs in `/`, because a long-lived guardian
    /// would otherwise keep a file system mounted.
    ///
    /// # Errors
    /// The command is empty.
    pub fn command(&self) -> io::Result<Command> {
        let (program, arguments) =
            self.0.split_first().ok_or_else(|| io::Error::other("its command is empty"))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir("/");
        Ok(command)
    }
}

/// A guardian, as its creator sees it.
#[derive(Debug)]
pub struct Guardian {
    child: Child,
    pipe: ChildStdin,
    answers: ChildStdout,
}

impl Guardian {
    /// Starts a guardian, and returns when it is ready: the command calls [`attend`].
    ///
    /// # Errors
    /// The process does not start, or exits before it is ready.
    pub fn post(command: &mut Command) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // SAFETY: between fork and exec the closure makes one system call.
        unsafe { command.pre_exec(|| rustix::process::setsid().map(drop).map_err(Into::into)) };
        let ended = || io::Error::other("it ended at once");
        let mut child = command.spawn()?;
        let (pipe, answers) = child.stdin.take().zip(child.stdout.take()).ok_or_else(ended)?;
        let mut guardian = Guardian { child, pipe, answers };
        if guardian.has_agreed() { Ok(guardian) } else { Err(ended()) }
    }

    /// Its process.
    pub fn pid(&self) -> Tid {
        self.child.id() as Tid
    }

    /// Sends whole lines, before the changes that they describe.
    ///
    /// # Errors
    /// The guardian has exited.
    pub fn tell(&mut self, lines: &str) -> io::Result<()> {
        self.pipe.write_all(lines.as_bytes())
    }

    /// Requests something, and returns whether the guardian did it.
    pub fn request(&mut self, line: &str) -> bool {
        self.tell(&format!("{line}\n")).is_ok() && self.has_agreed()
    }

    /// Ends the guardian, unless threads lack offline CPUs of these masks. Returns its number if it
    /// stays for them.
    pub fn dismiss(mut self, owed: impl IntoIterator<Item = ThreadMask>) -> Option<Tid> {
        let masks: String = owed.into_iter().map(|thread| format!("{thread}\n")).collect();
        if masks.is_empty() {
            let _ = self.tell(&format!("{DONE}\n"));
            return None;
        }
        // The last line marks the end: a creator that dies before it counts as dead.
        self.tell(&format!("{OWED}\n{masks}{DONE}\n")).ok().map(|()| self.pid())
    }

    /// Ends the guardian and waits for it.
    pub fn end(mut self) {
        let _ = self.tell(&format!("{DONE}\n"));
        let Guardian { mut child, pipe, .. } = self;
        drop(pipe);
        let _ = child.wait();
    }

    fn has_agreed(&mut self) -> bool {
        let mut answer = [0];
        self.answers.read_exact(&mut answer).is_ok() && answer[0] == YES
    }
}

/// How a creator has parted from its guardian.
#[derive(Debug, PartialEq)]
pub enum Parting {
    /// All is well.
    Well,
    /// All is well, but these threads lack offline CPUs of their masks.
    MasksOwed(Vec<ThreadMask>),
    /// The creator died.
    Death,
}

impl Parting {
    /// The masks left to the guardian.
    pub fn masks_owed(self) -> Vec<ThreadMask> {
        match self {
            Parting::MasksOwed(masks) => masks,
            Parting::Well | Parting::Death => Vec::new(),
        }
    }

    /// Reads a creator's lines until the last. `hear` receives the user's lines and answers
    /// requests.
    pub fn read(
        mut lines: impl BufRead,
        mut answers: impl Write,
        mut hear: impl FnMut(&str) -> Option<bool>,
    ) -> Self {
        let mut owed: Option<Vec<ThreadMask>> = None;
        loop {
            let mut text = String::new();
            let is_read = lines.read_line(&mut text).is_ok();
            // The creator's death truncated this line.
            let Some(line) = text.strip_suffix('\n').filter(|_| is_read) else {
                return Parting::Death;
            };
            match (line, &mut owed) {
                (DONE, None) => return Parting::Well,
                (DONE, Some(masks)) => return Parting::MasksOwed(std::mem::take(masks)),
                (OWED, _) => owed = Some(Vec::new()),
                (line, Some(masks)) => masks.extend(line.parse()),
                (line, None) => {
                    let answered = hear(line).map(|is_done| answer(&mut answers, is_done));
                    if answered.is_some_and(|answered| answered.is_err()) {
                        return Parting::Death;
                    }
                }
            }
        }
    }
}

/// Reports that the guardian is ready, then does [`Parting::read`].
///
/// # Errors
/// The creator has closed its end.
pub fn attend(hear: impl FnMut(&str) -> Option<bool>) -> io::Result<Parting> {
    // SAFETY: sets the name of this thread, and how this process takes a signal.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, PROCESS_NAME.as_ptr());
        libc::signal(libc::SIGHUP, libc::SIG_IGN);
    }
    answer(&mut io::stdout(), true)?;
    Ok(Parting::read(io::stdin().lock(), io::stdout(), hear))
}

fn answer(answers: &mut impl Write, is_done: bool) -> io::Result<()> {
    answers.write_all(&[if is_done { YES } else { NO }])?;
    answers.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CpuSet;

    fn mask(tid: Tid) -> ThreadMask {
        ThreadMask { tid, started_ticks: 7, cpus: CpuSet::of_list("0-15").unwrap() }
    }

    /// The parting, the user's lines and the answers.
    fn read(text: &str) -> (Parting, Vec<String>, String) {
        let mut heard = Vec::new();
        let mut answers = Vec::new();
        let parting = Parting::read(text.as_bytes(), &mut answers, |line| {
            heard.push(line.to_owned());
            line.strip_prefix("may i ").map(|wish| wish == "go")
        });
        (parting, heard, String::from_utf8(answers).unwrap())
    }

    #[test]
    fn pipe_without_parting_is_death() {
        for text in ["", "seat 1", "seat 1\n", "don", "done", "owed\n1 7 0-15\n", "owed\n1 7 0-1"] {
            assert_eq!(read(text).0, Parting::Death, "{text:?}");
        }
    }

    #[test]
    fn last_word_is_the_parting() {
        assert_eq!(read("done\n"), (Parting::Well, vec![], String::new()));
        let owed = Parting::MasksOwed(vec![mask(1), mask(2)]);
        let heard = vec!["seat".to_owned()];
        let text = "seat\nowed\n1 7 0-15\nnonsense\n2 7 0-15\ndone\n";
        assert_eq!(read(text), (owed, heard, String::new()));
    }

    #[test]
    fn guardian_answers_requests_but_not_descriptions() {
        let (_, heard, answers) = read("may i go\nseat\nmay i stay\ndone\n");
        assert_eq!((heard.len(), answers.as_str()), (3, "+-"));
    }

    #[test]
    fn command_that_ends_at_once_is_refused_as_guardian() {
        let mut command = Command::new("true");
        assert_eq!(Guardian::post(&mut command).unwrap_err().to_string(), "it ended at once");
    }

    #[test]
    fn guardian_receives_every_line_and_the_parting() {
        let folder = tempfile::tempdir().unwrap();
        let heard = folder.path().join("heard");
        let script =
            format!("printf +; read a; printf +; echo $a > {0}; cat >> {0}", heard.display());
        let mut guardian = Guardian::post(Command::new("sh").args(["-c", &script])).unwrap();
        let session = rustix::process::getsid(rustix::process::Pid::from_raw(guardian.pid()));
        assert_eq!(session.unwrap().as_raw_nonzero().get(), guardian.pid());
        assert!(guardian.request("memory"));
        guardian.tell("one\ntwo\n").unwrap();
        guardian.end();
        assert_eq!(std::fs::read_to_string(heard).unwrap(), "memory\none\ntwo\ndone\n");
    }
}
