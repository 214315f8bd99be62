//! Keys, as in htop: a function from the screen's state and a key to the next state.

use super::row::TopRow;
use super::rows::fits;
use super::table::beside;
use super::view::{Prompt, Sort, TopView};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use seatmap_os::{CpuSet, Tid};
use std::time::Duration;

/// An action that the screen cannot perform itself.
#[derive(Debug, PartialEq)]
pub enum ScreenAction {
    /// End the program.
    Quit,
    /// Stop until the shell continues the program (Ctrl-Z).
    Suspend,
    /// Begin or end a recording.
    Record,
    /// Begin or end counting who wakes whom.
    Wakes,
    /// Pin threads to CPUs.
    Pin {
        /// Threads.
        tids: Vec<Tid>,
        /// CPUs.
        cpus: CpuSet,
    },
}

/// Changes the state by a key. Returns the action that the key requests.
pub fn press(view: &mut TopView, key: KeyEvent, rows: &[TopRow]) -> Option<ScreenAction> {
    // A terminal in raw mode sends no signals: Ctrl-C and Ctrl-Z arrive as keys.
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Some(ScreenAction::Quit),
            KeyCode::Char('z') => Some(ScreenAction::Suspend),
            _ => None,
        };
    }
    match view.prompt.take() {
        Some(Prompt::Confirm { tids, cpus }) if matches!(key.code, KeyCode::Char('y' | 'Y')) => {
            return Some(ScreenAction::Pin { tids, cpus });
        }
        // Anything but y means no, since pinning changes a running program.
        Some(Prompt::Confirm { .. }) => view.message = "nothing was changed".to_owned(),
        Some(prompt) => key_of_prompt(view, prompt, key.code, rows),
        None if view.shows_help => view.shows_help = false,
        None => {
            view.message.clear();
            return command(view, key.code, rows);
        }
    }
    None
}

fn command(view: &mut TopView, key: KeyCode, rows: &[TopRow]) -> Option<ScreenAction> {
    use KeyCode::*;
    match key {
        Char('q') | F(10) => return Some(ScreenAction::Quit),
        Char('R') => return Some(ScreenAction::Record),
        Char('W') => return Some(ScreenAction::Wakes),
        Char('/') | F(3) => view.prompt = Some(Prompt::Search(String::new())),
        Char('\\') | F(4) => {
            view.prompt = Some(Prompt::Filter(view.filter.clone()));
        }
        Char('s') => view.prompt = Some(Prompt::Interval(String::new())),
        // Without a thread there is nothing to pin, so ask nothing.
        Char('a') if view.chosen(rows).is_empty() => {}
        Char('a') => view.prompt = Some(Prompt::Pin(String::new())),
        Char('n') => next_match(view, rows, 1),
        Char('t') | F(5) => {
            view.is_tree = !view.is_tree;
            // The new order moves the selected thread; following keeps it on the screen.
            view.follows = true;
        }
        Char('p' | 'Z') => view.is_frozen = !view.is_frozen,
        Char('F') => view.follows = !view.follows,
        Char('?' | 'h') | F(1) => view.shows_help = true,
        Char(' ') => tag(view, rows),
        Char('U') => view.tagged.clear(),
        Esc => view.filter.clear(),
        _ => match order(view, key) {
            Some(order) => (view.sort, view.is_reversed) = order,
            None => go(view, key, rows),
        },
    }
    None
}

/// A repeated column key reverses the order.
fn order(view: &TopView, key: KeyCode) -> Option<(Sort, bool)> {
    use KeyCode::*;
    let sort = match key {
        Char('P') => Sort::Load,
        Char('m') => Sort::Migrations,
        Char('c') => Sort::Cpu,
        Char('w') => Sort::Wait,
        Char('N') => Sort::Pid,
        Char('>') | F(6) => return Some((beside(view.sort, 1), false)),
        Char('<') => return Some((beside(view.sort, -1), false)),
        Char('I') => return Some((view.sort, !view.is_reversed)),
        _ => return None,
    };
    Some((sort, view.sort == sort && !view.is_reversed))
}

