//! Draws the screen of `seatmap top` on a buffer.

use super::colours;
use super::map::{SeatLayout, Size, lay_out};
use super::row::TopRow;
use super::seats::SeatGroups;
use super::table::{cut, line, titles};
use super::view::{Prompt, TopView};
use super::wakes;
use crate::page::draw::cut_middle;
use crate::page::draw::line::wrapped;
use crate::words::{counted, joined, visible};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use seatmap_data::document::left_aligned;
use seatmap_data::statistics::words::counted_figure;
use seatmap_watch::live::SeatingFrame;
use seatmap_watch::seating::Seating;
use seatmap_watch::{Finding, WatchedThread};
use std::collections::HashMap;

/// The title, and the origin of the groups.
const ABOVE: u16 = 2;
/// Two lines for the finding or question, one for the keys.
const BELOW: u16 = 3;
/// The map shrinks to leave the table this many lines.
const LEAST_TABLE: u16 = 6;
/// A less busy thread is not shown on its CPU.
const LEAST_PERCENT: f64 = 1.0;
const PLAIN_ROWS: usize = 20;
const PLAIN_FINDINGS: usize = 5;
const PLAIN_MAP: u16 = 24;

const KEYS: &str =
    "F1 help F3 search F4 filter F5 tree F6 sort W wakes a pin p freeze R rec q quit";

const HELP: &str = "\
arrows PgUp PgDn Home End   move the selection
F3 /    search; n: the next one       F4 \\   filter by name or number; Esc ends it
F5 t    tree: threads below their processes
F6 > <  sort by the next or previous column; I reverses the order
P m c w N   sort by load, migrations, CPU, wait, PID; again: reverse
space   tag a thread; U removes all tags
F       follow the selected thread when the order changes
a       pin the selected or tagged threads: type CPUs such as 0-3,8, then y
p Z     freeze          s  seconds between samples
W       who wakes whom, with arcs on the map (needs root); W again: the threads
R       record to a file; R again ends it     q F10  quit

The map shows each CPU's load and its busiest thread, coloured by program; SMT siblings are \
adjacent.
LOAD%: time on a CPU. WAIT%: time ready to run, while another thread had the CPU.
SW/s: context switches. WAKE/s: the voluntary ones: how often the thread was woken up.
MIG/s: CPU changes, read for the 64 busiest threads.
SEAT: the thread's CPUs according to 'seatmap run' or --expect. [name]: the CPU belongs to that \
cell.
!: breaks a rule of 'seatmap check'; i: a remark. The sentence is at the bottom.
Memory, devices and interrupts are not read here: 'seatmap check --pid PID' checks all rules.
";

/// The contents of the screen.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// Current sample.
    pub frame: &'a SeatingFrame,
    /// Findings about the threads.
    pub findings: &'a [Finding],
    /// CPUs by group.
    pub groups: &'a SeatGroups,
    /// State of the screen.
    pub view: &'a TopView,
    /// Rows of the table.
    pub rows: &'a [TopRow],
    /// File of the current recording.
    pub recording: Option<&'a str>,
}

/// The number of table rows on a screen of this size.
pub fn table_lines(groups: &SeatGroups, area: Rect) -> usize {
    let map = map_of(groups, area);
    area.height.saturating_sub(ABOVE + map.height + 1 + BELOW).into()
}

fn map_of(groups: &SeatGroups, area: Rect) -> SeatLayout {
    // At most two fifths: the table is read line by line.
    let most =
        (area.height * 2 / 5).min(area.height.saturating_sub(ABOVE + 1 + BELOW + LEAST_TABLE));
    lay_out(groups, area.width, most)
}

/// Draws the screen.
pub fn draw(scene: &Scene, area: Rect, buffer: &mut Buffer) {
    let mut canvas = Canvas { buffer, area };
    let map = map_of(scene.groups, area);
    heading(scene, map.left_out, &mut canvas);
    seats(scene, &map, &mut canvas);
    let below_map = ABOVE + map.height;
    if scene.view.shows_help {
        // The help replaces the table but not the map, whose marks it explains.
        HELP.lines().zip(below_map..).for_each(|(text, y)| canvas.put(0, y, text, Style::new()));
        return;
    }
    let lines = table_lines(scene.groups, area);
    if scene.view.shows_wakes {
        wakes_table(scene, below_map, lines, &mut canvas)
    } else {
        table(scene, below_map, lines, &mut canvas)
    }
    foot(scene, &mut canvas);
}

