//! METIS graphs, the usual input of graph partitioners and process mappers (METIS 5 manual, section
//! 4.1.1).
//!
//! The first line that is not a comment (`%`) has the numbers of vertices and edges, and perhaps a
//! format and the number of weights of each vertex: `n m [fmt [ncon]]`. From the left, the format's
//! digits say whether vertices have sizes, whether they have weights, and whether edges have. Line
//! i lists the neighbours of vertex i, counted from 1. An edge is in the lines of both its ends and
//! counts once.
//!
//! An edge becomes one message each way, with its weight as bytes. The first weight of a vertex is
//! the task's load.

use super::entries::{ImportedEntries, amount};
use super::error::{FEWER_TASKS, Reading, malformed};
use super::{Imported, PatternNote};
use crate::document::{Position, whole_number};
use crate::pattern::Edge;
use crate::pattern::graph::{MAX_EDGES, MAX_TASKS, tasks_problem};
use crate::pattern::words::{quoted, words_of_line};
use crate::statistics::words::counted;

const HEADER: &str = "the first line of a METIS graph gives the numbers of vertices and edges, and \
                      optionally a format of up to three digits 0 or 1 and the number of weights \
                      of each vertex";
const LINES: &str =
    "after the first line, each vertex needs one line, empty if it has no neighbours";
const FIELDS: &str = "the format in the first line says whether a line has a size, weights, and a \
                      weight after each neighbour";
const ENDS: &str =
    "each edge must be in the lines of both its vertices, once in each, with the same weight";
const CHACO: &str = "each line begins with its vertex number, as Chaco writes it; remove the \
                     numbers: awk '/^[%#]/ {next} !h {h = 1; $3 = substr($3, 2)} h++ > 1 {$1 \
                     = \"\"} 1' OLD > NEW";

const MAX_WEIGHTS: usize = 64;

struct Header {
    place: Position,
    vertices: usize,
    edges: usize,
    has_sizes: bool,
    weights: usize,
    has_edge_weights: bool,
}

struct End {
    from: usize,
    to: usize,
    weight: f64,
    place: Position,
}

/// Whether a text, which may also be a matrix or a list, is such a graph: comments begin with `%`,
/// or the first line is two to four whole numbers, the first of which is the number of lines below.
/// In a square matrix all lines have as many numbers as there are lines.
pub fn is_one(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim_start();
    if first.starts_with('%') {
        // In MatrixMarket a word follows %%; anything else is a comment.
        return !first
            .strip_prefix("%%")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
    }
    let mut lines =
        text.lines().filter(|line| !is_comment(line)).skip_while(|line| line.trim().is_empty());
    let Some(header) = lines.next() else { return false };
    let numbers: Option<Vec<usize>> =
        header.split_whitespace().map(|word| word.parse().ok()).collect();
    let Some(numbers) = numbers.filter(|numbers| (2..=4).contains(&numbers.len())) else {
        return false;
    };
    let rows: Vec<&str> = lines.collect();
    // Blank lines at the end may be vertices without neighbours, or nothing.
    let filled = rows.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
    let is_square = filled + 1 == numbers.len()
        && rows[..filled].iter().all(|row| row.split_whitespace().count() == numbers.len());
    filled > 0
        && !is_square
        && (filled..=rows.len()).contains(&numbers[0])
        && rows.iter().all(|line| {
            line.bytes().all(|byte| byte.is_ascii_digit() || b" \t\r.-".contains(&byte))
        })
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('%')
}

