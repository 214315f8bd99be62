//! Noise in the terminal, and its page.

pub(crate) mod trace;

use crate::counted;
use crate::duration::duration;
use crate::page::draw::text_table;
use crate::page::{Block, Page, PageSection, Table};
use crate::{sentence, svg};
use seatmap_health::noise::{Bin, CpuNoise, NoiseReport, Traced};
use trace::NOBODY;

/// Sources that are named for each CPU.
const SOURCES: usize = 5;

/// Heights of a bar, from the lowest that is seen.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A table of the CPUs, their gaps by length, where they come from, and what the meters know of
/// themselves.
#[must_use]
pub fn summary(report: &NoiseReport) -> String {
    let head =
        format!("Noise of {} in {:.2} s\n\n", counted(report.cpus.len(), "CPU"), report.seconds);
    let text = head
        + &text_table(&table(report))
        + &gaps(report)
        + &sources(report)
        + &trace::takers(report)
        + &meters(report);
    seatmap_data::document::visible_lines(text)
}

/// The gaps of each CPU as pictures, and all figures.
pub(crate) fn page(report: &NoiseReport) -> Page {
    let interrupted = if report.interrupted { ", interrupted" } else { "" };
    let cpus = counted(report.cpus.len(), "CPU");
    let pictures = Block::Beside(vec![
        ("How many, by length", svg::noise::lengths(report).picture().into()),
        ("When, and how long", svg::noise::timeline(report).picture().into()),
    ]);
    // Columns by their place in the table: the loop's with the steal, and those of FWQ.
    let of_meters = Block::Beside(vec![
        ("Detour loop", table(report).pick([0, 1, 2, 3, 4]).into()),
        ("FWQ: fixed work quanta", table(report).pick([0, 5, 8, 9, 6, 7]).into()),
    ]);
    let mut sections = vec![
        PageSection::new("Gaps on each CPU").with(pictures),
        PageSection::new("").with(of_meters),
    ];
    for noise in &report.cpus {
        sections.push(
            PageSection::new(format!("What came to CPU {}", noise.cpu))
                .with(events(noise))
                .with(Vec::from_iter(unexplained(noise).map(|share| format!("At {share}.")))),
        );
        sections.extend(noise.trace.as_ref().map(|trace| {
            let left_out = trace::left_out(noise, trace).map(|what| format!("These are {what}."));
            let gaps = trace.longest.iter().map(trace::gap).chain(left_out);
            PageSection::new(format!("Who had CPU {} in its gaps", noise.cpu))
                .with(takers(trace))
                .with(gaps.collect::<Vec<_>>())
        }));
    }
    sections.push(PageSection::new("The meters").with(of_the_meters(report)));
    Page {
        lead: vec![format!("{cpus} for {:.2} s{interrupted}", report.seconds)],
        sections,
        footer: "Stolen, gaps and longest: detour loop. FWQ: fixed work quanta. Both take turns.",
        ..Page::new("Noise", sentence::of_noise(report))
    }
}

/// The findings of the detour loop and of the quanta on each CPU.
fn table(report: &NoiseReport) -> Table {
    // In the order of their weight: a narrow terminal leaves the last out.
    let heads = ["CPU", "stolen", "gaps/s", "longest", "steal"];
    let quanta = ["FWQ median", "slowest", "excess", "p99", "p99.9"];
    let table = Table::default().figures(heads).figures(quanta);
    table.least([3, 7, 9, 10, 6, 10, 10, 6, 10, 10]).rows(report.cpus.iter().map(|noise| {
        [
            noise.cpu.to_string(),
            percent(noise.stolen_percent),
            format!("{:.1}", noise.gaps_per_second),
            us(noise.longest_gap_us),
            noise.steal_percent.map_or("?".to_owned(), |percent| format!("{percent:.1} %")),
            us(noise.fwq_p50_us),
            us(noise.fwq_max_us),
            percent(noise.fwq_excess_percent),
            us(noise.fwq_p99_us),
            us(noise.fwq_p999_us),
        ]
    }))
}

