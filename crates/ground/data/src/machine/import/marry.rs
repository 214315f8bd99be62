//! Joins a matrix and a topology of the same machine.

use crate::document::{Checked, inconsistent};
use crate::machine::{CoreDistance, OriginKind, Profile, Topology};
use crate::statistics::words::counted;

/// The origin of the PU numbers of a matrix's rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rows {
    /// Counted, because the file has none.
    Numbered,
    /// Given by the user: they may be only some PUs of the machine.
    Named,
}

/// Gives a profile the topology of another file.
///
/// Counted rows are all PUs of the topology, by ascending OS index. Named rows may be some of its
/// PUs. A matrix whose file has PU numbers must have the same ones.
///
/// # Errors
/// The two are of different machines; the profile is then unchanged.
pub fn marry(profile: &mut Profile, mut topology: Topology, rows: Rows) -> Checked {
    topology.pus.sort_by_key(|pu| pu.os);
    // Numbers that only count the rows may be replaced by the topology's.
    let are_numbered = rows == Rows::Numbered && names_no_pus(profile);
    if let Some(distance) = &mut profile.core_distance {
        let matrix = distance.pus.len();
        let pus = topology.pus.len();
        if matrix > pus || (matrix < pus && rows == Rows::Numbered) {
            return inconsistent(format!(
                "the matrix has {}, but the topology has {pus}; use the topology of the same \
                 machine and cpuset, or name the CPUs of the rows with --cpus LIST",
                counted(matrix, "PU")
            ));
        }
        match missing(distance, &topology) {
            Some(_) if are_numbered => distance.pus = topology.os_indices().collect(),
            Some(os) => {
                return inconsistent(format!(
                    "PU {os} of the matrix is not in the topology, which has {}; use the topology \
                     of the same machine and cpuset",
                    counted(pus, "PU")
                ));
            }
            None => {}
        }
    }
    profile.topology = topology;
    Ok(())
}

/// Gives the rows of a matrix without names the numbers of these CPUs.
///
/// # Errors
/// The file has no matrix, has PU numbers, or has another number of rows. The profile is then
/// unchanged.
pub fn name_rows(profile: &mut Profile, cpus: &[u32]) -> Checked {
    let are_unnamed = names_no_pus(profile);
    let Some(distance) = profile.core_distance.as_mut().filter(|_| are_unnamed) else {
        return inconsistent(
            "the file names its PUs itself; leave out --cpus, which is for core-to-core matrices",
        );
    };
    if distance.pus.len() != cpus.len() {
        return inconsistent(format!(
            "the matrix has {}, but --cpus names {}; name the CPU of each row, in the order of the \
             rows",
            counted(distance.pus.len(), "row"),
            cpus.len()
        ));
    }
    distance.pus = cpus.to_vec();
    profile.topology = Topology::unknown(cpus.iter().copied());
    Ok(())
}

/// Whether the PUs of an imported matrix only number its rows, and nothing else refers to them.
fn names_no_pus(profile: &Profile) -> bool {
    let Some(distance) = &profile.core_distance else { return false };
    profile.origin.kind == OriginKind::Imported
        && profile.home_model.is_none()
        && distance.regimes.is_empty()
        && profile.topology == Topology::unknown(distance.pus.iter().copied())
        && distance.pus.iter().copied().eq(0..distance.pus.len() as u32)
}

fn missing(distance: &CoreDistance, topology: &Topology) -> Option<u32> {
    let known: std::collections::HashSet<u32> = topology.os_indices().collect();
    distance.pus.iter().copied().find(|os| !known.contains(os))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Pu;
    use crate::machine::import::read;

    fn topology(os: &[u32]) -> Topology {
        Topology {
            pus: os
                .iter()
                .map(|os| Pu { os: *os, package: Some(os / 4), ..Pu::default() })
                .collect(),
        }
    }

    fn matrix() -> Profile {
        read(b",,\n1,,\n2,3,\n", "m.csv", None).unwrap()
    }

    #[test]
    fn rows_match_pus_by_ascending_index() {
        let mut profile = matrix();
        marry(&mut profile, topology(&[4, 0, 2]), Rows::Numbered).unwrap();
        assert_eq!(profile.core_distance.as_ref().unwrap().pus, [0, 2, 4]);
        assert_eq!(profile.topology.pu(4).unwrap().package, Some(1));
        profile.check().unwrap();
    }

    #[test]
    fn topology_of_another_machine_is_refused() {
        let mut profile = matrix();
        let error = marry(&mut profile, topology(&[0, 1]), Rows::Numbered).unwrap_err().to_string();
        assert!(error.starts_with("the matrix has 3 PUs, but the topology has 2;"), "{error}");
        marry(&mut profile, topology(&[0, 2, 4]), Rows::Numbered).unwrap();
        let before = profile.clone();
        let error =
            marry(&mut profile, topology(&[0, 2, 5]), Rows::Numbered).unwrap_err().to_string();
        assert!(error.contains("PU 4 of the matrix is not in the topology"), "{error}");
        assert_eq!(profile, before);
    }

    #[test]
    fn rows_may_name_some_cpus_in_any_order() {
        let mut profile = matrix();
        name_rows(&mut profile, &[5, 1, 2]).unwrap();
        assert_eq!(profile.core_distance.as_ref().unwrap().pus, [5, 1, 2]);
        profile.check().unwrap();
        let error =
            marry(&mut profile, topology(&[0, 1, 2, 3]), Rows::Named).unwrap_err().to_string();
        assert!(error.contains("PU 5 of the matrix is not in the topology"), "{error}");
        marry(&mut profile, topology(&[0, 1, 2, 3, 4, 5]), Rows::Named).unwrap();
        assert_eq!(profile.topology.pus.len(), 6);
        profile.check().unwrap();
        let error = name_rows(&mut profile, &[0, 1, 2]).unwrap_err().to_string();
        assert!(error.starts_with("the file names its PUs itself;"), "{error}");
        let error = name_rows(&mut matrix(), &[0, 1]).unwrap_err().to_string();
        assert!(error.starts_with("the matrix has 3 rows, but --cpus names 2;"), "{error}");
    }

    #[test]
    fn pus_of_a_home_model_keep_their_names() {
        let mut profile = matrix();
        let model = r#"{ "groups": [[0, 1, 2]], "between_ns": [[4.0]], "inside_ns": null,
            "offset_ns": [[0.0], [0.0], [0.0]], "r2": 0.5, "residual_ns": 1.0,
            "pair_view_empty": false, "star_r2": null, "smt_ns": null }"#;
        profile.home_model = serde_json::from_str(model).unwrap();
        assert!(marry(&mut profile, topology(&[0, 2, 4]), Rows::Numbered).is_err());
        marry(&mut profile, topology(&[0, 1, 2]), Rows::Numbered).unwrap();
    }
}
