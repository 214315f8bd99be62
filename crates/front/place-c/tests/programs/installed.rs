//! The library, installed in a folder as packagers do. The tests of each C library share this file.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, OnceLock};

const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

#[derive(Clone, Copy, Debug)]
pub enum How {
    /// C99 with the shared library, by `pkg-config`.
    Shared,
    Static,
    Cpp,
}

/// The library below a prefix, in cargo's folder for files of tests.
pub struct Installed {
    prefix: PathBuf,
}

pub fn library() -> &'static Installed {
    static LIBRARY: OnceLock<Installed> = OnceLock::new();
    LIBRARY.get_or_init(Installed::new)
}

/// Whether a program works here; otherwise reports it.
pub fn there_is(program: &str) -> bool {
    seatmap_needs::tool(program)
}

/// Whether a program in C can be built against the library here; otherwise reports it.
pub fn can_compile() -> bool {
    there_is("cc") && there_is("pkg-config")
}

pub fn stdout(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{stderr}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// The linker's name for the library: `seatmap_place` of the package `seatmap-place-c`.
pub fn name() -> String {
    env!("CARGO_PKG_NAME").trim_end_matches("-c").replace('-', "_")
}

fn built() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().unwrap().to_owned()
}

/// An example in Rust. `make test` builds all and sets the variable; a single test builds its own.
pub fn example(package: &str, name: &str) -> Command {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    if std::env::var_os("SEATMAP_EXAMPLES_BUILT").is_none() {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["build", "--frozen", "--package", package, "--example", name, "--target-dir"])
            .arg(target);
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        stdout(cargo.current_dir(env!("CARGO_MANIFEST_DIR")));
    }
    Command::new(built().join("../examples").join(name))
}

impl Installed {
    fn new() -> Self {
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lib{}", name()));
        // The packages of the C libraries have different depths in the repository.
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .map(|folder| folder.join("scripts/install-lib"))
            .find(|script| script.exists())
            .unwrap();
        stdout(Command::new(script).arg(built()).arg(&prefix).arg(name()).env_remove("DESTDIR"));
        Installed { prefix }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.prefix.join(name)
    }

    fn pkg_config(&self, arguments: &[&str]) -> Vec<String> {
        let mut command = Command::new("pkg-config");
        command.args(arguments).arg(name()).env("PKG_CONFIG_PATH", self.path("lib/pkgconfig"));
        stdout(&mut command).split_whitespace().map(str::to_owned).collect()
    }

    /// Compiled once for all tests.
    fn compiled(&self, source: &str, how: How) -> PathBuf {
        static COMPILED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
        let name = Path::new(source).file_stem().unwrap().to_str().unwrap();
        let program = self.path(&format!("{name}-{how:?}"));
        let mut compiled = COMPILED.lock().unwrap();
        if !compiled.contains(&program) {
            self.compile(&Path::new(env!("CARGO_MANIFEST_DIR")).join(source), how, &program);
            compiled.push(program.clone());
        }
        program
    }

    fn compile(&self, source: &Path, how: How, program: &Path) {
        let mut compiler = Command::new(if matches!(how, How::Cpp) { "g++" } else { "cc" });
        match how {
            How::Shared | How::Static => compiler.arg("-std=c99").arg(source),
            How::Cpp => compiler.args(["-std=c++11", "-x", "c++"]).arg(source).args(["-x", "none"]),
        };
        compiler
            .args(WARNINGS)
            .args(self.pkg_config(&["--cflags"]))
            .arg("-pthread")
            .arg("-o")
            .arg(program);
        match how {
            How::Shared | How::Cpp => compiler.args(self.pkg_config(&["--libs"])),
            How::Static => {
                let all = self.pkg_config(&["--static", "--libs-only-l"]);
                let others = all.iter().filter(|flag| **flag != format!("-l{}", name()));
                compiler.arg(self.path(&format!("lib/lib{}.a", name()))).args(others)
            }
        };
        stdout(&mut compiler);
    }

    /// A compiled program of this package, under valgrind if `checked`.
    pub fn command(&self, source: &str, how: How, checked: bool) -> Command {
        let program = self.compiled(source, how);
        let mut command = Command::new(if checked { Path::new("valgrind") } else { &program });
        if checked {
            command.args([
                "--quiet",
                "--leak-check=full",
                "--show-leak-kinds=definite,indirect,possible",
            ]);
            command
                .args(["--errors-for-leak-kinds=definite,indirect,possible", "--error-exitcode=99"])
                .arg(&program);
        }
        command.env("LD_LIBRARY_PATH", self.path("lib")).current_dir(&self.prefix);
        command
    }

    /// Runs a program without arguments in each available way; all must print the same.
    pub fn run_all_ways(&self, source: &str) -> String {
        let shared = stdout(&mut self.command(source, How::Shared, false));
        assert_eq!(
            stdout(&mut self.command(source, How::Static, false)),
            shared,
            "{source}, linked statically"
        );
        if there_is("g++") {
            assert_eq!(
                stdout(&mut self.command(source, How::Cpp, false)),
                shared,
                "{source} as C++"
            );
        }
        if there_is("valgrind") {
            assert_eq!(
                stdout(&mut self.command(source, How::Shared, true)),
                shared,
                "{source} under valgrind"
            );
        }
        shared
    }

    pub fn run(&self, source: &str, arguments: &[&Path]) -> Output {
        self.command(source, How::Shared, false).args(arguments).output().unwrap()
    }
}