/// Reads the text of such a file.
///
/// # Errors
/// `Malformed` for a file that is not such a graph.
pub fn read(text: &str, name: &str) -> Reading<Imported> {
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(at, line)| (at + 1, line))
        .filter(|(_, line)| !is_comment(line));
    let Some((at, first)) = lines.find(|(_, line)| !line.trim().is_empty()) else {
        let problem = "the file has only comments".to_owned();
        return malformed(Position::end(text), problem, HEADER);
    };
    let header = header(at, first)?;
    let mut graph = Graph { header, ends: Vec::new(), loads: Vec::new(), is_numbered: true };
    let mut vertices = 0;
    for (at, line) in lines {
        if vertices == graph.header.vertices {
            if line.trim().is_empty() {
                continue;
            }
            let problem = format!(
                "more lines than the {vertices} in the first line",
                vertices = counted(vertices, "vertex")
            );
            return malformed(Position { line: at, column: 1 }, problem, LINES);
        }
        graph.line(vertices, at, line)?;
        vertices += 1;
    }
    if vertices < graph.header.vertices {
        let problem = format!(
            "the file ends after {vertices} of {}",
            counted(graph.header.vertices, "vertex")
        );
        return malformed(Position::end(text), problem, LINES);
    }
    graph.imported(name)
}

fn header(at: usize, line: &str) -> Reading<Header> {
    let words: Vec<(Position, &str)> = words_of_line(at, line).collect();
    let place = words.first().map_or(Position { line: at, column: 1 }, |(place, _)| *place);
    if !(2..=4).contains(&words.len()) {
        return malformed(
            place,
            format!("the first line has {}", counted(words.len(), "word")),
            HEADER,
        );
    }
    let vertices = number(&words[0])?;
    let edges = number(&words[1])?;
    if !(1..=MAX_TASKS).contains(&vertices) {
        return malformed(place, tasks_problem(vertices), FEWER_TASKS);
    }
    if edges > MAX_EDGES / 2 || edges > vertices * (vertices - 1) / 2 {
        let problem = format!(
            "the first line announces {edges}, but the limit for {named} is {}",
            (MAX_EDGES / 2).min(vertices * (vertices - 1) / 2),
            named = counted(vertices, "vertex"),
            edges = counted(edges, "edge")
        );
        return malformed(words[1].0, problem, HEADER);
    }
    let format = words.get(2).map_or("0", |(_, word)| word);
    if format.len() > 3 || format.bytes().any(|digit| !b"01".contains(&digit)) {
        let problem = format!("unknown format {}", quoted(format));
        return malformed(words[2].0, problem, HEADER);
    }
    let weights = match words.get(3) {
        Some(word) => number(word)?,
        None => 1,
    };
    if weights > MAX_WEIGHTS {
        return malformed(
            words[3].0,
            format!("{weights} weights of each vertex, but the limit is {MAX_WEIGHTS}"),
            HEADER,
        );
    }
    let weights = if format.bytes().rev().nth(1) == Some(b'1') { weights } else { 0 };
    Ok(Header {
        place,
        vertices,
        edges,
        has_sizes: format.bytes().rev().nth(2) == Some(b'1'),
        weights,
        has_edge_weights: format.bytes().next_back() == Some(b'1'),
    })
}

fn number((place, word): &(Position, &str)) -> Reading<usize> {
    match whole_number(word) {
        Some(number) => Ok(number),
        None => malformed(*place, format!("{} is not a number", quoted(word)), HEADER),
    }
}

struct Graph {
    header: Header,
    ends: Vec<End>,
    loads: Vec<f64>,
    /// Whether all sizes so far equal their vertices' numbers.
    is_numbered: bool,
}

impl Graph {
    fn line(&mut self, vertex: usize, at: usize, line: &str) -> Reading<()> {
        let mut words = words_of_line(at, line);
        let end = Position { line: at, column: line.trim_end().len() + 1 };
        if self.header.has_sizes {
            let size = next_figure(&mut words, end, "the size is missing")?;
            self.is_numbered &= size == (vertex + 1) as f64;
        }
        for which in 0..self.header.weights {
            let weight = next_figure(&mut words, end, "the vertex weight is missing")?;
            if which == 0 {
                self.loads.push(weight);
            }
        }
        while let Some((place, word)) = words.next() {
            let to = self.neighbour(vertex, place, word)?;
            let mut weight = 1.0;
            if self.header.has_edge_weights {
                let missing = "the weight after the last neighbour is missing";
                weight = next_figure(&mut words, end, missing)?;
            }
            // At each edge, because the first line limits the memory for the file.
            if self.ends.len() == 2 * self.header.edges {
                let problem =
                    format!("more edges than the {} in the first line", self.header.edges);
                return malformed(place, problem, ENDS);
            }
            self.ends.push(End { from: vertex, to, weight, place });
        }
        Ok(())
    }

