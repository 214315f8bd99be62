//! Patterns written as a word and numbers: `stencil2d:8x8`.

use crate::pattern::MAX_TASKS;
use crate::{Edge, Pattern};

/// More edges than this would only fill the memory.
const MAX_EDGES: usize = 1 << 24;

/// The generators: how each is written, and what it is.
pub const GENERATORS: [(&str, &str); 13] = [
    ("ring:N[:bidirectional]", "each task sends to the next, or to both neighbours"),
    ("pipeline:N", "each task sends to the next, the last to nobody"),
    ("pairs:N", "tasks 2k and 2k+1 send to each other"),
    ("master-worker:N", "task 0 and all others send to each other"),
    ("binomial-tree:N", "a broadcast: a task's sender is the task without its lowest set bit"),
    ("recursive-doubling:N", "an allreduce: partners differ in one bit; tasks beyond a power of two fold first"),
    ("butterfly:N", "an FFT's exchanges: partners differ in one bit; N is a power of two"),
    ("stencil2d:AxB[:periodic]", "a grid, each task with its 4 neighbours"),
    ("stencil3d:AxBxC[:periodic]", "a grid, each task with its 6 neighbours"),
    ("all-to-all:N", "each task sends to all others"),
    ("clusters:KxM", "K clusters of M tasks that send to all others of their cluster"),
    ("random:N:DEGREE:SEED", "each task sends to DEGREE others, the same on every machine"),
    ("idle:N", "nobody sends anything"),
];

/// Why a word is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No generator of that name.
    #[error("no pattern is called '{name}'; there are {known}")]
    Unknown {
        /// What was written.
        name: String,
        /// All generators.
        known: String,
    },
    /// The numbers do not fit the generator.
    #[error("'{spec}': {problem}; write {form}")]
    Form {
        /// What was written.
        spec: String,
        /// What is wrong.
        problem: String,
        /// How the generator is written.
        form: &'static str,
    },
}

/// Whether a text starts with the name of a generator and a colon.
#[must_use]
pub fn is_spec(text: &str) -> bool {
    text.split_once(':').is_some_and(|(name, _)| form_of(name).is_some())
}

/// The pattern that a text such as `ring:8:bidirectional` describes. Each message has one byte.
///
/// # Errors
/// [`SpecError`] says how it is written.
pub fn generate(spec: &str) -> Result<Pattern, SpecError> {
    let (name, rest) = spec.split_once(':').unwrap_or((spec, ""));
    let Some(form) = form_of(name) else {
        let known: Vec<&str> = GENERATORS.iter().map(|(form, _)| *form).collect();
        return Err(SpecError::Unknown { name: name.to_owned(), known: known.join(", ") });
    };
    let wrong = |problem: String| SpecError::Form { spec: spec.to_owned(), problem, form };
    let (tasks, edges) = edges(name, rest).map_err(wrong)?;
    Ok(Pattern::gathered(spec, tasks, edges))
}

fn form_of(name: &str) -> Option<&'static str> {
    GENERATORS.iter().map(|(form, _)| *form).find(|form| form.split(':').next() == Some(name))
}

type Edges = (usize, Vec<Edge>);

fn edges(name: &str, rest: &str) -> Result<Edges, String> {
    let (numbers, flag) = match rest.rsplit_once(':') {
        Some((numbers, flag)) if flag == "bidirectional" || flag == "periodic" => (numbers, Some(flag)),
        _ => (rest, None),
    };
    let allowed = match name {
        "ring" => Some("bidirectional"),
        "stencil2d" | "stencil3d" => Some("periodic"),
        _ => None,
    };
    if let Some(flag) = flag.filter(|flag| allowed != Some(flag)) {
        return Err(format!("'{flag}' means nothing here"));
    }
    match name {
        "stencil2d" => stencil(&dimensions(numbers, 2)?, flag.is_some()),
        "stencil3d" => stencil(&dimensions(numbers, 3)?, flag.is_some()),
        "clusters" => clusters(&dimensions(numbers, 2)?),
        "random" => random(numbers),
        _ => simple(name, count(numbers)?, flag.is_some()),
    }
}

