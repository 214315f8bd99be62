//! The Cell as the engine sees it.

use crate::cell::request::Request;
use crate::cell::world::{Event, World};
use crate::engine::Machine;

impl Machine for World {
    type Call = Request;

    fn next_task(&mut self) -> Option<(u64, u16)> {
        loop {
            match self.wheel.pop()? {
                (time, Event::Resume(task)) => {
                    self.went_on(task);
                    return Some((time, task));
                }
                (_, event) => self.happen(event),
            }
        }
    }

    fn answer(&self, task: u16) -> u64 {
        self.tasks[task as usize].answer
    }

    fn call(&mut self, task: u16, request: Request) {
        self.begin(task, request);
    }

    fn now(&self) -> u64 {
        self.wheel.now()
    }

    fn events(&self) -> u64 {
        self.wheel.scheduled()
    }

    fn doing(&self, task: u16) -> Option<String> {
        self.tasks[task as usize].request.map(|request| request.to_string())
    }
}
