//! Noise: the summary for a terminal, and the page.

pub(crate) mod trace;

use crate::page::{Block, Page, PageSection, Table, cells, section};
use crate::words::{beyond, counted, duration, joined};
use crate::{sentence, svg};
use seatmap_health::noise::{Bin, CpuNoise, NoiseReport, Traced};

const SOURCES: usize = 5;

/// Bars of one to eight eighths.
pub(crate) const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The summary: the CPUs, their gaps by length, the causes, and the meters' own limits.
pub fn summary(report: &NoiseReport) -> Page {
    let cpus = counted(report.cpus.len(), "CPU");
    let sections = [section("CPUs", table(report)), gaps(report), sources(report)].into_iter();
    let meters = section("Meters", vec![meters(report)]);
    Page {
        lead: vec![format!("Noise of {cpus} in {:.2} s", report.seconds)],
        sections: sections.chain(trace::takers(report)).chain([meters]).collect(),
        ..Page::default()
    }
}

/// The page of a measurement: the gaps of each CPU as pictures, and all figures.
pub fn page(report: &NoiseReport) -> Page {
    let interrupted = if report.interrupted { ", interrupted" } else { "" };
    let cpus = counted(report.cpus.len(), "CPU");
    let pictures = Block::Beside(vec![
        ("How many, by length", svg::noise::lengths(report).picture().into()),
        ("When, and how long", svg::noise::timeline(report).picture().into()),
    ]);
    // Indices of columns: those of the detour loop with the steal, and those of FWQ.
    let of_meters = Block::Beside(vec![
        ("Detour loop", table(report).pick([0, 1, 2, 3, 4]).into()),
        ("FWQ: fixed work quanta", table(report).pick([0, 5, 8, 9, 6, 7]).into()),
    ]);
    let mut sections = vec![section("Gaps on each CPU", pictures), section("", of_meters)];
    for noise in &report.cpus {
        sections.push(
            section(format!("Events on CPU {}", noise.cpu), events(noise))
                .with(unexplained(noise).map(|share| format!("At {share}."))),
        );
        sections.extend(noise.trace.as_ref().map(|trace| {
            let left_out = trace::left_out(noise, trace).map(|what| format!("These are {what}."));
            let gaps = trace.longest.iter().map(trace::gap).chain(left_out);
            section(format!("Tasks and interrupts in gaps on CPU {}", noise.cpu), takers(trace))
                .with(Vec::from_iter(gaps))
        }));
    }
    sections.push(section("The meters", of_the_meters(report)));
    Page {
        lead: vec![format!("{cpus} for {:.2} s{interrupted}", report.seconds)],
        sections,
        footer: "Stolen, gaps and longest: detour loop. FWQ: fixed work quanta. The two alternate.",
        ..Page::new("Noise", sentence::of_noise(report))
    }
}

