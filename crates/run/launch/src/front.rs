//! The process for which the caller waits, in front of the one that traces the program.
//!
//! A daemon's threads outlive the command that started it, so the launcher is two processes. The
//! *supervisor* runs the program, traces it and stays while any of its processes lives. The
//! *front*, for which the caller waits, ends with the first process. Front and program are in the
//! caller's process group, so that the terminal and job control work as usual; the supervisor is in
//! its own session, out of the terminal's reach.
//!
//! The supervisor reports to the front through a pipe; the front forwards other processes' signals
//! to it. After a stop signal the front waits for confirmation before it stops; otherwise the
//! signal would reach the program after the `SIGCONT` that ends the stop.

use crate::signals::{ReceivedSignal, Signals};
use crate::{Ending, signals};
use seatmap_os::owed::OwedMasks;
use seatmap_os::ready::Awaited;
use seatmap_os::task::ThreadStat;
use seatmap_os::{Tid, orphans, ready, task};
use std::io::{self, IsTerminal, PipeReader, PipeWriter, Read, Write};
use std::os::fd::OwnedFd;
use std::time::Duration;

/// The two processes after the split.
pub enum ForkSide {
    /// The caller's own process.
    Front(Front),
    /// Its child, for the program.
    Supervisor(FrontLink),
}

/// The awaited process.
pub struct Front {
    supervisor: Tid,
    messages: PipeReader,
    signals: Signals,
    pending: OwnedFd,
    /// The kernel would merge further ones.
    awaits_answer: bool,
}

/// The supervisor's connection to the front.
#[derive(Debug)]
pub struct FrontLink {
    front: Tid,
    pipe: Option<PipeWriter>,
    signals: Option<Signals>,
    is_stopped: bool,
    /// Whether the front forwarded a `SIGCONT` since the stop.
    front_is_awake: bool,
}

const MESSAGE_BYTES: usize = 1 + size_of::<i32>();

#[derive(Clone, Copy, Debug, PartialEq)]
enum News {
    Stopped(i32),
    Continued,
    PassedOn,
    Ended(Ending),
    Left(Ending),
}

/// Splits this single-threaded process in two.
///
/// # Errors
/// The kernel refused a pipe or a process.
pub fn split() -> io::Result<ForkSide> {
    let signals = Signals::hold()?;
    let pending = signals.descriptor()?;
    let (messages, pipe) = io::pipe()?;
    // Read before the fork: if the parent is killed right after it, the child has another parent.
    let front = task::own_pid();
    // SAFETY: there is one thread, so the child may continue as this process would.
    match unsafe { libc::fork() } {
        ..0 => Err(io::Error::last_os_error()),
        0 => {
            drop((messages, pending));
            adopt_orphans();
            Ok(ForkSide::Supervisor(FrontLink {
                front,
                pipe: Some(pipe),
                signals: Some(signals),
                is_stopped: false,
                front_is_awake: false,
            }))
        }
        supervisor => Ok(ForkSide::Front(Front {
            supervisor,
            messages,
            signals,
            pending,
            awaits_answer: false,
        })),
    }
}

/// Makes this process adopt its orphaned descendants, to learn of their ends.
pub(crate) fn adopt_orphans() {
    // If the kernel does not support this, init adopts the orphans, and the traced ones are still
    // known.
    let _ = orphans::adopt(true);
}

