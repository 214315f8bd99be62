//! Parts of the sentences of findings.

use super::{Flip, Wide};
use seatmap_data::statistics::words::counted;

pub fn why_alike(pus: usize) -> &'static str {
    match pus {
        0..3 => "a home is found by the PU nearest to it, which takes at least three PUs.",
        _ => {
            "the lines differ by no more than noise. Either all have the same home, or --thorough \
             on a quieter machine would show more."
        }
    }
}

impl Flip {
    pub(super) fn example(&self, pairs: usize) -> String {
        format!(
            " ({}PUs {} and {}: {:.0} ns and {:.0} ns, {:.0} % of batches slow)",
            of_several(pairs),
            self.pus[0],
            self.pus[1],
            self.fast_ns,
            self.slow_ns,
            self.slow_percent
        )
    }
}

impl Wide {
    pub(super) fn example(&self, pairs: usize) -> String {
        format!(
            " ({}PUs {} and {}: median {:.0} ns, 95 % confidence interval {:.0} to {:.0} ns)",
            of_several(pairs),
            self.pus[0],
            self.pus[1],
            self.median_ns,
            self.low_ns,
            self.high_ns
        )
    }
}

fn of_several(pairs: usize) -> &'static str {
    if pairs > 1 { "widest on " } else { "" }
}

pub fn subject(pairs: usize, percent: f64, one: &str, many: &str) -> String {
    let percent = if percent < 1.0 { "less than 1".to_owned() } else { format!("{percent:.0}") };
    match pairs {
        1 if percent == "100" => format!("The only pair {one}"),
        1 => format!("1 pair ({percent} %) {one}"),
        _ => format!("{pairs} ({percent} %) {many}", pairs = counted(pairs, "pair")),
    }
}
