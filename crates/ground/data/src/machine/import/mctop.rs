//! MCTOP's machine descriptions, `.mct`.
//!
//! MCTOP (Chatzopoulos, Guerraoui, Harris, Trigonakis: "Abstracting Multi-Core Topologies with
//! MCTOP", EuroSys 2017) lets one hardware context take a line with a compare-exchange. It then
//! times another context's compare-exchange on the line with the time-stamp counter: one transfer,
//! so one-way. It clusters the medians and writes the cluster's median for each. The file begins
//!
//! ```text
//! #NAME #HWCs 40 #Nodes 2 SMT 1
//! 0    0    0
//! 0    1    112
//! ```
//!
//! and holds every ordered pair, then sections on memory, caches and power, which are ignored. A
//! context's number is its OS index. If the header has `SMT 1`, contexts of one core are the
//! nearest cluster. A node is a cluster of the level with as many clusters as nodes, numbered here
//! by its first context.
//!
//! No file gives the length of a cycle. Unless the user does, [`ASSUMED_FREQUENCY_HZ`] is used and
//! reported, in a [`ProfileNote`] and in the profile's origin. All ratios, and so every placement,
//! are then right; nanoseconds are wrong by the ratio of the nominal frequency to the assumed one.

use super::clusters::Levels;
use super::round_trip::{self, MAX_ONE_WAY_NS};
use super::{File, ImportOptions, Imported, MAX_PUS, MachineImportError, ProfileNote};
use crate::document::{Position, inconsistent, whole_number};
use crate::machine::{Matrix, Pu, Topology};
use crate::statistics::words::counted;

/// The default frequency: the middle of the nominal frequencies of server processors, 2.0 to 3.0
/// GHz.
pub const ASSUMED_FREQUENCY_HZ: f64 = 2.5e9;

const FREQUENCIES_HZ: std::ops::RangeInclusive<f64> = 1e6..=1e11;

/// The shortest line of a pair, `0 0 0`, with its end.
const MIN_PAIR_BYTES: usize = 6;

const TOOL: &str = "mctop";
const REMEDY: &str = "a .mct file has the line '#NAME #HWCs N #Nodes M SMT K', then N x N lines \
                      'CONTEXT CONTEXT CYCLES'";

/// Reads the text of such a file.
///
/// # Errors
/// [`MachineImportError::Malformed`], or the frequency is outside the accepted range.
pub(super) fn read(
    text: &str,
    file: File<'_>,
    options: &ImportOptions,
) -> Result<Imported, MachineImportError> {
    let frequency_hz = options.frequency_hz.unwrap_or(ASSUMED_FREQUENCY_HZ);
    if !FREQUENCIES_HZ.contains(&frequency_hz) {
        inconsistent(format!(
            "{frequency_hz} Hz is not a clock frequency; give that of the time-stamp counter, such \
             as 2.8g"
        ))?;
    }
    let header = Header::read(text)?;
    let ns_per_cycle = 1e9 / frequency_hz;
    let cycles = one_way_cycles(text, &header, MAX_ONE_WAY_NS / ns_per_cycle)?;
    let (median_ns, mut notes) = round_trip::from_one_way(header.contexts, |i, j| {
        f64::from(cycles[i * header.contexts + j]) * ns_per_cycle
    });
    let topology = topology(&header, &median_ns);
    let mut profile = file.profile_of_matrix(TOOL, topology, median_ns);
    profile.clock.frequency_hz = Some(frequency_hz);
    // One cycle of a one-way time is two of a round trip.
    profile.clock.step_ns = Some(2.0 * ns_per_cycle);
    if options.frequency_hz.is_none() {
        profile.origin.source += &format!(" (in cycles; {:.1} GHz assumed)", frequency_hz / 1e9);
        notes.push(ProfileNote::AssumedFrequency { frequency_hz });
    }
    Ok(Imported { profile, notes })
}

struct Header {
    contexts: usize,
    nodes: usize,
    smt: bool,
    end: usize,
}

