//! Programs of this package, compiled with `-fsanitize=thread` and linked with the library.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Whether a compiler supports ThreadSanitizer; otherwise reports it.
pub fn there_is(compiler: &str) -> bool {
    seatmap_needs::thread_sanitizer(compiler)
}

pub fn done(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{stderr}", output.status);
    output
}

pub fn stdout(command: &mut Command) -> String {
    String::from_utf8(done(command).stdout).unwrap()
}

/// The folder of this test's own program, where cargo has put this package's libraries.
pub fn library() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| std::env::current_exe().unwrap().parent().unwrap().to_owned())
}

pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

pub struct Program {
    folder: TempDir,
}

impl Program {
    pub fn shared(compiler: &str, flags: &[&str], name: &str) -> Self {
        let link = [format!("-L{}", library().display()), "-lseatmap_trace".to_owned()];
        Program::linked(compiler, flags, name, &link)
    }

    pub fn fixed(compiler: &str, flags: &[&str], name: &str) -> Self {
        let archive = library().join("libseatmap_trace.a").display().to_string();
        Program::linked(compiler, flags, name, &[archive, "-ldl".to_owned()])
    }

    fn linked(compiler: &str, flags: &[&str], name: &str, link: &[String]) -> Self {
        let program = Program { folder: tempfile::tempdir().unwrap() };
        let object = program.folder.path().join("program.o");
        let mut compile = Command::new(compiler);
        compile
            .args(["-O1", "-g", "-Wall", "-Wextra", "-pthread", "-fsanitize=thread", "-c"])
            .args(flags);
        done(compile.arg(source(name)).arg("-o").arg(&object));
        let openmp = flags.iter().filter(|flag| **flag == "-fopenmp");
        let mut linker = Command::new(compiler);
        linker
            .args(openmp)
            .arg("-pthread")
            .arg(&object)
            .args(link)
            .arg("-o")
            .arg(program.folder.path().join("program"));
        done(&mut linker);
        std::fs::create_dir(program.traces()).unwrap();
        program
    }

    pub fn traces(&self) -> PathBuf {
        self.folder.path().join("traces")
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(self.folder.path().join("program"));
        command.env("LD_LIBRARY_PATH", library()).env("SEATMAP_TRACE", self.traces());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> String {
        stdout(self.command().args(arguments))
    }
}