/// A frame as plain text without colours, followed by the findings.
pub fn plain(scene: &Scene, width: u16) -> String {
    let map = lay_out(scene.groups, width, PLAIN_MAP);
    let wakes = scene.view.shows_wakes.then(|| wakes::lines(scene.frame).len());
    let all = wakes.unwrap_or(scene.rows.len());
    let shown = all.min(PLAIN_ROWS);
    let area = Rect::new(0, 0, width, ABOVE + map.height + 1 + shown as u16);
    let mut buffer = Buffer::empty(area);
    let mut canvas = Canvas { buffer: &mut buffer, area };
    heading(scene, map.left_out, &mut canvas);
    seats(scene, &map, &mut canvas);
    // Plain text is not scrolled.
    let view = TopView { first: 0, ..scene.view.clone() };
    match wakes {
        Some(_) => wakes_table(scene, ABOVE + map.height, shown, &mut canvas),
        None => table(&Scene { view: &view, ..*scene }, ABOVE + map.height, shown, &mut canvas),
    }
    let mut text = String::new();
    for y in 0..area.height {
        let line: String = (0..area.width).map(|x| buffer[(x, y)].symbol()).collect();
        text += line.trim_end();
        text.push('\n');
    }
    if all > shown {
        let what = if wakes.is_some() { "more pair" } else { "more thread" };
        text += &format!("... and {}\n", counted(all - shown, what));
    }
    for finding in scene.findings.iter().take(PLAIN_FINDINGS) {
        let mark = if finding.is_wrong() { '!' } else { 'i' };
        text += &wrapped(&format!("{mark} {}", sentence(finding)), usize::from(width));
    }
    text
}

/// A buffer that ignores text outside its area.
struct Canvas<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
}

impl Canvas<'_> {
    fn put(&mut self, x: u16, y: u16, text: &str, style: impl Into<Style>) {
        if x < self.area.width && y < self.area.height {
            let room = usize::from(self.area.width - x);
            self.buffer.set_stringn(self.area.x + x, self.area.y + y, text, room, style.into());
        }
    }
}

/// The tightest quota on all threads together, if it grants less time than these CPUs.
fn quota(seating: &Seating, cpus: usize) -> Option<String> {
    let common = seating.quotas.iter().filter(|quota| quota.tids.len() == seating.threads.len());
    let tightest = common.min_by(|a, b| a.cpus.total_cmp(&b.cpus))?;
    let quota = format!("quota of {}", counted_figure(tightest.cpus, 2, "CPU"));
    (tightest.cpus < cpus as f64).then_some(quota)
}

fn heading(scene: &Scene, left_out: usize, canvas: &mut Canvas) {
    let view = scene.view;
    let seating = &scene.frame.seating;
    let busy = Vec::from_iter(seating.cpus.iter().filter_map(|cpu| cpu.busy_percent));
    // A load needs two samples of the kernel's counters.
    let busy = if busy.is_empty() {
        String::new()
    } else {
        format!(" {:.0} % busy", busy.iter().sum::<f64>() / busy.len() as f64)
    };
    let title = format!(
        "seatmap top: {}, {}{busy}, {} in {}, last {:.1} s",
        visible(&seating.machine),
        counted(scene.groups.cpus().count(), "CPU"),
        counted(seating.threads.len(), "thread"),
        counted(seating.processes.len(), "program"),
        seating.watched_s
    );
    canvas.put(0, 0, &title, Modifier::BOLD);
    let wrong = scene.findings.iter().filter(|finding| finding.is_wrong()).count();
    // A narrow terminal cuts the end, so the least important note comes last.
    let mut notes: Vec<String> = Vec::new();
    notes.extend((wrong > 0).then(|| format!("{wrong} wrong")));
    notes.extend(quota(seating, scene.groups.cpus().count()));
    notes.extend(cells(scene));
    notes.extend((left_out > 0).then(|| format!("{} not shown", counted(left_out, "CPU"))));
    notes.extend(view.is_frozen.then(|| "FROZEN".to_owned()));
    notes.extend(view.follows.then(|| "following".to_owned()));
    notes.extend((!view.filter.is_empty()).then(|| format!("filter '{}'", visible(&view.filter))));
    notes.extend(scene.recording.map(|file| format!("RECORDING to {}", visible(file))));
    notes.push(scene.groups.source.clone());
    notes.extend(hidden(scene));
    canvas.put(0, 1, &notes.join("; "), Modifier::DIM);
}