fn simple(name: &str, n: usize, both: bool) -> Result<Edges, String> {
    let pair = |a: usize, b: usize| [Edge::unit(a, b), Edge::unit(b, a)];
    let edges: Vec<Edge> = match name {
        "ring" | "pipeline" => {
            let links = if name == "ring" && n > 1 { n } else { n - 1 };
            let link = |at: usize| (at, (at + 1) % n);
            let ahead = (0..links).map(|at| Edge::unit(link(at).0, link(at).1));
            let back = (0..if both { links } else { 0 }).map(|at| Edge::unit(link(at).1, link(at).0));
            ahead.chain(back).collect()
        }
        "pairs" if n % 2 == 1 => return Err(format!("{n} tasks do not pair up")),
        "pairs" => (0..n / 2).flat_map(|at| pair(2 * at, 2 * at + 1)).collect(),
        "master-worker" => (1..n).flat_map(|worker| pair(0, worker)).collect(),
        "binomial-tree" => (1..n).map(|task| Edge::unit(task & (task - 1), task)).collect(),
        "recursive-doubling" => recursive_doubling(n),
        "butterfly" if !n.is_power_of_two() => return Err(format!("{n} is no power of two")),
        "butterfly" => exchanges(n),
        "all-to-all" => {
            at_most(n * (n - 1))?;
            (0..n).flat_map(|a| (0..n).filter(move |b| a != *b).map(move |b| Edge::unit(a, b))).collect()
        }
        _ => Vec::new(),
    };
    Ok((n, edges))
}

/// Each task with each task whose number differs in one bit.
fn exchanges(n: usize) -> Vec<Edge> {
    let bits = n.ilog2();
    (0..n).flat_map(|task| (0..bits).map(move |bit| Edge::unit(task, task ^ (1 << bit)))).collect()
}

/// Thakur, Rabenseifner & Gropp (2005, "Optimization of collective communication operations in MPICH"): of the first 2r
/// tasks, r being what exceeds a power of two, the even ones hand over to the odd ones and get the result back.
fn recursive_doubling(n: usize) -> Vec<Edge> {
    let power = 1 << n.ilog2();
    let excess = n - power;
    let of_rank = |rank: usize| if rank < excess { 2 * rank + 1 } else { rank + excess };
    let core = exchanges(power).into_iter().map(|edge| Edge::unit(of_rank(edge.from), of_rank(edge.to)));
    let folds = (0..excess).flat_map(|at| [Edge::unit(2 * at, 2 * at + 1), Edge::unit(2 * at + 1, 2 * at)]);
    core.chain(folds).collect()
}

fn stencil(sides: &[usize], periodic: bool) -> Result<Edges, String> {
    let tasks: usize = sides.iter().product();
    let mut edges = Vec::new();
    let mut stride = tasks;
    for side in sides {
        stride /= side;
        for task in 0..tasks {
            let at = task / stride % side;
            let next = match at + 1 < *side {
                true => task + stride,
                false if periodic && *side > 2 => task - at * stride,
                false => continue,
            };
            edges.extend([Edge::unit(task, next), Edge::unit(next, task)]);
        }
    }
    Ok((tasks, edges))
}

fn clusters(sides: &[usize]) -> Result<Edges, String> {
    let (clusters, members) = (sides[0], sides[1]);
    at_most(clusters.saturating_mul(members).saturating_mul(members))?;
    let inside = |cluster: usize| {
        let first = cluster * members;
        let pairs = (0..members).flat_map(move |a| (0..members).map(move |b| (a, b)));
        pairs.filter(|(a, b)| a != b).map(move |(a, b)| Edge::unit(first + a, first + b))
    };
    Ok((clusters * members, (0..clusters).flat_map(inside).collect()))
}

fn random(numbers: &str) -> Result<Edges, String> {
    let parts: Vec<&str> = numbers.split(':').collect();
    let [tasks, degree, seed] = parts[..] else { return Err("three numbers are needed".to_owned()) };
    let tasks = count(tasks)?;
    let degree: usize = degree.parse().map_err(|_| format!("'{degree}' is no number"))?;
    let mut state: u64 = seed.parse().map_err(|_| format!("'{seed}' is no number"))?;
    if degree >= tasks {
        return Err(format!("{tasks} tasks have no {degree} others each"));
    }
    at_most(tasks.saturating_mul(degree))?;
    let mut edges = Vec::new();
    for task in 0..tasks {
        let mut others = std::collections::BTreeSet::new();
        // Floyd's way to draw distinct numbers (Bentley & Floyd 1987), over the tasks without this one.
        for last in tasks - 1 - degree..tasks - 1 {
            let drawn = (next(&mut state) % (last as u64 + 1)) as usize;
            others.insert(if others.contains(&drawn) { last } else { drawn });
        }
        edges.extend(others.iter().map(|other| Edge::unit(task, other + usize::from(*other >= task))));
    }
    Ok((tasks, edges))
}