impl Header {
    fn read(text: &str) -> Result<Self, MachineImportError> {
        let start = text.len() - text.trim_start().len();
        let line = text[start..].split('\n').next().unwrap_or_default();
        // One word more than the header has; a hostile line may have millions.
        let words: Vec<&str> = line.split_whitespace().take(8).collect();
        let (Some("#HWCs"), Some("#Nodes"), Some("SMT")) =
            (words.get(1).copied(), words.get(3).copied(), words.get(5).copied())
        else {
            return Err(wrong(text, start, "the first line is not an MCTOP header".to_owned()));
        };
        match (number(&words, 2), number(&words, 4), number(&words, 6)) {
            (Some(contexts @ 2..=MAX_PUS), Some(nodes), Some(smt @ 0..=1)) => {
                Ok(Header { contexts, nodes, smt: smt == 1, end: start + line.len() + 1 })
            }
            _ => Err(wrong(
                text,
                start,
                format!("#HWCs must be 2 to {MAX_PUS}, #Nodes a number, and SMT 0 or 1"),
            )),
        }
    }
}

fn number(words: &[&str], at: usize) -> Option<usize> {
    words.get(at).and_then(|word| whole_number::<usize>(word))
}

fn one_way_cycles(text: &str, header: &Header, most: f64) -> Result<Vec<u32>, MachineImportError> {
    let n = header.contexts;
    let body = text.get(header.end..).unwrap_or_default();
    // Before memory for the matrix is allocated: a short file must not claim much memory.
    if body.len() + 1 < n * n * MIN_PAIR_BYTES {
        return Err(wrong(
            text,
            text.len(),
            format!(
                "the file is too short for the {} of {n}",
                counted(n * n, "pair"),
                n = counted(n, "context")
            ),
        ));
    }
    let mut cycles = vec![0; n * n];
    let mut offset = header.end;
    for line in body.split('\n').take_while(|line| !line.starts_with('#')) {
        if let Some((i, j, count)) =
            pair(line, n, most).map_err(|problem| wrong(text, offset, problem))?
        {
            cycles[i * n + j] = count;
        }
        offset += line.len() + 1;
    }
    // No pair takes 0 cycles, so 0 marks a missing pair.
    match (0..n * n).find(|at| cycles[*at] == 0 && at / n != at % n) {
        Some(at) => {
            Err(wrong(text, offset - 1, format!("the pair {} {} is missing above", at / n, at % n)))
        }
        None => Ok(cycles),
    }
}

fn pair(line: &str, n: usize, most: f64) -> Result<Option<(usize, usize, u32)>, String> {
    // A fourth word shows that the line has too many.
    let words: Vec<&str> = line.split_whitespace().take(4).collect();
    let [i, j, cycles] = words[..] else {
        return if words.is_empty() {
            Ok(None)
        } else {
            Err("this line does not have three numbers".to_owned())
        };
    };
    let numbers =
        whole_number::<usize>(i).zip(whole_number::<usize>(j)).zip(whole_number::<u32>(cycles));
    let Some(((i, j), cycles)) = numbers else {
        return Err("this line does not have three whole numbers".to_owned());
    };
    let in_range = cycles > 0 && f64::from(cycles) <= most;
    match (i.max(j) < n, i == j || in_range) {
        (false, _) => {
            Err(format!("there is no context {}: the file has {n}, counted from 0", i.max(j)))
        }
        (_, false) => Err(format!(
            "{cycles} is not a latency between two contexts",
            cycles = counted(cycles, "cycle")
        )),
        _ => Ok(Some((i, j, cycles))),
    }
}

fn topology(header: &Header, distances: &Matrix) -> Topology {
    let levels = Levels::of(distances);
    let cores =
        if header.smt { levels.first() } else { Some((0..header.contexts as u32).collect()) };
    let nodes = levels.with_groups(header.nodes);
    let mut seen = vec![0; header.contexts];
    let pus = (0..header.contexts).map(|context| {
        let core = cores.as_ref().map(|cores| cores[context]);
        let smt = core.map(|core| rank(&mut seen, core));
        let numa = nodes.as_ref().map(|nodes| nodes[context]);
        Pu { os: context as u32, core, smt, numa, ..Pu::default() }
    });
    Topology { pus: pus.collect() }
}

fn rank(seen: &mut [u32], core: u32) -> u32 {
    let rank = seen[core as usize];
    seen[core as usize] += 1;
    rank
}

