//! The lab: boots emulated computers, and tests Seatmap's verbs on each of them.
//!
//! | module | gives |
//! |---|---|
//! | [`computer`], [`device_tree`], [`acpi`] | QEMU arguments and firmware tables from a file |
//! | [`debian`], [`image`], [`boot`] | a kernel, the initial file system, a complete boot |
//! | [`trial`] | a verb's outcome, sent through the console |
//! | [`guest`] | the experiments, inside |
//! | [`tested`] | the table of computers and verbs, outside |

/// Works even if the reader is gone.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($words)*);
    }};
}

mod acpi;
mod boot;
mod computer;
mod debian;
mod device_tree;
mod error;
mod guest;
mod image;
mod list;
mod tested;
mod tool;
mod trial;

use boot::{BootRequest, GuestFile};
use clap::Parser;
use computer::EmulatedComputer;
use error::LabError;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Emulated computers, and Seatmap's verbs on them.
#[derive(Debug, Parser)]
enum Cli {
    /// List the computers, and what they stand for.
    List,
    /// Print the emulator's command line for a computer.
    Show {
        /// The computer.
        computer: String,
    },
    /// Boot a computer with an experiment. The exit code is 0 if the experiment succeeds or is
    /// skipped.
    Boot(BootArguments),
    /// Ask every verb on every computer, and write the table.
    Tested(tested::TestedArguments),
    /// Run an experiment in this computer, which is a guest.
    #[command(subcommand)]
    Guest(guest::GuestCommand),
}

#[derive(Debug, clap::Args)]
struct BootArguments {
    /// The computer.
    computer: String,
    /// Seatmap's program for the computer's instruction set.
    #[arg(long)]
    seatmap: PathBuf,
    /// The experiment, a script for the guest.
    #[arg(long)]
    experiment: PathBuf,
    /// The init process, if not the lab's own.
    #[arg(long)]
    init: Option<PathBuf>,
    /// The kernel, if not the computer's own: 6.12, 6.1-cloud, newest-rt.
    #[arg(long)]
    kernel: Option<String>,
    /// A program with its libraries: FILE, or FILE:PATH for another path in the guest.
    #[arg(long)]
    program: Vec<String>,
    /// A file: FILE:PATH.
    #[arg(long)]
    file: Vec<String>,
    /// A folder with all its content: FOLDER:PATH.
    #[arg(long)]
    tree: Vec<String>,
    /// Kernel modules, with their dependencies.
    #[arg(long)]
    module: Vec<String>,
    /// A word for the kernel's command line; `lab_NAME=VALUE` sets a variable of the experiment.
    #[arg(long, allow_hyphen_values = true)]
    word: Vec<String>,
    /// Emulate each CPU on a separate thread: closer to real races, but slower with many CPUs.
    #[arg(long)]
    parallel: bool,
    /// Time limit in seconds.
    #[arg(long, default_value_t = 900)]
    seconds: u64,
    /// Write the console to this file.
    #[arg(long)]
    log: Option<PathBuf>,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli {
        Cli::List => list_computers(),
        Cli::Show { computer } => show(&computer),
        Cli::Boot(arguments) => boot_one(&arguments),
        Cli::Tested(arguments) => tested::run(&arguments),
        Cli::Guest(guest) => Ok(guest::run(guest)),
    };
    match result {
        Ok(code) => code,
        Err(error) if error.is_absence() => {
            say!("lab: skipped: {error}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("seatmap-lab: {error}");
            ExitCode::from(2)
        }
    }
}

fn list_computers() -> Result<ExitCode, LabError> {
    let folder = computer::folder();
    for name in EmulatedComputer::names(&folder)? {
        let computer = EmulatedComputer::read(&folder, &name)?;
        say!(
            "{name:<14} {:>4} CPUs  {:<13} {}",
            computer.cpus(),
            computer.kernel,
            computer.stands_for
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn show(name: &str) -> Result<ExitCode, LabError> {
    let computer = EmulatedComputer::read(&computer::folder(), name)?;
    say!("{} {}", computer.emulator(), computer.hardware(false).join(" "));
    say!("-append '{}'", computer.boot_words(&[]));
    Ok(ExitCode::SUCCESS)
}

/// The folder for packages, images and consoles: `LAB_CACHE`, or in the build folder.
///
/// # Errors
/// [`LabError::File`] if it cannot be created.
fn cache() -> Result<PathBuf, LabError> {
    let own = computer::lab_folder().join("../../target/lab");
    let path = std::env::var_os("LAB_CACHE").map_or(own, PathBuf::from);
    tool::make_folder(&path)?;
    path.canonicalize().map_err(LabError::file(&path))
}

/// `FILE:PATH`, or a program by name or path, which goes to the guest's `bin`.
fn guest_file(word: &str) -> Result<GuestFile, LabError> {
    if let Some((source, path)) = word.split_once(':') {
        return Ok(GuestFile { source: PathBuf::from(source), path: path.to_owned() });
    }
    let source = if word.contains('/') { PathBuf::from(word) } else { tool::find(word)? };
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    let path = format!("bin/{name}");
    Ok(GuestFile { source, path })
}

fn guest_files(words: &[String]) -> Result<Vec<GuestFile>, LabError> {
    words.iter().map(|word| guest_file(word)).collect()
}

fn boot_one(arguments: &BootArguments) -> Result<ExitCode, LabError> {
    let computer = EmulatedComputer::read(&computer::folder(), &arguments.computer)?;
    let request = BootRequest {
        cache: cache()?,
        seatmap: arguments.seatmap.clone(),
        experiment: arguments.experiment.clone(),
        init: arguments.init.clone(),
        kernel: arguments.kernel.clone(),
        programs: guest_files(&arguments.program)?,
        files: guest_files(&arguments.file)?,
        trees: guest_files(&arguments.tree)?,
        modules: arguments.module.clone(),
        words: arguments.word.clone(),
        is_parallel: arguments.parallel,
        limit: Duration::from_secs(arguments.seconds),
        is_shown: true,
        log: arguments.log.clone(),
    };
    let report = boot::boot(&computer, &request)?;
    say!("lab: {}, Linux {}, {:.0} s", computer.name, report.kernel, report.seconds);
    if report.result == Some(0) {
        return Ok(ExitCode::SUCCESS);
    }
    let words = report.result.map_or("no end in time".to_owned(), |code| format!("result {code}"));
    say!("lab: FAILED on {}: {words}", computer.name);
    Ok(ExitCode::FAILURE)
}
