//! Which task or handler had a CPU at each time.

use super::line::{self, TraceEvent, TraceEventKind};
use std::collections::HashMap;

/// Times when another task or handler than the meter had the CPU, in order, without overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceSpans {
    pub names: Vec<String>,
    pub spans: Vec<CpuSpan>,
    pub first_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuSpan {
    pub from_ns: u64,
    pub to_ns: u64,
    pub who: usize,
    /// Known end, if the task switch at the other end is missing.
    pub known_ns: Option<u64>,
}

/// A handler has the CPU until it ends. Kernels do not show every task switch; if one is missing,
/// the time between two events belongs to the task other than the meter. `None` without the meter's
/// mark.
pub fn of(text: &[u8]) -> Option<TraceSpans> {
    let mut reader = Reader { meter: meter(text)?, ..Reader::default() };
    line::split(text).filter_map(line::event).for_each(|event| reader.read(event));
    Some(reader.found)
}

/// The last mark shows the number; in a container the meter knows another one.
fn meter(text: &[u8]) -> Option<u32> {
    let mut events = text.rsplit(|byte| *byte == b'\n').filter_map(line::event);
    Some(events.find(|event| event.what == TraceEventKind::Mark)?.task)
}

#[derive(Default)]
struct Reader {
    meter: u32,
    task: Option<(u32, String)>,
    handlers: Vec<String>,
    last_ns: u64,
    index: HashMap<String, usize>,
    found: TraceSpans,
}

impl Reader {
    fn read(&mut self, event: TraceEvent) {
        if self.task.is_none() {
            (self.found.first_ns, self.last_ns) = (event.at_ns, event.at_ns);
        }
        self.close(&event);
        // A task switch contains the name at that time; other events show a later name or none.
        if self.task.as_ref().is_none_or(|(task, _)| *task != event.task) {
            self.task = Some((event.task, event.name));
        }
        match event.what {
            TraceEventKind::Enter(handler) => {
                // A handler does not interrupt itself: the previous end is missing.
                self.end(&handler);
                self.handlers.push(handler);
            }
            TraceEventKind::Exit(handler) => self.end(&handler),
            TraceEventKind::Mark => {}
            TraceEventKind::Switch { to, name } => {
                // The scheduler runs outside handlers: the end of an open one is missing.
                self.handlers.clear();
                self.task = Some((to, name));
            }
        }
    }

    fn end(&mut self, handler: &str) {
        let began = self.handlers.iter().rposition(|begun| is_end_of(handler, begun));
        self.handlers.truncate(began.unwrap_or(self.handlers.len()));
    }

    fn close(&mut self, event: &TraceEvent) {
        // A slewed trace clock may step back slightly (Documentation/trace/ftrace.rst).
        let now_ns = event.at_ns.max(self.last_ns);
        let from_ns = std::mem::replace(&mut self.last_ns, now_ns);
        let (who, known_ns) = match (self.handlers.last(), &self.task) {
            (Some(handler), _) => (handler, None),
            (None, Some((task, name))) if *task != self.meter => {
                (name, (event.task != *task).then_some(from_ns))
            }
            (None, Some(_)) if event.task != self.meter => (&event.name, Some(now_ns)),
            _ => return,
        };
        let Some(name) = Some(who).filter(|_| from_ns < now_ns) else { return };
        let who = *self.index.entry(name.clone()).or_insert_with(|| {
            self.found.names.push(name.clone());
            self.found.names.len() - 1
        });
        match self
            .found
            .spans
            .last_mut()
            .filter(|span| span.who == who && span.to_ns == from_ns && span.known_ns == known_ns)
        {
            Some(span) => span.to_ns = now_ns,
            None => self.found.spans.push(CpuSpan { from_ns, to_ns: now_ns, who, known_ns }),
        }
    }
}

