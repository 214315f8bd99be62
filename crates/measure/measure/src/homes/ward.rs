//! Ward's clustering (Ward 1963): joining clusters of m and n points adds mn / (m + n) times the
//! squared distance of their centres to the squares inside. For points that differ only by noise,
//! this cost has the same distribution at all sizes, so one limit suits lone lines and large homes.

use super::grouping::squared;
use crate::fit::linkage::Merges;
use seatmap_data::statistics::Ordered;

struct Cluster {
    centre: Vec<f64>,
    size: f64,
}

/// Joins the cheapest two clusters until one is left; the heights are costs.
pub fn ward(points: &[Vec<f64>]) -> Merges {
    let mut clusters: Vec<Cluster> =
        points.iter().map(|point| Cluster { centre: point.clone(), size: 1.0 }).collect();
    let mut alive: Vec<usize> = (0..points.len()).collect();
    let mut nearest: Vec<(f64, usize)> =
        alive.iter().map(|at| nearest_of(*at, &alive, &clusters)).collect();
    let mut merges = Merges::new(points.len());
    while alive.len() > 1 {
        let Some(&keep) = alive.iter().min_by_key(|it| Ordered(nearest[**it].0)) else {
            break;
        };
        let (height, drop) = nearest[keep];
        merges.push(keep, drop, height);
        alive.retain(|cluster| *cluster != drop);
        clusters[keep] = joined(&clusters[keep], &clusters[drop]);
        for &cluster in &alive {
            if cluster == keep || nearest[cluster].1 == keep || nearest[cluster].1 == drop {
                nearest[cluster] = nearest_of(cluster, &alive, &clusters);
            }
        }
    }
    merges
}

fn nearest_of(cluster: usize, alive: &[usize], clusters: &[Cluster]) -> (f64, usize) {
    let others = alive.iter().filter(|other| **other != cluster);
    let costs = others.map(|other| (cost(&clusters[cluster], &clusters[*other]), *other));
    costs.min_by_key(|it| Ordered(it.0)).unwrap_or((f64::INFINITY, cluster))
}

fn cost(a: &Cluster, b: &Cluster) -> f64 {
    a.size * b.size / (a.size + b.size) * squared(&a.centre, &b.centre)
}

fn joined(a: &Cluster, b: &Cluster) -> Cluster {
    let size = a.size + b.size;
    Cluster {
        centre: a
            .centre
            .iter()
            .zip(&b.centre)
            .map(|(x, y)| (a.size * x + b.size * y) / size)
            .collect(),
        size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_are_sums_of_squares() {
        let merges = ward(&[vec![0.0], vec![2.0], vec![10.0], vec![10.0]]);
        assert_eq!(merges.heights, [0.0, 2.0, 81.0]);
        assert_eq!(merges.labels(2), [0, 0, 1, 1]);
        assert!(ward(&[]).heights.is_empty());
    }
}
