//! Rankings in the terminal, and as a table.

use seatmap_data::document::{left_aligned, visible};
use seatmap_experiments::rank::{Ranking, Variant};
use seatmap_report::counted;
use seatmap_report::duration::duration;

/// Mappings listed with their times.
const LISTED: usize = 5;

/// A summary of a ranking.
pub fn summary(ranking: &Ranking) -> String {
    let text = title(ranking)
        + &range(ranking)
        + &curve(ranking)
        + &runs(ranking)
        + &candidates(ranking)
        + &named(ranking);
    // Names come from files.
    seatmap_data::document::visible_lines(text)
}

pub(crate) fn title(ranking: &Ranking) -> String {
    let setup = &ranking.setup;
    let part = ranking.shard.map_or_else(String::new, |shard| format!(", part {shard}"));
    let mappings = counted(ranking.mappings, "mapping");
    let runs = counted(setup.runs as usize, "run");
    format!(
        "{} on {}: {mappings} x {runs}{part}\n{}\n",
        visible(&setup.pattern),
        visible(&setup.machine),
        about(ranking)
    )
}

pub(crate) fn about(ranking: &Ranking) -> String {
    let setup = &ranking.setup;
    let way = if setup.is_unidirectional { "one way" } else { "both ways" };
    let seats = match setup.variant {
        Variant::Default => "thread i on a random worker, drawn for each run",
        Variant::Pinned => "thread i on worker i",
    };
    let mut about = format!(
        "{} of {} {way}; {seats}",
        counted(setup.rounds as usize, "packet"),
        counted(setup.packet_bytes as usize, "byte")
    );
    if setup.choice.is_reduced_by_symmetry {
        about += "; one of each two mirror images";
    }
    if setup.choice.sample.is_some() {
        about += "; a sample: the mappings below, the others at random";
    }
    if setup.is_shuffled {
        about += "; the times of each run exchanged at random";
    }
    about
}

fn range(ranking: &Ranking) -> String {
    let width = ranking.best.len().max("random".len());
    row(width, "best", &ranking.best, ranking.best_mean_ns, 1.0)
        + &row(width, "mean", "", ranking.mean_ns, ranking.mean_to_best)
        + &row(width, "worst", &ranking.worst, ranking.worst_mean_ns, ranking.best_to_worst)
}

fn row(width: usize, what: &str, mapping: &str, ns: f64, factor: f64) -> String {
    let mapping = left_aligned(mapping, width);
    format!("  {what:<6}{mapping}{:>12}  {factor:.2} x\n", duration(ns))
}

fn curve(ranking: &Ranking) -> String {
    format!(
        "The median is {:.3} of the mean, and {:.0} % of the mappings are in the faster half of \
         the range.\n",
        ranking.median_to_mean, ranking.below_mid_range_percent
    )
}

fn runs(ranking: &Ranking) -> String {
    let factors: Vec<String> =
        ranking.by_run.iter().map(|run| format!("{:.2}", run.best_to_worst)).collect();
    let ranks: Vec<String> =
        ranking.by_run.iter().map(|run| run.rank_of_best.to_string()).collect();
    let mut text = format!(
        "Worst over best in single runs: {}; the best mapping is there on rank {}.\n",
        factors.join(", "),
        ranks.join(", ")
    );
    if let Some(correlation) = &ranking.rank_correlation {
        let mean = correlation.mean;
        let lowest = correlation.lowest;
        text += &format!(
            "Rank correlation between runs: {mean:.3}, at least {lowest:.3} (Spearman).\n"
        );
    }
    text
}

fn candidates(ranking: &Ranking) -> String {
    let first: Vec<String> = ranking
        .ranking
        .iter()
        .take(LISTED)
        .map(|row| format!("{} {:.3}", row.mapping, row.mean_ns / ranking.best_mean_ns))
        .collect();
    let set = match ranking.may_be_best {
        Some(set) => format!(
            "{} of {} may be the best, at {:.0} % confidence: those within {:.2} % (Hsu 1984).",
            set.mappings,
            counted(ranking.mappings, "mapping"),
            100.0 * set.confidence,
            set.margin_percent
        ),
        // Hsu's comparison needs the variance between runs, which a single run lacks.
        None if ranking.setup.runs == 1 => {
            "One run cannot show which others may be the best; use --runs 3.".to_owned()
        }
        None => "These times cannot show which others may be the best.".to_owned(),
    };
    format!("{set}\nFirst: {}\n", first.join(", "))
}

fn named(ranking: &Ranking) -> String {
    let name = ranking.named.iter().map(|named| named.name.len()).max().unwrap_or(0);
    let rank = ranking.mappings.to_string().len();
    let lines: String = ranking
        .named
        .iter()
        .map(|named| {
            format!(
                "  {}  {}  rank {:>rank$}  {:.2} x\n",
                left_aligned(&named.name, name),
                named.mapping,
                named.rank,
                named.to_best
            )
        })
        .collect();
    if lines.is_empty() { lines } else { format!("Obvious mappings:\n{lines}") }
}