    fn neighbour(&self, vertex: usize, place: Position, word: &str) -> Reading<usize> {
        let known = 1..=self.header.vertices;
        match whole_number::<usize>(word).filter(|number| known.contains(number)) {
            Some(number) if number == vertex + 1 => {
                malformed(place, format!("vertex {number} is its own neighbour"), ENDS)
            }
            Some(number) => Ok(number - 1),
            None => {
                let problem = format!(
                    "{} is not a vertex: vertices are numbered 1 to {}",
                    quoted(word),
                    self.header.vertices
                );
                malformed(place, problem, FIELDS)
            }
        }
    }

    fn imported(mut self, name: &str) -> Reading<Imported> {
        // The sizes of one or two vertices may be their numbers by chance.
        if self.header.has_sizes && self.is_numbered && self.header.vertices > 2 {
            return malformed(self.header.place, "the vertex sizes are the vertex numbers", CHACO);
        }
        self.check_ends()?;
        if self.ends.len() != 2 * self.header.edges {
            let [found, promised] = [self.ends.len() / 2, self.header.edges];
            let problem = format!(
                "the first line announces {promised}, but the file has {found}",
                promised = counted(promised, "edge")
            );
            return malformed(self.header.place, problem, ENDS);
        }
        let mut entries = ImportedEntries::default();
        for end in &self.ends {
            entries.add(
                end.place,
                Edge { from: end.from, to: end.to, bytes: end.weight, messages: 1.0 },
            )?;
        }
        let mut imported = entries.pattern(name, self.header.vertices);
        imported.pattern.loads = self.loads;
        imported.notes.extend(self.header.has_sizes.then_some(PatternNote::SizesLeftOut));
        let more = self.header.weights.saturating_sub(1);
        imported.notes.extend((more > 0).then_some(PatternNote::WeightsLeftOut { more }));
        Ok(imported)
    }

    fn check_ends(&mut self) -> Reading<()> {
        self.ends.sort_by_key(|end| (end.from, end.to));
        if let Some(two) =
            self.ends.windows(2).find(|two| (two[0].from, two[0].to) == (two[1].from, two[1].to))
        {
            let problem = format!("vertex {} is listed twice", two[1].to + 1);
            return malformed(two[1].place, problem, ENDS);
        }
        for end in &self.ends {
            let back =
                self.ends.binary_search_by_key(&(end.to, end.from), |other| (other.from, other.to));
            let [from, to] = [end.from + 1, end.to + 1];
            match back.map(|at| self.ends[at].weight) {
                Ok(weight) if weight == end.weight => {}
                Ok(weight) => {
                    let problem = format!(
                        "the edge from {from} to {to} weighs {}, but {weight} in the other line",
                        end.weight
                    );
                    return malformed(end.place, problem, ENDS);
                }
                Err(_) => {
                    let problem =
                        format!("vertex {from} lists {to}, but vertex {to} does not list {from}");
                    return malformed(end.place, problem, ENDS);
                }
            }
        }
        Ok(())
    }
}

