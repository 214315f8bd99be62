//! The compiler for both sides, with an installed library.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub struct Tool {
    folder: tempfile::TempDir,
}

impl Tool {
    pub fn new() -> Option<Self> {
        if !cfg!(target_arch = "x86_64") {
            seatmap_needs::skip("needs x86-64");
            return None;
        }
        if !seatmap_needs::tool("gcc") {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        // Cargo puts the libraries of a test next to it.
        let built = std::env::current_exe().unwrap().parent().unwrap().join("libspe2.so");
        for name in ["libspe2.so", "libspe2.so.2"] {
            std::os::unix::fs::symlink(&built, folder.path().join(name)).unwrap();
        }
        Some(Tool { folder })
    }

    /// As [`Tool::new`], if g++ also exists.
    pub fn with_cplusplus() -> Option<Self> {
        if !seatmap_needs::tool("g++") {
            return None;
        }
        Tool::new()
    }

    pub fn source(&self, name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the make rules' folder.
    pub fn install(&self) -> PathBuf {
        let script = self.source("../../scripts/install-lib");
        let prefix = self.path("prefix");
        let built = std::env::current_exe().unwrap().parent().unwrap().to_owned();
        let output =
            Command::new("sh").arg(script).arg(built).arg(&prefix).arg("spe2").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        prefix.join("share/seatmap/cell")
    }

    /// Returns stderr on failure.
    pub fn cellcc(&self, arguments: &[&str]) -> Result<(), String> {
        self.cellcc_for("", arguments)
    }

    pub fn cellcc_for(&self, processor: &str, arguments: &[&str]) -> Result<(), String> {
        let mut command = Command::new("sh");
        command
            .arg(self.source("cell/seatmap-cellcc"))
            .args(arguments)
            .env("SEATMAP_CELL_LIB", self.folder.path());
        if !processor.is_empty() {
            command.env("SEATMAP_CELL_MARCH", processor);
        }
        let output = command.current_dir(self.folder.path()).output().unwrap();
        let words = || format!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.status.success().then_some(()).ok_or_else(words)
    }

    pub fn build(&self, spu: &Path, ppu: &Path) -> PathBuf {
        self.build_with(spu, ppu, &[])
    }

    /// As [`Tool::build`], with compiler arguments for the SPU program. `.cc` sources are C++.
    pub fn build_with(&self, spu: &Path, ppu: &Path, more: &[&str]) -> PathBuf {
        let strict = ["-O2", "-Wall", "-Wextra", "-Wno-parentheses", "-Wno-main"];
        let language = |source: &Path, tool: &str| {
            if source.extension().is_some_and(|end| end == "cc") {
                [format!("{tool}++"), "-std=gnu++17".into()]
            } else {
                [tool.into(), "-std=gnu11".into()]
            }
        };
        let compile = language(spu, "spu");
        let link = language(ppu, "ppu");
        let spu = spu.to_str().unwrap();
        let ppu = ppu.to_str().unwrap();
        let own = self.source("tests/programs");
        let own = own.to_str().unwrap();
        let compile = [compile[0].as_str(), &compile[1], "-I", own, "-o", "work.spu", spu];
        self.cellcc(&[&compile[..], &strict[..], more].concat()).unwrap();
        self.cellcc(&["embed", "work", "work.spu", "work.o"]).unwrap();
        let link = [link[0].as_str(), &link[1], "-I", own, "-o", "program", ppu, "work.o"];
        self.cellcc(&[&link[..], &strict[..]].concat()).unwrap();
        self.folder.path().join("program")
    }

    pub fn execute(&self, program: &Path, environment: &[(&str, &str)]) -> Output {
        let mut command = Command::new(program);
        command.arg(self.folder.path().join("work.spu")).envs(environment.iter().copied());
        command.output().unwrap()
    }

    pub fn run(&self, spu: &Path, ppu: &Path) -> String {
        self.succeed(&self.build(spu, ppu), &[])
    }

    pub fn succeed(&self, program: &Path, environment: &[(&str, &str)]) -> String {
        let output = self.execute(program, environment);
        let said = String::from_utf8_lossy(&output.stdout);
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{:?}: {said}{words}", output.status);
        said.into_owned()
    }
}
