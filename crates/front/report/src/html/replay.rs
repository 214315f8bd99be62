//! The page that replays a recording of running programs.

use super::document::{document, head};
use crate::terminal::top::{SeatGroup, SeatGroups};
use crate::words::{self, counted, lasting, times, visible};
use maud::{Markup, PreEscaped, html};
use seatmap_os::Tid;
use seatmap_watch::recording::Recording;
use serde::Serialize;
use std::collections::BTreeMap;

const SCRIPT: &str = include_str!("../../assets/replay.js");
const STYLE: &str = include_str!("../../assets/replay.css");
/// The most threads, and the most changes of CPU.
const MOST_THREADS: usize = 200;
const MOST_MOVES: usize = 500;
/// The most pairs of a sample.
const MOST_WAKES: usize = 12;

#[derive(Clone, Default, Serialize)]
struct Story {
    tid: Tid,
    pid: Tid,
    program: String,
    name: String,
    from_s: f64,
    to_s: f64,
    run_s: f64,
    /// Masks, with the time of each change.
    masks: Vec<(f64, String)>,
    /// CPUs, with the time of each change.
    seats: Vec<(f64, u32)>,
}

impl Story {
    /// The time, and the CPUs before and after.
    fn moves(&self) -> impl Iterator<Item = (f64, u32, u32)> {
        self.seats.windows(2).map(|pair| (pair[1].0, pair[0].1, pair[1].1))
    }
}

/// A sample, as the script reads it.
#[derive(Serialize)]
struct Look {
    at_s: f64,
    cpus: Vec<(u32, Option<f64>)>,
    /// Index of the story, CPU, share of its time.
    ran: Vec<(usize, Option<u32>, f64)>,
    /// Stories of the waker and the woken thread, wake-ups per second.
    wakes: Vec<(usize, usize, f64)>,
}

#[derive(Serialize)]
struct Data<'a> {
    groups: &'a [SeatGroup],
    looks: Vec<Look>,
    stories: &'a [Story],
}

