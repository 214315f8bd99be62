//! Predicts distances for lines of one home with a profile's model.

use seatmap_data::machine::{Matrix, Profile, Square};

/// between\[group(i), group(j)\] + a_i(home) + a_j(home), in the order of `core_distance.pus`; SMT
/// siblings have their own distance. `None` without a model or this home; NaN if the model makes no
/// prediction.
pub fn predicted(profile: &Profile, home: usize) -> Option<Matrix> {
    let distance = profile.core_distance.as_ref()?;
    let model = profile.home_model.as_ref().filter(|model| home < model.homes())?;
    let group = model.group_of(&distance.pus);
    let core = Vec::from_iter(distance.pus.iter().map(|os| profile.topology.pu(*os)?.core));
    let smt_ns = model.smt_ns.unwrap_or(f64::NAN);
    Some(Square::from_fn(distance.pus.len(), |i, j| match (group[i], group[j]) {
        _ if i == j => 0.0,
        // A line shared by siblings stays in their core. Two unknown cores are not the same.
        _ if core[i].is_some() && core[i] == core[j] => smt_ns,
        (Some(from), Some(to)) => {
            model.base_ns(from, to, home) + model.offset_ns[i][home] + model.offset_ns[j][home]
        }
        _ => f64::NAN,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::two_groups;

    #[test]
    fn prediction_adds_offsets_of_both_ends() {
        let mut profile = two_groups();
        profile.topology.pus[1].core = profile.topology.pus[0].core;
        let model = profile.home_model.as_mut().unwrap();
        model.smt_ns = Some(9.5);
        let expected = model.between_ns[(0, 1)] + model.offset_ns[2][1] + model.offset_ns[6][1];
        let matrix = predicted(&profile, 1).unwrap();
        assert_eq!(matrix[(2, 6)], expected);
        assert_eq!(matrix[(0, 1)], 9.5);
        assert_eq!(matrix[(3, 3)], 0.0);
    }

    #[test]
    fn pu_outside_all_groups_is_unknown() {
        let mut profile = two_groups();
        profile.home_model.as_mut().unwrap().groups[1].pop();
        assert!(predicted(&profile, 0).unwrap()[(0, 7)].is_nan());
    }
}
