//! Core distance of the first two PUs, batch by batch: the smallest program on the host testbed.

use seatmap_data::port::{Addr, Testbed};
use seatmap_machines::host::HostTestbed;
use seatmap_machines::workload::PingPong;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pus = seatmap_os::affinity::current()?;
    let [first, second, ..] = pus[..] else { return Err("two PUs are needed".into()) };
    let mut host = HostTestbed::new(vec![first, second], 128)?;
    println!("clock {} step {:.3} ns", host.clock().source().word(), host.clock_step_ns());
    let workload =
        PingPong { lines: vec![Addr::line(64)], gate: Addr::line(0), batches: 16, round_trips: 50 };
    for _ in 0..8 {
        let start = std::time::Instant::now();
        let traces = host.run(&[first, second], &workload)?;
        let later = traces.iter().max_by_key(|trace| trace.stamps[0].ticks).ok_or("no trace")?;
        let batches: Vec<String> = later
            .stamps
            .windows(2)
            .map(|pair| {
                format!("{:.1}", {
                    (pair[1].ticks - pair[0].ticks) as f64 * host.ns_per_tick() / 50.0
                })
            })
            .collect();
        println!(
            "{} ns, interrupted {}, visit {:?}",
            batches.join(" "),
            later.interruptions,
            start.elapsed()
        );
    }
    Ok(())
}
