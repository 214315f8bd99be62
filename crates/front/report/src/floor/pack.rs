//! Packs boxes into boxes, in reading order, as large as possible.

use super::parts::Point;
use seatmap_data::machine::Level;
use seatmap_measure::appraise::nested::PuGroup;

/// The name's line, enough for the widest border around the box.
const CAPTION: f64 = 17.0;
pub const LETTER: f64 = 5.5;

/// Full rows may be this much larger than the best arrangement.
const FULL_ROWS: f64 = 1.35;

/// The most that neighbours in a row may differ in height, as a ratio.
const ALIKE: f64 = 1.5;

/// Rows that fill less of the width get wider parts.
const EMPTY: f64 = 0.75;
/// How much wider the parts become.
const WIDER: [f64; 3] = [2.0, 4.0, 8.0];

#[derive(Clone)]
pub struct Packed<'a> {
    pub group: &'a PuGroup,
    pub width: f64,
    pub height: f64,
    pub caption: f64,
    /// Parts, with the offsets of their corners.
    pub inside: Vec<(Point, Packed<'a>)>,
}

/// Packs a group with seats of this size to a width as near as possible to `ratio` times the
/// height.
pub fn packed(group: &PuGroup, size: f64, ratio: f64) -> Packed<'_> {
    if group.inside.is_empty() {
        return Packed { group, width: size, height: size, caption: 0.0, inside: Vec::new() };
    }
    let inside = Vec::from_iter(group.inside.iter().map(|part| packed(part, size, ratio)));
    let (air, gap) = room(group);
    let columns = columns(&Vec::from_iter(alike(&inside).map(<[Packed]>::len)), |columns| {
        let (width, height) = extent(&rows(&inside, columns), gap);
        // The height of the smallest box of this ratio that holds the rows.
        (width / ratio).max(height)
    });
    let rows = rows(&inside, columns).into_iter().map(<[Packed]>::to_vec).collect();
    let rows = filled(rows, size, ratio, gap);
    let (width, height) = extent(&Vec::from_iter(rows.iter().map(Vec::as_slice)), gap);
    // A name wider than its box would overlap the next one.
    let fits =
        group.names.first().is_some_and(|name| name.len() as f64 * LETTER <= width + 2.0 * air);
    let is_named = fits && group.level != Some(Level::Core);
    let caption = if is_named { CAPTION } else { 0.0 };
    let placed =
        Vec::from_iter(places(&rows, gap).into_iter().map(|(x, y)| (x + air, y + air + caption)));
    Packed {
        group,
        width: width + 2.0 * air,
        height: height + 2.0 * air + caption,
        caption,
        inside: placed.into_iter().zip(rows.into_iter().flatten()).collect(),
    }
}

/// The best number of columns: full rows unless others are far better. `parts` are the sizes of the
/// runs of similar parts; each has its own rows.
fn columns(parts: &[usize], shape: impl Fn(usize) -> f64) -> usize {
    let most = parts.iter().max().copied().unwrap_or(1).max(1);
    let best = |columns: &mut dyn Iterator<Item = usize>| {
        columns.min_by(|a, b| shape(*a).total_cmp(&shape(*b))).unwrap_or(1)
    };
    let full = best(&mut (1..=most).filter(|columns| {
        parts.iter().all(|count| count.is_multiple_of(*columns) || count <= columns)
    }));
    let any = best(&mut (1..=most));
    if shape(full) <= FULL_ROWS * shape(any) { full } else { any }
}

/// Margin and gap: named borders may be drawn wide.
fn room(group: &PuGroup) -> (f64, f64) {
    // Inner boxes have borders too, so deeper nesting needs wider gaps.
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

fn depth(group: &PuGroup) -> usize {
    group.inside.iter().map(|part| depth(part) + 1).max().unwrap_or(0)
}

fn alike<'a, 'b>(parts: &'b [Packed<'a>]) -> impl Iterator<Item = &'b [Packed<'a>]> {
    parts.chunk_by(|a, b| a.height.max(b.height) <= ALIKE * a.height.min(b.height))
}

/// A part of a very different height begins a new row, for example clusters after cores.
fn rows<'a, 'b>(parts: &'b [Packed<'a>], columns: usize) -> Vec<&'b [Packed<'a>]> {
    alike(parts).flat_map(|alike| alike.chunks(columns)).collect()
}

