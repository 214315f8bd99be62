//! Divides gaps among the tasks and handlers that had the CPU.

use super::spans::TraceSpans;
use crate::noise::gaps::Gap;
use seatmap_data::statistics::Ordered;
use serde::Serialize;
use std::cmp::Reverse;

/// Shorter gaps are not explained, because the trace's unit is a microsecond.
const SHORTEST_NS: u64 = 5_000;

/// The largest difference between a gap and its event, including two roundings to microseconds.
const SLACK_NS: u64 = 3_000;

const MOST_TOLD: usize = 10;

/// The trace's explanation of one CPU's gaps, of at least 5 us and among the longest 1024.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Traced {
    /// The number of gaps examined.
    pub gaps: u64,
    /// The number of gaps before the start of the trace, if it overflowed.
    pub gaps_before_trace: u64,
    /// The tasks and handlers that had the CPU, the longest total first.
    pub takers: Vec<GapCause>,
    /// Unexplained time: taken by the hypervisor, the firmware or the hardware.
    pub unexplained: GapCause,
    /// The longest gaps, the longest first.
    pub longest: Vec<TracedGap>,
}

/// A task or handler that had the CPU in gaps.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GapCause {
    /// The name of the task or handler; empty for unexplained time.
    pub who: String,
    /// The number of gaps with a part of it.
    pub gaps: u64,
    /// Its total time in all gaps.
    pub total_us: f64,
    /// Its longest time in one gap.
    pub longest_us: f64,
}

/// A gap and the tasks and handlers that had the CPU in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TracedGap {
    /// From the start of the measurement to the gap, in nanoseconds.
    pub start_ns: u64,
    /// The length of the gap.
    pub length_ns: u64,
    /// The tasks and handlers that had the CPU, the longest time first.
    pub takers: Vec<GapShare>,
    /// The unexplained rest of the gap.
    pub unexplained_us: f64,
}

/// A part of a gap.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GapShare {
    /// The name of the task or handler.
    pub who: String,
    /// Its time.
    pub us: f64,
}

pub fn traced(
    gaps: &[Gap],
    spans: &TraceSpans,
    from_ns: u64,
    begin_ns: impl Fn(&Gap) -> u64,
) -> Traced {
    let mut found = Traced::default();
    let mut takers: Vec<GapCause> = spans
        .names
        .iter()
        .map(|who| GapCause { who: who.clone(), ..GapCause::default() })
        .collect();
    for gap in gaps.iter().filter(|gap| gap.length_ns >= SHORTEST_NS) {
        let begin_ns = begin_ns(gap);
        if begin_ns < from_ns {
            found.gaps_before_trace += 1;
            continue;
        }
        found.gaps += 1;
        let parts = parts(spans, begin_ns, begin_ns + gap.length_ns);
        parts.iter().for_each(|(who, ns)| takers[*who].add(*ns));
        let left_ns = gap.length_ns - parts.iter().map(|(_, ns)| ns).sum::<u64>();
        found.unexplained.add(left_ns);
        let takers =
            parts.iter().map(|(who, ns)| GapShare { who: spans.names[*who].clone(), us: us(*ns) });
        found.longest.push(TracedGap {
            start_ns: gap.start_ns,
            length_ns: gap.length_ns,
            takers: takers.collect(),
            unexplained_us: us(left_ns),
        });
    }
    takers.iter_mut().chain([&mut found.unexplained]).for_each(GapCause::round);
    takers.retain(|taker| taker.gaps > 0);
    takers.sort_by_key(|it| Reverse(Ordered(it.total_us)));
    found.takers = takers;
    found.longest.sort_by_key(|gap| Reverse(gap.length_ns));
    found.longest.truncate(MOST_TOLD);
    found
}

fn parts(spans: &TraceSpans, from_ns: u64, to_ns: u64) -> Vec<(usize, u64)> {
    let mut parts: Vec<(usize, u64)> = Vec::new();
    let first = spans.spans.partition_point(|span| span.to_ns <= from_ns);
    let overlapping = spans.spans[first..].iter().take_while(|span| span.from_ns < to_ns);
    // A span with an unknown end belongs only to the gap of its known end.
    let here = overlapping.filter(|span| {
        span.known_ns.is_none_or(|ns| from_ns <= ns + SLACK_NS && ns <= to_ns + SLACK_NS)
    });
    for span in here {
        let ns = span.to_ns.min(to_ns) - span.from_ns.max(from_ns);
        match parts.iter_mut().find(|(who, _)| *who == span.who) {
            Some((_, sum)) => *sum += ns,
            None => parts.push((span.who, ns)),
        }
    }
    parts.sort_by_key(|(_, ns)| Reverse(*ns));
    parts
}

