//! A matrix and a topology of the same machine, joined.

use super::ImportError;
use crate::{CoreDistance, OriginKind, Profile, Topology};

/// Gives a profile the topology of another file.
///
/// The rows of a matrix whose file named no CPUs stand for the PUs of the topology by ascending OS index; a matrix that
/// does name its PUs must name the same ones.
///
/// # Errors
/// [`ImportError::PuCount`] and [`ImportError::PuMissing`] where the two are of different machines; the profile is then
/// unchanged.
pub fn marry(profile: &mut Profile, mut topology: Topology) -> Result<(), ImportError> {
    topology.pus.sort_by_key(|pu| pu.os);
    let rows_only = names_no_pus(profile);
    if let Some(distance) = &mut profile.core_distance {
        let (matrix, pus) = (distance.pus.len(), topology.pus.len());
        if matrix != pus {
            return Err(ImportError::PuCount { matrix, topology: pus });
        }
        match missing(distance, &topology) {
            Some(_) if rows_only => distance.pus = topology.os_indices().collect(),
            Some(os) => return Err(ImportError::PuMissing { pus, os }),
            None => {}
        }
    }
    profile.topology = topology;
    Ok(())
}

/// Whether the PUs are but the numbers of the rows: of an imported matrix, and referred to by nothing else yet.
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
    use crate::import::read;
    use crate::{HomeModel, Matrix, Pu};

    fn topology(os: &[u32]) -> Topology {
        Topology { pus: os.iter().map(|os| Pu { os: *os, package: Some(os / 4), ..Pu::default() }).collect() }
    }

    fn matrix() -> Profile {
        read(b",,\n1,,\n2,3,\n", "m.csv", None).unwrap()
    }

    #[test]
    fn rows_are_pus_by_ascending_index() {
        let mut profile = matrix();
        marry(&mut profile, topology(&[4, 0, 2])).unwrap();
        assert_eq!(profile.core_distance.as_ref().unwrap().pus, [0, 2, 4]);
        assert_eq!(profile.topology.pu(4).unwrap().package, Some(1));
        profile.check().unwrap();
    }

    #[test]
    fn another_machine_is_refused_and_nothing_changed() {
        let mut profile = matrix();
        let error = marry(&mut profile, topology(&[0, 1])).unwrap_err().to_string();
        assert!(error.starts_with("the matrix has 3 PUs and the topology 2;"), "{error}");
        marry(&mut profile, topology(&[0, 2, 4])).unwrap();
        let before = profile.clone();
        let error = marry(&mut profile, topology(&[0, 2, 5])).unwrap_err().to_string();
        assert!(error.contains("PU 4 of the matrix is not in the topology"), "{error}");
        assert_eq!(profile, before);
    }

    #[test]
    fn pus_that_a_model_refers_to_keep_their_names() {
        let mut profile = matrix();
        profile.home_model = Some(HomeModel {
            groups: vec![vec![0, 1, 2]],
            between_ns: Matrix::filled(1, 4.0),
            inside_ns: None,
            offset_ns: vec![vec![0.0]; 3],
            r2: 0.5,
            residual_ns: 1.0,
            pair_view_empty: false,
            star_r2: None,
            smt_ns: None,
            lines: None,
        });
        assert!(marry(&mut profile, topology(&[0, 2, 4])).is_err());
        marry(&mut profile, topology(&[0, 1, 2])).unwrap();
    }
}