fn of_the_meters(report: &NoiseReport) -> Table {
    let heads = ["CPU", "known to", "gaps from", "writing one down", "of the time"];
    Table::default().figures(heads).rows(report.cpus.iter().map(|noise| {
        [
            noise.cpu.to_string(),
            duration(noise.meter.resolution_ns),
            duration(noise.meter.threshold_ns),
            duration(noise.meter.record_ns),
            percent(noise.meter.overhead_percent),
        ]
    }))
}

/// The events that came while a CPU was watched.
fn events(noise: &CpuNoise) -> Table {
    let table = Table::default().words(["event"]);
    let table = table.figures(["count", "a second", "behind at most, of the gaps"]);
    table.rows(noise.sources.iter().map(|source| {
        let share = source.explains_at_most_percent;
        [
            source.name.clone(),
            source.count.to_string(),
            format!("{:.1}", source.per_second),
            share.map_or_else(String::new, |share| format!("{share:.1} %")),
        ]
    }))
}

/// The causes of the gaps of 5 us and more, by the kernel's trace.
fn takers(trace: &Traced) -> Table {
    let table = Table::default().words(["who"]).figures(["gaps", "in all", "in one at most"]);
    let takers = trace.takers.iter().chain([&trace.unexplained]);
    table.rows(takers.map(|taker| {
        let who = if taker.who.is_empty() { NOBODY } else { taker.who.as_str() };
        [who.to_owned(), taker.gaps.to_string(), us(taker.total_us), us(taker.longest_us)]
    }))
}

fn us(us: f64) -> String {
    duration(us * 1e3)
}

fn percent(percent: f64) -> String {
    format!("{percent:.2} %")
}

/// A line of bars a CPU, an octave a bar, each as high as the logarithm of its count.
fn gaps(report: &NoiseReport) -> String {
    let bins = || report.cpus.iter().flat_map(|noise| &noise.histogram);
    // A gap of 0 ns has no logarithm; it counts as one of 1 ns.
    let octaves = || bins().map(|bin| bin.from_ns.max(1).ilog2());
    let (Some(first), Some(last)) = (octaves().min(), octaves().max()) else {
        return "\nNo gaps.\n".to_owned();
    };
    let from = duration(exp2(first));
    let to = duration(exp2(last + 1));
    let mut text = format!(
        "\nGaps by length, an octave a bar from {from} to {to}; a full bar is 3163 or more\n"
    );
    for noise in &report.cpus {
        // All CPUs have the same octaves, so that bars below each other can be compared.
        let bars: String =
            (first..=last).map(|octave| bar(count(&noise.histogram, octave))).collect();
        text += format!("  {:>3}  {bars}", noise.cpu).trim_end();
        text.push('\n');
    }
    text
}

fn exp2(octave: u32) -> f64 {
    f64::from(octave).exp2()
}

fn count(bins: &[Bin], octave: u32) -> u64 {
    bins.iter().filter(|bin| bin.from_ns.max(1).ilog2() == octave).map(|bin| bin.count).sum()
}

/// The character for a count, with two bars a decade.
fn bar(count: u64) -> char {
    match count {
        0 => ' ',
        // Each character stands for half a decade: about three times as many gaps as the one
        // before.
        _ => BARS[((2.0 * (count as f64).log10()) as usize).min(BARS.len() - 1)],
    }
}

fn sources(report: &NoiseReport) -> String {
    let mut text = "\nWhat came meanwhile, a second\n".to_owned();
    for noise in &report.cpus {
        let named: Vec<String> = noise.sources.iter().take(SOURCES).map(source).collect();
        let more = noise.sources.len().saturating_sub(SOURCES);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        text += &format!(
            "  {:>3}  {}{more}\n",
            noise.cpu,
            if named.is_empty() { "nothing".into() } else { named.join(", ") }
        );
        text += &preempted(noise);
        text.extend(unexplained(noise).map(|share| format!("       at {share}\n")));
    }
    text
}

fn source(source: &seatmap_health::noise::NoiseSource) -> String {
    format!("{} {:.1}", source.name, source.per_second)
}

/// The time that another task took of a long gap, which a cell can prevent; empty for short gaps.
fn preempted(noise: &CpuNoise) -> String {
    match noise.longest_preemption_us {
        // The meter asks whether another task ran only at gaps of 50 us and more.
        Some(us) if noise.longest_gap_us >= 50.0 => format!(
            "       another task had the CPU for {} of a gap at most; the longest gap is {}\n",
            duration(us * 1e3),
            duration(noise.longest_gap_us * 1e3)
        ),
        _ => String::new(),
    }
}