/// An incomplete list must not look complete.
fn hidden(scene: &Scene) -> impl Iterator<Item = String> {
    scene.frame.seating.unseen.iter().filter_map(|unseen| {
        let why = visible(&unseen.why);
        match unseen.pids.len() {
            0 => Some(format!("not seen: {why}")),
            pids if unseen.what == "threads" => {
                Some(format!("not seen: {}: {why}", counted(pids, "process")))
            }
            // Other facts hidden of single processes do not make the list incomplete.
            _ => None,
        }
    })
}

fn cells(scene: &Scene) -> impl Iterator<Item = String> {
    let cells = scene.frame.seating.cells.iter();
    cells.map(|cell| format!("cell '{}': {}", visible(&cell.name), cell.set().named()))
}

fn busiest(frame: &SeatingFrame) -> HashMap<u32, &WatchedThread> {
    let mut found: HashMap<u32, &WatchedThread> = HashMap::new();
    for thread in frame.seating.threads.iter().filter(|thread| thread.run_percent >= LEAST_PERCENT)
    {
        let Some(cpu) = thread.cpu else { continue };
        let best = found.entry(cpu).or_insert(thread);
        if thread.run_percent > best.run_percent {
            *best = thread;
        }
    }
    found
}

fn seats(scene: &Scene, map: &SeatLayout, canvas: &mut Canvas) {
    let seating = &scene.frame.seating;
    let busiest = busiest(scene.frame);
    let programs: HashMap<_, _> =
        seating.processes.iter().map(|process| (process.pid, process.name.as_str())).collect();
    let loads: HashMap<_, _> =
        seating.cpus.iter().filter_map(|cpu| Some((cpu.cpu, cpu.busy_percent?))).collect();
    let arcs = if scene.view.shows_wakes { wakes::arcs(scene.frame) } else { HashMap::new() };
    let cells = Vec::from_iter(
        seating.cells.iter().map(|cell| (cell.set(), format!("[{}]", visible(&cell.name)))),
    );
    for (place, title) in &map.titles {
        let title = cut(title, place.width.into());
        canvas.put(place.x, ABOVE + place.y, &title, Modifier::DIM);
    }
    for (cpu, place) in &map.seats {
        let thread = busiest.get(cpu);
        // Coloured by the program's name, so all its threads look alike.
        let program = thread.and_then(|thread| programs.get(&thread.pid).copied());
        let style = program.map_or(Style::new(), |program| colours::program(program).into());
        let cell = cells.iter().find(|(cpus, _)| cpus.contains(*cpu)).map(|(_, cell)| cell.clone());
        let names = cell.into_iter().chain(thread.map(|thread| visible(&thread.name)));
        let seat = Seat {
            label: format!("{cpu}{}", if scene.groups.efficient.contains(cpu) { "e" } else { "" }),
            load: loads.get(cpu).copied(),
            name: joined(names, " "),
            arcs: arcs.get(cpu).cloned().unwrap_or_default(),
        };
        for (text, down) in seat.lines(map.size, place.width.into()).iter().zip(0..) {
            canvas.put(place.x, ABOVE + place.y + down, text, style);
        }
    }
}

struct Seat {
    label: String,
    load: Option<f64>,
    name: String,
    arcs: String,
}

impl Seat {
    fn lines(&self, size: Size, width: usize) -> Vec<String> {
        let Seat { label, load, .. } = self;
        let share = load.map_or_else(|| "  - ".to_owned(), |load| format!("{load:>3.0}%"));
        match size {
            Size::Box => {
                // The number, the load and the blanks take ten columns.
                let first = format!("{label:>4} {} {share}", bar(*load, width.saturating_sub(10)));
                vec![first, format!("{:>4} {}", "", self.name(width.saturating_sub(5)))]
            }
            // The bar takes 6 columns; with number, load and blanks 17.
            Size::Line => vec![format!(
                "{label:>4} {} {share} {}",
                bar(*load, 6),
                self.name(width.saturating_sub(17))
            )],
            Size::Block => vec![format!("{label:>4}{}", block(*load))],
            Size::Cell | Size::BareCell => vec![block(*load).to_string()],
        }
    }

