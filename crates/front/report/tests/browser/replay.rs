//! Tests the page that replays a recording: playing, hovering, and a thread's history.

use crate::devtools::Page;
use crate::{there_is_a_browser, troubles};
use seatmap_data::machine::{Pu, Topology};
use seatmap_watch::recording::{KnownThread, Ran, Recording, RecordingEntry, RecordingHeader};
use std::path::PathBuf;

/// A thread with a hostile name moves from CPU 0 to CPU 1.
fn recording() -> Recording {
    let pus = (0..2)
        .map(|os| Pu { os, core: Some(os), l3: Some(0), package: Some(0), ..Pu::default() })
        .collect();
    let known = |tid, name: &str| KnownThread {
        tid,
        pid: 7,
        program: "server".to_owned(),
        name: name.to_owned(),
        mask: "0-1".to_owned(),
    };
    let ran = |tid, cpu, run_percent| Ran { tid, cpu: Some(cpu), run_percent, ..Ran::default() };
    let look = |at_s, known, ran| RecordingEntry {
        at_s,
        cpus: vec![(0, Some(75.0)), (1, Some(25.0))],
        known,
        ended: Vec::new(),
        ran,
        wakes: None,
    };
    let both = vec![known(7, "<img src=x>"), known(8, "io")];
    let moments = vec![
        look(1.0, both, vec![ran(7, 0, 75.0), ran(8, 1, 25.0)]),
        RecordingEntry {
            wakes: Some(vec![(7, 8, 1234.5)]),
            ..look(2.0, Vec::new(), vec![ran(7, 0, 75.0)])
        },
        look(3.0, Vec::new(), vec![ran(7, 1, 25.0)]),
    ];
    Recording {
        header: RecordingHeader::new("desk", 0.0, &Topology { pus }, None),
        moments,
        is_cut_off: false,
    }
}

#[test]
fn a_recording_is_replayed() {
    if !there_is_a_browser() {
        return;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join("replay.html");
    std::fs::write(&file, seatmap_report::html::replay(&recording())).unwrap();
    let user_data = tempfile::tempdir().unwrap();
    let mut page = Page::open(user_data.path(), 1280, 900);
    page.navigate(&format!("file://{}", file.display()));

    assert_eq!(page.eval("document.querySelectorAll('#seats [data-cpu]').length"), 2);
    assert_eq!(page.text("#now"), "1.0 s");
    assert_eq!(
        page.eval("document.querySelector(\"[data-cpu='0']\").textContent"),
        "CPU 075 %<img src=x>"
    );
    let at = page.middle_of("[data-cpu='0']");
    page.hover(at);
    assert!(page.text("#seat").contains("<img src=x> (thread 7 of server): 75.0 %"));
    page.eval("{ const s = document.getElementById('time'); s.value = 1; s.dispatchEvent(new Event('input')); 1 }");
    let wakes = page.text("#wakes");
    assert_eq!(wakes, "<img src=x> (thread 7, CPU 0) wakes io (thread 8) 1235 times a second");
    page.eval("{ const s = document.getElementById('time'); s.value = 2; s.dispatchEvent(new Event('input')); 1 }");
    assert_eq!(page.text("#now"), "3.0 s");
    assert!(page.text("#seat").contains("no thread ran here"));
    assert_eq!(page.text("#wakes"), "No thread woke another one.");
    let at = page.middle_of("[data-cpu='1']");
    page.click(at);
    let story = page.text("#story");
    assert!(
        story.contains("changed its CPU at least 1 times") && story.contains("0-1 from 1.0 s on"),
        "{story}"
    );
    // At the end, playing restarts; it stops at the last sample by itself.
    page.eval("document.getElementById('play').click()");
    assert_eq!(page.text("#play"), "Pause");
    while page.text("#play") != "Play" {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(page.text("#now"), "3.0 s");
    page.screenshot(&folder.join("replay.png"));
    assert_eq!(troubles(&page), Vec::<String>::new());
}
