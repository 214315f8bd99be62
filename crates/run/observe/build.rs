//! Compiles `preload/`, the library that MPI ranks load, for this crate's target. The crate
//! contains the result (`preload`), so every `seatmap` has it, however it was installed.
//!
//! In today's cargo a library cannot be another crate's input (`-Z bindeps`).

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::process::{Command, Output};

/// Options for a small independent library, which aborts instead of unwinding, and looks up
/// functions at their first call. Before glibc 2.34 a program without libdl has no dlsym(3), and
/// never calls it.
const OPTIONS: [&str; 16] = [
    "--crate-name=seatmap_mpi",
    "--crate-type=cdylib",
    "--edition=2024",
    "-Cpanic=abort",
    "-Copt-level=s",
    "-Clto=fat",
    "-Ccodegen-units=1",
    "-Cdebuginfo=0",
    "-Cstrip=symbols",
    "-Crelro-level=partial",
    // Musl targets link statically by default, and have no shared libraries then.
    "-Ctarget-feature=-crt-static",
    "-Clink-arg=-shared",
    "-Clink-arg=-zlazy",
    "-Clink-arg=-znoseparate-code",
    "-Clink-arg=-nostdlib",
    "preload/lib.rs",
];

/// Options for a C compiler as the linker.
const BY_CC: [&str; 1] = ["-Clink-arg=-nostartfiles"];

/// Rust's own linker supports every processor.
const BY_RUST: [&str; 2] = ["-Clinker=rust-lld", "-Clinker-flavor=ld.lld"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=preload");
    let chosen = env::var("RUSTC_LINKER").map(|linker| format!("-Clinker={linker}"));
    let by_cc: Vec<String> = BY_CC.map(str::to_owned).into_iter().chain(chosen).collect();
    let first = compiled(&by_cc)?;
    if first.status.success() {
        return Ok(());
    }
    // There may be no C compiler for another processor if nothing else is linked.
    let second = compiled(&BY_RUST.map(str::to_owned))?;
    if second.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&first.stderr).into_owned();
    Err(format!("the library for ranks of MPI cannot be built: {said}").into())
}

fn compiled(linker: &[String]) -> Result<Output, Box<dyn Error>> {
    let mut file = variable("OUT_DIR")?;
    file.push("/preload.so");
    let mut rustc = Command::new(variable("RUSTC")?);
    rustc.arg("--target").arg(variable("TARGET")?).args(OPTIONS).args(linker).arg("-o").arg(file);
    Ok(rustc.output()?)
}

fn variable(name: &str) -> Result<OsString, String> {
    env::var_os(name).ok_or_else(|| format!("cargo sets no {name}"))
}
