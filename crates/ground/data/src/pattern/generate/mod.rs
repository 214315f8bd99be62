//! Patterns written as a word and numbers: `stencil2d:8x8`.

mod random;
mod shapes;
mod spec_error;

#[cfg(test)]
mod tests;

pub use spec_error::SpecError;

use crate::document::whole_number;
use crate::pattern::graph::{MAX_EDGES, MAX_TASKS, tasks_problem};
use crate::pattern::{Edge, Pattern};
use crate::statistics::words::counted;

/// The generators: the form of each, and its pattern.
pub const GENERATORS: [(&str, &str); 13] = [
    ("ring:N[:bidirectional]", "each task sends to the next, or to both neighbours"),
    ("pipeline:N", "each task sends to the next; the last sends nothing"),
    ("pairs:N", "tasks 2k and 2k+1 send to each other"),
    ("master-worker:N", "task 0 and all others send to each other"),
    ("binomial-tree:N", "a broadcast: a task's sender is the task without its lowest set bit"),
    (
        "recursive-doubling:N",
        "an allreduce: partners differ in one bit; tasks beyond a power of two fold first",
    ),
    ("butterfly:N", "an FFT's exchanges: partners differ in one bit; N is a power of two"),
    ("stencil2d:AxB[:periodic]", "a grid, each task with its 4 neighbours"),
    ("stencil3d:AxBxC[:periodic]", "a grid, each task with its 6 neighbours"),
    ("all-to-all:N", "each task sends to all others"),
    ("clusters:KxM", "K clusters of M tasks that send to all others of their cluster"),
    ("random:N:DEGREE:SEED", "each task sends to DEGREE others, the same on every machine"),
    ("idle:N", "no messages"),
];

/// Whether a text starts with the name of a generator and a colon.
pub fn is_spec(text: &str) -> bool {
    text.split_once(':').is_some_and(|(name, _)| form_of(name).is_some())
}

/// The pattern of a text such as `ring:8:bidirectional`. Each message has one byte and is sent
/// once, because only proportions matter.
///
/// # Errors
/// [`SpecError`] with the right form.
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
        Some((numbers, flag)) if flag == "bidirectional" || flag == "periodic" => {
            (numbers, Some(flag))
        }
        _ => (rest, None),
    };
    let allowed = match name {
        "ring" => Some("bidirectional"),
        "stencil2d" | "stencil3d" => Some("periodic"),
        _ => None,
    };
    if let Some(flag) = flag.filter(|flag| allowed != Some(flag)) {
        return Err(format!("unexpected '{flag}'"));
    }
    match name {
        "stencil2d" => Ok(shapes::stencil(&sides::<2>(numbers)?, flag.is_some())),
        "stencil3d" => Ok(shapes::stencil(&sides::<3>(numbers)?, flag.is_some())),
        "clusters" => shapes::clusters(sides(numbers)?),
        "random" => random::random(numbers),
        _ => shapes::simple(name, count(numbers)?, flag.is_some()),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    match text {
        "" => Err("a number is missing".to_owned()),
        _ => whole_number(text).ok_or_else(|| format!("'{text}' is not a whole number below 2^64")),
    }
}

fn count(text: &str) -> Result<usize, String> {
    let tasks: usize = number(text)?;
    if (1..=MAX_TASKS).contains(&tasks) { Ok(tasks) } else { Err(tasks_problem(tasks)) }
}

fn sides<const N: usize>(text: &str) -> Result<[usize; N], String> {
    let sides = text.split('x').map(count).collect::<Result<Vec<usize>, String>>()?;
    let sides: [usize; N] =
        sides.try_into().map_err(|_| format!("expected {N} numbers joined by x"))?;
    let tasks = sides.iter().fold(1_usize, |product, side| product.saturating_mul(*side));
    if tasks <= MAX_TASKS { Ok(sides) } else { Err(tasks_problem(text)) }
}

fn at_most(edges: usize) -> Result<(), String> {
    if edges <= MAX_EDGES {
        Ok(())
    } else {
        Err(format!(
            "{edges} are too many; the limit is {MAX_EDGES}",
            edges = counted(edges, "edge")
        ))
    }
}