/// Moves the selection and stops following, as htop does.
fn go(view: &mut TopView, key: KeyCode, rows: &[TopRow]) {
    use KeyCode::*;
    let page = view.lines.max(1);
    let at = match key {
        Up | Char('k') => view.at.saturating_sub(1),
        Down | Char('j') => view.at + 1,
        PageUp => view.at.saturating_sub(page),
        PageDown => view.at + page,
        Home => 0,
        End => rows.len(),
        _ => return,
    };
    view.follows = false;
    view.select(at, rows);
}

/// Tags the selected threads or, if all are tagged, removes their tags.
fn tag(view: &mut TopView, rows: &[TopRow]) {
    let Some(row) = rows.get(view.at) else { return };
    if row.threads.iter().all(|tid| view.tagged.contains(tid)) {
        view.tagged.retain(|tid| !row.threads.contains(tid));
    } else {
        view.tagged.extend(&row.threads);
    }
    go(view, KeyCode::Down, rows);
}

/// The next match, starting `from` rows below the selection.
fn next_match(view: &mut TopView, rows: &[TopRow], from: usize) {
    let text = view.search.to_lowercase();
    if text.is_empty() {
        return;
    }
    // Once around the table. An empty table has no steps, so nothing is divided by 0.
    let mut places = (0..rows.len()).map(|step| (view.at + from + step) % rows.len());
    match places.find(|at| fits(&rows[*at], &text)) {
        Some(at) => view.select(at, rows),
        None => view.message = format!("no match for '{text}'"),
    }
}

fn key_of_prompt(view: &mut TopView, mut prompt: Prompt, key: KeyCode, rows: &[TopRow]) {
    use KeyCode::*;
    match (key, &mut prompt) {
        (Esc, Prompt::Filter(_)) => return view.filter.clear(),
        (Esc, _) => return,
        (Enter, _) => return answer(view, prompt, rows),
        (F(3), Prompt::Search(_)) => next_match(view, rows, 1),
        (key, prompt) => edit(view, prompt, key, rows),
    }
    view.prompt = Some(prompt);
}

fn edit(view: &mut TopView, prompt: &mut Prompt, key: KeyCode, rows: &[TopRow]) {
    let (Prompt::Search(text) | Prompt::Filter(text) | Prompt::Interval(text) | Prompt::Pin(text)) =
        prompt
    else {
        return;
    };
    match key {
        KeyCode::Char(letter) => text.push(letter),
        KeyCode::Backspace => _ = text.pop(),
        _ => return,
    }
    match prompt {
        // Each letter searches again from the selected row, which may still match.
        Prompt::Search(text) => {
            view.search.clone_from(text);
            view.message.clear();
            next_match(view, rows, 0);
        }
        Prompt::Filter(text) => view.filter.clone_from(text),
        _ => {}
    }
}

fn answer(view: &mut TopView, prompt: Prompt, rows: &[TopRow]) {
    match prompt {
        Prompt::Interval(text) => match interval(&text) {
            Some(interval) => {
                view.interval = interval;
                view.message = format!("a sample every {} s", interval.as_secs_f64());
            }
            None => view.message = format!("'{text}' is not a number of seconds from 0.1 to 3600"),
        },
        Prompt::Pin(text) => {
            let cpus = CpuSet::of_list(&text)
                .filter(|cpus| !cpus.is_empty() && cpus.is_subset(&view.cpus));
            let tids = view.chosen(rows);
            match cpus {
                // The thread may have ended during the input.
                Some(_) if tids.is_empty() => view.message = "the thread has ended".to_owned(),
                Some(cpus) => view.prompt = Some(Prompt::Confirm { tids, cpus }),
                None => {
                    let known = view.cpus.list();
                    view.message = format!("'{text}' is not a list of CPUs in {known}");
                }
            }
        }
        _ => {}
    }
}

