//! The device tree of an Arm computer with unequal CPUs: QEMU's own, with a capacity for each CPU.

use crate::computer::{Architecture, EmulatedComputer};
use crate::error::LabError;
use crate::tool::{find, run, write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Creates the device tree if the computer needs another than QEMU's.
///
/// # Errors
/// [`LabError::Missing`] without `dtc`; others if it cannot be created.
pub fn of(computer: &EmulatedComputer, cache: &Path) -> Result<Option<PathBuf>, LabError> {
    if computer.architecture == Architecture::X86 || computer.capacities.is_empty() {
        return Ok(None);
    }
    find("dtc")?;
    let stem = cache.join(format!("{}-{}", computer.name, std::process::id()));
    let blob = stem.with_extension("dtb");
    let source = stem.with_extension("dts");
    let mut dump = Command::new(computer.emulator());
    let mut words = computer.hardware(false);
    let board = words.iter().position(|word| word.starts_with("virt"));
    if let Some(board) = board {
        words[board] += &format!(",dumpdtb={}", blob.display());
    }
    run(dump.args(words))?;
    run(Command::new("dtc").args(["-q", "-O", "dts", "-o"]).arg(&source).arg(&blob))?;
    let text = std::fs::read_to_string(&source).map_err(LabError::file(&source))?;
    write(&source, with_capacities(&text, &computer.capacities))?;
    run(Command::new("dtc").args(["-q", "-O", "dtb", "-o"]).arg(&blob).arg(&source))?;
    let _ = std::fs::remove_file(&source);
    Ok(Some(blob))
}

/// Adds a capacity to each `cpu@N`. Linux scales them so that the fastest has 1024.
fn with_capacities(text: &str, capacities: &[u32]) -> String {
    let mut result = String::with_capacity(text.len());
    for line in text.lines() {
        result += line;
        result.push('\n');
        let id = line.trim().strip_prefix("cpu@").and_then(|rest| rest.strip_suffix(" {"));
        let id = id.and_then(|id| usize::from_str_radix(id, 16).ok());
        if let Some(capacity) = id.and_then(|id| capacities.get(id)) {
            result += &format!("capacity-dmips-mhz = <{capacity}>;\n");
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cpu_is_given_its_capacity() {
        let text = "cpus {\n\tcpu-map {\n\t};\n\tcpu@0 {\n\t};\n\tcpu@1 {\n\t};\n};\n";
        let with = with_capacities(text, &[446, 1024]);
        assert!(with.contains("cpu@0 {\ncapacity-dmips-mhz = <446>;"), "{with}");
        assert!(with.contains("cpu@1 {\ncapacity-dmips-mhz = <1024>;"), "{with}");
        assert_eq!(with.matches("capacity").count(), 2);
    }
}