fn wrong(text: &str, offset: usize, problem: String) -> MachineImportError {
    MachineImportError::Malformed {
        place: Position::of(text.as_bytes(), offset),
        problem,
        remedy: REMEDY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> String {
        let mut text = "#box #HWCs 8 #Nodes 2 SMT 1\n".to_owned();
        for (i, j) in (0..8).flat_map(|i| (0..8).map(move |j| (i, j))) {
            let cycles = match (i == j, i % 4 == j % 4, i % 2 == j % 2) {
                (true, ..) => 0,
                (_, true, _) => 28,
                (_, _, true) => 112,
                _ => 308,
            };
            text += &format!("{i}    {j}    {cycles}\n");
        }
        text + "#Cache_levels 1\nCache_level 0   Latency 0      SizeOS 32    SizeEst 32\n"
    }

    fn import(text: &str, frequency_hz: Option<f64>) -> Result<Imported, MachineImportError> {
        read(
            text,
            File { name: "box.mct", path: "box.mct", date: None },
            &ImportOptions { frequency_hz, ..ImportOptions::default() },
        )
    }

    fn refusal(text: &str) -> String {
        let full = import(text, None).unwrap_err().to_string();
        full.split("; ").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn ambiguous_numbers_are_refused() {
        for number in ["+28", "28.0", "0x1c", "2_8", "1e2", "nan", "-28"] {
            assert!(
                import(&text().replacen("    28\n", &format!("    {number}\n"), 1), None).is_err(),
                "{number}"
            );
        }
    }

    #[test]
    fn one_way_cycles_become_round_trip_nanoseconds() {
        let imported = import(&text(), Some(2.8e9)).unwrap();
        let matrix = &imported.profile.core_distance.as_ref().unwrap().median_ns;
        assert_eq!(matrix.row(0)[..3], [0.0, 220.0, 80.0]);
        assert_eq!(imported.notes, []);
        assert_eq!(imported.profile.origin.source, "box.mct");
    }

    #[test]
    fn mctop_clusters_become_cores_and_nodes() {
        let pus = import(&text(), None).unwrap().profile.topology.pus;
        let of = |level: fn(&Pu) -> Option<u32>| {
            pus.iter().map(|pu| level(pu).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(of(|pu| pu.core), [0, 1, 2, 3, 0, 1, 2, 3]);
        assert_eq!(of(|pu| pu.smt), [0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(of(|pu| pu.numa), [0, 1, 0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn assumed_frequency_is_noted() {
        let imported = import(&text(), None).unwrap();
        assert_eq!(imported.profile.origin.source, "box.mct (in cycles; 2.5 GHz assumed)");
        assert_eq!(imported.notes, [ProfileNote::AssumedFrequency { frequency_hz: 2.5e9 }]);
        let error = import(&text(), Some(f64::NAN)).unwrap_err().to_string();
        assert!(error.starts_with("NaN Hz is not a clock frequency;"), "{error}");
    }

    #[test]
    fn latency_limit_depends_on_the_clock() {
        let long =
            text().replace("0    1    308", "0 1 2000000").replace("1    0    308", "1 0 2000000");
        assert!(import(&long, Some(2e6)).is_ok(), "a second each way");
        let error = import(&long, Some(1.9e6)).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "line 3, column 1: 2000000 cycles is not a latency between two contexts"
            ),
            "{error}"
        );
    }

    #[test]
    fn mctop_errors_name_the_position() {
        let whole = text();
        let all: Vec<String> = [
            whole.replace("#Nodes", "Nodes"),
            whole.replace("HWCs 8", "HWCs 9999999"),
            whole.replace("HWCs 8", "HWCs 8000"),
            whole.replace("3    3    0\n", "3 3\n"),
            whole.replace("0    1    308", "0 1 -308"),
            whole.replace("0    1    308", "0 1 0"),
            whole.replace("0    1    308", "0 8 308"),
            whole.replace("7    6    308\n", "7   6   7   3\n"),
            whole.replace("7    6    308\n", "7    5    112 \n"),
        ]
        .map(|text| refusal(&text))
        .into();
        insta::assert_snapshot!(all.join("\n"), @"
        line 1, column 1: the first line is not an MCTOP header
        line 1, column 1: #HWCs must be 2 to 8192, #Nodes a number, and SMT 0 or 1
        line 68, column 1: the file is too short for the 64000000 pairs of 8000 contexts
        line 29, column 1: this line does not have three numbers
        line 3, column 1: this line does not have three whole numbers
        line 3, column 1: 0 cycles is not a latency between two contexts
        line 3, column 1: there is no context 8: the file has 8, counted from 0
        line 64, column 1: this line does not have three numbers
        line 65, column 12: the pair 7 6 is missing above
        ");
    }
}
