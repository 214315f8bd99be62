//! Patterns in the terminal: what they are, and who sends how much to whom.

use seatmap_pattern::Pattern;

/// From nothing to the most that any cell holds, by the root of the share.
const SHADES: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];
/// Columns before the cells: the number of the first task of a row.
const MARGIN: usize = 7;
/// More rows would not fit on a screen.
const MOST_CELLS: usize = 64;

/// A pattern's figures and its matrix (rows send, columns receive), in at most `width` columns.
#[must_use]
pub fn drawn(pattern: &Pattern, width: usize) -> String {
    let bytes: f64 = pattern.edges.iter().map(|edge| edge.bytes).sum();
    let messages: f64 = pattern.edges.iter().map(|edge| edge.messages).sum();
    let mut degree = vec![0_usize; pattern.tasks];
    pattern.edges.iter().for_each(|edge| degree[edge.from] += 1);
    degree.sort_unstable();
    let (least, middle, most) = (degree[0], degree[pattern.tasks / 2], degree[pattern.tasks - 1]);
    let name: String = pattern.name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    format!(
        "{name}: {} tasks, {} edges, {bytes} bytes in {messages} messages\n\
         A task sends to {least} to {most} others, {middle} in the middle.\n{}",
        pattern.tasks,
        pattern.edges.len(),
        matrix(pattern, width)
    )
}

fn matrix(pattern: &Pattern, width: usize) -> String {
    // Two columns a cell make it square.
    let room = (width.saturating_sub(MARGIN) / 2).clamp(1, MOST_CELLS);
    let block = pattern.tasks.div_ceil(room);
    let n = pattern.tasks.div_ceil(block);
    let mut cells = vec![0.0; n * n];
    pattern.edges.iter().for_each(|edge| cells[edge.from / block * n + edge.to / block] += edge.bytes);
    let most = cells.iter().copied().fold(0.0, f64::max);
    let shade = |bytes: &f64| {
        let share = if most > 0.0 { (bytes / most).sqrt() } else { 0.0 };
        SHADES[((share * 9.0).ceil() as usize).min(9)]
    };
    let row = |at: usize| -> String {
        let cells: String = cells[at * n..(at + 1) * n].iter().flat_map(|cell| [shade(cell); 2]).collect();
        format!("{:>5}  {}", at * block, cells).trim_end().to_owned() + "\n"
    };
    let rows: String = (0..n).map(row).collect();
    let note =
        if block > 1 { format!("Each cell stands for {block} x {block} pairs of tasks. ") } else { String::new() };
    format!("{rows}{note}Rows send, columns receive; '@' is {most} bytes, blank nothing.\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_two_diagonals() {
        let pattern = seatmap_pattern::generate("ring:4").unwrap();
        insta::assert_snapshot!(drawn(&pattern, 40), @"
        ring:4: 4 tasks, 4 edges, 4 bytes in 4 messages
        A task sends to 1 to 1 others, 1 in the middle.
            0    @@
            1      @@
            2        @@
            3  @@
        Rows send, columns receive; '@' is 1 bytes, blank nothing.
        ");
    }

    #[test]
    fn many_tasks_share_cells() {
        let text = drawn(&seatmap_pattern::generate("pipeline:1000").unwrap(), 60);
        assert!(text.contains("Each cell stands for 39 x 39 pairs"), "{text}");
        assert!(text.lines().filter(|line| line.ends_with('@')).all(|line| line.chars().count() <= 60));
    }
}
