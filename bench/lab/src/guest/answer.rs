//! Runs `seatmap` in the guest with a time limit, and records its output.

use crate::trial::{VerbFailure, ensure};
use serde_json::Value;
use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// An emulated CPU is a hundred times slower than a real one, and shares a host CPU with others.
pub const PATIENCE: Duration = Duration::from_secs(240);

#[derive(Debug)]
pub struct CommandOutput {
    pub command: String,
    /// `None` if it was killed by the time limit or a signal.
    pub code: Option<i32>,
    pub is_late: bool,
    pub out: String,
    pub err: String,
}

pub struct RunningCommand {
    child: Child,
    command: String,
    stem: String,
    begun: Instant,
}

static COUNTER: AtomicU32 = AtomicU32::new(0);

/// Starts `seatmap` with these arguments.
///
/// # Errors
/// [`VerbFailure::Wrong`] if it cannot start.
pub fn start(words: &[&str]) -> Result<RunningCommand, VerbFailure> {
    start_program("seatmap", words)
}

/// Starts a program with its output in files.
///
/// # Errors
/// [`VerbFailure::Wrong`] if it cannot start.
pub fn start_program(program: &str, words: &[&str]) -> Result<RunningCommand, VerbFailure> {
    let stem = format!("/tmp/answer-{}", COUNTER.fetch_add(1, Ordering::Relaxed));
    let out = File::create(format!("{stem}.out")).map_err(cannot_start)?;
    let err = File::create(format!("{stem}.err")).map_err(cannot_start)?;
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(out).stderr(err).env("NO_COLOR", "1");
    let child = command.spawn().map_err(cannot_start)?;
    let command = format!("{program} {}", words.join(" "));
    Ok(RunningCommand { child, command, stem, begun: Instant::now() })
}

fn cannot_start(error: std::io::Error) -> VerbFailure {
    VerbFailure::Wrong(format!("a program cannot start: {error}"))
}

fn taken(path: &str) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    let _ = std::fs::remove_file(path);
    String::from_utf8_lossy(&bytes).into_owned()
}

impl RunningCommand {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn said(&self) -> String {
        std::fs::read_to_string(format!("{}.out", self.stem)).unwrap_or_default()
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Waits until its output has this many lines that begin with a word.
    ///
    /// # Errors
    /// [`VerbFailure::Wrong`] if it exits before that or exceeds the time limit.
    pub fn wait_for(&mut self, beginning: &str, lines: usize) -> Result<(), VerbFailure> {
        loop {
            let said = self.said();
            if said.lines().filter(|line| line.starts_with(beginning)).count() >= lines {
                return Ok(());
            }
            let is_over = self.has_ended() || self.begun.elapsed() > PATIENCE;
            let err = std::fs::read_to_string(format!("{}.err", self.stem)).unwrap_or_default();
            ensure(!is_over, || format!("{}: ended or late with: {said} {err}", self.command))?;
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn end(mut self) -> CommandOutput {
        let mut status = None;
        while status.is_none() && self.begun.elapsed() < PATIENCE {
            status = self.child.try_wait().ok().flatten();
            std::thread::sleep(Duration::from_millis(20));
        }
        let is_late = status.is_none();
        if is_late {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        self.answer(status.and_then(|status| status.code()), is_late)
    }

    pub fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        drop(self.answer(None, false));
    }

    fn answer(self, code: Option<i32>, is_late: bool) -> CommandOutput {
        let out = taken(&format!("{}.out", self.stem));
        let err = taken(&format!("{}.err", self.stem));
        CommandOutput { out, err, command: self.command, code, is_late }
    }
}

/// Runs `seatmap` with these arguments to its end.
///
/// # Errors
/// [`VerbFailure::Wrong`] if it exceeds the time limit or panics.
pub fn ask(words: &[&str]) -> Result<CommandOutput, VerbFailure> {
    let answer = start(words)?.end();
    answer.is_sane()?;
    Ok(answer)
}

pub fn number(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok()
}

/// In order; empty if the value is not an array.
pub fn numbers(value: &Value) -> Vec<u32> {
    value.as_array().into_iter().flatten().filter_map(number).collect()
}

/// Runs `seatmap` and parses the document that it prints.
///
/// # Errors
/// As for [`ask`]; also if it fails or prints something else.
pub fn document(words: &[&str]) -> Result<Value, VerbFailure> {
    ask(words)?.done()?.document()
}

impl CommandOutput {
    /// Checks that it exited by itself without a panic.
    ///
    /// # Errors
    /// [`VerbFailure::Wrong`] otherwise.
    pub fn is_sane(&self) -> Result<(), VerbFailure> {
        self.has_no_panic()?;
        ensure(self.code.is_some(), || format!("died of a signal: {}", self.show()))
    }

    /// Checks that it ended in time without a panic; a signal is accepted.
    ///
    /// # Errors
    /// [`VerbFailure::Wrong`] otherwise.
    pub fn has_no_panic(&self) -> Result<(), VerbFailure> {
        ensure(!self.is_late, || format!("no end in time: {}", self.show()))?;
        let panicked = self.err.contains("panicked at") || self.code == Some(101);
        ensure(!panicked, || format!("died: {}", self.show()))
    }

    /// Checks that it succeeded.
    ///
    /// # Errors
    /// [`VerbFailure::Wrong`] otherwise.
    pub fn done(self) -> Result<Self, VerbFailure> {
        ensure(self.code == Some(0), || self.show())?;
        Ok(self)
    }

    /// Checks that it failed with a usage error that contains all these words.
    ///
    /// # Errors
    /// [`VerbFailure::Wrong`] otherwise.
    pub fn refuses(&self, words: &[&str]) -> Result<String, VerbFailure> {
        let is_said = words.iter().all(|word| self.err.contains(word));
        ensure(self.code == Some(2) && is_said, || {
            format!("should refuse with {words:?}: {}", self.show())
        })?;
        Ok(self.err.trim().to_owned())
    }

    /// Parses its standard output.
    ///
    /// # Errors
    /// [`VerbFailure::Wrong`] if it is not JSON.
    pub fn document(&self) -> Result<Value, VerbFailure> {
        serde_json::from_str(&self.out).map_err(|error| {
            VerbFailure::Wrong(format!("not one document ({error}): {}", self.show()))
        })
    }

    pub fn show(&self) -> String {
        let short =
            |text: &str| text.trim().replace('\n', " / ").chars().take(600).collect::<String>();
        let code = self.code.map_or("none".to_owned(), |code| code.to_string());
        format!("'{}' ended with {code}: {} {}", self.command, short(&self.err), short(&self.out))
    }
}
