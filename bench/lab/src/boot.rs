//! Boots a computer with an experiment, shows its console, and returns the experiment's result.

use crate::acpi;
use crate::computer::{Architecture, EmulatedComputer, lab_folder};
use crate::debian::Archive;
use crate::device_tree;
use crate::error::LabError;
use crate::image::Initramfs;
use crate::tool::find;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The libraries of Arm programs, which another processor's `ldd` does not list, and Debian's
/// folder for them.
const ARM_LIBRARIES: [&str; 4] =
    ["ld-linux-aarch64.so.1", "libc.so.6", "libm.so.6", "libgcc_s.so.1"];
const ARM_FOLDER: &str = "/usr/aarch64-linux-gnu/lib";

const RESULT: &str = "lab: result ";

#[derive(Clone, Debug)]
pub struct GuestFile {
    pub source: PathBuf,
    pub path: String,
}

#[derive(Clone, Debug, Default)]
pub struct BootRequest {
    pub cache: PathBuf,
    pub seatmap: PathBuf,
    /// A script that runs as `/lab/experiment`.
    pub experiment: PathBuf,
    /// Replaces the lab's init process, for experiments about it.
    pub init: Option<PathBuf>,
    pub kernel: Option<String>,
    pub programs: Vec<GuestFile>,
    pub files: Vec<GuestFile>,
    pub trees: Vec<GuestFile>,
    pub modules: Vec<String>,
    /// Words for the kernel's command line; `lab_NAME=VALUE` sets a variable of the experiment.
    pub words: Vec<String>,
    pub is_parallel: bool,
    pub limit: Duration,
    pub is_shown: bool,
    pub log: Option<PathBuf>,
}

#[derive(Debug)]
pub struct BootReport {
    pub console: Vec<String>,
    pub result: Option<i32>,
    pub seconds: f64,
    pub kernel: String,
}

/// Boots a computer, and waits until it has shut down.
///
/// # Errors
/// [`LabError::Missing`] if a tool or package is missing; others if a file cannot be read.
pub fn boot(computer: &EmulatedComputer, request: &BootRequest) -> Result<BootReport, LabError> {
    for tool in [computer.emulator(), "setpriv", "timeout"] {
        find(tool)?;
    }
    find_firmware(computer)?;
    let cache = &request.cache;
    let kernel = request.kernel.as_ref().unwrap_or(&computer.kernel);
    let series = kernel.split('-').next().unwrap_or_default();
    let archive = Archive::open(cache, computer.debian_architecture(), series)?;
    let package = archive.kernel(kernel)?;
    let image = cache.join(format!("initrd-{}-{}", computer.name, std::process::id()));
    build(computer, request, &archive, &package)?.write(&image)?;
    let tree = device_tree::of(computer, cache)?;
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "TERM", "timeout", "--kill-after", "5"]);
    command.arg(request.limit.as_secs().to_string()).arg(computer.emulator());
    command.args(computer.hardware(request.is_parallel));
    command.arg("-kernel").arg(image_of(&package)?).arg("-initrd").arg(&image);
    command.arg("-append").arg(computer.boot_words(&request.words));
    if let Some(tree) = &tree {
        command.arg("-dtb").arg(tree);
    }
    if let Some(table) = acpi::of(computer, cache)? {
        command.arg("-acpitable").arg(format!("file={}", table.display()));
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let begun = Instant::now();
    let mut emulator = command.spawn().map_err(LabError::start("setpriv"))?;
    let console = emulator.stdout.take().map(|pipe| listen(pipe, request));
    let _ = emulator.wait();
    let _ = std::fs::remove_file(&image);
    let console = console.unwrap_or_default();
    let result = console.iter().rev().find_map(|line| line.strip_prefix(RESULT));
    let name = package.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(BootReport {
        result: result.and_then(|word| word.trim().parse().ok()),
        seconds: begun.elapsed().as_secs_f64(),
        kernel: version(&name, computer.debian_architecture()),
        console,
    })
}