    /// The name is cut first, then the arcs.
    fn name(&self, width: usize) -> String {
        let room = width.saturating_sub(self.arcs.chars().count() + 1);
        // A cut arc label is useless, so arcs come first.
        if self.arcs.is_empty() {
            cut_middle(&self.name, width)
        } else {
            cut(format!("{} {}", cut_middle(&self.name, room), self.arcs).trim_start(), width)
        }
    }
}

/// A bar of `width` columns, in eighths of a column.
fn bar(load: Option<f64>, width: usize) -> String {
    // Unicode blocks of one to seven eighths make a short bar eight times finer.
    let eighths =
        (load.unwrap_or(0.0).clamp(0.0, 100.0) / 100.0 * 8.0 * width as f64).round() as usize;
    let part = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8];
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(part);
    }
    format!("{bar:·<width$}")
}

fn block(load: Option<f64>) -> char {
    match load {
        None => '?',
        Some(load) => ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
            [(load.clamp(0.0, 100.0) / 12.5).round() as usize],
    }
}

fn table(scene: &Scene, y: u16, lines: usize, canvas: &mut Canvas) {
    let view = scene.view;
    let width = usize::from(canvas.area.width);
    let head = left_aligned(&titles(view, width), width);
    canvas.put(0, y, &head, Modifier::REVERSED);
    let shown = scene.rows.iter().enumerate().skip(view.first).take(lines);
    for ((at, row), y) in shown.zip(y + 1..) {
        // Padded to the edge, so the selection's background has no gap.
        let text = left_aligned(&line(row, scene.findings, view, width), width);
        let is_wrong =
            row.finding.and_then(|at| scene.findings.get(at)).is_some_and(Finding::is_wrong);
        let style = colours::row(&row.program, is_wrong, row.load_percent <= 0.0, at == view.at);
        canvas.put(0, y, &text, style);
    }
}

fn wakes_table(scene: &Scene, y: u16, lines: usize, canvas: &mut Canvas) {
    let width = usize::from(canvas.area.width);
    canvas.put(0, y, &left_aligned(&wakes::titles(), width), Modifier::REVERSED);
    for (line, y) in wakes::lines(scene.frame).iter().take(lines).zip(y + 1..) {
        canvas.put(0, y, line, Style::new());
    }
}

/// The question, the result or the finding; below it the keys.
fn foot(scene: &Scene, canvas: &mut Canvas) {
    let height = canvas.area.height;
    let text = message(scene);
    let width = usize::from(canvas.area.width.max(1));
    let letters = Vec::from_iter(text.chars());
    // Broken at the edge rather than between words, to use both lines fully.
    for (part, y) in letters.chunks(width).take(2).zip(height.saturating_sub(BELOW)..) {
        canvas.put(0, y, &part.iter().collect::<String>(), Modifier::BOLD);
    }
    canvas.put(0, height.saturating_sub(1), KEYS, Modifier::DIM);
}

fn message(scene: &Scene) -> String {
    let view = scene.view;
    let finding = || scene.findings.get(scene.rows.get(view.at)?.finding?);
    let threads = |tids: &[i32]| match tids {
        [tid] => format!("thread {tid}"),
        many => counted(many.len(), "thread"),
    };
    match &view.prompt {
        Some(Prompt::Search(text)) => format!("search: {}_  {}", visible(text), view.message),
        Some(Prompt::Filter(text)) => format!("filter: {}_", visible(text)),
        Some(Prompt::Interval(text)) => format!("seconds between samples: {}_", visible(text)),
        Some(Prompt::Pin(text)) => {
            format!(
                "CPUs for {} (such as {}): {}_",
                threads(&view.chosen(scene.rows)),
                view.cpus,
                visible(text)
            )
        }
        Some(Prompt::Confirm { tids, cpus }) => {
            format!("bind {} to {}? y/n", threads(tids), cpus.named())
        }
        None if !view.message.is_empty() => visible(&view.message),
        None => finding()
            // Misplaced threads may be below the screen, so show the gravest finding.
            .or_else(|| scene.findings.iter().find(|finding| finding.is_wrong()))
            .map(sentence)
            .unwrap_or_default(),
    }
}

