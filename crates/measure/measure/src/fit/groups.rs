//! Groups of cores in the distances.
//!
//! *Nearness*: core complexes, dies, tiles and sockets are nearer inside than to others; the first
//! wide gap in the clustering shows them. *Equality*: the four cores of a Kunpeng cluster, or of a
//! cluster of Intel's efficiency cores, are not nearer to each other, but equally far from every
//! other core, up to an offset. In the model d = B + a_i + a_j this defines a group, so each near
//! group is searched for parts whose rows differ by constants.

use super::linkage::{Merges, average, count, renumbered, sizes};
use super::star;
use crate::schedule::all_pairs;
use seatmap_data::machine::Matrix;
use seatmap_data::statistics::{Ordered, median};

/// Published machines have at least 1.8 between classes and at most 1.15 inside one.
const GAP: f64 = 1.35;
/// Rows belong to different parts if they deviate by this multiple of the deviation inside one
/// part.
const DEVIATION_GAP: f64 = 3.0;
/// Deviations below this share of the distance are noise.
const NOISE: f64 = 0.003;
/// The minimum share of cores in groups of two or more, by nearness and by equality.
const IN_COMPANY_NEAR: f64 = 0.5;
const IN_COMPANY_EQUAL: f64 = 0.9;
/// Rows of fewer cores do not distinguish parts.
const FEWEST_CORES: usize = 6;
/// With more cores, only some columns are compared, because the time grows with the cube.
const EXACT_TO: usize = 256;
const COLUMNS: usize = 64;
/// A star that explains this share of the variance makes its cores one part.
const ONE_PART: f64 = 0.95;

/// The group of each PU, numbered by first appearance. `core` identifies siblings, which share a
/// group.
pub fn find(d: &Matrix, core: &[usize]) -> Vec<usize> {
    let between = between_cores(d, core);
    let near = partition(&between);
    let mut group = vec![0; near.len()];
    let mut groups = 0;
    for at in 0..count(&near) {
        let members: Vec<usize> = (0..near.len()).filter(|core| near[*core] == at).collect();
        let parts =
            alike(&Matrix::from_fn(members.len(), |i, j| between[(members[i], members[j])]));
        members.iter().zip(&parts).for_each(|(core, part)| group[*core] = groups + part);
        groups += count(&parts);
    }
    renumbered(&core.iter().map(|core| group[*core]).collect::<Vec<_>>())
}

pub(super) fn between_cores(d: &Matrix, core: &[usize]) -> Matrix {
    let mut pus = vec![Vec::new(); count(core)];
    core.iter().enumerate().for_each(|(pu, core)| pus[*core].push(pu));
    let mut between = Matrix::filled(pus.len(), f64::NAN);
    for (a, b) in all_pairs(pus.len()) {
        let cells = pus[a].iter().flat_map(|i| pus[b].iter().map(|j| d[(*i, *j)]));
        between.set_both(a, b, median(cells).unwrap_or(f64::NAN));
    }
    between
}

/// One part without a gap that leaves most members in clusters of two or more.
pub(crate) fn partition(between: &Matrix) -> Vec<usize> {
    let merges = average(between);
    // Heights never fall, so the first wide gap surrounds the nearest cores.
    let joins = (1..merges.heights.len()).find(|joins| {
        let inside = merges.heights[joins - 1];
        let outside = merges.heights[*joins];
        outside > GAP * inside
            && outside.is_finite()
            && in_company(&merges, *joins, IN_COMPANY_NEAR)
    });
    let joins = joins.unwrap_or(merges.heights.len());
    merges.labels(joins)
}

/// Cores whose rows differ by constants; one part if none is clear.
fn alike(between: &Matrix) -> Vec<usize> {
    let whole = vec![0; between.n()];
    let own: Vec<usize> = (0..between.n()).collect();
    if between.n() < FEWEST_CORES || star::r2(between, &own, &whole).is_none_or(|r2| r2 > ONE_PART)
    {
        return whole;
    }
    if between.n() > EXACT_TO {
        let first = alike(&Matrix::from_fn(EXACT_TO, |i, j| between[(i, j)]));
        if first.iter().all(|part| *part == 0) {
            return whole;
        }
    }
    // Below the noise, ratios of deviations mean nothing.
    let floor = NOISE * median(between.pairs().map(|(_, _, cell)| cell)).unwrap_or(f64::NAN);
    let merges = average(&deviations(between));
    let gaps: Vec<f64> = std::iter::once(f64::NEG_INFINITY)
        .chain(merges.heights.windows(2).map(|pair| pair[1] / pair[0].max(floor)))
        .collect();
    let widest = (1..merges.heights.len()).max_by_key(|it| Ordered(gaps[*it]));
    let clear = widest.filter(|joins| {
        let in_company_parts =
            sizes(&merges.labels(*joins)).iter().filter(|size| **size > 1).count();
        gaps[*joins] > DEVIATION_GAP
            && in_company_parts > 1
            && in_company(&merges, *joins, IN_COMPANY_EQUAL)
    });
    clear.map_or(whole, |joins| merges.labels(joins))
}

/// The third largest deviation from its median, to ignore two wrong cells.
fn deviations(between: &Matrix) -> Matrix {
    let n = between.n();
    let columns: Vec<usize> = if n <= EXACT_TO {
        (0..n).collect()
    } else {
        (0..COLUMNS).map(|at| at * n / COLUMNS).collect()
    };
    let mut deviations = Matrix::filled(n, f64::NAN);
    let mut apart: Vec<f64> = Vec::with_capacity(columns.len());
    for a in 0..n {
        for b in a + 1..n {
            let others = columns.iter().filter(|k| **k != a && **k != b);
            apart.clear();
            apart.extend(others.map(|k| between[(a, *k)] - between[(b, *k)]));
            apart.retain(|value| value.is_finite());
            let Some(centre) = median(&apart) else { continue };
            apart.iter_mut().for_each(|value| *value = (*value - centre).abs());
            let third = apart.len().saturating_sub(3);
            let (_, third, _) = apart.select_nth_unstable_by(third, f64::total_cmp);
            deviations.set_both(a, b, *third);
        }
    }
    deviations
}

fn in_company(merges: &Merges, joins: usize, share: f64) -> bool {
    let labels = merges.labels(joins);
    let sizes = sizes(&labels);
    let together = labels.iter().filter(|label| sizes[**label] > 1).count();
    together as f64 >= share * labels.len() as f64
}