/// Makes the parts of short rows lower and wider.
fn filled<'a>(
    mut rows: Vec<Vec<Packed<'a>>>,
    size: f64,
    ratio: f64,
    gap: f64,
) -> Vec<Vec<Packed<'a>>> {
    let widest = rows.iter().map(|row| width(row, gap)).fold(0.0, f64::max);
    for row in rows.iter_mut().filter(|row| width(row, gap) < EMPTY * widest) {
        for wider in WIDER.map(|factor| factor * ratio) {
            let again = Vec::from_iter(row.iter().map(|part| packed(part.group, size, wider)));
            if width(&again, gap) <= widest && width(&again, gap) > width(row, gap) {
                *row = again;
            }
        }
    }
    rows
}

fn height(row: &[Packed]) -> f64 {
    row.iter().map(|part| part.height).fold(0.0, f64::max)
}

fn width(row: &[Packed], gap: f64) -> f64 {
    row.iter().map(|part| part.width + gap).sum::<f64>() - gap
}

fn extent(rows: &[&[Packed]], gap: f64) -> (f64, f64) {
    let wide = rows.iter().map(|row| width(row, gap)).fold(0.0, f64::max);
    (wide, rows.iter().map(|row| height(row) + gap).sum::<f64>() - gap)
}

fn places(rows: &[Vec<Packed>], gap: f64) -> Vec<Point> {
    let mut places = Vec::new();
    let mut y = 0.0;
    for row in rows {
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

    fn group(name: &str, inside: Vec<PuGroup>) -> PuGroup {
        let pus = inside.iter().flat_map(|part| part.pus.clone()).collect();
        PuGroup { names: vec![name.to_owned()], level: Some(Level::L3), pus, inside }
    }

    fn seats(count: u32) -> Vec<PuGroup> {
        let seat =
            |os| PuGroup { names: Vec::new(), level: None, pus: vec![os], inside: Vec::new() };
        (0..count).map(seat).collect()
    }

    #[test]
    fn columns_prefer_full_rows() {
        let of = |count: usize| {
            columns(&[count], |columns| (columns as f64 / 1.6).max(count.div_ceil(columns) as f64))
        };
        assert_eq!([4, 8, 12, 32].map(of), [2, 4, 4, 8]);
        assert_eq!(of(23), 6, "one row of 23 would be far too long");
        assert_eq!(
            columns(&[8, 2], |columns| columns.abs_diff(5) as f64 / 100.0 + 1.0),
            4,
            "two full rows of cores, one of clusters"
        );
    }

    #[test]
    fn caption_and_padding_enclose_children() {
        let named = group("L3 0", seats(4));
        let size = 20.0;
        let packed = packed(&named, size, 1.0);
        assert_eq!(
            (packed.width, packed.height, packed.caption),
            (41.5 + 8.0, 41.5 + 8.0 + CAPTION, CAPTION)
        );
        let corners = Vec::from_iter(packed.inside.iter().map(|(corner, _)| *corner));
        assert_eq!(corners, [(4.0, 21.0), (25.5, 21.0), (4.0, 42.5), (25.5, 42.5)]);
    }

    #[test]
    fn hybrid_package_is_packed_tightly() {
        let core =
            |at| PuGroup { level: Some(Level::Core), ..group(&format!("core {at}"), seats(2)) };
        let clusters = [group("L2 8", seats(4)), group("L2 12", seats(4))];
        let hybrid = group("package 0", (0..8).map(core).chain(clusters).collect());
        let packed = packed(&hybrid, 40.0, 1.6);
        let area = |part: &Packed| part.width * part.height;
        let used: f64 = packed.inside.iter().map(|(_, part)| area(part)).sum();
        assert!(used > 0.75 * area(&packed), "{used} of {}", area(&packed));
    }

    #[test]
    fn taller_child_starts_new_row() {
        let mixed = group("package 0", [seats(3), vec![group("L2 8", seats(4))]].concat());
        let packed = packed(&mixed, 20.0, 4.0);
        let [.., (last_seat, _), (cluster, _)] = packed.inside.as_slice() else { unreachable!() };
        assert!(
            cluster.1 > last_seat.1 && cluster.0 < last_seat.0,
            "{cluster:?} after {last_seat:?}"
        );
    }
}