impl GapCause {
    fn add(&mut self, ns: u64) {
        if ns > 0 {
            self.gaps += 1;
            self.total_us += us(ns);
            self.longest_us = self.longest_us.max(us(ns));
        }
    }

    fn round(&mut self) {
        self.total_us = (self.total_us * 1e3).round() / 1e3;
    }
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::trace::spans::CpuSpan;
    use proptest::prelude::*;

    fn spans(spans: &[(u64, u64, usize)]) -> TraceSpans {
        let spans = spans.iter().map(|&(from, to, who)| CpuSpan {
            from_ns: from * 1000,
            to_ns: to * 1000,
            who,
            known_ns: None,
        });
        TraceSpans {
            names: vec!["hog".into(), "local_timer".into()],
            spans: spans.collect(),
            first_ns: 0,
        }
    }

    fn gap(start_us: u64, length_us: u64) -> Gap {
        Gap { start_ns: start_us * 1000, length_ns: length_us * 1000, preempted_ns: None }
    }

    fn found(gaps: &[Gap], spans: &TraceSpans, from_us: u64) -> Traced {
        traced(gaps, spans, from_us * 1000, |gap| gap.start_ns)
    }

    #[test]
    fn gap_is_divided_among_its_takers() {
        let spans = spans(&[(8, 13, 1), (15, 30, 0), (60, 70, 0)]);
        let traced = found(&[gap(10, 10), gap(100, 50)], &spans, 0);
        insta::assert_snapshot!(serde_json::to_string(&traced).unwrap(), @r#"{"gaps":2,"gaps_before_trace":0,"takers":[{"who":"hog","gaps":1,"total_us":5.0,"longest_us":5.0},{"who":"local_timer","gaps":1,"total_us":3.0,"longest_us":3.0}],"unexplained":{"who":"","gaps":2,"total_us":52.0,"longest_us":50.0},"longest":[{"start_ns":100000,"length_ns":50000,"takers":[],"unexplained_us":50.0},{"start_ns":10000,"length_ns":10000,"takers":[{"who":"hog","us":5.0},{"who":"local_timer","us":3.0}],"unexplained_us":2.0}]}"#);
    }

    #[test]
    fn task_with_unseen_end_is_in_one_gap() {
        let mut spans = spans(&[(10, 200, 0)]);
        spans.spans[0].known_ns = Some(10_000);
        let traced = found(&[gap(9, 40), gap(100, 60)], &spans, 0);
        assert_eq!((traced.takers[0].gaps, traced.takers[0].total_us), (1, 39.0));
        assert_eq!(traced.unexplained.total_us, 1.0 + 60.0);
    }

    #[test]
    fn untraceable_gaps_are_counted_separately() {
        let traced = found(&[gap(10, 10), gap(30, 10), gap(50, 4)], &spans(&[]), 20);
        assert_eq!(
            (traced.gaps, traced.gaps_before_trace),
            (1, 1),
            "and a gap of 4 us is too short"
        );
    }

    proptest! {
        #[test]
        fn parts_sum_to_the_whole(
            steps in proptest::collection::vec((0u64..20, 1u64..20, 0usize..2), 0..30),
            gaps in proptest::collection::vec((0u64..500, 5u64..100), 1..30),
        ) {
            let mut now = 0;
            let times: Vec<_> = steps.iter().map(|(pause, length, who)| {
                let from = now + pause;
                now = from + length;
                (from, now, *who)
            }).collect();
            let gaps: Vec<Gap> = gaps.into_iter().map(|(start, length)| gap(start, length)).collect();
            let traced = found(&gaps, &spans(&times), 0);
            let shared: f64 = traced.takers.iter().map(|taker| taker.total_us).sum();
            let whole: f64 = gaps.iter().map(|gap| gap.length_ns as f64 / 1e3).sum();
            prop_assert!((shared + traced.unexplained.total_us - whole).abs() < 1e-3);
            for gap in &traced.longest {
                let parts: f64 = gap.takers.iter().map(|share| share.us).sum();
                prop_assert!((parts + gap.unexplained_us - gap.length_ns as f64 / 1e3).abs() < 1e-6);
                prop_assert!(gap.unexplained_us >= 0.0);
            }
        }
    }
}
