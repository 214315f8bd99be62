//! Boxes in boxes, in reading order, as large as fits.

use super::nested::Group;
use super::parts::Point;
use seatmap_machine::Level;

/// Height of the line in which a box's name stands.
const CAPTION: f64 = 14.0;
/// What a letter of a box's name takes of its width.
pub(super) const LETTER: f64 = 5.5;

/// How much worse full rows may be than the best.
const FULL_ROWS: f64 = 1.35;

/// How much higher than its neighbour a box in one row may be.
const ALIKE: f64 = 1.5;

/// A group with the place of everything in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Packed<'a> {
    pub group: &'a Group,
    pub width: f64,
    pub height: f64,
    pub caption: f64,
    /// From this box's corner to that of each box inside.
    pub inside: Vec<(Point, Packed<'a>)>,
}

/// A group whose seats have this size, its parts in rows of as many as bring it nearest to a width of `ratio` heights.
pub(super) fn packed(group: &Group, size: f64, ratio: f64) -> Packed<'_> {
    if group.inside.is_empty() {
        return Packed { group, width: size, height: size, caption: 0.0, inside: Vec::new() };
    }
    let inside: Vec<Packed> = group.inside.iter().map(|part| packed(part, size, ratio)).collect();
    let (air, gap) = room(group);
    let shape = |columns: usize| {
        let (width, height) = extent(&inside, columns, gap);
        (width / ratio).max(height)
    };
    let columns = columns(inside.len(), shape);
    let (width, height) = extent(&inside, columns, gap);
    let fits = group.names.first().is_some_and(|name| name.len() as f64 * LETTER <= width + 2.0 * air);
    let is_named = fits && group.level != Some(Level::Core);
    let caption = if is_named { CAPTION } else { 0.0 };
    let placed =
        places(&inside, columns, gap).into_iter().map(|(x, y)| (x + air, y + air + caption)).collect::<Vec<_>>();
    Packed {
        group,
        width: width + 2.0 * air,
        height: height + 2.0 * air + caption,
        caption,
        inside: placed.into_iter().zip(inside).collect(),
    }
}

/// As many as give the least of a shape: rows that are full, unless others are far better.
fn columns(parts: usize, shape: impl Fn(usize) -> f64) -> usize {
    let best =
        |columns: &mut dyn Iterator<Item = usize>| columns.min_by(|a, b| shape(*a).total_cmp(&shape(*b))).unwrap_or(1);
    let full = best(&mut (1..=parts).filter(|columns| parts.is_multiple_of(*columns)));
    let any = best(&mut (1..=parts));
    if shape(full) <= FULL_ROWS * shape(any) { full } else { any }
}

/// Air around what is inside a group, and between its parts: borders with names may be drawn wide.
fn room(group: &Group) -> (f64, f64) {
    let inner = group.inside.iter().map(depth).max().unwrap_or(0) as f64;
    let has_cores = group.inside.iter().any(|part| part.level == Some(Level::Core));
    let air = match group.level {
        _ if group.names.is_empty() => 0.0,
        Some(Level::Core) => 2.0,
        _ => 4.0 + inner,
    };
    (
        air,
        if inner == 0.0 {
            1.5
        } else if has_cores {
            3.0
        } else {
            5.0 + 2.0 * inner
        },
    )
}

/// Boxes inside each other, a seat not counted.
fn depth(group: &Group) -> usize {
    group.inside.iter().map(|part| depth(part) + 1).max().unwrap_or(0)
}

/// Rows of so many parts; what is much higher or lower than those before begins a row of its own, as clusters after cores do.
fn rows<'a, 'b>(parts: &'b [Packed<'a>], columns: usize) -> Vec<&'b [Packed<'a>]> {
    let is_alike = |a: &Packed, b: &Packed| a.height.max(b.height) <= ALIKE * a.height.min(b.height);
    parts.chunk_by(is_alike).flat_map(|alike| alike.chunks(columns)).collect()
}

fn height(row: &[Packed]) -> f64 {
    row.iter().map(|part| part.height).fold(0.0, f64::max)
}

fn extent(parts: &[Packed], columns: usize, gap: f64) -> (f64, f64) {
    let rows = rows(parts, columns);
    let width = |row: &&[Packed]| row.iter().map(|part| part.width + gap).sum::<f64>() - gap;
    (rows.iter().map(width).fold(0.0, f64::max), rows.iter().map(|row| height(row) + gap).sum::<f64>() - gap)
}

/// Where each part's corner is.
fn places(parts: &[Packed], columns: usize, gap: f64) -> Vec<Point> {
    let (mut places, mut y) = (Vec::new(), 0.0);
    for row in rows(parts, columns) {
        let mut x = 0.0;
        for part in row {
            places.push((x, y));
            x += part.width + gap;
        }
        y += height(row) + gap;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str, inside: Vec<Group>) -> Group {
        let pus = inside.iter().flat_map(|part| part.pus.clone()).collect();
        Group { names: vec![name.to_owned()], level: Some(Level::L3), pus, inside }
    }

    fn seats(count: u32) -> Vec<Group> {
        let seat = |os| Group { names: Vec::new(), level: None, pus: vec![os], inside: Vec::new() };
        (0..count).map(seat).collect()
    }

    #[test]
    fn rows_are_full_where_that_costs_little() {
        let of = |count: usize| columns(count, |columns| (columns as f64 / 1.6).max(count.div_ceil(columns) as f64));
        assert_eq!([4, 8, 12, 32].map(of), [2, 4, 4, 8]);
        assert_eq!(of(23), 6, "one row of 23 would be far too long");
    }

    #[test]
    fn a_name_has_its_line_and_what_is_inside_its_air() {
        let (named, size) = (group("L3 0", seats(4)), 20.0);
        let packed = packed(&named, size, 1.0);
        assert_eq!((packed.width, packed.height, packed.caption), (41.5 + 8.0, 41.5 + 8.0 + CAPTION, CAPTION));
        let corners: Vec<Point> = packed.inside.iter().map(|(corner, _)| *corner).collect();
        assert_eq!(corners, [(4.0, 18.0), (25.5, 18.0), (4.0, 39.5), (25.5, 39.5)]);
    }

    #[test]
    fn what_is_higher_begins_a_row() {
        let mixed = group("package 0", [seats(3), vec![group("L2 8", seats(4))]].concat());
        let packed = packed(&mixed, 20.0, 4.0);
        let [.., (last_seat, _), (cluster, _)] = packed.inside.as_slice() else { unreachable!() };
        assert!(cluster.1 > last_seat.1 && cluster.0 < last_seat.0, "{cluster:?} after {last_seat:?}");
    }
}
