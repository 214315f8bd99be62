//! `--watch` prints only changes, and the worst verdict decides the exit code.

use super::{bind, bind_all, threads, tids};
use crate::common::{Place, stderr};
use crate::run::programs::on_two_cpus;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

fn line(lines: &mut impl BufRead) -> String {
    let mut line = String::new();
    assert!(lines.read_line(&mut line).unwrap() > 0, "it ended");
    line
}

fn line_with(lines: &mut impl BufRead, word: &str) -> String {
    loop {
        let line = line(lines);
        if line.starts_with(word) {
            return line;
        }
    }
}

fn interrupt(child: &Child) {
    // SAFETY: the child has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
}

#[test]
fn watch_reports_start_and_end_of_fault() {
    let Some((program, [a, b])) = on_two_cpus(threads(1, "sleep")) else { return };
    let place = Place::new();
    let pid = program.pid();
    bind_all(pid, &[a]);
    super::plan(&place, &[a, a]);
    let options = "--expect plan.json --rule same-core --seconds 50ms --watch 100ms";
    let mut command = place.command((&["check", "--pid", &pid.to_string()], options));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    assert!(line(&mut lines).contains(&format!("({pid}): 2 threads on CPU {a}: ")));
    let worker = tids(pid)[1];
    bind(worker, &[b]);
    assert!(line_with(&mut lines, "WRONG   expect ").contains(&format!("thread {worker} ")));
    bind(worker, &[a]);
    line_with(&mut lines, "ENDED   expect ");
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "it was wrong for a while");
    assert!(stderr(&output).contains("something was wrong during the watch"));
}

#[test]
fn watch_ends_with_program() {
    let place = Place::new();
    let Some(mut program) = threads(1, "sleep") else { return };
    let mut command =
        place.command(["check", "--pid", &program.pid().to_string(), "--seconds", "50ms"]);
    let mut child = command.args(["--watch", "100ms"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    assert!(line(&mut lines).contains("nothing is wrong"));
    program.send(libc::SIGKILL);
    program.wait();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
