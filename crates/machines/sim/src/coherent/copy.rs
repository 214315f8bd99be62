//! Copies: a load and a store for each word, in one call.
//!
//! Word by word, a task would be resumed for each of them, although nothing can happen to lines that its cache has until
//! somebody wants them. So a copy runs ahead to the end of two such lines, and one event stands for all its steps. Who
//! comes to want a line sooner finds done what would have been done by then, and the copy goes on from there. All steps
//! happen when single loads and stores would, but that of two things in one cycle the other may come first.

use crate::coherent::request::Request;
use crate::coherent::world::{Event, NO_TASK, Phase, World};
use seatmap_port::{Addr, WORDS_PER_LINE};

/// A task's copy: even steps load a word, and odd ones store it. Over when all steps are begun.
#[derive(Clone, Copy, Debug, Default)]
pub struct Copying {
    from: u32,
    to: u32,
    steps: u32,
    /// Steps begun.
    begun: u32,
    ahead: Option<Ahead>,
    /// Which of the events that end a run ahead counts.
    turn: u16,
}

/// Steps that run ahead, on two lines.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    /// When the first of them begins.
    since: u64,
    first: u32,
    /// The step that is not among them any more.
    until: u32,
}

impl Copying {
    pub fn new(from: Addr, to: Addr, words: u32) -> Self {
        Copying { from: from.0, to: to.0, steps: 2 * words, ..Copying::default() }
    }

    /// The words of a step.
    fn words(&self, step: u32) -> [Addr; 2] {
        [self.from, self.to].map(|first| Addr(first + step / 2))
    }

    fn lines(&self) -> [u32; 2] {
        self.words(self.begun).map(Addr::line_index)
    }

    /// The first step that leaves the lines of the next one.
    fn leaves(&self) -> u32 {
        let words = self.words(self.begun).map(|word| WORDS_PER_LINE - word.0 % WORDS_PER_LINE);
        (2 * (self.begun / 2 + words[0].min(words[1]))).min(self.steps)
    }
}

impl World {
    /// The next steps of a task's copy; false where there are none, and the task itself goes on.
    #[inline]
    pub fn copies_on(&mut self, task: u16) -> bool {
        let copying = &self.copies[task as usize];
        if copying.begun == copying.steps {
            return false;
        }
        if !self.runs_ahead(task) {
            self.step(task);
        }
        true
    }

    fn step(&mut self, task: u16) {
        let copying = &mut self.copies[task as usize];
        let [from, to] = copying.words(copying.begun);
        let state = &mut self.tasks[task as usize];
        state.request =
            Some(if copying.begun.is_multiple_of(2) { Request::Load(from) } else { Request::Store(to, state.answer) });
        copying.begun += 1;
        self.look(task);
    }

    /// Runs ahead where the task's cache has both lines, and nobody at it waits for what is written.
    fn runs_ahead(&mut self, task: u16) -> bool {
        let (copying, cache) = (self.copies[task as usize], self.tasks[task as usize].cache);
        let ([from, to], until, hit) = (copying.lines(), copying.leaves(), self.layout.timing.hit);
        let has_both = !self.layout.is_uncached && self.lines.holds(from, cache) && self.lines.owns(to, cache);
        if !has_both || hit == 0 || self.are_wanted([from, to], cache) {
            return false;
        }
        self.catch_up(cache, to, true);
        self.catch_up(cache, from, false);
        let (since, first) = (self.wheel.now(), copying.begun);
        let copying = &mut self.copies[task as usize];
        copying.ahead = Some(Ahead { since, first, until });
        let event = Event::Copied(task, copying.turn);
        self.ahead += 1;
        self.wheel.at(since + hit * u64::from(until - first), event);
        true
    }

    /// Whether a task at this cache waits for one of these lines.
    fn are_wanted(&self, lines: [u32; 2], cache: u16) -> bool {
        self.at_cache(cache).any(|task| {
            let state = &self.tasks[task as usize];
            let waits = matches!(state.phase, Phase::Granted | Phase::Watching);
            waits && state.request.and_then(Request::word).is_some_and(|word| lines.contains(&word.line_index()))
        })
    }

    /// Whether the event ends a run ahead, which then is over.
    pub fn has_copied(&mut self, task: u16, turn: u16) -> bool {
        let copying = &mut self.copies[task as usize];
        let Some(ahead) = copying.ahead.filter(|_| copying.turn == turn) else { return false };
        copying.ahead = None;
        copying.turn = turn.wrapping_add(1);
        self.ahead -= 1;
        self.begin_until(task, ahead.until);
        true
    }

    /// A line of this cache is about to be read or written, or to leave: who copies ahead there has done no more than its
    /// time.
    #[inline]
    pub fn catch_up(&mut self, cache: u16, line: u32, changes: bool) {
        if self.ahead == 0 {
            return;
        }
        let from = cache as usize * self.layout.threads;
        for place in from..from + self.layout.threads {
            let task = self.seated[place];
            if task == NO_TASK {
                break;
            }
            let copying = &self.copies[task as usize];
            if let Some(ahead) = copying.ahead {
                let [read, written] = copying.words(ahead.first).map(Addr::line_index);
                if written == line || changes && read == line {
                    self.cut(task, ahead);
                }
            }
        }
    }

    /// Begins the steps whose time has come, and lets the others wait for theirs.
    fn cut(&mut self, task: u16, ahead: Ahead) {
        let hit = self.layout.timing.hit;
        let due = ahead.first + ((self.wheel.now() - ahead.since) / hit) as u32 + 1;
        let until = due.min(ahead.until);
        self.begin_until(task, until);
        if until < ahead.until {
            let copying = &mut self.copies[task as usize];
            copying.turn = copying.turn.wrapping_add(1);
            copying.ahead = Some(Ahead { until, ..ahead });
            let event = Event::Copied(task, copying.turn);
            self.wheel.at(ahead.since + hit * u64::from(until - ahead.first), event);
        }
    }

    /// Loads and stores up to this step.
    fn begin_until(&mut self, task: u16, until: u32) {
        let (copying, state) = (&mut self.copies[task as usize], &mut self.tasks[task as usize]);
        self.counts.hits += u64::from(until - copying.begun);
        for step in copying.begun..until {
            let [from, to] = copying.words(step).map(|word| word.0 as usize);
            match step.is_multiple_of(2) {
                true => state.answer = self.words[from],
                false => self.words[to] = state.answer,
            }
        }
        copying.begun = until;
    }
}
