//! Runs the program in the place of this rank.

use super::{MOST_PRINTED, Program};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often a wait looks at the program. It may take minutes, and the CPUs are its own.
const PAUSE: Duration = Duration::from_millis(20);

/// The part that a rank has in a measurement by MPI. It has numbers only: the program is the rank's own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    /// The ranks and pairs, as the program reads them.
    pub plan: String,
    /// How long it may take.
    pub limit_ms: u64,
}

/// The plan of a measurement: the time for the trips of a size, the ranks that count, and the pairs of these.
pub(crate) fn plan(trips: Duration, ranks: &[usize], pairs: &[[usize; 2]]) -> String {
    let words = |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    let pairs: Vec<String> = pairs.iter().map(|pair| words(pair) + "\n").collect();
    format!("{} {}\n{}\n{}\n{}", trips.as_millis(), ranks.len(), words(ranks), pairs.len(), pairs.concat())
}

/// Runs the program as this rank, and returns what it printed.
///
/// # Errors
/// Words for why it has no figures.
pub(crate) fn run(program: &Program, task: &Task, rank: usize) -> Result<String, String> {
    let (folder, plan) = (program.folder().display(), program.folder().join("plan"));
    fs::write(&plan, &task.plan).map_err(|error| format!("{folder}: {error}"))?;
    let mut command = Command::new(program.file());
    command.arg(rank.to_string()).arg(&plan).stdin(Stdio::null()).stdout(Stdio::piped());
    let child = command.spawn().map_err(|error| format!("it cannot be started in {folder}: {error}"))?;
    ended(child, Duration::from_millis(task.limit_ms))
}

/// Waits for the end of the program, and ends it itself if it takes too long.
fn ended(mut child: Child, limit: Duration) -> Result<String, String> {
    let began = Instant::now();
    let reader = match child.stdout.take().map(reader).transpose() {
        Ok(reader) => reader,
        Err(error) => {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("no thread can be started to read what it prints: {error}"));
        }
    };
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if began.elapsed() > limit => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it had not ended after {} s", limit.as_secs()));
            }
            None => std::thread::sleep(PAUSE),
        }
    };
    let printed = reader.and_then(|reader| reader.join().ok()).and_then(Result::ok).unwrap_or_default();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    // A program that found itself alone says so on stdout, and ends with an error.
    if status.success() || printed.contains("\"error\"") { Ok(printed) } else { Err(format!("it ended with {status}")) }
}

/// Reads what the program prints, in a thread.
fn reader(out: ChildStdout) -> io::Result<JoinHandle<io::Result<Vec<u8>>>> {
    std::thread::Builder::new().spawn(move || {
        let mut text = Vec::new();
        out.take(MOST_PRINTED).read_to_end(&mut text).map(|_| text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_script(script: &str, limit_ms: u64, rank: usize) -> Result<String, String> {
        run(&Program::script(script), &Task { plan: "x".to_owned(), limit_ms }, rank)
    }

    #[test]
    fn a_program_is_run_and_read_or_ended() {
        let printed = run_script("echo rank $1; cat $2; test ! -e \"$0.other\"", 10_000, 3).unwrap();
        assert_eq!(printed, "rank 3\nx");
        assert_eq!(run_script("exit 7", 10_000, 0).unwrap_err(), "it ended with exit status: 7");
        assert_eq!(run_script("exec sleep 60", 100, 0).unwrap_err(), "it had not ended after 0 s");
    }

    #[test]
    fn a_plan_is_words() {
        assert_eq!(plan(Duration::from_millis(50), &[0, 4, 8], &[[0, 1], [1, 2]]), "50 3\n0 4 8\n2\n0 1\n1 2\n");
    }
}