impl Front {
    /// Waits until the program's first process ends, or the supervisor releases the caller.
    /// Forwards signals, and stops and continues with the program. `None` if the supervisor was
    /// killed.
    pub fn wait(mut self) -> Option<Ending> {
        let mut stopped: Option<i32> = None;
        loop {
            // An unread message may say that the program continues. An unconfirmed stop signal
            // delays this stop.
            if let Some(signal) = stopped.filter(|_| !self.awaits_answer)
                && self.signals.stop_unless(signal, || self.has_news())
            {
                stopped = None;
            }
            if let Some(came) = self.signals.next(Duration::ZERO) {
                // The supervisor's signals only wake this process.
                if !came.to_group && came.sender != self.supervisor {
                    self.send_on(came);
                }
                continue;
            }
            if !self.wait_for_message() {
                continue;
            }
            match self.hear()? {
                News::Stopped(signal) => stopped = Some(signal),
                News::Continued => stopped = None,
                News::PassedOn => self.awaits_answer = false,
                News::Left(ending) => return Some(ending),
                News::Ended(ending) => {
                    // The front reaps the supervisor, so that the reaper of orphans need not.
                    // SAFETY: waits for this process's child without reading a status.
                    unsafe { libc::waitpid(self.supervisor, std::ptr::null_mut(), 0) };
                    return Some(ending);
                }
            }
        }
    }

    fn send_on(&mut self, came: ReceivedSignal) {
        if came.asks_to_stop() && std::mem::replace(&mut self.awaits_answer, true) {
            return;
        }
        signals::send(self.supervisor, came.signal);
    }

    fn wait_for_message(&self) -> bool {
        let both = [Awaited::data(&self.messages), Awaited::data(&self.pending)];
        ready::wait(both, None).is_ok_and(|[messages, _]| messages.is_any())
    }

    fn has_news(&self) -> bool {
        let messages = ready::wait([Awaited::data(&self.messages)], Some(Duration::ZERO));
        messages.is_ok_and(|[messages]| messages.is_any())
    }

    fn hear(&mut self) -> Option<News> {
        let mut message = [0; MESSAGE_BYTES];
        self.messages.read_exact(&mut message).ok()?;
        News::of(message)
    }
}

impl FrontLink {
    /// Stops the front like the program, so that the shell shows its prompt.
    pub fn stopped(&mut self, signal: i32) {
        self.is_stopped = true;
        self.front_is_awake = false;
        self.tell(News::Stopped(signal));
    }

    pub(crate) fn passed_on(&mut self, came: ReceivedSignal) {
        if came.asks_to_stop() && came.sender == self.front {
            self.tell(News::PassedOn);
        }
        // A front that forwards `SIGCONT` is awake. A second one could cancel another stop.
        self.front_is_awake |= came.signal == libc::SIGCONT && came.sender == self.front;
    }

    /// Continues the front with the program.
    pub fn continued(&mut self) {
        if std::mem::take(&mut self.is_stopped) {
            // The message comes first: a front about to stop reads it, and the signal wakes a
            // stopped one. Its arrival shows that the number is not reused.
            self.tell(News::Continued);
            if self.pipe.is_some() && !self.front_is_awake {
                signals::send(self.front, libc::SIGCONT);
            }
        }
    }

    /// Whether the front has stopped.
    pub fn front_has_stopped(&self) -> bool {
        ThreadStat::of(self.front).is_some_and(|front| front.state == 'T')
    }

    pub(crate) fn take_signals(&mut self) -> Option<Signals> {
        self.signals.take()
    }

    /// Ends the front like this, without this process. No message follows.
    pub fn leave(&mut self, ending: Ending) {
        self.tell(News::Left(ending));
        self.pipe = None;
    }

    /// Ends the front like this, after this process. No message follows.
    pub fn end(&mut self, ending: Ending) {
        self.tell(News::Ended(ending));
        self.pipe = None;
    }

    fn tell(&mut self, news: News) {
        // A failure means that the front was killed. The program continues.
        if self.pipe.as_mut().is_some_and(|pipe| pipe.write_all(&news.bytes()).is_err()) {
            self.pipe = None;
        }
    }
}

/// Leaves the caller's session and terminal; an already started program stays.
pub fn leave_session() {
    // SAFETY: acts on this process alone. As its front's child it leads no process group; if it
    // already has its own session, nothing changes.
    unsafe { libc::setsid() };
}

/// Detaches the future program from the terminal's input.
pub fn leave_terminal_input() {
    if std::io::stdin().is_terminal() {
        silence(&[0]);
    }
}

/// Leaves standard streams and folder.
pub fn go_to_the_background() {
    // SAFETY: acts on this process alone.
    unsafe { libc::chdir(c"/".as_ptr()) };
    silence(&[0, 1, 2]);
}

