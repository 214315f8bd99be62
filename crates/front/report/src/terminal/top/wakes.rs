//! Wakeups between threads: the rows of their table, and the arcs between the seats.
//!
//! An arc is a letter: with an arrow on the seat of the waking thread (`a>`) and of the woken
//! thread (`>a`), or with a ring (`ao`) if both share a seat.

use super::table::rate;
use crate::page::draw::cut_middle;
use crate::words::{or_dash, visible};
use seatmap_os::Tid;
use seatmap_watch::WatchedThread;
use seatmap_watch::live::SeatingFrame;
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// The arcs of the most frequent wakeups.
const LETTERS: RangeInclusive<char> = 'a'..='i';

pub fn titles() -> String {
    let [waker, woken] =
        ["WAKER", "WOKEN"].map(|name| format!("{:>7} {name:<15} {:>3}", "TID", "CPU"));
    format!("ARC {:>7} {waker}     -> {woken}", "WAKES/s")
}

/// The rows, the most frequent first; a sentence if none.
pub fn lines(frame: &SeatingFrame) -> Vec<String> {
    let Some(wakes) = &frame.wakes else {
        return vec![
            "Wakeups are not counted yet, or the kernel refused to count them.".to_owned(),
        ];
    };
    if wakes.is_empty() {
        return vec!["No thread woke another one. Spinning threads cause no wakeups.".to_owned()];
    }
    let threads = threads(frame);
    let side = |tid: Tid| {
        let thread = threads.get(&tid);
        let name = thread.map_or_else(|| "(ended)".to_owned(), |thread| visible(&thread.name));
        let cpu = or_dash(thread.and_then(|thread| thread.cpu));
        format!("{tid:>7} {:<15} {cpu:>3}", cut_middle(&name, 15))
    };
    let letters = LETTERS.map(Some).chain(std::iter::repeat(None));
    wakes
        .iter()
        .zip(letters)
        .map(|(wakes, letter)| {
            let letter = letter.unwrap_or(' ');
            format!(
                "{letter:>3} {:>7} {}     -> {}",
                rate(wakes.per_s),
                side(wakes.from),
                side(wakes.to)
            )
        })
        .collect()
}

/// The ends of arcs on each CPU.
pub fn arcs(frame: &SeatingFrame) -> HashMap<u32, String> {
    let threads = threads(frame);
    let mut arcs: HashMap<u32, String> = HashMap::new();
    for (wakes, letter) in frame.wakes.iter().flatten().zip(LETTERS) {
        let cpu = |tid: Tid| threads.get(&tid).and_then(|thread| thread.cpu);
        let Some((from, to)) = cpu(wakes.from).zip(cpu(wakes.to)) else { continue };
        let ends = if from == to {
            vec![(from, format!("{letter}o"))]
        } else {
            vec![(from, format!("{letter}>")), (to, format!(">{letter}"))]
        };
        for (cpu, end) in ends {
            let arcs = arcs.entry(cpu).or_default();
            *arcs += if arcs.is_empty() { "" } else { " " };
            *arcs += &end;
        }
    }
    arcs
}

fn threads(frame: &SeatingFrame) -> HashMap<Tid, &WatchedThread> {
    frame.seating.threads.iter().map(|thread| (thread.tid, thread)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::top::samples::frame;

    #[test]
    fn wakeup_arcs_connect_seats_or_stay_on_one() {
        let arcs = arcs(&frame());
        assert_eq!(arcs.get(&1).map(String::as_str), Some("ao bo"), "both workers sit there");
        assert_eq!(
            (arcs.get(&0).map(String::as_str), arcs.get(&2).map(String::as_str)),
            (Some("c>"), Some(">c"))
        );
    }

    #[test]
    fn missing_wakeups_are_explained() {
        let nobody = SeatingFrame { wakes: Some(Vec::new()), ..frame() };
        assert!(lines(&nobody)[0].contains("No thread woke another one"));
        assert!(lines(&SeatingFrame { wakes: None, ..frame() })[0].contains("not counted"));
        let mut gone = frame();
        gone.seating.threads.retain(|thread| thread.tid != 72);
        assert!(lines(&gone)[0].contains("72 (ended)"), "{}", lines(&gone)[0]);
        assert!(!arcs(&gone).contains_key(&1));
    }
}
