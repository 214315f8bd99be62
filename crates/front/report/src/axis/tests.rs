//! Tests round values and their texts, and that no label repeats.

use super::*;
use proptest::prelude::*;

fn texts(axis: &Axis, most: usize) -> Vec<String> {
    Vec::from_iter(axis.ticks(most).into_iter().map(|tick| tick.text))
}

fn shown(low: f64, high: f64, unit: AxisUnit, most: usize) -> String {
    texts(&Axis::of([low, high].into_iter(), unit).unwrap(), most).join(", ")
}

#[test]
fn ticks_are_round_and_have_units() {
    let cases = [
        (3.1, 88.0, AxisUnit::Time),
        (0.07, 0.31, AxisUnit::Time),
        (0.0, 0.3, AxisUnit::Number),
        (12.0, 3.4e6, AxisUnit::Time),
        (0.0, 2_600.0, AxisUnit::Time),
        (41.0, 47.0, AxisUnit::Time),
        (1.004e6, 1.009e6, AxisUnit::Time),
        (24.0, 160.0, AxisUnit::Nanoseconds),
        (24.0, 600.0, AxisUnit::Nanoseconds),
        (1.0, 16_384.0, AxisUnit::Bytes),
        (1.0, 8.0, AxisUnit::Doublings),
        (128.0, 2048.0, AxisUnit::Doublings),
        (1.0, 120.0, AxisUnit::Whole),
        (1.0, 3.0, AxisUnit::Whole),
        (4.0, 240.0, AxisUnit::Cpu),
        (1.0, 60.0, AxisUnit::Cpu),
        (0.0, 25_600.0, AxisUnit::Number),
        (-12.0, 63.0, AxisUnit::Percent),
        (0.4, 63.0, AxisUnit::Percent),
    ];
    let line = |(low, high, unit): (f64, f64, AxisUnit)| {
        format!("{low} to {high}: {}", shown(low, high, unit, 7))
    };
    insta::assert_snapshot!(cases.map(line).join("\n"), @"
    3.1 to 88: 5 ns, 10 ns, 20 ns, 50 ns
    0.07 to 0.31: 0.1 ns, 0.15 ns, 0.2 ns, 0.25 ns, 0.3 ns
    0 to 0.3: 0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3
    12 to 3400000: 100 ns, 1 us, 10 us, 100 us, 1 ms
    0 to 2600: 0, 0.5 us, 1 us, 1.5 us, 2 us, 2.5 us
    41 to 47: 41 ns, 42 ns, 43 ns, 44 ns, 45 ns, 46 ns, 47 ns
    1004000 to 1009000: 1.004 ms, 1.005 ms, 1.006 ms, 1.007 ms, 1.008 ms, 1.009 ms
    24 to 160: 50, 100, 150
    24 to 600: 50, 100, 200, 500
    1 to 16384: 4, 32, 256, 2 Ki, 16 Ki
    1 to 8: 1, 2, 4, 8
    128 to 2048: 128, 256, 512, 1024, 2048
    1 to 120: 1, 20, 40, 60, 80, 100, 120
    1 to 3: 1, 2, 3
    4 to 240: 50, 100, 150, 200
    1 to 60: 10, 20, 30, 40, 50, 60
    0 to 25600: 0, 5k, 10k, 15k, 20k, 25k
    -12 to 63: 0, 20, 40, 60
    0.4 to 63: 20, 40, 60
    ");
}

#[test]
fn cpu_axis_is_never_logarithmic() {
    let axis = Axis::of([1.0, 1000.0].into_iter(), AxisUnit::Cpu).unwrap();
    assert!((axis.position(500.5) - 0.5).abs() < 1e-12);
    let times = Axis::of([1.0, 1000.0].into_iter(), AxisUnit::Time).unwrap();
    assert!(times.position(500.5) > 0.8);
}

#[test]
fn axis_handles_single_value_and_none() {
    assert!(Axis::of([f64::NAN].into_iter(), AxisUnit::Time).is_none());
    let axis = Axis::of([80.0].into_iter(), AxisUnit::Time).unwrap();
    assert_eq!((axis.position(80.0), axis.ticks(5).len()), (0.5, 1));
    let wide = axis.widened(5);
    assert!(wide.ticks(5).len() >= 2 && wide.position(80.0) < 1.0, "{wide:?}");
    let zero = Axis::of([0.0].into_iter(), AxisUnit::Number).unwrap().widened(4);
    assert_eq!(texts(&zero, 4), ["0", "0.5", "1"]);
}

#[test]
fn widened_axis_has_round_ends() {
    let texts = |axis: Axis| {
        Vec::from_iter(axis.ticks(9).into_iter().map(|tick| (tick.position, tick.text)))
    };
    let linear = texts(Axis::of([1013.0, 1513.0].into_iter(), AxisUnit::Time).unwrap().widened(6));
    assert_eq!((&*linear[0].1, linear[0].0), ("1 us", 0.0));
    assert_eq!(linear.last().map(|(at, text)| (*at, &**text)), Some((1.0, "1.6 us")));
    let log = texts(Axis::of([31.0, 9_800.0].into_iter(), AxisUnit::Time).unwrap().widened(9));
    assert_eq!((&*log[0].1, &*log.last().unwrap().1), ("20 ns", "10 us"));
}

#[test]
fn root_axis_spreads_small_values() {
    let axis = Axis::new(0.0, 100.0, Scaling::Root, AxisUnit::Number);
    assert_eq!(axis.position(25.0), 0.5);
    assert_eq!(texts(&axis, 6), ["0", "20", "40", "60", "80", "100"]);
}

const UNITS: [AxisUnit; 8] = [
    AxisUnit::Time,
    AxisUnit::Nanoseconds,
    AxisUnit::Bytes,
    AxisUnit::Doublings,
    AxisUnit::Number,
    AxisUnit::Percent,
    AxisUnit::Whole,
    AxisUnit::Cpu,
];

proptest! {
    #[test]
    fn ticks_are_ordered_and_labels_unique(
        low in 1e-3f64..1e9, by in 1.0001f64..1e6, most in 2usize..12, unit in 0usize..8
    ) {
        let axis = Axis::of([low, low * by].into_iter(), UNITS[unit]).unwrap();
        let ticks = axis.ticks(most);
        prop_assert!(ticks.len() <= most + 1, "{ticks:?}");
        for two in ticks.windows(2) {
            prop_assert!(two[0].value < two[1].value && two[0].position < two[1].position, "{two:?}");
            prop_assert_ne!(&two[0].text, &two[1].text);
        }
        prop_assert!(ticks.iter().all(|tick| (0.0..=1.0).contains(&tick.position)));
        let wide = axis.widened(most);
        prop_assert!(wide.low <= low * (1.0 + 1e-9) && wide.high >= low * by * (1.0 - 1e-9));
        prop_assert!(most < 4 || wide.ticks(most).len() >= 2 || matches!(unit, 2 | 3), "{wide:?}");
    }
}
