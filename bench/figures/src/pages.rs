//! Reading and drawing a profile of 512 PUs, in a process of its own so that its memory can be
//! measured.

use crate::row::Row;
use seatmap_machine::{CoreDistance, Matrix, Origin, OriginKind, Profile, Pu, Topology};
use seatmap_measure::fit;
use seatmap_report::html;
use std::error::Error;
use std::process::Command;
use std::time::Instant;

const PUS: u32 = 512;
const LIMIT_S: f64 = 1.0;
const LIMIT_MB: f64 = 200.0;

/// The variable that turns this program into the child that reads and draws.
const CHILD: &str = "SEATMAP_BENCH_PAGE";

/// Seconds and peak memory from JSON text to HTML text.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    // The child is this bench once more, with a file to read.
    if let Ok(path) = std::env::var(CHILD) {
        return child(&path);
    }
    let path = std::env::temp_dir().join(format!("seatmap-bench-{}.json", std::process::id()));
    std::fs::write(&path, large().to_json())?;
    let output = Command::new(std::env::current_exe()?).arg("pages").env(CHILD, &path).output();
    // Removed before the child's result is looked at, so that no file is left behind.
    let removed = std::fs::remove_file(&path);
    let output = output?;
    removed?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let (Some(seconds), Some(megabytes), Some(html)) =
        (figure(&stderr, "seconds"), figure(&stderr, "megabytes"), figure(&stderr, "html"))
    else {
        return Err(format!("the child said: {stderr}").into());
    };
    let got = format!("{seconds:.2} s, {megabytes:.0} MB at most, {html:.1} MB of HTML");
    let target = format!("< {LIMIT_S} s, < {LIMIT_MB} MB");
    let met = seconds < LIMIT_S && megabytes < LIMIT_MB;
    Ok(vec![Row::held(format!("profile of {PUS} PUs to HTML"), got, target, met)])
}

fn figure(stderr: &str, name: &str) -> Option<f64> {
    stderr.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok())
}

/// Does the work and prints its figures on stderr.
fn child(path: &str) -> Result<Vec<Row>, Box<dyn Error>> {
    let started = Instant::now();
    let profile = Profile::from_json(&std::fs::read_to_string(path)?)?;
    let page = html::page(&profile, None, &[]);
    let seconds = started.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak_kb = status.lines().find_map(|line| {
        // "VmHWM:\t  123456 kB", proc_pid_status(5).
        line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse::<f64>().ok()
    });
    eprintln!(
        "seconds {seconds}\nmegabytes {}\nhtml {}",
        peak_kb.unwrap_or(f64::NAN) / 1024.0,
        page.len() as f64 / 1e6
    );
    Ok(Vec::new())
}

/// Two packages of eight caches of sixteen cores of two threads, every matrix filled, no two cells
/// alike.
fn large() -> Profile {
    let topology = Topology {
        pus: (0..PUS)
            .map(|os| Pu {
                os,
                core: Some(os / 2),
                smt: Some(os % 2),
                l3: Some(os / 32),
                package: Some(os / 256),
                ..Pu::default()
            })
            .collect(),
    };
    let mut rng = fastrand::Rng::with_seed(1);
    let mut median_ns = Matrix::filled(PUS as usize, 0.0);
    for i in 0..PUS {
        for j in i + 1..PUS {
            let level = if i / 2 == j / 2 {
                20.0
            } else if i / 32 == j / 32 {
                45.0
            } else if i / 256 == j / 256 {
                210.0
            } else {
                400.0
            };
            median_ns.set_both(i as usize, j as usize, level + 20.0 * rng.f64());
        }
    }
    let mut distance = CoreDistance::imported((0..PUS).collect(), median_ns.clone());
    distance.p10_ns = Some(median_ns.clone());
    distance.mad_ns = Some(median_ns.clone());
    distance.ci95_low_ns = Some(median_ns.clone());
    distance.ci95_high_ns = Some(median_ns);
    let origin = Origin {
        kind: OriginKind::Model,
        source: "made up for a bench".to_owned(),
        date: None,
        tool: None,
    };
    let mut profile = Profile::new("large", origin, topology);
    profile.home_model = fit::explain(&distance, &profile.topology);
    profile.core_distance = Some(distance);
    profile
}
