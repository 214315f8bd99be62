//! One event of a trace: a line, or more if a task's name contains a line break.

/// Bytes of a task's name before its number (`trace_print_context` in the kernel's
/// `trace_output.c`: `%16s-%-7d`). Names have at most 15 bytes and may contain anything, so only
/// the width shows the end.
const NAME_WIDTH: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// By `CLOCK_MONOTONIC`, in microseconds.
    pub at_ns: u64,
    pub task: u32,
    pub name: String,
    pub what: TraceEventKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceEventKind {
    /// A handler begins.
    Enter(String),
    /// A handler ends.
    Exit(String),
    /// Another task gets the CPU.
    Switch { to: u32, name: String },
    /// The meter identifies itself as this task.
    Mark,
}

/// Names may contain line breaks, so an event ends where the next begins; names are too short to
/// look like one.
pub fn split(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = (0..rest.len())
            .find(|at| rest[*at] == b'\n' && is_begin(&rest[at + 1..]))
            .unwrap_or(rest.len());
        let event = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        (!event.is_empty()).then_some(event)
    })
}

fn is_begin(text: &[u8]) -> bool {
    matches!(text.get(NAME_WIDTH..NAME_WIDTH + 2), Some([b'-', digit]) if digit.is_ascii_digit())
}

/// `None` for comments, unknown events and those without a duration.
pub fn event(line: &[u8]) -> Option<TraceEvent> {
    let (name, rest) = line.split_at_checked(NAME_WIDTH)?;
    let rest = String::from_utf8_lossy(rest);
    let rest = rest.strip_prefix('-')?;
    let task = rest.split(' ').next()?.parse().ok()?;
    // `[001] d.h.. 70628.260013: local_timer_entry: vector=236`; the flags are optional.
    let (_, rest) = rest.split_once("] ")?;
    let mut words = rest.trim_start().splitn(2, ": ");
    let at_ns = time_ns(words.next()?.rsplit(' ').next()?)?;
    let (event, fields) = words.next()?.split_once(':')?;
    let name = named(&String::from_utf8_lossy(name));
    Some(TraceEvent { at_ns, task, name, what: what(event, fields.trim())? })
}

fn named(name: &str) -> String {
    match name.trim_start() {
        "" => "(no name)".to_owned(),
        name => name.to_owned(),
    }
}

fn what(event: &str, fields: &str) -> Option<TraceEventKind> {
    use TraceEventKind::{Enter, Exit, Mark, Switch};
    Some(match event {
        "sched_switch" => {
            let (both, next) = fields.rsplit_once(" next_pid=")?;
            // A name of full length can look like the text in between.
            let both = both.strip_prefix("prev_comm= ==> next_comm=").unwrap_or(both);
            let (_, name) = both.split_once(" ==> next_comm=")?;
            Switch { to: next.split(' ').next()?.parse().ok()?, name: named(name) }
        }
        "irq_handler_entry" => {
            let (irq, name) = fields.lines().next()?.split_once(" name=")?;
            Enter(format!("IRQ {} {name}", irq.strip_prefix("irq=")?))
        }
        // The end lacks the handler's name; handlers of one line do not nest.
        "irq_handler_exit" => {
            Exit(format!("IRQ {} ", fields.strip_prefix("irq=")?.split(' ').next()?))
        }
        "tracing_mark_write" => Mark,
        _ => match event.strip_suffix("_entry") {
            Some(vector) => Enter(handler(vector, fields)),
            None => Exit(handler(event.strip_suffix("_exit")?, fields)),
        },
    })
}

/// `softirq TIMER`, `ipi Rescheduling interrupts`, `local_timer`.
fn handler(event: &str, fields: &str) -> String {
    match event {
        "softirq" => format!("softirq {}", inner(fields, "action=", "]").unwrap_or("?")),
        "ipi" => format!("ipi {}", inner(fields, "(", ")").unwrap_or("?")),
        vector => vector.to_owned(),
    }
}

fn inner<'f>(fields: &'f str, open: &str, close: &str) -> Option<&'f str> {
    Some(fields.split_once(open)?.1.split_once(close)?.0)
}