/// The version in `linux-image-6.12.1-amd64.amd64`.
fn version(folder: &str, architecture: &str) -> String {
    let name = folder.trim_end_matches(architecture).trim_end_matches('.');
    let name = name.trim_end_matches(architecture).trim_end_matches('-');
    name.trim_start_matches("linux-image-").trim_start_matches("linux-binary-").to_owned()
}

/// QEMU boots x86 computers with a firmware from a separate package.
fn find_firmware(computer: &EmulatedComputer) -> Result<(), LabError> {
    let folders = ["/usr/share/seabios", "/usr/share/qemu"];
    let has_it = folders.iter().any(|folder| Path::new(folder).join("bios-256k.bin").exists());
    if computer.architecture == Architecture::Arm || has_it {
        return Ok(());
    }
    Err(LabError::Missing("bios-256k.bin of Debian's package seabios".to_owned()))
}

fn listen(pipe: impl std::io::Read, request: &BootRequest) -> Vec<String> {
    let mut log = request.log.as_ref().and_then(|path| File::create(path).ok());
    let mut reader = BufReader::new(pipe);
    let mut console = Vec::new();
    let mut bytes = Vec::new();
    while reader.read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
        let line = String::from_utf8_lossy(&bytes).replace('\r', "").trim_end().to_owned();
        if request.is_shown {
            let _ = writeln!(std::io::stdout(), "{line}");
        }
        if let Some(log) = &mut log {
            let _ = writeln!(log, "{line}");
        }
        console.push(line);
        bytes.clear();
    }
    console
}

/// The kernel in a package's folder: below `boot`, or with its modules.
fn image_of(package: &Path) -> Result<PathBuf, LabError> {
    let mut folders = vec![package.join("boot"), package.join("usr/lib/modules")];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
        for path in entries.map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.starts_with("vmlinu") {
                return Ok(path);
            }
        }
    }
    Err(LabError::Missing(format!("a kernel in {}", package.display())))
}

fn build(
    computer: &EmulatedComputer,
    request: &BootRequest,
    archive: &Archive,
    kernel: &Path,
) -> Result<Initramfs, LabError> {
    let mut image = Initramfs::new();
    let lab = lab_folder();
    image.file("bin/busybox", &busybox(computer, archive)?)?;
    image.program("bin/seatmap", &request.seatmap)?;
    image.file("init", request.init.as_deref().unwrap_or(&lab.join("guest/init")))?;
    image.file("lab/experiment", &request.experiment)?;
    for program in &request.programs {
        image.program(&program.path, &program.source)?;
    }
    for file in &request.files {
        image.file(&file.path, &file.source)?;
    }
    for tree in &request.trees {
        image.tree(&tree.path, &tree.source)?;
    }
    if computer.architecture == Architecture::Arm && !cfg!(target_arch = "aarch64") {
        for library in ARM_LIBRARIES {
            let source = Path::new(ARM_FOLDER).join(library);
            image.file(&format!("lib/{library}"), &source).map_err(|_| {
                LabError::Missing(format!("{} of libc6-arm64-cross", source.display()))
            })?;
        }
    }
    let modules: Vec<String> = computer.modules.iter().chain(&request.modules).cloned().collect();
    image.modules(kernel, &modules)?;
    Ok(image)
}

fn busybox(computer: &EmulatedComputer, archive: &Archive) -> Result<PathBuf, LabError> {
    if computer.architecture == Architecture::X86 && cfg!(target_arch = "x86_64") {
        let own = find("busybox")?;
        let listed = Command::new("ldd").arg(&own).output();
        let is_static = listed.is_ok_and(|listed| !listed.status.success());
        return if is_static { Ok(own) } else { Err(LabError::Missing("busybox-static".into())) };
    }
    let folder = archive.package("busybox-static")?;
    let places = ["bin/busybox", "usr/bin/busybox"];
    places
        .iter()
        .map(|place| folder.join(place))
        .find(|file| file.is_file())
        .ok_or_else(|| LabError::Missing("busybox in Debian's busybox-static".to_owned()))
}
