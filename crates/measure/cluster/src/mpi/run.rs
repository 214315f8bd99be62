//! Runs the MPI program as this rank.

use super::build::PROGRAM;
use super::{MOST_PRINTED, MpiProgram};
use seatmap_data::statistics::words::joined;
use seatmap_os::Ending;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The program may take minutes and needs the CPUs itself.
const PAUSE: Duration = Duration::from_millis(20);

/// Only numbers: each rank has its own program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MpiTask {
    /// Ranks and pairs, in the program's format.
    pub plan: String,
    pub limit_ms: u64,
}

pub fn plan(trips: Duration, ranks: &[usize], pairs: &[[usize; 2]]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|pair| joined(pair, " ") + "\n").collect();
    format!(
        "{} {}\n{}\n{}\n{}",
        trips.as_millis(),
        ranks.len(),
        joined(ranks, " "),
        pairs.len(),
        pairs.concat()
    )
}

/// # Errors
/// Why it has no figures.
pub fn run(program: &MpiProgram, task: &MpiTask, rank: usize) -> Result<String, String> {
    let folder = program.0.path().display();
    let plan = program.file("plan");
    fs::write(&plan, &task.plan).map_err(|error| format!("{folder}: {error}"))?;
    // A pipe stays open as long as any process that the program leaves behind, and blocks its
    // reader.
    let printed = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(program.file("out"));
    let (mut printed, out) = printed
        .and_then(|file| Ok((file.try_clone()?, file)))
        .map_err(|error| format!("cannot store its output in {folder}: {error}"))?;
    let mut command = Command::new(program.file(PROGRAM));
    command.arg(rank.to_string()).arg(&plan).stdin(Stdio::null()).stdout(out);
    let child = command.spawn().map_err(|error| format!("cannot start it in {folder}: {error}"))?;
    let ending = ended(child, Duration::from_millis(task.limit_ms))?;
    let mut bytes = Vec::new();
    let read =
        printed.rewind().and_then(|()| printed.by_ref().take(MOST_PRINTED).read_to_end(&mut bytes));
    read.map_err(|error| format!("cannot read its output in {folder}: {error}"))?;
    let printed = String::from_utf8_lossy(&bytes).into_owned();
    // A lone program says so on stdout and fails.
    if ending.is_success() || printed.contains("\"error\"") {
        Ok(printed)
    } else {
        Err(format!("it {ending}"))
    }
}

fn ended(mut child: Child, limit: Duration) -> Result<Ending, String> {
    let began = Instant::now();
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => return Ok(Ending::of(status)),
            None if began.elapsed() > limit => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!(
                    "it was still running after {} s and was stopped",
                    limit.as_secs()
                ));
            }
            None => std::thread::sleep(PAUSE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_script(script: &str, limit_ms: u64, rank: usize) -> Result<String, String> {
        run(&MpiProgram::script(script), &MpiTask { plan: "x".to_owned(), limit_ms }, rank)
    }

    #[test]
    fn program_is_run_and_read_or_ended() {
        let printed =
            run_script("echo rank $1; cat $2; test ! -e \"$0.other\"", 10_000, 3).unwrap();
        assert_eq!(printed, "rank 3\nx");
        let left = run_script("sleep 1000 & echo $!", 10_000, 0).unwrap();
        assert!(
            Command::new("sh").args(["-c", &format!("kill -9 {left}")]).status().unwrap().success()
        );
        assert_eq!(run_script("exit 7", 10_000, 0).unwrap_err(), "it ended with exit code 7");
        assert_eq!(
            run_script("exec sleep 60", 100, 0).unwrap_err(),
            "it was still running after 0 s and was stopped"
        );
    }

    #[test]
    fn plan_is_written_as_words() {
        assert_eq!(
            plan(Duration::from_millis(50), &[0, 4, 8], &[[0, 1], [1, 2]]),
            "50 3\n0 4 8\n2\n0 1\n1 2\n"
        );
    }
}
