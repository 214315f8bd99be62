//! Axis labels, thinned so that they do not overlap.

/// A tick that may get a label.
#[derive(Clone)]
pub struct AxisLabel {
    /// Characters or lines from the start.
    pub at: usize,
    pub text: String,
    /// These labels take precedence.
    pub begins_group: bool,
}

/// Beginnings of groups as far as they fit, and between them others at least `apart` from their
/// neighbours. `length` is a label's extent along the axis.
pub fn thin(
    ticks: &[AxisLabel],
    apart: usize,
    length: impl Fn(&AxisLabel) -> usize,
) -> Vec<&AxisLabel> {
    let mut chosen: Vec<&AxisLabel> = Vec::new();
    for (index, tick) in ticks.iter().enumerate() {
        let end = tick.at + length(tick);
        let room = if tick.begins_group { 0 } else { apart };
        let after_last = chosen
            .last()
            .is_none_or(|last| tick.at >= (last.at + length(last)).max(last.at + room));
        let next_group = ticks[index + 1..].iter().find(|next| next.begins_group);
        // A label within a group must not cover that of the next group.
        let before_next = tick.begins_group || next_group.is_none_or(|next| end <= next.at);
        if after_last && before_next {
            chosen.push(tick);
        }
    }
    chosen
}

/// One line of at most `room` characters, without its end.
pub fn horizontal(ticks: &[AxisLabel], apart: usize, room: usize) -> String {
    let mut line = String::new();
    let ticks =
        Vec::from_iter(ticks.iter().filter(|tick| tick.at + tick.text.len() <= room).cloned());
    for tick in thin(&ticks, apart, |tick| tick.text.len() + 1) {
        line.extend(std::iter::repeat_n(' ', tick.at.saturating_sub(line.len())));
        line += &tick.text;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(n: usize, group: usize) -> Vec<AxisLabel> {
        (0..n)
            .map(|at| AxisLabel { at, text: (at + 95).to_string(), begins_group: at % group == 0 })
            .collect()
    }

    #[test]
    fn group_labels_come_before_labels_between() {
        assert_eq!(horizontal(&ticks(30, 12), 8, 80), "95      103 107     115 119");
        assert_eq!(horizontal(&ticks(10, 2), 8, 80), "95  99  103");
    }

    #[test]
    fn labels_stop_at_line_end() {
        assert_eq!(horizontal(&[], 8, 80), "");
        assert_eq!(horizontal(&ticks(30, 12), 8, 26), "95      103 107     115");
    }
}
