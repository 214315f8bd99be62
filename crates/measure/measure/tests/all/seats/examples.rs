//! Runs the examples.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MOST: u16 = 256;
const SIDE: u32 = 16;

/// An example's program. `make test` builds all in advance and sets a variable; a single test
/// builds its own.
fn program(package: &str, name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    if std::env::var_os("SEATMAP_EXAMPLES_BUILT").is_none() {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--frozen", "--package", package, "--example", name]);
        cargo.arg("--target-dir").arg(target).current_dir(env!("CARGO_MANIFEST_DIR"));
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        assert!(cargo.status().unwrap().success(), "{name}");
    }
    target
        .join(if cfg!(debug_assertions) { "debug" } else { "release" })
        .join("examples")
        .join(name)
}

fn run([package, name]: [&str; 2], arguments: &[&str], state: &Path) -> Output {
    Command::new(program(package, name))
        .args(arguments)
        .env("XDG_STATE_HOME", state)
        .output()
        .unwrap()
}

fn decoded(path: &Path) -> Vec<u8> {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(
        (frame.width, frame.height, frame.color_type),
        (SIDE, SIDE, png::ColorType::Grayscale)
    );
    pixels
}

/// The iterations of z -> z^2 + c that stay within 2 of the origin.
fn iterations(re: f64, im: f64) -> u16 {
    let step = |(x, y): &(f64, f64)| Some((x * x - y * y + re, 2.0 * x * y + im));
    let points = std::iter::successors(Some((0.0, 0.0)), step);
    let inside = points.take(MOST.into()).take_while(|(x, y): &(f64, f64)| x * x + y * y <= 4.0);
    inside.count() as u16
}

fn plain(frame: i32) -> Vec<u8> {
    let step = 3.0 * 0.9_f64.powi(frame) / f64::from(SIDE);
    let from_middle = |at: u32| (f64::from(at) - 0.5 * f64::from(SIDE - 1)) * step;
    // A message has up to 24 points, from the first one on.
    let count = |row: u32, column: u32| {
        let re = -0.743_643_887 + from_middle(column / 24 * 24) + f64::from(column % 24) * step;
        iterations(re, 0.131_825_904 + from_middle(row))
    };
    let grey = |count: u16| if count == MOST { 0 } else { 255 - count.min(254) as u8 };
    (0..SIDE)
        .flat_map(|row| (0..SIDE).map(move |column| (row, column)))
        .map(|(row, column)| grey(count(row, column)))
        .collect()
}

#[test]
fn rendered_frames_match_a_plain_computation() {
    let folder = tempfile::tempdir().unwrap();
    let frames = folder.path().join("frames");
    let output = run(
        ["seatmap-bench", "mandelbrot"],
        &[frames.to_str().unwrap(), "2", &SIDE.to_string()],
        folder.path(),
    );
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.starts_with("2 frames with the initial seats: "), "{text}");
    for frame in 0..2 {
        assert_eq!(decoded(&frames.join(format!("{frame:03}.png"))), plain(frame), "frame {frame}");
    }
    assert!(plain(0).contains(&0) && plain(0).iter().any(|grey| *grey > 200), "a picture");
}

#[test]
fn unmeasured_host_gives_no_seats() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(["seatmap-bench", "producer_consumer"], &["100"], folder.path());
    assert!(!output.status.success());
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("this host has not been measured yet")
    );
}
