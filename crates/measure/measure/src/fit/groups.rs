//! Which cores form a group, from the distances alone.
//!
//! Two things make a group. *Nearness*: core complexes, dies, tiles and sockets are nearer inside
//! than to others, and the first wide gap in the clustering of the cores shows them. *Equality*:
//! some groups are not nearer inside at all. The four cores of a Kunpeng cluster, or of a cluster
//! of Intel's efficiency cores, are only alike: they are equally far from every other core, up to
//! an offset of their own. In the model d = B + a_i + a_j this is what a group means, so each near
//! group is searched for parts whose rows differ by constants.

use super::linkage::{Merges, average, renumbered, sizes};
use super::star;
use seatmap_data::machine::Matrix;
use seatmap_data::statistics::median;

/// Clusters that are joined at this multiple of the distance inside them are apart. The published
/// machines have 1.8 and more between their classes and 1.15 at most inside of one.
const GAP: f64 = 1.35;
/// Rows that deviate by this multiple of the deviation inside one part belong to different parts.
const DEVIATION_GAP: f64 = 3.0;
/// Deviations below this share of the distance are noise.
const NOISE: f64 = 0.003;
/// The share of the cores that must be in company for a partition to mean anything: by nearness,
/// and by equality.
const IN_COMPANY_NEAR: f64 = 0.5;
const IN_COMPANY_EQUAL: f64 = 0.9;
/// Fewer cores than this cannot be told apart by their rows.
const FEWEST_CORES: usize = 6;
/// Rows are compared in all their columns up to this number of cores. Of more, the first so many
/// must show parts, and rows are compared in a number of columns that are spread evenly: otherwise
/// the time would grow with the cube of the cores.
const EXACT_TO: usize = 256;
const COLUMNS: usize = 64;
/// Cores between which a star explains this share of the variance are one part.
const ONE_PART: f64 = 0.95;

/// The group of each PU, numbered by first appearance. `core` says which PUs are siblings; they
/// share a group.
#[must_use]
pub fn find(d: &Matrix, core: &[usize]) -> Vec<usize> {
    let between = between_cores(d, core);
    let near = partition(&between);
    let mut group = vec![0; near.len()];
    let mut groups = 0;
    for at in 0..sizes(&near).len() {
        let members: Vec<usize> = (0..near.len()).filter(|core| near[*core] == at).collect();
        let parts =
            alike(&Matrix::from_fn(members.len(), |i, j| between[(members[i], members[j])]));
        members.iter().zip(&parts).for_each(|(core, part)| group[*core] = groups + part);
        groups += sizes(&parts).len();
    }
    renumbered(&core.iter().map(|core| group[*core]).collect::<Vec<_>>())
}

/// Median distances between cores; NaN on the diagonal.
pub(super) fn between_cores(d: &Matrix, core: &[usize]) -> Matrix {
    let mut pus = vec![Vec::new(); sizes(core).len()];
    core.iter().enumerate().for_each(|(pu, core)| pus[*core].push(pu));
    let mut between = Matrix::filled(pus.len(), f64::NAN);
    for a in 0..pus.len() {
        for b in a + 1..pus.len() {
            let cells: Vec<f64> =
                pus[a].iter().flat_map(|i| pus[b].iter().map(|j| d[(*i, *j)])).collect();
            between.set_both(a, b, median(&cells).unwrap_or(f64::NAN));
        }
    }
    between
}

/// The partition at the lowest wide gap that leaves most members in clusters of two or more; one
/// part where there is no such gap.
pub(crate) fn partition(between: &Matrix) -> Vec<usize> {
    let merges = average(between);
    // Heights never fall, so that the first wide gap is that around the nearest cores.
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

/// The partition into cores whose rows differ by constants; one part where there is no clear
/// partition.
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
    let cells: Vec<f64> = between.pairs().map(|(_, _, cell)| *cell).collect();
    // Below the noise, the ratio of two deviations says nothing.
    let floor = NOISE * median(&cells).unwrap_or(f64::NAN);
    let merges = average(&deviations(between));
    // The gap behind each number of joins; behind none there is no height to compare with.
    let gaps: Vec<f64> = std::iter::once(f64::NEG_INFINITY)
        .chain(merges.heights.windows(2).map(|pair| pair[1] / pair[0].max(floor)))
        .collect();
    let widest = (1..merges.heights.len()).max_by(|a, b| gaps[*a].total_cmp(&gaps[*b]));
    let clear = widest.filter(|joins| {
        let in_company_parts =
            sizes(&merges.labels(*joins)).iter().filter(|size| **size > 1).count();
        gaps[*joins] > DEVIATION_GAP
            && in_company_parts > 1
            && in_company(&merges, *joins, IN_COMPANY_EQUAL)
    });
    clear.map_or(whole, |joins| merges.labels(joins))
}

/// How far two cores' rows are from differing by a constant: the third largest deviation of the
/// difference from its median, so that two wrong cells do not part them.
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
            // The two largest deviations may be wrong cells.
            let third = apart.len().saturating_sub(3);
            let (_, third, _) = apart.select_nth_unstable_by(third, f64::total_cmp);
            deviations.set_both(a, b, *third);
        }
    }
    deviations
}

/// Whether this share of the members is in clusters of two or more after `joins` joins.
fn in_company(merges: &Merges, joins: usize, share: f64) -> bool {
    let labels = merges.labels(joins);
    let sizes = sizes(&labels);
    let together = labels.iter().filter(|label| sizes[**label] > 1).count();
    together as f64 >= share * labels.len() as f64
}
