//! Arranges a machine's CPUs on the available lines: from large boxes for a few CPUs to one
//! character each for many.

use super::seats::SeatGroups;
use ratatui::layout::Rect;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Two lines: number, load bar and percentage; the busiest thread.
    Box,
    /// The contents of a box, on one line.
    Line,
    /// The number, and the load as one character.
    Block,
    /// The load as one character.
    Cell,
    /// `Cell` without the names of the groups.
    BareCell,
}

const SIZES: [Size; 5] = [Size::Box, Size::Line, Size::Block, Size::Cell, Size::BareCell];

impl Size {
    /// Columns including the gap to the right, and lines.
    fn cells(self) -> (u16, u16) {
        match self {
            Size::Box => (27, 2),
            Size::Line => (27, 1),
            Size::Block => (6, 1),
            Size::Cell | Size::BareCell => (1, 1),
        }
    }
}

pub struct SeatLayout {
    pub size: Size,
    /// Positions from the map's upper left corner.
    pub seats: Vec<(u32, Rect)>,
    pub titles: Vec<(Rect, String)>,
    pub height: u16,
    /// CPUs that do not fit even at the smallest size.
    pub left_out: usize,
}

/// The most detailed layout that fits into these columns and lines.
pub fn lay_out(groups: &SeatGroups, width: u16, most_lines: u16) -> SeatLayout {
    let width = width.max(1);
    let found = SIZES
        .into_iter()
        .map(|size| of_size(groups, size, width))
        .find(|layout| layout.height <= most_lines);
    found.unwrap_or_else(|| {
        let mut layout = of_size(groups, Size::BareCell, width);
        let all = layout.seats.len();
        layout.seats.retain(|(_, place)| place.bottom() <= most_lines);
        layout.left_out = all - layout.seats.len();
        layout.height = most_lines.min(layout.height);
        layout
    })
}

fn of_size(groups: &SeatGroups, size: Size, width: u16) -> SeatLayout {
    let mut layout =
        SeatLayout { size, seats: Vec::new(), titles: Vec::new(), height: 0, left_out: 0 };
    let mut shelf = Shelf { x: 0, y: 0, height: 0, width };
    if size == Size::BareCell {
        // Separate blocks would leave gaps at the ends of lines.
        let cores = Vec::from_iter(groups.groups.iter().flat_map(|group| group.cores.clone()));
        block(&mut layout, &mut shelf, &cores, groups.siblings(), None);
    } else {
        let has_titles = groups.groups.len() > 1;
        for group in &groups.groups {
            let title = has_titles.then_some(group.name.as_str());
            block(&mut layout, &mut shelf, &group.cores, groups.siblings(), title);
        }
    }
    layout.height = shelf.y + shelf.height;
    layout
}

/// A row of blocks being filled.
struct Shelf {
    x: u16,
    y: u16,
    height: u16,
    width: u16,
}

impl Shelf {
    /// The block's corner, in a new row if it does not fit in this one.
    fn take(&mut self, width: u16, height: u16) -> (u16, u16) {
        // A block too wide for any row stays: the next row is not wider.
        if self.x > 0 && self.x + width > self.width {
            (self.x, self.y, self.height) = (0, self.y + self.height, 0);
        }
        let corner = (self.x, self.y);
        self.x += width + 1;
        self.height = self.height.max(height);
        corner
    }
}

