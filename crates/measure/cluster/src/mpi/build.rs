//! Builds the program with the site's compiler.

use super::MpiError;
use seatmap_os::scratch::Scratch;
use std::process::{Command, Stdio};

/// The program.
const SOURCE: &str = include_str!("probe.c");

/// The lines of a compiler that are told.
const LINES: usize = 3;

/// The program for MPI as an executable file, built with a command such as `mpicc`, which may have options.
///
/// # Errors
/// [`MpiError`]: there is no such command, or it refused.
pub fn build(command: &str) -> Result<Vec<u8>, MpiError> {
    let folder = Scratch::new("mpi")?;
    let (source, program) = (folder.path().join("probe.c"), folder.path().join("probe"));
    std::fs::write(&source, SOURCE)?;
    let mut words = command.split_whitespace();
    let mut compiler = Command::new(words.next().unwrap_or_default());
    compiler.args(words).arg("-O2").arg("-o").arg(&program).arg(&source).stdin(Stdio::null());
    let output = compiler.output().map_err(|source| MpiError::NoCompiler { command: command.to_owned(), source })?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let said: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(LINES).collect();
        return Err(MpiError::Compiler { command: command.to_owned(), said: said.join(" | ") });
    }
    Ok(std::fs::read(&program)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_that_is_absent_or_refuses_is_named() {
        let absent = build("no-such-mpicc -x").unwrap_err();
        assert!(absent.to_string().starts_with("'no-such-mpicc -x' cannot be started"), "{absent}");
        assert!(matches!(build("false"), Err(MpiError::Compiler { command, .. }) if command == "false"));
        assert!(matches!(build(""), Err(MpiError::NoCompiler { .. })));
        // A compiler that says yes and builds nothing.
        assert!(matches!(build("true"), Err(MpiError::File(_))));
    }
}