/// The number that follows in a line.
fn next_figure<'a>(
    words: &mut impl Iterator<Item = (Position, &'a str)>,
    end: Position,
    missing: &str,
) -> Reading<f64> {
    let Some((place, word)) = words.next() else { return malformed(end, missing, FIELDS) };
    amount(word).or_else(|problem| malformed(place, problem, FIELDS))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: &str = "%%%%%\n%% a grid of 2 by 4 processes\n8 10\n2 5\n1 3 6\n2 4 7\n3 8\n1 6\n2 5 7\n3 6 8\n4 7\n";

    fn refusal(text: &str) -> String {
        let full = read(text, "x").unwrap_err().to_string();
        full.split("; ").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn metis_grid_equals_generated_stencil() {
        let bare = GRID.rsplit_once("%").unwrap().1.split_once('\n').unwrap().1;
        let windows = GRID.replace('\n', "\r\n");
        for text in
            [GRID, bare, &windows, &format!("\n{bare}\n\n"), &bare.replace("3 8\n", "%\n3 8\n")]
        {
            assert!(is_one(text), "{text}");
            let pattern = read(text, "stencil2d:2x4").unwrap().pattern;
            assert_eq!(pattern, crate::pattern::generate("stencil2d:2x4").unwrap(), "{text}");
        }
    }

    #[test]
    fn metis_weights_and_sizes_are_read() {
        let imported = read("3 2 111 2\n9 5 1 2 7\n9 6 1 1 7 3 1.5\n8 7 1 2 1.5\n", "x").unwrap();
        let edges: Vec<_> =
            imported.pattern.edges.iter().map(|edge| (edge.from, edge.to, edge.bytes)).collect();
        assert_eq!(edges, [(0, 1, 7.0), (1, 0, 7.0), (1, 2, 1.5), (2, 1, 1.5)]);
        assert_eq!(imported.pattern.loads, [5.0, 6.0, 7.0]);
        assert_eq!(
            imported.notes,
            [PatternNote::SizesLeftOut, PatternNote::WeightsLeftOut { more: 1 }]
        );
        let lonely = read("3 1 1\n2 4\n1 4\n\n", "x").unwrap().pattern;
        assert_eq!((lonely.tasks, lonely.edges.len()), (3, 2));
    }

    #[test]
    fn metis_reader_recognises_weighted_and_negative_graphs() {
        let text = "3 2 10 2\n1 1 2\n1 1 1 3\n1 1 2\n";
        assert!(is_one(text));
        assert_eq!(read(text, "x").unwrap().notes, [PatternNote::WeightsLeftOut { more: 1 }]);
        let negative = "3 2 1\n2 -5\n1 -5 3 1\n2 1\n";
        assert!(is_one(negative));
        assert_eq!(refusal(negative), "line 2, column 3: '-5' is not between 0 and 1e18");
    }

    #[test]
    fn metis_reader_rejects_matrices_and_edge_lists() {
        for text in [
            "2 5\n5 2\n",
            "1 0\n0 1\n",
            "3 1 1\n1 3 1\n1 1 3\n",
            "0,5\n5,0\n",
            "2 1\n",
            "from to\n1 2\n2 1\n",
        ] {
            assert!(!is_one(text), "{text}");
        }
    }

    #[test]
    fn metis_errors_name_the_position() {
        let all: Vec<String> = [
            "%\n% nothing\n",
            "%\n8\n",
            "%\n3 x\n",
            "%\n3 9\n",
            "%\n99999999 9\n",
            "%\n3 1 2\n",
            "%\n3 1 11 99\n",
            "%\n3 1\n2\n1\n",
            "%\n2 1\n2\n1\n1\n",
            "%\n2 1\n2\n0\n",
            "%\n2 1\n2\n2\n",
            "%\n2 1\n2 2\n1\n",
            "%\n3 1\n2\n1 3\n2\n",
            "%\n3 2\n2\n1\n\n",
            "%\n3 2\n2\n3\n2\n",
            "%\n2 1 1\n2 5\n1 6\n",
            "%\n2 1 1\n2\n1 6\n",
            "%\n2 1 1\n2 nan\n1 6\n",
            "%\n2 1 10\n\n1 6\n",
            "%\n3 2 100\n1 2\n2 1 3\n3 2\n",
        ]
        .map(refusal)
        .into();
        insta::assert_snapshot!(all.join("\n"));
    }
}
