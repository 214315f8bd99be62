//! The zoo: machines on which `seatmap pretend --zoo` tries programs, besides the bundled ones.
//!
//! They have what programs are wrong about: kinds of cores, clusters that are not nodes, nodes
//! without memory or CPUs, gaps in numbers, more than 1,024 CPUs.

use crate::document::DocumentError;
use crate::machine::MachineSheet;
use crate::machine::catalog::machines_in;

/// The name and text of each sheet; names are those of the files.
const SHEETS: [(&str, &str); 28] = machines_in![
    "machines/zoo":
    "ampere-altra-2s",
    "apple-m1",
    "cix-p1",
    "core-i7-1370p",
    "core-i9-10920x",
    "core-ultra-5-225u",
    "core-ultra-7-258v",
    "core-ultra-7-265k",
    "core-ultra-9-185h",
    "epyc-9654-2s-nps4",
    "kvm-guest",
    "kvm-guest-unplugged",
    "lakefield-i5-l16g7",
    "nvidia-gb10",
    "odroid-n2",
    "odroid-xu4",
    "power9-ac922",
    "raspberry-pi-5",
    "rk3588",
    "ryzen-7900x3d",
    "ryzen-9950x3d",
    "ryzen-ai-9-hx-370",
    "snapdragon-8-gen2",
    "snapdragon-x-elite",
    "superdome-flex-1280",
    "threadripper-2990wx",
    "uv-2000-2048",
    "xeon-max-9460-2s",
];

/// The names of all sheets, in alphabetical order.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHEETS.iter().map(|(name, _)| *name)
}

/// The sheet of this name.
///
/// # Errors
/// [`DocumentError`]: the sheet is wrong, a bug in Seatmap.
pub fn find(name: &str) -> Option<Result<MachineSheet, DocumentError>> {
    let (_, text) = SHEETS.iter().find(|(known, _)| *known == name)?;
    Some(MachineSheet::from_toml(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::speed::kinds_of;
    use crate::machine::{Pu, Speed, catalog};

    fn all() -> impl Iterator<Item = MachineSheet> {
        names().map(|name| find(name).unwrap().unwrap())
    }

    #[test]
    fn every_sheet_is_bundled_under_its_name() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../machines/zoo");
        let files = std::fs::read_dir(folder).unwrap();
        let files = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut files: Vec<String> =
            files.map(|file| file.strip_suffix(".toml").unwrap().to_owned()).collect();
        files.sort();
        assert_eq!(files, names().collect::<Vec<_>>());
        for (sheet, name) in all().zip(names()) {
            assert_eq!(sheet.name, name);
            assert!(catalog::find(name).is_none(), "{name}");
            sheet.to_profile().check().unwrap();
        }
    }

    /// On Intel's hybrids lists tell the kinds, on all others the figures.
    #[test]
    fn kinds_agree_with_the_figures_that_tell_them() {
        for sheet in all().filter(|sheet| !sheet.name.starts_with("core-ultra")) {
            let pus = sheet.topology().pus;
            let speeds: Vec<Speed> = pus.iter().map(speed).collect();
            let kinds: Vec<_> = pus.iter().map(|pu| pu.kind).collect();
            assert_eq!(kinds, kinds_of(&speeds), "{}", sheet.name);
        }
    }

    fn speed(pu: &Pu) -> Speed {
        Speed {
            core_type: pu.core_type,
            capacity: pu.capacity,
            base_khz: pu.base_khz,
            max_khz: pu.max_khz,
        }
    }
}