/// The end of a device's handler names only its line.
fn is_end_of(end: &str, begun: &str) -> bool {
    end == begun || end.ends_with(' ') && begun.starts_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    fn trace(lines: &[(&str, u32, u64, &str)]) -> Vec<u8> {
        let mut text = String::from("# tracer: nop\n");
        for (name, task, us, event) in lines {
            let seconds = us / 1_000_000;
            let us = us % 1_000_000;
            writeln!(text, "{name:>16}-{task:<7} [001] d.h.. {seconds:>5}.{us:06}: {event}")
                .unwrap();
        }
        let us = lines.last().map_or(0, |line| line.2);
        writeln!(
            text,
            "           meter-7       [001] .....     0.{us:06}: tracing_mark_write: seatmap"
        )
        .unwrap();
        text.into_bytes()
    }

    fn told(lines: &[(&str, u32, u64, &str)]) -> Vec<String> {
        let found = of(&trace(lines)).unwrap();
        let told = |span: &CpuSpan| {
            format!("{}-{} {}", span.from_ns / 1000, span.to_ns / 1000, found.names[span.who])
        };
        found.spans.iter().map(told).collect()
    }

    #[test]
    fn handlers_nest_and_meter_time_is_excluded() {
        let found = told(&[
            ("meter", 7, 10, "local_timer_entry: vector=236"),
            ("meter", 7, 13, "irq_handler_entry: irq=36 name=disk"),
            ("meter", 7, 15, "irq_handler_exit: irq=36 ret=handled"),
            ("meter", 7, 16, "local_timer_exit: vector=236"),
            ("meter", 7, 18, "softirq_entry: vec=9 [action=RCU]"),
            ("meter", 7, 20, "softirq_exit: vec=9 [action=RCU]"),
            ("meter", 7, 90, "local_timer_entry: vector=236"),
        ]);
        assert_eq!(
            found,
            ["10-13 local_timer", "13-15 IRQ 36 disk", "15-16 local_timer", "18-20 softirq RCU"]
        );
    }

    #[test]
    fn other_task_runs_until_the_meter_returns() {
        let to_hog = "sched_switch: prev_comm=meter prev_pid=7 prev_prio=120 prev_state=R ==> next_comm=hog next_pid=9 next_prio=120";
        let back = "sched_switch: prev_comm=hog prev_pid=9 prev_prio=120 prev_state=R ==> next_comm=meter next_pid=7 next_prio=120";
        let found = told(&[
            ("meter", 7, 10, to_hog),
            ("hog", 9, 14, "local_timer_entry: vector=236"),
            ("hog", 9, 17, "local_timer_exit: vector=236"),
            ("hog", 9, 30, back),
            ("meter", 7, 40, to_hog),
        ]);
        assert_eq!(found, ["10-14 hog", "14-17 local_timer", "17-30 hog"]);
    }

    #[test]
    fn unseen_switch_has_one_end() {
        let to_hog = "sched_switch: prev_comm=meter prev_pid=7 prev_prio=120 prev_state=R ==> next_comm=hog next_pid=9 next_prio=120";
        let lines = [
            ("meter", 7, 10, to_hog),
            ("meter", 7, 40, "local_timer_entry: vector=236"),
            ("meter", 7, 41, "local_timer_exit: vector=236"),
            ("late", 11, 60, "local_timer_entry: vector=236"),
        ];
        assert_eq!(told(&lines), ["10-40 hog", "40-41 local_timer", "41-60 late"]);
        let known: Vec<Option<u64>> =
            of(&trace(&lines)).unwrap().spans.iter().map(|span| span.known_ns).collect();
        assert_eq!(known, [Some(10_000), None, Some(60_000)]);
    }

    #[test]
    fn switch_name_is_kept() {
        let to_hog = "sched_switch: prev_comm=meter prev_pid=7 prev_prio=120 prev_state=R ==> next_comm=hog next_pid=9 next_prio=120";
        let found = told(&[
            ("meter", 7, 10, to_hog),
            ("<...>", 9, 14, "local_timer_entry: vector=236"),
            ("<...>", 9, 15, to_hog),
        ]);
        assert_eq!(found, ["10-14 hog", "14-15 local_timer"]);
    }

    #[test]
    fn handler_without_exit_ends_at_its_next_entry() {
        let found = told(&[
            ("meter", 7, 10, "local_timer_entry: vector=236"),
            ("meter", 7, 20, "local_timer_entry: vector=236"),
            ("meter", 7, 21, "local_timer_exit: vector=236"),
            ("meter", 7, 90, "reschedule_entry: vector=253"),
        ]);
        assert_eq!(found, ["10-21 local_timer"]);
    }

    #[test]
    fn backward_clock_step_makes_no_overlap() {
        let found = told(&[
            ("hog", 9, 10, "local_timer_entry: vector=236"),
            ("hog", 9, 20, "local_timer_exit: vector=236"),
            ("hog", 9, 18, "reschedule_entry: vector=253"),
            ("hog", 9, 30, "reschedule_exit: vector=253"),
        ]);
        assert_eq!(found, ["10-20 local_timer", "20-30 reschedule"]);
    }

    #[test]
    fn trace_without_marker_has_no_meter() {
        assert_eq!(
            of(b"           meter-7       [001] d.h.. 1.000001: local_timer_entry: vector=236\n"),
            None
        );
    }

    #[test]
    fn events_before_the_trace_are_not_guessed() {
        let found = told(&[
            ("hog", 9, 5, "local_timer_exit: vector=236"),
            ("hog", 9, 8, "reschedule_entry: vector=253"),
            ("meter", 7, 20, "local_timer_entry: vector=236"),
        ]);
        assert_eq!(
            found,
            ["5-8 hog", "8-20 reschedule"],
            "an end that is missing is the next event's"
        );
    }
}
