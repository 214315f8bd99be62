//! Tests the HTML page in a real browser: it opens, hovers, reorders and switches without errors
//! and requests.

mod devtools;
#[path = "../../src/tests/noise.rs"]
mod noise;
mod replay;
mod sample;

use devtools::Page;
use seatmap_measure::classes::grouped_order;

fn cell(page: &mut Page, row: usize, column: usize) -> (f64, f64) {
    let map = page.eval(
        "(() => { const m = document.getElementById('map'); m.scrollIntoView(); const b = m.getBoundingClientRect();
         return [b.x, b.y, b.width, b.height] })()",
    );
    let [x, y, width, height] = [0, 1, 2, 3].map(|at| map[at].as_f64().expect("a number"));
    let middle = |at: usize| (at as f64 + 0.5) / 16.0;
    // The labels take 44 pixels at the left and 24 above.
    (x + 44.0 + (width - 44.0) * middle(column), y + 24.0 + (height - 24.0) * middle(row))
}

fn hover_at(page: &mut Page, row: usize, column: usize) -> String {
    let at = cell(page, row, column);
    page.hover(at);
    page.text("#tip")
}

/// The row of a PU in group order; the rows of the sample's matrices are its PUs.
fn place(pu: usize) -> usize {
    grouped_order(&sample::profile()).iter().position(|row| *row == pu).expect("every PU is shown")
}

fn hover(page: &mut Page, a: usize, b: usize) -> String {
    hover_at(page, place(a), place(b))
}

/// Console errors, exceptions, and requests for anything but the file.
fn troubles(page: &Page) -> Vec<String> {
    let is_trouble = |event: &&serde_json::Value| {
        let params = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => params["type"] == "error",
            Some("Log.entryAdded") => params["entry"]["level"] == "error",
            Some("Network.requestWillBeSent") => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                !url.starts_with("file:") && !url.starts_with("data:")
            }
            _ => false,
        }
    };
    page.events.iter().filter(is_trouble).map(ToString::to_string).collect()
}

#[test]
fn the_page_works_in_a_browser() {
    let Some(mut page) = Page::open(1280, 900) else { return };
    page.show("profile", &sample::page());
    hovering(&mut page);
    page.screenshot("profile-light");
    ordering(&mut page);
    homes(&mut page);
    pinning(&mut page);
    keys(&mut page);
    theme(&mut page);
    page.screenshot("profile-dark");
    assert_eq!(page.text("h1"), sample::profile().name);
    assert_eq!(troubles(&page), Vec::<String>::new());
}

/// Whether any such element is visible without scrolling.
fn is_seen(page: &mut Page, selector: &str) -> bool {
    let script = format!(
        "[...document.querySelectorAll({selector:?})].some(e => e.checkVisibility() && e.getBoundingClientRect().width > 0)"
    );
    page.eval(&script).as_bool().expect("a yes or no")
}

#[test]
fn a_placement_is_drawn_before_and_after() {
    let Some(mut page) = Page::open(1280, 900) else { return };
    page.show("placement", &sample::placement());
    assert_eq!(page.eval("document.querySelectorAll('.halves svg').length"), 2);
    assert_eq!(
        page.eval("[...document.querySelectorAll('.halves svg')].map(e => e.querySelectorAll('.taken').length).join()"),
        "4,4"
    );
    side_by_side(&mut page);
    page.screenshot("placement-light");
    choosing(&mut page);
    theme(&mut page);
    page.screenshot("placement-dark");
    assert_eq!(troubles(&page), Vec::<String>::new());
}

/// Both halves fit a laptop's screen; on a telephone they are below each other.
fn side_by_side(page: &mut Page) {
    let boxes = "[...document.querySelectorAll('.halves svg')].map(e => e.getBoundingClientRect()).map(b => [b.x, b.y, b.width])";
    let at = page.eval(boxes);
    assert_eq!((&at[0][1], &at[0][2]), (&at[1][1], &at[1][2]), "{at}");
    assert!(at[0][2].as_f64() > Some(480.0) && at[1][0].as_f64() > at[0][0].as_f64(), "{at}");
    page.resize(400, 900);
    let at = page.eval(boxes);
    assert!(at[0][0] == at[1][0] && at[0][2].as_f64() < Some(400.0), "{at}");
    page.resize(1280, 900);
}

/// On a telephone pages fit, charts are legible, and terms are explained.
#[test]
fn pages_fit_into_500_pixels() {
    let Some(mut page) = Page::open(500, 900) else { return };
    for (name, text) in [
        ("profile", sample::page()),
        ("placement", sample::placement()),
        ("noise", seatmap_report::noise::page(&noise::noise()).html()),
        ("cluster", sample::cluster()),
    ] {
        page.show(&format!("{name}-500"), &text);
        page.screenshot(&format!("{name}-500"));
        assert_eq!(page.eval("document.documentElement.scrollWidth"), 500, "{name}");
        let letters = "Math.min(...[...document.querySelectorAll('.chart text, .picture text')].filter(e => e.checkVisibility())
            .map(e => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a))";
        let smallest = page.eval(letters);
        assert!(smallest.as_f64().is_none_or(|pixels| pixels >= 9.0), "{name}: {smallest}");
        assert!(
            page.eval("document.querySelectorAll('abbr[title]').length").as_u64() > Some(2),
            "{name}"
        );
        assert!(is_seen(&mut page, "p.sentence"), "{name}");
        assert_eq!(troubles(&page), Vec::<String>::new());
    }
}

