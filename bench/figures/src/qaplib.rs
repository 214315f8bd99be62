//! QAPLIB instances compared with the best known permutations.

use crate::row::FigureRow;
use seatmap_data::machine::Square;
use seatmap_data::pattern::qaplib::Instance;
use seatmap_place::search::{Qap, SearchLimit};
use seatmap_place::solve::solve;
use std::error::Error;

const SECONDS: f64 = 5.0;

/// Mean gaps of the families, with five seconds per instance on one thread.
pub fn rows() -> Result<Vec<FigureRow>, Box<dyn Error>> {
    let Some(known) = seatmap_needs::published("qaplib/best_known.tsv") else {
        return Ok(Vec::new());
    };
    let mut gaps: Vec<(String, f64)> = Vec::new();
    // Tab-separated: "name n best ...".
    for line in std::fs::read_to_string(known)?.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, _, best, ..] = fields[..] else { continue };
        // The list of best known costs includes instances that are not in the folder.
        let Some(path) = present(name) else { continue };
        let instance = Instance::read(&std::fs::read_to_string(path)?)?;
        let qap = Qap::new(
            Square::from_fn(instance.n, |i, j| (&instance.a)[i * instance.n + j]),
            Square::from_fn(instance.n, |i, j| (&instance.b)[i * instance.n + j]),
        );
        let cost = solve(&qap, &SearchLimit::seconds(SECONDS), 1, 1).solution.cost;
        gaps.push((name.to_owned(), 100.0 * (cost / best.parse::<f64>()? - 1.0)));
    }
    Ok([
        family(
            "nug, sko, kra, ste, chr, esc, bur, lipa, tho",
            &gaps,
            |name| !name.starts_with("tai"),
            0.1,
        ),
        family(
            "tai*b, tai64c",
            &gaps,
            |name| name.starts_with("tai") && (name.ends_with('b') || name == "tai64c"),
            0.5,
        ),
        family("tai50a, tai100a", &gaps, |name| name == "tai50a" || name == "tai100a", 1.0),
    ]
    .into_iter()
    .flatten()
    .collect())
}

fn present(name: &str) -> Option<std::path::PathBuf> {
    let folder = seatmap_needs::published("qaplib")?;
    Some(folder.join(format!("{name}.dat"))).filter(|path| path.exists())
}

fn family(
    what: &str,
    gaps: &[(String, f64)],
    belongs: impl Fn(&str) -> bool,
    limit: f64,
) -> Option<FigureRow> {
    let of: Vec<&(String, f64)> = gaps.iter().filter(|(name, _)| belongs(name)).collect();
    let worst = of.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let mean = of.iter().map(|(_, gap)| gap).sum::<f64>() / of.len() as f64;
    let got = format!("mean gap {mean:.3} % over {}, worst {} {:.3} %", of.len(), worst.0, worst.1);
    Some(FigureRow::held(
        format!("QAPLIB {what}, {SECONDS} s"),
        got,
        format!("mean <= {limit} %"),
        mean <= limit,
    ))
}
