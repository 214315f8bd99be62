//! Runs the program in the place of this rank.

use super::MOST_PRINTED;
use seatmap_os::scratch::Scratch;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How often a wait looks at the program. It may take minutes, and the CPUs are its own.
const PAUSE: Duration = Duration::from_millis(20);

/// The part that a rank has in a measurement by MPI.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    /// The executable file.
    pub program: Vec<u8>,
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
pub(crate) fn run(task: &Task, rank: usize) -> Result<String, String> {
    let folder = Scratch::new("mpi").map_err(|error| error.to_string())?;
    let (program, plan) = (folder.path().join("probe"), folder.path().join("plan"));
    let written = fs::write(&program, &task.program)
        .and_then(|()| fs::set_permissions(&program, fs::Permissions::from_mode(0o700)))
        .and_then(|()| fs::write(&plan, &task.plan));
    written.map_err(|error| format!("{}: {error}", folder.path().display()))?;
    let mut command = Command::new(&program);
    command.arg(rank.to_string()).arg(&plan).stdin(Stdio::null()).stdout(Stdio::piped());
    let started = start(&mut command);
    let child = started.map_err(|error| format!("it cannot be started in {}: {error}", folder.path().display()))?;
    ended(child, Duration::from_millis(task.limit_ms))
}

/// Starts the program. While another thread of this process is between its fork and its exec, the file that was just
/// written is still open there, and the kernel says that it is busy.
fn start(command: &mut Command) -> io::Result<Child> {
    let began = Instant::now();
    loop {
        match command.spawn() {
            Err(error)
                if error.kind() == io::ErrorKind::ExecutableFileBusy && began.elapsed() < Duration::from_secs(1) =>
            {
                std::thread::sleep(PAUSE);
            }
            started => return started,
        }
    }
}

/// Waits for the end of the program, and ends it itself if it takes too long.
fn ended(mut child: Child, limit: Duration) -> Result<String, String> {
    let began = Instant::now();
    let reader = child.stdout.take().map(|out| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            out.take(MOST_PRINTED).read_to_end(&mut text).map(|_| text)
        })
    });
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

#[cfg(test)]
mod tests {
    use super::*;

    fn task(script: &str, limit_ms: u64) -> Task {
        Task { program: format!("#!/bin/sh\n{script}\n").into_bytes(), plan: "x".to_owned(), limit_ms }
    }

    #[test]
    fn a_program_is_run_and_read_or_ended() {
        let told = run(&task("echo rank $1; cat $2; test ! -e \"$0.other\"", 10_000), 3).unwrap();
        assert_eq!(told, "rank 3\nx");
        assert_eq!(run(&task("exit 7", 10_000), 0).unwrap_err(), "it ended with exit status: 7");
        assert_eq!(run(&task("exec sleep 60", 100), 0).unwrap_err(), "it had not ended after 0 s");
    }

    #[test]
    fn a_plan_is_words() {
        assert_eq!(plan(Duration::from_millis(50), &[0, 4, 8], &[[0, 1], [1, 2]]), "50 3\n0 4 8\n2\n0 1\n1 2\n");
    }
}