/// Closes standard input and output, so that the other end sees the program close them.
pub fn leave_streams() {
    silence(&[0, 1]);
}

/// Starts a process that restores masks when their missing CPUs come online. `None` if no mask
/// lacks a CPU or the system refuses. This process must have one thread.
pub(crate) fn wait_behind(owed: OwedMasks) -> Option<Tid> {
    if owed.is_empty() {
        return None;
    }
    // SAFETY: there is one thread, so the child may continue as this process would.
    match unsafe { libc::fork() } {
        ..0 => None,
        0 => {
            leave_session();
            go_to_the_background();
            let_go();
            signals::let_end();
            owed.wait();
            std::process::exit(0)
        }
        waiter => Some(waiter),
    }
}

/// A lease on CPUs ends with the last copy of its file, so all but the standard streams are closed.
fn let_go() {
    // Kernels before 5.9 lack this call, and leases end with the process. SAFETY: this process no
    // longer uses any object that owns a descriptor.
    unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
}

/// Replaces these streams by `/dev/null`.
pub fn silence(streams: &[i32]) {
    // SAFETY: opens an existing device, and replaces descriptors that no object here owns.
    unsafe {
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for stream in streams.iter().filter(|stream| **stream != null) {
            libc::dup2(null, *stream);
        }
        if !streams.contains(&null) {
            libc::close(null);
        }
    }
}

impl News {
    /// By the first byte of a message, each of a number.
    const KINDS: [fn(i32) -> News; 7] = [
        News::Stopped,
        |_| News::Continued,
        |_| News::PassedOn,
        |code| News::Ended(Ending::Exited(code)),
        |signal| News::Ended(Ending::Killed(signal)),
        |code| News::Left(Ending::Exited(code)),
        |signal| News::Left(Ending::Killed(signal)),
    ];

    fn bytes(self) -> [u8; MESSAGE_BYTES] {
        let number = match self {
            News::Continued | News::PassedOn => 0,
            News::Stopped(number)
            | News::Ended(Ending::Exited(number) | Ending::Killed(number))
            | News::Left(Ending::Exited(number) | Ending::Killed(number)) => number,
        };
        let kind = News::KINDS.iter().take_while(|news| news(number) != self).count();
        let mut bytes = [kind as u8; MESSAGE_BYTES];
        bytes[1..].copy_from_slice(&number.to_ne_bytes());
        bytes
    }

    fn of([kind, number @ ..]: [u8; MESSAGE_BYTES]) -> Option<Self> {
        let news = News::KINDS.get(usize::from(kind))?;
        Some(news(i32::from_ne_bytes(number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_messages_round_trip() {
        let endings = [Ending::Exited(255), Ending::Killed(9)];
        let ended = endings.map(News::Ended);
        let left = endings.map(News::Left);
        let all = [
            News::Stopped(20),
            News::Continued,
            News::PassedOn,
            ended[0],
            ended[1],
            left[0],
            left[1],
        ];
        assert_eq!(all.map(|news| News::of(news.bytes())), all.map(Some));
        assert_eq!(News::of([b'x'; MESSAGE_BYTES]), None);
    }

    /// The process that got the number of a killed front.
    #[test]
    fn vanished_front_gets_no_signal() {
        let mut stranger = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = stranger.id() as Tid;
        signals::send(pid, libc::SIGSTOP);
        while ThreadStat::of(pid).is_some_and(|task| task.state != 'T') {
            std::thread::yield_now();
        }
        let (messages, pipe) = io::pipe().unwrap();
        drop(messages);
        let mut link = FrontLink {
            front: pid,
            pipe: Some(pipe),
            signals: None,
            is_stopped: true,
            front_is_awake: false,
        };
        link.continued();
        let state = ThreadStat::of(pid).map(|task| task.state);
        stranger.kill().unwrap();
        stranger.wait().unwrap();
        assert_eq!(state, Some('T'));
    }
}