/// Seconds from 0.1 to 3600.
pub fn interval(text: &str) -> Option<Duration> {
    let seconds = text.trim().parse().ok().filter(|seconds| (0.1..=3600.0).contains(seconds))?;
    Some(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::top::rows::rows;
    use crate::terminal::top::samples::{frame, judgement};
    use proptest::prelude::*;

    /// The state and the last action after some keys.
    fn after(keys: &[KeyCode]) -> (TopView, Option<ScreenAction>) {
        let cpus = CpuSet::of_list("0-3").unwrap();
        let mut view = TopView { cpus, lines: 3, ..TopView::default() };
        let mut wish = None;
        for key in keys {
            let rows = rows(&frame(), &judgement(), &view);
            view.settle(&rows);
            wish = press(&mut view, KeyEvent::from(*key), &rows);
        }
        view.settle(&rows(&frame(), &judgement(), &view));
        (view, wish)
    }

    fn text(text: &str) -> Vec<KeyCode> {
        text.chars().map(|c| if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) }).collect()
    }

    #[test]
    fn the_selection_moves_and_stays_on_the_screen() {
        let (view, _) = after(&[KeyCode::End]);
        assert_eq!((view.at, view.first), (3, 1));
        let (view, _) = after(&[KeyCode::End, KeyCode::Up, KeyCode::PageUp, KeyCode::Down]);
        assert_eq!((view.at, view.first), (1, 0));
    }

    #[test]
    fn pressing_column_twice_reverses_order() {
        let (view, _) = after(&text("m"));
        assert_eq!((view.sort, view.is_reversed), (Sort::Migrations, false));
        assert!(after(&text("mm")).0.is_reversed && !after(&text("mmm")).0.is_reversed);
        assert_eq!(after(&text("<>>")).0.sort, Sort::Wait);
    }

    #[test]
    fn follow_keeps_thread_until_selection_moves() {
        let (view, _) = after(&text("FP"));
        assert!(view.follows && view.is_reversed);
        assert_eq!(
            (view.selected.and_then(|id| id.tid), view.at),
            (Some(71), 3),
            "it was the first"
        );
        assert!(!after(&[KeyCode::Char('F'), KeyCode::Down]).0.follows);
    }

    #[test]
    fn enter_keeps_filter_and_escape_drops_it() {
        assert_eq!(after(&text("\\wor\n")).0.filter, "wor");
        let keys = [text("\\wor"), vec![KeyCode::Esc]].concat();
        assert_eq!(after(&keys).0.filter, "");
    }

    #[test]
    fn search_selects_matching_thread() {
        let (view, _) = after(&text("/90\n"));
        assert_eq!((view.selected.and_then(|id| id.tid), view.prompt), (Some(90), None));
        assert_eq!(after(&text("/xyz")).0.message, "no match for 'xyz'");
    }

    #[test]
    fn pinning_asks_for_cpus_then_confirmation() {
        let (view, wish) = after(&text("a1,3\n"));
        let cpus = CpuSet::of_list("1,3").unwrap();
        assert_eq!(view.prompt, Some(Prompt::Confirm { tids: vec![71], cpus: cpus.clone() }));
        assert_eq!(wish, None);
        assert_eq!(after(&text("a1,3\ny")).1, Some(ScreenAction::Pin { tids: vec![71], cpus }));
        let (view, wish) = after(&text("a1,3\nn"));
        assert_eq!((view.message.as_str(), wish), ("nothing was changed", None));
        assert_eq!(after(&text("a9\n")).0.message, "'9' is not a list of CPUs in 0-3");
        assert!(
            matches!(after(&text("  a1\ny")).1, Some(ScreenAction::Pin { tids, .. }) if tids == [71, 72])
        );
    }

    #[test]
    fn interval_is_bounded() {
        assert_eq!(after(&text("s0.5\n")).0.interval, Duration::from_millis(500));
        assert!(after(&text("s0\n")).0.message.contains("is not a number of seconds"));
    }

    #[test]
    fn any_key_closes_help_and_control_c_quits() {
        assert!(after(&text("?")).0.shows_help && !after(&text("?q")).0.shows_help);
        let key = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(press(&mut after(&text("a1")).0, key, &[]), Some(ScreenAction::Quit));
        assert_eq!(after(&text("W")).1, Some(ScreenAction::Wakes));
        assert_eq!(
            (after(&text("q")).1, after(&text("p")).0.is_frozen),
            (Some(ScreenAction::Quit), true)
        );
    }

    proptest! {
        #[test]
        fn arbitrary_keys_keep_state_valid(keys in "[ -~\n]{0,30}") {
            let (view, _) = after(&text(&keys));
            prop_assert!(view.first <= view.at);
        }
    }
}
