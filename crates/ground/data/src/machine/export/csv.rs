//! The CSV of core-to-core-latency: lower triangle, one-way nanoseconds.
//!
//! Rows are the PUs by ascending OS index, which the format omits. An unknown distance is an empty
//! cell.

use super::ProfileExportError;
use crate::machine::{CoreDistance, Profile};
use crate::statistics::words::joined;

/// The median distances of a profile.
///
/// # Errors
/// [`ProfileExportError::NoDistances`].
pub fn write(profile: &Profile) -> Result<String, ProfileExportError> {
    let distances = profile.core_distance.as_ref().filter(|distance| distance.pus.len() > 1);
    let distances = distances.ok_or(ProfileExportError::NoDistances)?;
    let mut order: Vec<usize> = (0..distances.pus.len()).collect();
    order.sort_by_key(|row| distances.pus[*row]);
    Ok((0..order.len()).map(|row| line(distances, &order, row)).collect())
}

fn line(distances: &CoreDistance, order: &[usize], row: usize) -> String {
    let cells = (0..order.len()).map(|column| {
        match distances.median_ns[(order[row], order[column])] / 2.0 {
            // `to_string` writes the fewest digits that read back to the same bits.
            ns if column < row && ns.is_finite() => ns.to_string(),
            _ => String::new(),
        }
    });
    joined(cells, ",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Matrix, Origin, OriginKind, Topology};

    fn profile(pus: Vec<u32>) -> Profile {
        let origin =
            Origin { kind: OriginKind::Measured, source: "test".into(), date: None, tool: None };
        let mut profile = Profile::new("test", origin, Topology::unknown(pus.clone()));
        let mut median_ns = Matrix::filled(pus.len(), 0.0);
        for (i, j) in (0..pus.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
            median_ns.set_both(i, j, f64::from(10 * pus[i] + pus[j]) + 0.1);
        }
        profile.core_distance = Some(CoreDistance::imported(pus, median_ns));
        profile
    }

    #[test]
    fn csv_rows_follow_pu_indices() {
        insta::assert_snapshot!(write(&profile(vec![0, 1, 2])).unwrap(), @"
        ,,
        5.05,,
        10.05,10.55,
        ");
        assert_eq!(write(&profile(vec![2, 1])).unwrap(), ",\n10.55,\n".replace("10.55", "6.05"));
    }

    #[test]
    fn single_pu_has_no_distances_to_export() {
        assert_eq!(write(&profile(vec![0])), Err(ProfileExportError::NoDistances));
    }
}