/// Detour loop and fixed work quanta.
fn table(report: &NoiseReport) -> Table {
    // In order of importance: a narrow terminal omits the last columns.
    let columns = "CPU:>3 | stolen:>7 | gaps/s:>9 | longest:>10 | steal:>6 | FWQ median:>10 | \
                   slowest:>10 | excess:>6 | p99:>10 | p99.9:>10";
    Table::new(columns).rows(report.cpus.iter().map(|noise| {
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
    let columns = "CPU:> | resolution:> | shortest gap:> | recording one:> | of the time:>";
    Table::new(columns).rows(report.cpus.iter().map(|noise| {
        cells![
            noise.cpu,
            duration(noise.meter.resolution_ns),
            duration(noise.meter.threshold_ns),
            duration(noise.meter.record_ns),
            percent(noise.meter.overhead_percent)
        ]
    }))
}

fn events(noise: &CpuNoise) -> Table {
    Table::new("event | count:> | per second:> | explains at most, of the gaps:>").rows(
        noise.sources.iter().map(|source| {
            let share = source.explains_at_most_percent;
            cells![
                &source.name,
                source.count,
                format!("{:.1}", source.per_second),
                share.map_or_else(String::new, |share| format!("{share:.1} %"))
            ]
        }),
    )
}

/// Causes of gaps of 5 us and more, from the kernel's trace.
fn takers(trace: &Traced) -> Table {
    let table = Table::new("task or interrupt | gaps:> | total:> | longest:>");
    let takers = trace.takers.iter().chain([&trace.unexplained]);
    table.rows(takers.map(|taker| {
        cells![trace::who(taker), taker.gaps, us(taker.total_us), us(taker.longest_us)]
    }))
}

fn us(us: f64) -> String {
    duration(us * 1e3)
}

fn percent(percent: f64) -> String {
    format!("{percent:.2} %")
}

/// A line for each CPU, a bar for each octave.
fn gaps(report: &NoiseReport) -> PageSection {
    let section = PageSection::new("Gaps");
    let octaves = || report.cpus.iter().flat_map(|noise| &noise.histogram).map(octave);
    let (Some(first), Some(last)) = (octaves().min(), octaves().max()) else {
        return section.with(vec!["No gaps.".to_owned()]);
    };
    let [from, to] = [first, last + 1].map(|octave| duration(f64::from(octave).exp2()));
    let bars = report.cpus.iter().map(|noise| {
        // All CPUs have the same octaves, so their bars can be compared.
        let bars: String =
            (first..=last).map(|octave| bar(count(&noise.histogram, octave))).collect();
        format!("  {:>3}  {bars}", noise.cpu).trim_end().to_owned() + "\n"
    });
    let scale = format!(
        "Gaps by length, one bar per octave from {from} to {to}; a full bar is 3163 or more"
    );
    section.with(vec![scale]).with(Block::Drawn(bars.collect()))
}

/// A gap of 0 ns has no logarithm; count it as 1 ns.
fn octave(bin: &Bin) -> u32 {
    bin.from_ns.max(1).ilog2()
}

fn count(bins: &[Bin], of: u32) -> u64 {
    bins.iter().filter(|bin| octave(bin) == of).map(|bin| bin.count).sum()
}

/// Two bars a decade.
fn bar(count: u64) -> char {
    match count {
        0 => ' ',
        // Half a decade each: about three times as many gaps.
        _ => BARS[((2.0 * (count as f64).log10()) as usize).min(BARS.len() - 1)],
    }
}

fn sources(report: &NoiseReport) -> PageSection {
    let rows = report.cpus.iter().flat_map(|noise| {
        let more = beyond(noise.sources.len(), SOURCES).map(|more| format!("and {more} more"));
        let shown = noise.sources.iter().take(SOURCES);
        let shown = shown.map(|source| format!("{} {:.1}", source.name, source.per_second));
        let named = joined(shown.chain(more), ", ");
        let named = if named.is_empty() { "none".into() } else { named };
        let share = unexplained(noise).map(|share| format!("at {share}"));
        let below = preempted(noise).into_iter().chain(share).map(|line| [String::new(), line]);
        std::iter::once([noise.cpu.to_string(), named]).chain(below)
    });
    let table = Table::new(":>3 |").rows(rows);
    section("Sources", vec!["Events per second".to_owned()]).with(table)
}

/// A cell can prevent this part of a gap.
fn preempted(noise: &CpuNoise) -> Option<String> {
    // Below 50 us, the meter does not look for other tasks.
    let taken_us = noise.longest_preemption_us.filter(|_| noise.longest_gap_us >= 50.0)?;
    Some(format!(
        "another task had the CPU for at most {} of a gap; the longest gap is {}",
        us(taken_us),
        us(noise.longest_gap_us)
    ))
}

/// `None` if it may be chance.
fn unexplained(noise: &CpuNoise) -> Option<String> {
    let share = noise.unexplained_at_least_percent.filter(|share| *share >= 1.0)?;
    Some(format!(
        "least {share:.0} % of the gaps have other causes: hypervisor, firmware or hardware"
    ))
}

fn meters(report: &NoiseReport) -> String {
    let worst = |figure: fn(&CpuNoise) -> f64| report.cpus.iter().map(figure).fold(0.0, f64::max);
    format!(
        "Meter: {}, resolution {}; gaps from {}; recording one takes {} ({:.2} % of the time, \
         excluded from all figures)",
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
    use crate::svg;

    #[test]
    fn summary_table_lists_cpus_and_gaps() {
        insta::assert_snapshot!(summary(&noise()).text(None), @r#"
        Noise of 2 CPUs in 2.00 s

          CPU   stolen     gaps/s     longest   steal  FWQ median     slowest  excess         p99       p99.9
            0   1.23 %      351.0    7.340 ms   0.5 %   32.000 us    8.007 ms  1.50 %   45.500 us  139.000 us
            1   0.00 %        2.0    300.0 ns       ?   32.000 us    8.007 ms  1.50 %   45.500 us  139.000 us

        Gaps by length, one bar per octave from 128.0 ns to 8.389 ms; a full bar is 3163 or more
            0  ▅     ▅        ▁
            1   ▁

        Events per second
            0  LOC Local timer interrupts 250.0, softirq TIMER 20.0, IRQ 36 virtio1-req.0 3.5
               another task had the CPU for at most 40.000 us of a gap; the longest gap is 7.340 ms
               at least 28 % of the gaps have other causes: hypervisor, firmware or hardware
            1  none

        Tasks and interrupts in gaps of 5 us and more, from the kernel's trace
          CPU     gaps       total     longest  task or interrupt
            0      251    3.260 ms   20.000 us  local_timer
            0        1   40.000 us   40.000 us  hog
            0      251    7.281 ms    7.280 ms  unexplained: hypervisor, firmware or hardware
               7.340 ms at 1.203 s: unexplained 7.280 ms, hog 40.000 us, local_timer 20.000 us
               3 more gaps are older than the trace

        Meter: tsc, resolution 17.6 ns; gaps from 141.0 ns; recording one takes 864.3 ns (0.03 % of the time, excluded from all figures)
        "#);
    }

    #[test]
    fn bars_grow_logarithmically() {
        let bars: String =
            [0, 1, 3, 4, 10, 100, 1000, 3999, 10_000, u64::MAX].into_iter().map(bar).collect();
        assert_eq!(bars, " ▁▁▂▃▅▇███");
    }

    #[test]
    fn quiet_cpus_show_no_gaps() {
        let mut quiet = noise();
        quiet.cpus.iter_mut().for_each(|noise| {
            noise.histogram.clear();
            noise.timeline.clear();
            noise.sources.clear();
        });
        let text = summary(&quiet).text(None);
        assert!(text.contains("No gaps.") && text.contains("none"));
        assert_eq!(svg::noise(&quiet).matches("class=\"gaps\"").count(), 0);
    }

    #[test]
    fn picture_has_one_row_per_cpu() {
        insta::assert_snapshot!("noise", svg::noise(&noise()).replace("><", ">\n<"));
    }

    #[test]
    fn hostile_names_are_escaped() {
        let mut hostile = noise();
        hostile.cpus[0].sources[0].name = "\u{1b}[31m</td><script>alert(1)</script>".into();
        assert!(!summary(&hostile).text(None).contains('\u{1b}'));
        assert!(!page(&hostile).html().contains("<script>alert"));
    }
}