/// SplitMix64 (Steele, Lea & Flood 2014): a pattern must not change with a library's version.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn count(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().map_err(|_| format!("'{text}' is no number of tasks"))?;
    if (1..=MAX_TASKS).contains(&number) { Ok(number) } else { Err(format!("a pattern has 1 to {MAX_TASKS} tasks")) }
}

fn dimensions(text: &str, wanted: usize) -> Result<Vec<usize>, String> {
    let sides = text.split('x').map(count).collect::<Result<Vec<usize>, String>>()?;
    if sides.len() != wanted {
        return Err(format!("{wanted} numbers joined by x are needed"));
    }
    let tasks = sides.iter().try_fold(1_usize, |product, side| product.checked_mul(*side));
    match tasks {
        Some(tasks) if tasks <= MAX_TASKS => Ok(sides),
        _ => Err(format!("a pattern has 1 to {MAX_TASKS} tasks")),
    }
}

fn at_most(edges: usize) -> Result<(), String> {
    if edges <= MAX_EDGES { Ok(()) } else { Err(format!("that would be {edges} edges, and {MAX_EDGES} are the most")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(spec: &str) -> Vec<(usize, usize)> {
        let pattern = generate(spec).unwrap();
        pattern.check().unwrap();
        pattern.edges.iter().map(|edge| (edge.from, edge.to)).collect()
    }

    #[test]
    fn small_patterns_are_what_they_should_be() {
        assert_eq!(pairs("ring:3"), [(0, 1), (1, 2), (2, 0)]);
        assert_eq!(pairs("ring:3:bidirectional").len(), 6);
        assert_eq!(pairs("pipeline:3"), [(0, 1), (1, 2)]);
        assert_eq!(pairs("pairs:4"), [(0, 1), (1, 0), (2, 3), (3, 2)]);
        assert_eq!(pairs("master-worker:3"), [(0, 1), (0, 2), (1, 0), (2, 0)]);
        assert_eq!(pairs("binomial-tree:6"), [(0, 1), (0, 2), (0, 4), (2, 3), (4, 5)]);
        assert_eq!(pairs("butterfly:4"), [(0, 1), (0, 2), (1, 0), (1, 3), (2, 0), (2, 3), (3, 1), (3, 2)]);
        assert_eq!(pairs("recursive-doubling:3"), [(0, 1), (1, 0), (1, 2), (2, 1)]);
        assert_eq!(pairs("stencil2d:2x2").len(), 8);
        assert_eq!(pairs("clusters:2x2"), [(0, 1), (1, 0), (2, 3), (3, 2)]);
        assert_eq!(pairs("idle:5"), []);
        assert_eq!(pairs("ring:1"), []);
    }

    #[test]
    fn edges_are_as_many_as_formulas_say() {
        for n in [1, 2, 5, 8, 33, 64] {
            assert_eq!(pairs(&format!("all-to-all:{n}")).len(), n * (n - 1));
            assert_eq!(pairs(&format!("binomial-tree:{n}")).len(), n - 1);
            assert_eq!(pairs(&format!("stencil3d:{n}x2x3")).len(), 2 * ((n - 1) * 6 + n * 3 + n * 4));
        }
        assert_eq!(pairs("stencil2d:4x5:periodic").len(), 4 * 20);
        let degrees = pairs("random:50:7:3");
        assert_eq!(degrees.len(), 350);
        assert_eq!(degrees, pairs("random:50:7:3"));
        assert_ne!(degrees, pairs("random:50:7:4"));
    }

    #[test]
    fn every_form_that_is_listed_works() {
        for (form, _) in GENERATORS {
            let spec = form.replace("AxB", "2x3").replace("2x3xC", "2x3x2").replace("KxM", "2x3").replace(":N", ":8");
            let spec = spec.replace(":DEGREE:SEED", ":2:1").split('[').next().unwrap().to_owned();
            assert!(generate(&spec).is_ok(), "{spec}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_told_how_to_be_one() {
        let refused = |spec: &str| generate(spec).unwrap_err().to_string();
        assert!(refused("rings:3").contains("no pattern is called 'rings'"));
        assert!(refused("ring").contains("write ring:N[:bidirectional]"));
        assert!(refused("pairs:3").contains("3 tasks do not pair up"));
        assert!(refused("butterfly:12").contains("no power of two"));
        assert!(refused("all-to-all:1000000").contains("edges"));
        assert!(refused("stencil2d:4").contains("2 numbers joined by x"));
        assert!(refused("stencil3d:9999999x9999999x9999999").contains("tasks"));
        assert!(refused("random:4:4:1").contains("no 4 others"));
        assert!(refused("pairs:4:periodic").contains("means nothing"));
        assert!(refused("ring:0").contains("1 to"));
    }
}