/// Said where it is more than chance.
fn unexplained(noise: &CpuNoise) -> Option<String> {
    let share = noise.unexplained_at_least_percent.filter(|share| *share >= 1.0)?;
    Some(format!(
        "least {share:.0} % of the gaps are none of these: hypervisor, firmware or hardware"
    ))
}

/// The worst of the meters.
fn meters(report: &NoiseReport) -> String {
    let worst = |figure: fn(&CpuNoise) -> f64| report.cpus.iter().map(figure).fold(0.0, f64::max);
    format!(
        "\nMeter: {}, known to {}; gaps from {} on; writing one down takes {}, {:.2} % of the \
         time, in no figure\n",
        report.clock,
        duration(worst(|noise| noise.meter.resolution_ns)),
        duration(worst(|noise| noise.meter.threshold_ns)),
        duration(worst(|noise| noise.meter.record_ns)),
        worst(|noise| noise.meter.overhead_percent)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::noise;
    use crate::{html, svg};

    #[test]
    fn the_table() {
        insta::assert_snapshot!(summary(&noise()), @r#"
        Noise of 2 CPUs in 2.00 s

          CPU   stolen     gaps/s     longest   steal  FWQ median     slowest  excess         p99       p99.9
            0   1.23 %      351.0    7.340 ms   0.5 %   32.000 us    8.007 ms  1.50 %   45.500 us  139.000 us
            1   0.00 %        2.0    300.0 ns       ?   32.000 us    8.007 ms  1.50 %   45.500 us  139.000 us

        Gaps by length, an octave a bar from 128.0 ns to 8.389 ms; a full bar is 3163 or more
            0  ▅     ▅        ▁
            1   ▁

        What came meanwhile, a second
            0  LOC Local timer interrupts 250.0, softirq TIMER 20.0, IRQ 36 virtio1-req.0 3.5
               another task had the CPU for 40.000 us of a gap at most; the longest gap is 7.340 ms
               at least 28 % of the gaps are none of these: hypervisor, firmware or hardware
            1  nothing

        Who had the CPU in gaps of 5 us and more, by the kernel's trace
          CPU     gaps      in all  in one gap  who
            0      251    3.260 ms   20.000 us  local_timer
            0        1   40.000 us   40.000 us  hog
            0      251    7.281 ms    7.280 ms  nobody in the kernel: hypervisor, firmware or hardware
               7.340 ms at 1.203 s: nobody 7.280 ms, hog 40.000 us, local_timer 20.000 us
               3 more gaps are older than what the trace could hold

        Meter: tsc, known to 17.6 ns; gaps from 141.0 ns on; writing one down takes 864.3 ns, 0.03 % of the time, in no figure
        "#);
    }

    #[test]
    fn bars_grow_with_the_logarithm() {
        let bars: String =
            [0, 1, 3, 4, 10, 100, 1000, 3999, 10_000, u64::MAX].into_iter().map(bar).collect();
        assert_eq!(bars, " ▁▁▂▃▅▇███");
    }

    #[test]
    fn a_quiet_room_has_no_gaps_to_draw() {
        let mut quiet = noise();
        quiet.cpus.iter_mut().for_each(|noise| {
            noise.histogram.clear();
            noise.timeline.clear();
            noise.sources.clear();
        });
        assert!(summary(&quiet).contains("No gaps.") && summary(&quiet).contains("nothing"));
        assert_eq!(svg::noise(&quiet).matches("class=\"gaps\"").count(), 0);
    }

    #[test]
    fn a_picture_has_a_row_a_cpu() {
        insta::assert_snapshot!("noise", svg::noise(&noise()).replace("><", ">\n<"));
    }

    #[test]
    fn names_stay_text() {
        let mut hostile = noise();
        hostile.cpus[0].sources[0].name = "\u{1b}[31m</td><script>alert(1)</script>".into();
        assert!(!summary(&hostile).contains('\u{1b}'));
        assert!(!html::noise(&hostile).contains("<script>alert"));
    }
}