/// A recording as one HTML file that works offline. Without scripts it shows the threads and their
/// changes of CPU.
pub fn replay(recording: &Recording) -> String {
    let groups = SeatGroups::new(&recording.header.topology, recording.header.groups.as_deref());
    let (stories, looks) = stories_and_looks(recording);
    let title = format!("Threads on {}", recording.header.machine);
    let lead = html! {
        p.origin { (groups.source) "; " (counted(looks.len(), "sample"))
            @if recording.is_cut_off { "; the last line of the recording was cut off" } }
    };
    let body = html! {
        style { (PreEscaped(STYLE)) }
        (head(&title, &sentence(&stories, &looks), &lead))
        main {
            section.card.js {
                h2 { "Seats" span.unit { "load, and the busiest thread" } }
                div.replay {
                    button #play type="button" { "Play" }
                    input #time type="range" min="0" max=(looks.len().saturating_sub(1)) value="0"
                        aria-label="Time";
                    output #now for="time" {}
                }
                div #seats {}
                p.hint { "Point at a seat, or press Tab, to see its threads. Enter shows the \
                          history of the busiest one." }
                div #seat aria-live="polite" {}
            }
            @if recording.moments.iter().any(|moment| moment.wakes.is_some()) {
                section.card.js { h2 { "Wakeups" span.unit { "who wakes whom in this sample" } }
                    div #wakes aria-live="polite" {} }
            }
            section.card { h2 { "Threads" span.unit { "by time on a CPU" } } div #story
                aria-live="polite" {} (threads(&stories)) }
            section.card { h2 { "CPU changes" } (moves(&stories)) }
        }
        footer { "A sample shows the CPU of each thread at one moment. A thread may change its CPU \
                  more than once between two samples." }
    };
    let data = Data { groups: &groups.groups, looks, stories: &stories };
    document(&title, &body, SCRIPT, &seatmap_data::document::written(&data))
}

/// Threads' histories, and the samples that refer to them.
fn stories_and_looks(recording: &Recording) -> (Vec<Story>, Vec<Look>) {
    let (mut stories, mut looks): (Vec<Story>, Vec<Look>) = (Vec::new(), Vec::new());
    let mut living: BTreeMap<Tid, usize> = BTreeMap::new();
    let mut before_s = 0.0;
    for moment in &recording.moments {
        let at_s = moment.at_s;
        // Ended threads first: the kernel may have reused a number since.
        for tid in &moment.ended {
            living.remove(tid).into_iter().for_each(|at| stories[at].to_s = before_s);
        }
        for known in &moment.known {
            let at = *living.entry(known.tid).or_insert_with(|| {
                stories.push(Story {
                    tid: known.tid,
                    pid: known.pid,
                    from_s: at_s,
                    ..Story::default()
                });
                stories.len() - 1
            });
            let story = &mut stories[at];
            (story.program, story.name) = (visible(&known.program), visible(&known.name));
            // Only changes: a thread usually has one mask for all of its life.
            if story.masks.last().is_none_or(|(_, mask)| *mask != known.mask) {
                story.masks.push((at_s, visible(&known.mask)));
            }
        }
        let mut ran = Vec::new();
        for one in &moment.ran {
            // A truncated or edited file may refer to unknown threads.
            let Some(at) = living.get(&one.tid).copied() else { continue };
            let story = &mut stories[at];
            // The share refers to the time since the previous sample.
            story.run_s += one.run_percent / 100.0 * (at_s - before_s);
            if let Some(cpu) =
                one.cpu.filter(|cpu| story.seats.last().is_none_or(|(_, last)| last != cpu))
            {
                story.seats.push((at_s, cpu));
            }
            ran.push((at, one.cpu, one.run_percent));
        }
        living.values().for_each(|at| stories[*at].to_s = at_s);
        let wakes = moment.wakes.iter().flatten().take(MOST_WAKES);
        let wakes = wakes
            .filter_map(|(from, to, per_s)| Some((*living.get(from)?, *living.get(to)?, *per_s)));
        looks.push(Look { at_s, cpus: moment.cpus.clone(), ran, wakes: wakes.collect() });
        before_s = at_s;
    }
    (stories, looks)
}

/// How many threads moved, and the one that moved most.
fn sentence(stories: &[Story], looks: &[Look]) -> String {
    let seconds = lasting(looks.last().map_or(0.0, |look| look.at_s));
    let moved = stories.iter().filter(|story| story.moves().count() > 0).count();
    let moves: usize = stories.iter().map(|story| story.moves().count()).sum();
    let all = counted(stories.len(), "thread");
    let most = stories.iter().max_by_key(|story| story.moves().count()).filter(|_| moves > 0);
    let Some(most) = most else {
        return match stories.len() {
            0 => format!("In {seconds}, no thread was seen."),
            1 => format!("In {seconds}, the thread was on the same CPU in every sample."),
            _ => format!("In {seconds}, each of {all} was on the same CPU in every sample."),
        };
    };
    // A thread may have moved more often between two samples.
    let times = format!("at least {}", times(moves));
    match (stories.len(), moved) {
        (1, _) => format!("In {seconds}, the thread changed its CPU {times}."),
        (_, 1) => format!(
            "In {seconds}, 1 of {all} changed its CPU {times}: {} (thread {}).",
            most.name, most.tid
        ),
        _ => {
            let own = words::times(most.moves().count());
            format!(
                "In {seconds}, {moved} of {all} changed their CPU, {times} in total; {} (thread \
                 {}) did so most often, at least {own}.",
                most.name, most.tid
            )
        }
    }
}

fn threads(stories: &[Story]) -> Markup {
    let mut order = Vec::from_iter(0..stories.len());
    order.sort_by(|a, b| stories[*b].run_s.total_cmp(&stories[*a].run_s).then(a.cmp(b)));
    let shown = order.len().min(MOST_THREADS);
    html! {
        table.figures {
            thead { tr {
                th { "Thread" } th.wide { "Name" } th.wide { "Program" } th.wide { "May run on" }
                th { "Run, s" } th { "CPU changes" }
                th.js { "History" }
            } }
            tbody { @for at in &order[..shown] { @let story = &stories[*at]; tr {
                th scope="row" { (story.tid) } td.wide { (story.name) } td.wide { (story.program) }
                td.wide { (story.masks.last().map_or("-", |(_, mask)| mask.as_str())) }
                td { (format!("{:.2}", story.run_s)) } td { (story.moves().count()) }
                td.js { button type="button" data-story=(at)
                    aria-label=(format!("History of thread {}", story.tid)) { "Show" } }
            } } }
        }
        @if order.len() > shown {
            p.hint { "And " (counted(order.len() - shown, "more thread")) ", which ran less." } }
    }
}

fn moves(stories: &[Story]) -> Markup {
    let mut all = Vec::from_iter(
        stories
            .iter()
            .flat_map(|story| story.moves().map(move |(at_s, from, to)| (at_s, from, to, story))),
    );
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.3.tid.cmp(&b.3.tid)));
    let shown = all.len().min(MOST_MOVES);
    html! {
        @if all.is_empty() { p { "No sample shows a thread on another CPU than before." } }
        @else {
            table.figures #moves {
                thead { tr { th { "At, s" } th { "Thread" } th.wide { "Name" } th { "From CPU" }
                    th { "To CPU" } } }
                tbody { @for (at_s, from, to, story) in &all[..shown] { tr {
                    td { (format!("{at_s:.1}")) } td { (story.tid) } td.wide { (story.name) }
                    td { (from) } td { (to) }
                } } }
            }
            @if all.len() > shown {
                p.hint { "And " (counted(all.len() - shown, "later change")) "." } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headline_counts_moved_threads() {
        let story = |tid: Tid, cpus: &[u32]| Story {
            tid,
            name: "io".to_owned(),
            seats: cpus.iter().map(|cpu| (f64::from(*cpu), *cpu)).collect(),
            ..Story::default()
        };
        let look = |at_s| Look { at_s, cpus: Vec::new(), ran: Vec::new(), wakes: Vec::new() };
        let [rests, moves, wanders] = [story(7, &[0]), story(8, &[0, 1]), story(9, &[0, 1, 2, 3])];
        let all = [
            vec![],
            vec![rests.clone()],
            vec![moves.clone()],
            vec![rests.clone(), rests.clone()],
            vec![rests.clone(), moves.clone()],
            vec![rests, moves, wanders],
        ];
        let all = all.map(|stories| sentence(&stories, &[look(1.5)]));
        assert!(seatmap_needs::faults(&all.join("\n")).is_empty(), "{all:?}");
        insta::assert_snapshot!(all.join("\n"), @"
        In 1.5 s, no thread was seen.
        In 1.5 s, the thread was on the same CPU in every sample.
        In 1.5 s, the thread changed its CPU at least once.
        In 1.5 s, each of 2 threads was on the same CPU in every sample.
        In 1.5 s, 1 of 2 threads changed its CPU at least once: io (thread 8).
        In 1.5 s, 2 of 3 threads changed their CPU, at least 4 times in total; io (thread 9) did so most often, at least 3 times.
        ");
    }

    fn recording() -> Recording {
        Recording::read(include_str!("../tests/recording.jsonl")).unwrap()
    }

    #[test]
    fn reused_thread_id_starts_new_story() {
        let (stories, looks) = stories_and_looks(&recording());
        assert_eq!(Vec::from_iter(stories.iter().map(|story| story.tid)), [7, 8, 8]);
        assert_eq!((stories[0].run_s, stories[0].from_s, stories[0].to_s), (1.5, 1.0, 3.0));
        assert_eq!((stories[1].to_s, stories[2].from_s), (1.0, 3.0));
        assert_eq!(stories[0].masks, [(1.0, "0-1".to_owned()), (2.0, "1".to_owned())]);
        assert_eq!(Vec::from_iter(stories[0].moves()), [(2.0, 0, 1)]);
        assert_eq!(looks[2].ran, [(2, Some(0), 10.0)]);
    }

    #[test]
    fn page_names_moved_threads_and_escapes_markup() {
        let page = replay(&recording());
        let said =
            "In 3.0 s, 1 of 3 threads changed its CPU at least once: &lt;script&gt; (thread 7).";
        assert!(page.contains(said) && !page.contains("\"<script>\""), "{page}");
        assert!(page.contains("from the kernel (this host is not measured)"));
        assert!(!page.contains("http://"));
    }
}