fn sentence(finding: &Finding) -> String {
    format!("{}: {}", finding.rule, visible(&finding.what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::top::rows::rows;
    use crate::terminal::top::samples::{frame, judgement, topology};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use seatmap_data::machine::Topology;
    use seatmap_watch::judge::made::Made;
    use seatmap_watch::seating::WatchedQuota;

    /// Draws the sample on these CPUs.
    fn drawn<T>(topology: &Topology, view: TopView, area: Rect, draw: fn(&Scene, Rect) -> T) -> T {
        let frame = frame();
        let judgement = judgement();
        let groups = SeatGroups::new(topology, None);
        let rows = rows(&frame, &judgement, &view);
        let mut view = TopView { lines: table_lines(&groups, area), ..view };
        view.settle(&rows);
        let scene = Scene {
            frame: &frame,
            findings: &judgement.findings,
            groups: &groups,
            view: &view,
            rows: &rows,
            recording: None,
        };
        draw(&scene, area)
    }

    fn screen(topology: &Topology, view: TopView, width: u16, height: u16) -> String {
        drawn(topology, view, Rect::new(0, 0, width, height), |scene, area| {
            let mut terminal = Terminal::new(TestBackend::new(area.width, area.height)).unwrap();
            terminal.draw(|shown| draw(scene, shown.area(), shown.buffer_mut())).unwrap();
            terminal.backend().to_string()
        })
    }

    #[test]
    fn heading_has_quota_of_all_threads() {
        let mut seating = frame().seating;
        let tids = seating.threads.iter().map(|thread| thread.tid).collect();
        seating.quotas = vec![WatchedQuota { cpus: 1.5, tids, ..WatchedQuota::default() }];
        assert_eq!(quota(&seating, 4).as_deref(), Some("quota of 1.50 CPUs"));
        assert_eq!(quota(&seating, 1), None, "the CPUs are fewer");
        seating.quotas[0].tids.pop();
        assert_eq!(quota(&seating, 4), None, "another thread has more");
    }

    #[test]
    fn screens_match_snapshots() {
        let many = Made::new(256).parts(2, 8, 128).topology;
        let mut hybrid = Made::new(7).efficient_from(4).topology;
        hybrid.pus[..4].iter_mut().for_each(|pu| pu.core = Some(pu.os / 2));
        let view = TopView::default;
        let wakes = TopView { shows_wakes: true, ..view() };
        let tree = TopView { is_tree: true, ..view() };
        let pins = TopView { prompt: Some(Prompt::Pin("0-".to_owned())), ..view() };
        let cases = [
            ("small_terminal_matches_snapshot", topology(), view(), 80, 24),
            ("wakeup_view_matches_snapshot", topology(), wakes, 80, 24),
            ("large_terminal_tree_matches_snapshot", topology(), tree, 200, 50),
            ("many_cpus_in_small_terminal_match_snapshot", many, view(), 80, 24),
            ("hybrid_processor_with_prompt_matches_snapshot", hybrid, pins, 80, 24),
        ];
        for (name, topology, view, width, height) in cases {
            insta::assert_snapshot!(name, screen(&topology, view, width, height));
        }
        let plain = drawn(&topology(), view(), Rect::new(0, 0, 80, 24), |scene, area| {
            plain(scene, area.width)
        });
        insta::assert_snapshot!("plain_text_matches_snapshot", plain);
    }

    #[test]
    fn help_and_tiny_terminals_are_drawn() {
        let view = TopView { shows_help: true, ..TopView::default() };
        assert!(screen(&topology(), view.clone(), 120, 30).contains("who wakes whom"));
        for (width, height) in [(1, 1), (5, 3), (20, 6), (79, 10), (300, 2)] {
            screen(&topology(), view.clone(), width, height);
            screen(&topology(), TopView::default(), width, height);
        }
    }

    #[test]
    fn loads_are_drawn_in_eighths() {
        assert_eq!(
            (bar(Some(50.0), 4), bar(Some(6.0), 2), bar(None, 2)),
            ("██··".into(), "▏·".into(), "··".into())
        );
        assert_eq!([0.0, 10.0, 50.0, 100.0].map(|load| block(Some(load))), ['·', '▁', '▄', '█']);
    }
}
