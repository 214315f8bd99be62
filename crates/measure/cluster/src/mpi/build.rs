//! Builds the MPI program.

use super::MpiError;
use seatmap_data::statistics::words::joined;
use seatmap_os::limited::{self, LimitedError};
use seatmap_os::scratch::Scratch;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

const SOURCE: &str = include_str!("probe.c");

/// One file takes a second, but a cluster's file system may be slow.
const LIMIT: Duration = Duration::from_secs(120);

const LINES: usize = 3;

pub(crate) const PROGRAM: &str = "probe";

/// The MPI program; dropping this deletes it.
#[derive(Debug)]
pub struct MpiProgram(pub(crate) Scratch);

impl MpiProgram {
    fn new() -> std::io::Result<Self> {
        Scratch::new("mpi").map(MpiProgram)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// The given command, `MPICC`, or `mpicc`.
pub fn compiler(named: Option<&str>) -> String {
    let command = named.map(str::to_owned).or_else(|| std::env::var("MPICC").ok());
    command.filter(|command| !command.trim().is_empty()).unwrap_or_else(|| "mpicc".to_owned())
}

/// Builds the MPI program with a command such as `mpicc`, perhaps with options.
///
/// # Errors
/// [`MpiError`]: the compiler cannot be started, rejects the program or does not end.
pub fn build(command: &str) -> Result<MpiProgram, MpiError> {
    built_within(command, LIMIT)
}

fn built_within(command: &str, limit: Duration) -> Result<MpiProgram, MpiError> {
    let program = MpiProgram::new()?;
    let [source, built] = ["probe.c", PROGRAM].map(|name| program.file(name));
    std::fs::write(&source, SOURCE)?;
    let words = shlex::split(command).ok_or_else(|| MpiError::Quotes(command.to_owned()))?;
    let mut words = words.into_iter();
    let mut compiler = Command::new(words.next().unwrap_or_default());
    compiler.args(words).arg("-O2").arg("-o").arg(&built).arg(&source);
    let output = limited::output(command, &mut compiler, limit).map_err(|error| match error {
        LimitedError::Start { command, source } => MpiError::NoCompiler { command, source },
        late @ LimitedError::Late { .. } => MpiError::Late(late),
    })?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let said = text.lines().filter(|line| !line.trim().is_empty()).take(LINES);
        return Err(MpiError::Compiler { command: command.to_owned(), said: joined(said, " | ") });
    }
    // A compiler may report success without building anything.
    std::fs::metadata(&built)?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl MpiProgram {
        /// Written by another process: a file of this one may briefly stay open in another thread's
        /// child, and then cannot be executed.
        pub fn script(text: &str) -> MpiProgram {
            let program = MpiProgram::new().unwrap();
            let file = program.file(PROGRAM);
            let write = r#"printf '#!/bin/sh\n%s\n' "$2" > "$1" && chmod 700 "$1""#;
            let written =
                Command::new("sh").args(["-c", write, "sh"]).arg(&file).arg(text).status().unwrap();
            assert!(written.success());
            program
        }
    }

    #[test]
    fn absent_or_failing_compiler_is_named() {
        let absent = build("no-such-mpicc -x").unwrap_err();
        assert!(absent.to_string().starts_with("'no-such-mpicc -x' cannot be started"), "{absent}");
        let script = MpiProgram::script("sleep 1000");
        let late = built_within(script.file(PROGRAM).to_str().unwrap(), Duration::from_millis(300))
            .unwrap_err();
        assert!(
            late.to_string().ends_with("probe' was still running after 0.3 s and was stopped"),
            "{late}"
        );
        assert!(
            matches!(build("false"), Err(MpiError::Compiler { command, .. }) if command == "false")
        );
        assert!(matches!(build(""), Err(MpiError::NoCompiler { .. })));
        assert!(matches!(build("true"), Err(MpiError::File(_))));
    }
}
