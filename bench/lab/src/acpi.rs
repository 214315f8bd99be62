//! The ACPI table of an x86 computer with unequal CPUs: `_CPC` for each, as firmware with
//! Collaborative Processor Performance Control provides it (ACPI 6.5, 8.4.6.1).

use crate::computer::{Architecture, EmulatedComputer};
use crate::error::LabError;
use crate::tool::{find, run, write};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Creates the table if the computer needs one.
///
/// # Errors
/// [`LabError::Missing`] without `iasl`; others if the table cannot be created.
pub fn of(computer: &EmulatedComputer, cache: &Path) -> Result<Option<PathBuf>, LabError> {
    if computer.architecture == Architecture::Arm || computer.capacities.is_empty() {
        return Ok(None);
    }
    find("iasl")?;
    let stem = cache.join(format!("{}-{}", computer.name, std::process::id()));
    let source = stem.with_extension("asl");
    write(&source, table(&computer.capacities))?;
    run(Command::new("iasl").arg("-p").arg(&stem).arg(&source))?;
    let _ = std::fs::remove_file(&source);
    Ok(Some(stem.with_extension("aml")))
}

/// The table in ASL. QEMU names the CPUs `\_SB.CPUS.C000` and so on, in hexadecimal.
fn table(capacities: &[u32]) -> String {
    let none = "ResourceTemplate(){Register(SystemMemory, 0, 0, 0)}";
    let mut text = "DefinitionBlock (\"\", \"SSDT\", 2, \"LAB\", \"CPPC\", 1)\n{\n".to_owned();
    for (cpu, capacity) in capacities.iter().enumerate() {
        let path = format!("\\_SB.CPUS.C{cpu:03X}");
        let _ = write!(
            text,
            "External ({path}, DeviceObj)\nScope ({path}) {{ Name (_CPC, Package () {{ 23, 3, \
             {capacity}, {capacity}, 20, 10"
        );
        // Guaranteed to reference performance: optional.
        for _ in 0..14 {
            let _ = write!(text, ", {none}");
        }
        text += ", 0, 0, 0 }) }\n";
    }
    text + "}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cpu_has_its_performance() {
        let text = table(&[236, 140]);
        assert!(text.contains("Scope (\\_SB.CPUS.C001) { Name (_CPC, Package () { 23, 3, 140,"));
    }
}
