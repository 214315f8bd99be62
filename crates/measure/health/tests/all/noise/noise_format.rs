//! Compares the JSON Schema in `docs/formats/` with a written report, in both directions.
#![expect(clippy::unwrap_used, reason = "a helper that finds its input broken fails the test")]

use seatmap_data::document::schema::{never_written, refused};
use seatmap_health::noise::{
    Bin, CpuNoise, FORMAT, Gap, GapCause, GapShare, MeterCalibration, NoiseReport, NoiseSource,
    OnCpu, ProgramNoise, Traced, TracedGap,
};
use serde_json::{Value, json};

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../../../../docs/formats/seatmap-noise-1.schema.json"))
        .unwrap()
}

const NOTHING: [&str; 0] = [];

/// No `..Default`: a new field must be added here and to the schema.
fn full() -> NoiseReport {
    let cpu = CpuNoise {
        cpu: 3,
        stolen_percent: 1.5,
        gaps: 200,
        gaps_per_second: 200.0,
        longest_gap_us: 12.5,
        longest_preemption_us: Some(8.0),
        histogram: vec![Bin { from_ns: 128, to_ns: 160, count: 200 }],
        timeline: vec![Gap { start_ns: 0, length_ns: 12_500, preempted_ns: Some(8_000) }],
        fwq_quanta: 30_000,
        fwq_min_us: 31.0,
        fwq_p50_us: 32.0,
        fwq_p99_us: 33.0,
        fwq_p999_us: 34.0,
        fwq_max_us: 35.0,
        fwq_excess_percent: 2.0,
        steal_percent: Some(0.0),
        sources: vec![NoiseSource {
            name: "LOC".into(),
            count: 9,
            per_second: 4.5,
            explains_at_most_percent: Some(2.0),
        }],
        unexplained_at_least_percent: Some(98.0),
        trace: Some(traced()),
        meter: MeterCalibration {
            resolution_ns: 17.5,
            threshold_ns: 140.0,
            record_ns: 400.0,
            overhead_percent: 0.1,
            detour_seconds: 1.0,
            fwq_seconds: 1.0,
        },
    };
    let mut unknown = cpu.clone();
    (unknown.steal_percent, unknown.unexplained_at_least_percent, unknown.trace) =
        (None, None, None);
    unknown.sources[0].explains_at_most_percent = None;
    NoiseReport {
        format: FORMAT,
        seconds: 2.0,
        interrupted: true,
        clock: "tsc",
        cpus: vec![cpu, unknown],
    }
}

fn traced() -> Traced {
    let taker = GapCause { who: "softirq RCU".into(), gaps: 1, total_us: 8.0, longest_us: 8.0 };
    let takers = vec![GapShare { who: taker.who.clone(), us: 8.0 }];
    Traced {
        gaps: 1,
        gaps_before_trace: 0,
        unexplained: GapCause { who: String::new(), total_us: 4.5, longest_us: 4.5, ..taker },
        takers: vec![taker],
        longest: vec![TracedGap { start_ns: 0, length_ns: 12_500, takers, unexplained_us: 4.5 }],
    }
}

#[test]
fn report_keys_match_the_schema() {
    let mut report = serde_json::to_value(full()).unwrap();
    assert_eq!(refused(&schema(), &report), NOTHING);
    // The command line adds the machine.
    report["machine"] = "desk".into();
    assert_eq!(refused(&schema(), &report), NOTHING);
    assert_eq!(never_written(&schema(), std::slice::from_ref(&report)), NOTHING);
    for missing in [
        "/cpus/0/sources",
        "/cpus/0/fwq_p999_us",
        "/cpus/1/meter",
        "/cpus/0/steal_percent",
        "/cpus/0/trace/longest",
    ] {
        let (object, key) = missing.rsplit_once('/').unwrap();
        let mut poorer = report.clone();
        poorer.pointer_mut(object).unwrap().as_object_mut().unwrap().remove(key);
        assert_ne!(refused(&schema(), &poorer), NOTHING, "{missing}");
    }
}

#[test]
fn program_noise_matches_the_seating_schema() {
    let text = include_str!("../../../../../../docs/formats/seatmap-seating-1.schema.json");
    let seatings: Value = serde_json::from_str(text).unwrap();
    let schema = json!({ "$ref": "#/$defs/ProgramNoise", "$defs": seatings["$defs"] });
    let source = NoiseSource {
        name: "LOC".into(),
        count: 9,
        per_second: 4.5,
        explains_at_most_percent: None,
    };
    let cpu = OnCpu {
        cpu: 3,
        interrupts_per_second: 4.5,
        steal_percent: Some(0.0),
        sources: vec![source],
    };
    let heard =
        serde_json::to_value(ProgramNoise { seconds: 2.0, preemptions: 1, cpus: vec![cpu] })
            .unwrap();
    assert_eq!(refused(&schema, &heard), NOTHING);
}
