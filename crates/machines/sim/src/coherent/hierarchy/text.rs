//! The file as people edit it: one line for each core, and a comment on every part.

use super::written::{CoreWritten, Hierarchy};
use crate::figure::ModelFigure;
use seatmap_data::machine::description::Basis;
use seatmap_data::statistics::words::joined;
use std::fmt::Write;

impl Hierarchy {
    /// The text of the file. Reading it gives the same machine, up to a hundredth of a nanosecond.
    pub fn to_toml(&self) -> String {
        let sources: String =
            self.sources.iter().map(|source| format!("    {},\n", quoted(source))).collect();
        let figures = self.figures.all();
        let figures: String =
            figures.map(|(key, value)| format!("{key} = {}\n", figure(value))).collect();
        format!(
            "{HEAD}format = {}\nname = {}\nsummary = {}\nsources = [\n{sources}]\n\
             frequency_ghz = {}\n# Distances are whole numbers of ticks.\n\
             ticks_per_cycle = {}\n\n{CORES}\ncores = [\n{}]\n\n{}\n{}\n{}\n\
             [figures]\n{figures}",
            quoted(&self.format),
            quoted(&self.name),
            quoted(&self.summary),
            figure(&self.frequency_ghz),
            self.ticks_per_cycle,
            self.cores.iter().map(core).collect::<String>(),
            self.ties_text(),
            self.homes_text(),
            self.distances_text()
        )
    }

    fn ties_text(&self) -> String {
        let ties = &self.fabric;
        let [address, data, acknowledge] = ties.package_busy_cycles;
        format!(
            "[fabric]\nkind = \"levels\"\n# Busy time of a link to another package for an \
             address, a line, an acknowledgement.\n\
             package_busy_cycles = [{address}, {data}, {acknowledge}]\nbasis = \"{}\"\nsource = \
             {}\n",
            word(ties.basis),
            quoted(&ties.source)
        )
    }

    fn homes_text(&self) -> String {
        let Some(homes) = &self.homes else { return NO_HOMES.to_owned() };
        format!(
            "# A substitute for the unknown hash distributes lines over homes; offsets are per \
             home.\n[homes]\n\
             count = {}\nhash_seed = {}\nsettled_in_groups = {}\n",
            homes.count, homes.hash_seed, homes.settled_in_groups
        )
    }

    fn distances_text(&self) -> String {
        let distances = &self.distances;
        let mut text = format!(
            "{DISTANCES}[distances]\nkind = \"{}\"\nsource = {}\nbetween_ns = {}\n",
            word(distances.kind),
            quoted(&distances.source),
            rows(&distances.between_ns)
        );
        if !distances.rest_ns.is_empty() {
            let _ = writeln!(text, "{REST}rest_ns = {}", rows(&distances.rest_ns));
        }
        text
    }
}

const HEAD: &str = "\
# A hierarchical machine for Seatmap's simulator. Every figure may be edited. A round trip between
# cores i and j takes between_ns[group i][group j] + offset_ns[i] + offset_ns[j] + rest_ns[i][j].
# \"calibration\" is fitted to measurements, \"assumption\" is not measured.
";
const CORES: &str = "\
# Groups settle lines between their cores. Cores with the same number share a cache, die, node or
# package; without a topology, cores nearer to each other than to the rest are a package.";
const NO_HOMES: &str = "\
# No [homes]: only one line was measured, so its distances apply to every line.
";
const DISTANCES: &str = "\
# Round trips in nanoseconds, inside groups (the diagonal) and between them.
";
const REST: &str = "\
# What groups and offsets do not explain: row i has the pairs with cores 0 to i - 1. Without it the
# machine is smoother than measured.
";

fn core(core: &CoreWritten) -> String {
    let mut text = format!("    {{ pus = {:?}, group = {}", core.pus, core.group);
    let numbers = [
        ("l2", core.l2),
        ("l3", core.l3),
        ("die", core.die),
        ("numa", core.numa),
        ("package", core.package),
    ];
    for (key, number) in numbers.into_iter().filter_map(|(key, number)| Some((key, number?))) {
        let _ = write!(text, ", {key} = {number}");
    }
    if let Some(kind) = core.kind {
        let _ = write!(text, ", kind = \"{}\"", kind.letters());
    }
    if let Some(ns) = core.sibling_ns {
        let _ = write!(text, ", sibling_ns = {}", number(ns));
    }
    let _ = writeln!(text, ", offset_ns = {} }},", row(&core.offset_ns));
    text
}

fn figure(figure: &ModelFigure) -> String {
    let value = number(figure.value);
    let kind = word(figure.kind);
    format!("{{ value = {value}, kind = \"{kind}\", source = {} }}", quoted(&figure.source))
}

fn word(basis: Basis) -> &'static str {
    match basis {
        Basis::Document => "document",
        Basis::Calibration => "calibration",
        Basis::Assumption => "assumption",
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(seatmap_data::document::visible(text)).to_string()
}

fn rows(rows: &[Vec<f64>]) -> String {
    let lines: String = rows.iter().map(|cells| format!("    {},\n", row(cells))).collect();
    format!("[\n{lines}]")
}

fn row(cells: &[f64]) -> String {
    format!("[{}]", joined(cells.iter().map(|cell| number(*cell)), ", "))
}

/// A number to a hundredth, always as a float, which TOML distinguishes from an integer.
fn number(value: f64) -> String {
    let hundredths = (100.0 * value).round() / 100.0;
    // Adding 0 turns a negative zero into a plain one.
    if hundredths.is_nan() { "nan".to_owned() } else { format!("{:?}", hundredths + 0.0) }
}
