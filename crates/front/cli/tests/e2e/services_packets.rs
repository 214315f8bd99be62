//! `seatmap services apply --rps` on a network card in its own namespace.

use crate::common::{Guarded, Place, stderr, stdout};
use seatmap_os::CpuSet;
use std::process::{Command, Stdio};

/// Prints the setting of a new card before, during and after a plan. Exit code 77: this user cannot
/// create a card.
const SCRIPT: &str = r#"
mount -t sysfs sysfs /sys && ip link add v0 type veth peer name v1 || exit 77
queue=/sys/class/net/v0/queues/rx-0/rps_cpus
echo "$ALL" >$queue || exit 77
cat $queue
"$0" services apply plan.json --ttl 1h --rps >said || exit 3
cat $queue
"$0" services undo >>said || exit 3
cat $queue
"#;

#[test]
fn packet_steering_avoids_quiet_cpus_until_undo() {
    let place = Place::new();
    let cpus = seatmap_os::affinity::current().unwrap();
    let [quiet, other, ..] = cpus[..] else {
        return seatmap_needs::skipped!("there is one CPU");
    };
    let sleeper = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
    let mut sleeper = Guarded(sleeper);
    let file = format!(
        "format = \"seatmap-services/1\"\n[[service]]\nname = \"a\"\npid = {}\nquiet = true\n",
        sleeper.id()
    );
    place.file("services.toml", file);
    place.stdout("services plan --seconds 300ms -o plan.json");
    let mut plan = place.read_json("plan.json");
    plan["services"][0]["cpus"] = quiet.to_string().into();
    plan["services"][0]["nodes"] = "".into();
    plan["interrupts"] = other.to_string().into();
    place.file("plan.json", plan.to_string());
    let [all, expected] = [vec![quiet, other], vec![other]]
        .map(|cpus| cpus.into_iter().collect::<CpuSet>().to_mask());
    let mut unshare = place.command_of("unshare");
    unshare.args(["-n", "-m", "sh", "-c", SCRIPT, crate::PROGRAM]);
    unshare.env("SEATMAP_RUN", place.path("run")).env("ALL", &all);
    let output = unshare.output();
    let _ = sleeper.kill();
    let _ = sleeper.wait();
    // 1 is unshare's own exit code, if this user cannot create a namespace.
    let refused = [Some(1), Some(77)];
    let Some(output) = output.ok().filter(|output| !refused.contains(&output.status.code())) else {
        return seatmap_needs::skipped!("no network namespace with a card can be made");
    };
    let told = stderr(&output);
    let printed = stdout(&output);
    let masks: Vec<Option<CpuSet>> = printed.lines().map(CpuSet::of_mask).collect();
    let sets = [all.clone(), expected, all].map(|mask| CpuSet::of_mask(&mask));
    assert_eq!(masks, sets, "{told}");
}
