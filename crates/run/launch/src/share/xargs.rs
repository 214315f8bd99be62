//! Workers of `xargs -P`, with slot numbers on request.

use super::ShareError;
use seatmap_data::plan::local_rank::{LocalRank, LocalRankError};
use seatmap_os::{Root, Tid, task};

const WRAPPERS: [&str; 7] = ["sh", "bash", "dash", "env", "nice", "time", "timeout"];

const MOST_ANCESTORS: usize = 4;

/// Letters with a value in the same word or the next, and the long options with one (xargs(1)).
const SHORT_WITH_VALUE: &str = "adEILnPs";
const LONG_WITH_VALUE: [&str; 6] =
    ["max-procs", "process-slot-var", "arg-file", "delimiter", "max-args", "max-chars"];

pub fn worker(
    root: &Root,
    own: Tid,
    look: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<LocalRank>, ShareError> {
    let mut pid = own;
    for _ in 0..MOST_ANCESTORS {
        let Some(parent) = task::parent(root, pid).filter(|parent| *parent > 1) else {
            return Ok(None);
        };
        pid = parent;
        match task::name(root, pid).as_deref() {
            Some("xargs") => {
                return of_options(&XargsOptions::read(&task::arguments(root, pid)), look);
            }
            Some(name) if WRAPPERS.contains(&name) => {}
            _ => return Ok(None),
        }
    }
    Ok(None)
}

fn of_options(
    options: &XargsOptions,
    look: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<LocalRank>, ShareError> {
    if options.at_a_time == Some(1) {
        return Ok(None);
    }
    let slot = options
        .slot_variable
        .as_ref()
        .and_then(|name| Some((name, look(name)?.trim().parse::<u32>().ok()?)));
    if let Some((name, slot)) = slot {
        let rank = slot as usize;
        let size = options.at_a_time;
        // SIGUSR1 makes xargs run more (xargs(1)).
        if let Some(most) = size.filter(|size| rank >= *size) {
            return Err(ShareError::Variable(LocalRankError {
                variable: name.clone(),
                value: slot.to_string(),
                expected: format!("below the number of workers of xargs, {most}"),
            }));
        }
        let source = format!("{name}={slot}");
        return Ok(Some(LocalRank { rank, size, kind: "worker", source }));
    }
    let workers = options
        .at_a_time
        .map_or_else(|| "many commands".to_owned(), |count| format!("{count} commands"));
    Err(ShareError::Workers(workers))
}

struct XargsOptions {
    at_a_time: Option<usize>,
    slot_variable: Option<String>,
}

impl XargsOptions {
    fn read(words: &[String]) -> Self {
        let mut options = XargsOptions { at_a_time: Some(1), slot_variable: None };
        let mut words = words.iter().skip(1).map(String::as_str);
        while let Some(word) = words.next().filter(|word| word.len() > 1 && *word != "--") {
            match (word.strip_prefix("--"), word.strip_prefix('-')) {
                (Some(long), _) => options.long(long, &mut words),
                (None, Some(short)) => options.short(short, &mut words),
                (None, None) => break,
            }
        }
        options
    }

    fn long<'a>(&mut self, word: &'a str, rest: &mut impl Iterator<Item = &'a str>) {
        let (name, joined) =
            word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let takes_next = joined.is_none() && LONG_WITH_VALUE.contains(&name);
        let value = if takes_next { rest.next() } else { joined };
        match name {
            "max-procs" => self.set_at_a_time(value),
            "process-slot-var" => self.slot_variable = value.map(str::to_owned),
            _ => {}
        }
    }

    fn short<'a>(&mut self, word: &'a str, rest: &mut impl Iterator<Item = &'a str>) {
        let Some(at) = word.find(|letter: char| SHORT_WITH_VALUE.contains(letter)) else { return };
        let joined = Some(&word[at + 1..]).filter(|value| !value.is_empty());
        let value = if joined.is_some() { joined } else { rest.next() };
        if word[at..].starts_with('P') {
            self.set_at_a_time(value);
        }
    }

    fn set_at_a_time(&mut self, value: Option<&str>) {
        self.at_a_time = value.and_then(|value| value.parse().ok()).filter(|count| *count > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xargs_options_are_parsed_like_xargs() {
        let read = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let options = XargsOptions::read(&words);
            (options.at_a_time, options.slot_variable)
        };
        assert_eq!(read("xargs seatmap run -P 4"), (Some(1), None), "these are the command's");
        assert_eq!(read("xargs -n1 -P4 seatmap"), (Some(4), None));
        assert_eq!(read("xargs -0rP 3 seatmap"), (Some(3), None));
        assert_eq!(read("xargs -I P -P0 seatmap"), (None, None));
        let long = "xargs --max-procs 2 --process-slot-var=SLOT --verbose seatmap --max-procs=9";
        assert_eq!(read(long), (Some(2), Some("SLOT".to_owned())));
        assert_eq!(read("xargs -P2 -- -P3"), (Some(2), None));
    }

    #[test]
    fn workers_are_found_behind_a_shell() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        let process = |pid: Tid, name: &str, parent: Tid, line: &str| {
            std::fs::create_dir_all(root.path(&format!("/proc/{pid}"))).unwrap();
            let write = |file: &str, text: String| {
                std::fs::write(root.path(&format!("/proc/{pid}/{file}")), text).unwrap();
            };
            write("comm", format!("{name}\n"));
            write("status", format!("Name:\t{name}\nPPid:\t{parent}\n"));
            write("cmdline", line.replace(' ', "\0"));
        };
        process(9, "xargs", 2, "xargs -P 2 --process-slot-var=SLOT sh -c x");
        process(12, "sh", 9, "sh -c x");
        process(13, "seatmap", 12, "seatmap run");
        let slot = |value: Option<&'static str>| {
            move |name: &str| value.filter(|_| name == "SLOT").map(str::to_owned)
        };
        let found = worker(&root, 13, &slot(Some("1"))).unwrap().unwrap();
        assert_eq!((found.rank, found.size, found.source.as_str()), (1, Some(2), "SLOT=1"));
        assert!(matches!(worker(&root, 13, &slot(None)), Err(ShareError::Workers(_))));
        assert!(matches!(worker(&root, 13, &slot(Some("2"))), Err(ShareError::Variable(_))));
        let none = worker(&root, 13, &slot(Some("18446744073709551615")));
        assert!(matches!(none, Err(ShareError::Workers(_))), "{none:?}");
        process(12, "make", 9, "make");
        assert_eq!(worker(&root, 13, &slot(None)), Ok(None), "a program of its own");
    }
}