fn block(
    layout: &mut SeatLayout,
    shelf: &mut Shelf,
    cores: &[Vec<u32>],
    siblings: usize,
    title: Option<&str>,
) {
    let (wide, high) = layout.size.cells();
    let columns = usize::from((shelf.width / wide).max(1));
    let columns = if columns >= siblings { columns - columns % siblings } else { columns };
    let mut rows: Vec<Vec<u32>> = vec![Vec::new()];
    for core in cores {
        let used = rows.last().map_or(0, Vec::len);
        if used > 0 && used + core.len() > columns {
            rows.push(Vec::new());
        }
        for cpu in core {
            if rows.last().is_some_and(|row| row.len() == columns) {
                rows.push(Vec::new());
            }
            rows.last_mut().into_iter().for_each(|row| row.push(*cpu));
        }
    }
    let across = rows.iter().map(Vec::len).max().unwrap_or(0) as u16 * wide;
    let label =
        // `L3 1` of `package 0, L3 1`.
        title.map(|title| match title.rsplit_once(", ") {
            Some((_, short)) if layout.size == Size::Cell => short.to_owned(),
            _ => title.to_owned(),
        });
    let titled = label.as_ref().map_or(0, |label| label.len() as u16);
    let above = u16::from(label.is_some());
    let height = above + rows.len() as u16 * high;
    let (x, y) = shelf.take(across.max(titled).min(shelf.width), height);
    if let Some(label) = label {
        layout.titles.push((Rect::new(x, y, titled.min(shelf.width - x), 1), label));
    }
    // Leave the gap after a seat empty; seats of one character have none.
    let shown = wide.saturating_sub(u16::from(wide > 1)).min(shelf.width);
    for (down, row) in rows.iter().enumerate() {
        for (along, cpu) in row.iter().enumerate() {
            let place =
                Rect::new(x + along as u16 * wide, y + above + down as u16 * high, shown, high);
            layout.seats.push((*cpu, place));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use seatmap_watch::judge::made::Made;

    fn groups(cpus: u32, core: u32, l3: u32) -> SeatGroups {
        SeatGroups::new(&Made::new(cpus).parts(core, l3, cpus).topology, None)
    }

    #[test]
    fn seat_size_shrinks_with_cpu_count() {
        let size = |cpus, width, lines| lay_out(&groups(cpus, 2, 8), width, lines).size;
        assert_eq!((size(2, 80, 10), size(8, 80, 10)), (Size::Box, Size::Box));
        assert_eq!(size(16, 80, 10), Size::Line);
        assert_eq!((size(32, 80, 10), size(256, 80, 10)), (Size::Block, Size::Cell));
        assert_eq!((size(256, 200, 30), size(512, 80, 8)), (Size::Block, Size::BareCell));
    }

    #[test]
    fn omitted_cpus_are_counted() {
        let layout = lay_out(&groups(2048, 2, 16), 80, 10);
        assert_eq!((layout.size, layout.seats.len(), layout.left_out), (Size::BareCell, 800, 1248));
    }

    #[test]
    fn cores_of_unequal_width_are_not_split() {
        // Two performance cores of two threads, three efficiency cores of one.
        let mut made = Made::new(7).efficient_from(4);
        made.topology
            .pus
            .iter_mut()
            .filter(|pu| pu.os < 4)
            .for_each(|pu| pu.core = Some(pu.os / 2));
        let layout = lay_out(&SeatGroups::new(&made.topology, None), 60, 10);
        let line = |cpu| layout.seats.iter().find(|(os, _)| *os == cpu).unwrap().1.y;
        assert_eq!((line(0), line(2)), (line(1), line(3)));
    }

    proptest! {
        #[test]
        fn seats_do_not_overlap_and_stay_in_map(
            cpus in 1..600_u32, core in 1..5_u32, l3 in 1..40_u32, width in 1..250_u16, lines in 1..60_u16
        ) {
            let groups = groups(cpus, core, l3.max(core) / core * core);
            let layout = lay_out(&groups, width, lines);
            prop_assert_eq!(layout.seats.len() + layout.left_out, cpus as usize);
            let mut taken = std::collections::BTreeSet::new();
            for (_, place) in &layout.seats {
                prop_assert!(place.right() <= width && place.bottom() <= layout.height && layout.height <= lines);
                for position in place.positions() {
                    prop_assert!(taken.insert((position.x, position.y)));
                }
            }
            for (place, _) in &layout.titles {
                prop_assert!(place.positions().all(|position| taken.insert((position.x, position.y))));
            }
        }
    }
}
