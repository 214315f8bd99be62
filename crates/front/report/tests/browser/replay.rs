//! Tests the page that replays a recording: playing, hovering, and a thread's history.

use crate::devtools::Page;
use crate::troubles;
use seatmap_watch::recording::Recording;

#[test]
fn a_recording_is_replayed() {
    let Some(mut page) = Page::open(1280, 900) else { return };
    // A thread with a hostile name moves from CPU 0 to CPU 1.
    let recording = Recording::read(include_str!("recording.jsonl")).expect("a recording");
    page.show("replay", &seatmap_report::html::replay(&recording));
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
    page.screenshot("replay");
    assert_eq!(troubles(&page), Vec::<String>::new());
}