/// The numbers and ranges in tables broken across lines.
const CUT: &str = "[...document.querySelectorAll('td, td code')].flatMap(cell => {
    const words = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), cut = [];
    for (let node; (node = words.nextNode());)
        for (const number of node.data.matchAll(/\\d[\\d.:-]*/g)) {
            const range = document.createRange();
            range.setStart(node, number.index);
            range.setEnd(node, number.index + number[0].length);
            // A line that ends before the number has an empty box.
            const boxes = [...range.getClientRects()].filter(box => box.width > 0);
            if (new Set(boxes.map(box => box.top)).size > 1) cut.push(number[0]);
        }
    return cut;
}).join(' ')";

#[test]
fn numbers_are_not_broken_on_narrow_pages() {
    let Some(mut page) = Page::open(390, 900) else { return };
    let list = Vec::from_iter((0..40).map(|at| format!("{}-{}", 9 * at, 9 * at + 7)));
    let facts = [
        ("CPUs".to_owned(), format!("on CPUs {} of 960", list.join(","))),
        ("begun".to_owned(), "2026-11-28T16:57:25Z".to_owned()),
    ];
    let body = maud::html! {
        section.card { (seatmap_report::html::facts(&facts)) }
        table { tr { td style="width: 90px" { code { "echo 32 > /sys/hugepages-2048576kB/now" } } } }
    };
    page.show("numbers", &seatmap_report::html::document("numbers", &body, "", "null"));
    assert_eq!(page.eval(CUT), "");
    assert_eq!(page.eval("document.documentElement.scrollWidth"), 390);
    assert!(page.eval("document.querySelector('td').clientHeight").as_f64() > Some(100.0));
    page.eval("document.querySelectorAll('.whole').forEach(e => e.style.whiteSpace = 'inherit')");
    assert_ne!(page.eval(CUT), "");
}

/// Choosing works by pointer and by keys, and the page also works without a script.
fn choosing(page: &mut Page) {
    for (input, marks) in [
        (".wires-on", ".halves .load"),
        (".pairs-on", ".halves .pairs path"),
        (".homes-on", ".halves .line"),
    ] {
        assert!(is_seen(page, marks), "{marks}");
        let at = page.middle_of(&format!("label:has({input})"));
        page.click(at);
        assert!(!is_seen(page, marks), "{marks}");
        page.eval(&format!("document.querySelector({input:?}).focus()"));
        page.press(" ", 32);
        assert!(is_seen(page, marks), "{marks}");
    }
}

fn hovering(page: &mut Page) {
    assert_eq!(page.eval("document.getElementById('tip').hidden"), true);
    let tip = hover(page, 2, 4);
    for part in
        ["PU 2 – PU 4", "46.0 ns", "p10", "MAD", "0.8 ns", "95 % interval", "stable", "NUMA node"]
    {
        assert!(tip.contains(part), "{part} in {tip}");
    }
    let tip = hover(page, 0, 3);
    for part in ["PU 0 – PU 3", "113.0 ns", "multi-regime", "297.0 ns, 26 %"] {
        assert!(tip.contains(part), "{part} in {tip}");
    }
    assert!(hover(page, 6, 5).contains("unknown"));
}

fn ordering(page: &mut Page) {
    let at = page.middle_of("label:has([value=os])");
    page.click(at);
    assert!(hover_at(page, 1, 2).contains("PU 1 – PU 2"));
    let at = page.middle_of("label:has([value=group])");
    page.click(at);
    let order = grouped_order(&sample::profile());
    assert!(hover_at(page, 1, 2).contains(&format!("PU {} – PU {}", order[1], order[2])));
}

fn homes(page: &mut Page) {
    page.eval("document.getElementById('home').focus()");
    page.press("ArrowRight", 39);
    page.press("ArrowRight", 39);
    assert_eq!(page.text("#home-name"), "predicted, home 1");
    // 40 + |2 - 7| + |4 - 7|, next to the measured value.
    let tip = hover(page, 2, 4);
    assert!(tip.contains("48.0 ns") && tip.contains("46.0 ns"), "{tip}");
    page.eval("document.getElementById('home').focus()");
    page.press("Home", 36);
    assert_eq!(page.text("#home-name"), "measured");
}

fn pinning(page: &mut Page) {
    let at = cell(page, place(4), place(0));
    page.click(at);
    let list = page.text("#pinned");
    assert!(list.starts_with("Nearest to PU 4"), "{list}");
    assert!(list.find("44.0 ns") < list.find("46.0 ns") && list.contains("44.0 ns"), "{list}");
    assert!(list.contains("same L3"), "{list}");
}

fn keys(page: &mut Page) {
    page.eval("document.getElementById('map').focus()");
    page.press("Escape", 27);
    assert_eq!(page.eval("document.getElementById('tip').hidden"), true);
    // The first key selects the corner cell, the others move on.
    page.press("ArrowRight", 39);
    page.press("ArrowDown", 40);
    page.press("ArrowRight", 39);
    let order = grouped_order(&sample::profile());
    let spoken = page.text("#spoken");
    assert!(spoken.starts_with(&format!("PU {} to PU {}: ", order[1], order[2])), "{spoken}");
    page.press("Enter", 13);
    assert!(page.text("#pinned").starts_with(&format!("Nearest to PU {}", order[1])));
}

fn theme(page: &mut Page) {
    let ground = "getComputedStyle(document.body).backgroundColor";
    let light = page.eval(ground);
    let at = page.middle_of("#theme");
    page.click(at);
    assert_eq!(page.eval("document.documentElement.dataset.theme"), "dark");
    assert_ne!(page.eval(ground), light);
}