fn time_ns(text: &str) -> Option<u64> {
    let (seconds, micros) = text.split_once('.')?;
    let seconds: u64 = seconds.parse().ok()?;
    let micros = (micros.len() == 6).then(|| micros.parse().ok()).flatten()?;
    seconds.checked_mul(1_000_000)?.checked_add(micros)?.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(line: &str) -> String {
        event(line.as_bytes()).map_or("nothing".to_owned(), |event| {
            format!("{} of {} '{}': {:?}", event.at_ns, event.task, event.name, event.what)
        })
    }

    #[test]
    fn every_event_kind_is_parsed() {
        let lines = [
            "           rustc-1252    [001] d.h.. 70628.260013: local_timer_entry: vector=236",
            "          <idle>-0       [001] 70628.260031: local_timer_exit: vector=236",
            "           rustc-1252    [001] .Ns.. 70628.260031: softirq_entry: vec=9 [action=RCU]",
            "           rustc-1252    [001] .Ns.. 70628.260031: softirq_raise: vec=9 [action=RCU]",
            "           rustc-1252    [001] d.h.. 70628.260095: irq_handler_entry: irq=36 name=virtio1-req.0",
            "           rustc-1252    [001] d.h.. 70628.260096: irq_handler_exit: irq=36 ret=handled",
            "           rustc-1252    [001] d.h.. 70628.260097: ipi_entry: (Rescheduling interrupts)",
            " lto av18m3mb1xh-1760    [001] d..2. 70628.264137: sched_switch: prev_comm=lto av18m3mb1xh prev_pid=1760 \
             prev_prio=125 prev_state=R ==> next_comm=ksoftirqd/1 next_pid=22 next_prio=120",
            "CPU:1 [LOST 4 EVENTS]",
            "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION",
        ];
        insta::assert_snapshot!(lines.map(told).join("\n"), @r#"
        70628260013000 of 1252 'rustc': Enter("local_timer")
        70628260031000 of 0 '<idle>': Exit("local_timer")
        70628260031000 of 1252 'rustc': Enter("softirq RCU")
        nothing
        70628260095000 of 1252 'rustc': Enter("IRQ 36 virtio1-req.0")
        70628260096000 of 1252 'rustc': Exit("IRQ 36 ")
        70628260097000 of 1252 'rustc': Enter("ipi Rescheduling interrupts")
        70628264137000 of 1760 'lto av18m3mb1xh': Switch { to: 22, name: "ksoftirqd/1" }
        nothing
        nothing
        "#);
    }

    #[test]
    fn task_name_cannot_imitate_a_line() {
        let line = "] 1.000000: a_en-77      [003] d.h.. 2.000001: reschedule_entry: vector=253";
        assert_eq!(told(line), "2000001000 of 77 '] 1.000000: a_en': Enter(\"reschedule\")");
        let line = "           a b c-7       [003] d..2. 2.000001: sched_switch: prev_comm=a b c prev_pid=7 prev_prio=1 \
                    prev_state=S ==> next_comm=x next_pid=9 y next_pid=8 next_prio=120";
        assert_eq!(
            told(line),
            "2000001000 of 7 'a b c': Switch { to: 8, name: \"x next_pid=9 y\" }"
        );
        let line = " ==> next_comm=-7       [003] d..2. 2.000001: sched_switch: prev_comm= ==> next_comm= prev_pid=7 \
                    prev_prio=1 prev_state=S ==> next_comm= ==> next_comm= next_pid=8 next_prio=120";
        assert_eq!(
            told(&format!(" {line}")),
            "2000001000 of 7 '==> next_comm=': Switch { to: 8, name: \"==> next_comm=\" }"
        );
    }

    #[test]
    fn unnamed_task_is_parsed() {
        let line = "                -7       [003] d..2. 2.000001: sched_switch: prev_comm= prev_pid=7 prev_prio=1 prev_state=S \
                    ==> next_comm= next_pid=8 next_prio=120";
        assert_eq!(
            told(line),
            "2000001000 of 7 '(no name)': Switch { to: 8, name: \"(no name)\" }"
        );
    }

    #[test]
    fn line_end_in_a_name_breaks_no_event() {
        let text = "# tracer: nop\n#\n             a\nb-7       [003] d..2. 2.000001: sched_switch: prev_comm=a\nb prev_pid=7 \
                    prev_prio=1 prev_state=S ==> next_comm=c\nd next_pid=8 next_prio=-1\nCPU:3 [LOST 4 EVENTS]\n\
                    \x20            c\nd-8       [003] d.h.. 2.000002: softirq_entry: vec=9 [action=RCU]\n\
                    CPU:3 [LOST 4 EVENTS]\n          <idle>-0       [003] d.h.. 2.000003: irq_handler_entry: irq=3 name=x\n\
                    CPU:3 [LOST 4 EVENTS]\n";
        let found: Vec<String> =
            split(text.as_bytes()).filter_map(event).map(|event| format!("{event:?}")).collect();
        insta::assert_snapshot!(found.join("\n"), @r#"
        TraceEvent { at_ns: 2000001000, task: 7, name: "a\nb", what: Switch { to: 8, name: "c\nd" } }
        TraceEvent { at_ns: 2000002000, task: 8, name: "c\nd", what: Enter("softirq RCU") }
        TraceEvent { at_ns: 2000003000, task: 0, name: "<idle>", what: Enter("IRQ 3 x") }
        "#);
    }

    proptest! {
        #[test]
        fn parser_survives_any_line(line in proptest::collection::vec(any::<u8>(), 0..120)) {
            split(&line).for_each(|line| drop(event(line)));
        }

        #[test]
        fn parser_survives_any_line_end(tail in "[ -~]{0,80}") {
            event(format!("           rustc-1252    [001] d.h.. {tail}").as_bytes());
            event(format!("           rustc-1252    [001] d.h.. 70628.260013: sched_switch: {tail}").as_bytes());
        }
    }
}
