//! Refusals: exit code 2, and one line with the location and a remedy.

use crate::common::{Place, stderr};
use std::process::Command;

#[test]
fn cpu_outside_mask_is_refused() {
    let cpus = seatmap_os::affinity::current().unwrap();
    let [first, second, ..] = cpus[..] else {
        return seatmap_needs::skipped!("two CPUs are needed");
    };
    let place = Place::new();
    let arguments = ["measure", "--cpus", &format!("{first},{second}")];
    let output = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                seatmap_os::affinity::pin(&[first]).unwrap();
                (place.run(arguments), place.run("measure"))
            })
            .join()
            .unwrap()
    });
    assert!(stderr(&output.0).contains(&format!(
        "CPU {second} is outside the CPUs that this process may use, {first}:"
    )));
    assert!(stderr(&output.1).contains("need at least two CPUs"));
    assert_eq!((output.0.status.code(), output.1.status.code()), (Some(2), Some(2)));
}

#[test]
fn only_plain_files_are_read() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
    let verbs = [
        "show FILE",
        "import FILE",
        "export FILE --format csv",
        "compare FILE graviton3",
        "place --on FILE --pattern ring:2",
        "place --on graviton3 --pattern ./FILE",
        "place --on graviton3 --pattern ring:2 --load ./FILE",
        "place --qaplib FILE",
        "pattern show ./FILE",
        "run --plan FILE -- true",
        "check --expect FILE --pid 1",
        "check --baseline FILE --pid 1",
        "bench --baseline FILE --runs 1 -- true",
        "bench --file FILE",
        "bench history FILE",
        "observe --recording FILE",
        "run --replay FILE",
        "services plan --record FILE",
        "services apply FILE",
        "services import FILE",
        "cluster doctor FILE",
        "services plan FILE",
    ];
    for file in ["/dev/urandom", "pipe", "socket"] {
        for verb in verbs {
            let named =
                if file.starts_with('/') { verb.replace("./FILE", file) } else { verb.into() };
            let words = named.replace("FILE", file);
            let words: Vec<&str> = words.split(' ').collect();
            let said = place.refusal(&words);
            assert!(said.contains("not a regular file"), "{words:?}: {said}");
        }
    }
    let large = place.file("large.json", "{");
    let file = std::fs::File::options().write(true).open(place.path(large)).unwrap();
    file.set_len(1 << 40).unwrap();
    place.refuses(
        ["bench", "--baseline", large, "--runs", "1", "--", "true"],
        "large.json: is too long; no more than 536870912 B",
    );
}
