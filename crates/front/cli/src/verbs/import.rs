//! `seatmap import`.

use clap::Args;
use seatmap_console::{CliError, CliResult, Destination, here, input, output};
use seatmap_data::machine::Profile;
use seatmap_data::machine::import::ImportOptions;
use seatmap_os::CpuList;
use seatmap_report::shown;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct Import {
    /// The files, recognised by their content. Also models, and the output of
    /// hwloc-gather-topology: a folder or a .tar.bz2.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Take the topology from this file (hwloc XML, as lstopo writes it).
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
    /// The CPUs of the rows of a core-to-core matrix, in order: 1-7,9-15. Such files do not name
    /// them; by default row k is CPU k.
    #[arg(long, value_name = "LIST")]
    cpus: Option<CpuList>,
    /// The nominal frequency in Hz, for files that count cycles: 2.8g.
    #[arg(long, value_name = "HZ", value_parser = frequency)]
    frequency: Option<f64>,
    /// The machine's name.
    #[arg(long)]
    name: Option<String>,
    /// The profile's file, or a folder, in which each file keeps its name; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print only the profile as JSON, on stdout.
    #[arg(long)]
    json: bool,
}

/// A positive number with a multiplier of 1000: `2.8g`.
fn frequency(text: &str) -> Result<f64, String> {
    // Frequencies use multiples of 1000, not of 1024.
    let (number, factor) = match text.trim().to_ascii_lowercase() {
        text if text.ends_with('k') => (text[..text.len() - 1].to_owned(), 1e3),
        text if text.ends_with('m') => (text[..text.len() - 1].to_owned(), 1e6),
        text if text.ends_with('g') => (text[..text.len() - 1].to_owned(), 1e9),
        text => (text, 1.0),
    };
    let hz = number.parse::<f64>().map(|number| number * factor);
    hz.ok()
        // 1 MHz to 100 GHz. A number outside lacks its unit, such as `2.8` for 2.8g.
        .filter(|hz| (1e6..1e11).contains(hz))
        .ok_or_else(|| format!("'{text}' is not a frequency in Hz, such as 2.8g"))
}

pub fn run(typed: &Import) -> CliResult {
    let options = ImportOptions {
        frequency_hz: typed.frequency,
        cpus: typed.cpus.clone().map(CpuList::distinct).transpose().map_err(CliError::input)?,
        topology: typed.topology.as_deref().map(input::topology).transpose()?,
    };
    let folder = typed.output.as_deref().filter(|path| path.is_dir());
    // One file would replace the other.
    refuse_if!(
        typed.files.len() > 1 && (folder.is_none() || typed.name.is_some()),
        "several files need an existing folder: give -o FOLDER, and leave --name out"
    );
    let targets = folder.map(|folder| targets(&typed.files, folder)).transpose()?;
    for (at, file) in typed.files.iter().enumerate() {
        let mut profile = input::imported(file, &options)?;
        if let Some(name) = &typed.name {
            profile.name.clone_from(name);
        }
        let tool = profile.origin.tool;
        profile.origin.tool = tool.map(|tool| format!("{tool}, imported by {}", here::tool()));
        let target = targets.as_ref().map_or(typed.output.as_deref(), |targets| Some(&targets[at]));
        deliver(&profile, target, typed.json)?;
    }
    Ok(())
}

/// Named like the file, because a name in the file could be any path.
fn targets(files: &[PathBuf], folder: &Path) -> CliResult<Vec<PathBuf>> {
    let mut targets: Vec<PathBuf> = Vec::new();
    for file in files {
        let target = folder.join(file.file_stem().unwrap_or_default()).with_added_extension("json");
        if let Some(other) = targets.iter().position(|other| *other == target) {
            let one = files[other].display();
            let two = file.display();
            let target = target.display();
            return Err(CliError::input(format!(
                "{one} and {two} would both become {target}; import them separately"
            )));
        }
        // An unnamed target must not replace the other tool's file.
        refuse_if!(
            is_same(file, &target),
            "{} would be overwritten by its own profile; give -o another folder, or a file \
             name",
            file.display()
        );
        targets.push(target);
    }
    Ok(targets)
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = [one, other].map(std::fs::canonicalize);
    matches!(real, [Ok(one), Ok(other)] if one == other)
}

fn deliver(profile: &Profile, target: Option<&Path>, json: bool) -> CliResult {
    let text = profile.to_json();
    let Some(target) = target.filter(|target| *target != Path::new("-")) else {
        return output::print_exact(&text);
    };
    Destination::new(target)?.write(&text)?;
    if json {
        return output::print_exact(&text);
    }
    let line = format!("{}: {}", target.display(), shown::summary(profile));
    output::print(&(output::visible(&line) + "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_accept_multipliers() {
        assert_eq!(frequency("2.8g"), Ok(2.8e9));
        assert_eq!(frequency("2800M"), Ok(2.8e9));
        for bad in ["", "g", "-1g", "nan", "2.8", "1e99"] {
            assert!(frequency(bad).is_err(), "{bad}");
        }
    }
}