/// Every mapping with its times, one per line.
pub fn csv(ranking: &Ranking) -> String {
    let runs: Vec<String> = (1..=ranking.setup.runs).map(|run| format!("run{run}_ns")).collect();
    let mut text = format!("rank,mapping,index,mean_ns,{},may_be_best\n", runs.join(","));
    for row in &ranking.ranking {
        let times: Vec<String> = row.runs_ns.iter().map(f64::to_string).collect();
        // Empty if there was no comparison: 'false' would claim one.
        let flag = row.may_be_best.map_or_else(String::new, |flag| flag.to_string());
        text += &format!(
            "{},{},{},{},{},{flag}\n",
            row.rank,
            row.mapping,
            row.index,
            row.mean_ns,
            times.join(",")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ranking;
    use crate::{html, svg};

    #[test]
    fn summary_lists_main_results() {
        insta::assert_snapshot!(summary(&ranking(2)), @r#"
        ring:4:bidirectional on cell-test: 6 mappings x 2 runs
        20 packets of 1024 bytes both ways; thread i on worker i
          best  [0321]    1.014 us  1.00 x
          mean            1.264 us  1.25 x
          worst [0123]    1.513 us  1.49 x
        The median is 1.000 of the mean, and 50 % of the mappings are in the faster half of the range.
        Worst over best in single runs: 1.50, 1.49; the best mapping is there on rank 1, 1.
        Rank correlation between runs: 1.000, at least 1.000 (Spearman).
        1 of 6 mappings may be the best, at 95 % confidence: those within 0.58 % (Hsu 1984).
        First: [0321] 1.000, [0312] 1.099, [0231] 1.197, [0213] 1.296, [0132] 1.395
        Obvious mappings:
          identity         [0123]  rank 6  1.49 x
          ring             [0231]  rank 3  1.20 x
          ring-seats       [0312]  rank 2  1.10 x
          ring-back        [0132]  rank 5  1.40 x
          ring-back-seats  [0132]  rank 5  1.40 x
          even-odd         [0213]  rank 4  1.30 x
          even-odd-seats   [0213]  rank 4  1.30 x
        "#);
    }

    #[test]
    fn single_run_omits_correlation() {
        let text = summary(&ranking(1));
        assert!(text.contains("One run cannot show") && !text.contains("correlation"), "{text}");
        assert_eq!(csv(&ranking(1)).lines().nth(1), Some("1,[0321],5,1002,1002,"));
    }

    #[test]
    fn csv_has_one_line_per_mapping() {
        insta::assert_snapshot!(csv(&ranking(2)), @r#"
        rank,mapping,index,mean_ns,run1_ns,run2_ns,may_be_best
        1,[0321],5,1013.5,1002,1025,true
        2,[0312],4,1114,1101,1127,false
        3,[0231],3,1213,1200,1226,false
        4,[0213],2,1313.5,1302,1325,false
        5,[0132],1,1414,1401,1427,false
        6,[0123],0,1513,1500,1526,false
        "#);
    }

    #[test]
    fn picture_has_curve_per_run_and_mean() {
        insta::assert_snapshot!("curves", svg::ranking(&ranking(2)).replace("><", ">\n<"));
        assert_eq!(svg::ranking(&ranking(1)).matches("<polyline").count(), 1);
        assert_eq!(
            svg::ranking(&ranking(40)).matches("<polyline").count(),
            7,
            "more colours than that there are not"
        );
    }

    #[test]
    fn setup_text_stays_inside_picture() {
        let mut long = ranking(2);
        long.setup.variant = Variant::Default;
        (long.setup.choice.sample, long.setup.choice.is_reduced_by_symmetry) = (Some(4), true);
        let picture = svg::ranking(&long);
        let texts = picture
            .split("<text class=\"about\"")
            .skip(1)
            .filter_map(|part| part.split(['>', '<']).nth(1));
        let lines: Vec<&str> = texts.collect();
        assert_eq!(lines[2], "a sample: the mappings below, the others at random");
        assert!(
            lines.iter().all(|line| line.len() <= 80) && lines.join("; ") == about(&long),
            "{lines:?}"
        );
    }

    #[test]
    fn names_are_escaped() {
        let mut hostile = ranking(2);
        hostile.setup.pattern = "a\n\u{1b}[31m</title><script>alert(1)</script>".into();
        assert!(!summary(&hostile).contains('\u{1b}'));
        assert!(
            !svg::ranking(&hostile).contains("<script")
                && !svg::ranking(&hostile).contains('\u{1b}')
        );
        assert!(!html::ranking(&hostile).contains("<script>alert"));
    }
}
