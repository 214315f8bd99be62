//! A schedule on Rust threads. Messages go through the standard library's channels, each with room
//! for eight.

use std::hint::black_box;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Builder;

fn main() {
    let path = std::env::args().nth(1).expect("a schedule");
    let text = std::fs::read_to_string(path).expect("a schedule");
    let mut lines = text.lines();
    let head: Vec<usize> =
        lines.next().unwrap().split(' ').map(|word| word.parse().unwrap()).collect();
    let [tasks, rounds, work] = head[..] else { panic!("not a schedule") };
    let mut to: Vec<Vec<Option<SyncSender<u8>>>> =
        (0..tasks).map(|_| (0..tasks).map(|_| None).collect()).collect();
    let mut from: Vec<Vec<Option<Receiver<u8>>>> =
        (0..tasks).map(|_| (0..tasks).map(|_| None).collect()).collect();
    for a in 0..tasks {
        for b in 0..tasks {
            let (sender, receiver) = sync_channel(8);
            (to[a][b], from[b][a]) = (Some(sender), Some(receiver));
        }
    }
    let mut threads = Vec::new();
    for (task, (line, (to, from))) in lines.zip(to.into_iter().zip(from)).enumerate() {
        let steps: Vec<(bool, usize)> = line
            .split_whitespace()
            .map(|step| (step.starts_with('+'), step[1..].parse().unwrap()))
            .collect();
        let play = move || {
            for _ in 0..rounds {
                (0..work).for_each(|i| {
                    black_box(i);
                });
                for (sends, other) in &steps {
                    if *sends {
                        to[*other].as_ref().unwrap().send(0).unwrap_or(());
                    } else {
                        let _ = from[*other].as_ref().unwrap().recv();
                    }
                }
            }
        };
        threads.push(Builder::new().name(format!("w{task}")).spawn(play).unwrap());
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
