//! How much a plan could change its program, in sentences above the costs of the model.

use crate::words::{counted_figure, duration, figure, lasting, three_digits};
use seatmap_data::plan::Effect;

/// From this share of the program's time on, savings have no figure: messages overlap, and on a
/// loaded virtual machine a wakeup on another CPU takes several times as long as measured.
const MUCH_PERCENT: f64 = 5.0;

/// Below this share of the program's time, savings are negligible: a race hardly shows a smaller
/// difference.
const WORTH_A_RACE_PERCENT: f64 = 1.0;

pub fn sentences(effect: &Effect) -> [String; 2] {
    [seen(effect), saving(effect)]
}

fn seen(effect: &Effect) -> String {
    let time = lasting(effect.observed_s);
    if effect.messages == 0.0 {
        return format!("No messages were seen in {time} of observation.");
    }
    let rate = effect.messages / effect.observed_s;
    // Small rates are written in full.
    let rate = if rate < 9999.5 { figure(rate, 0) } else { three_digits(rate) };
    let messages = if rate == "1" { "message" } else { "messages" };
    let near = duration(effect.nearest_ns);
    let far = duration(effect.farthest_ns);
    let one = if near == far {
        format!("one takes {near} on all seats")
    } else {
        format!("one takes {near} between the nearest seats and {far} between the farthest")
    };
    format!("Observed {rate} {messages} a second for {time}; {one}.")
}

pub fn saving(effect: &Effect) -> String {
    if effect.outside_wakeups > effect.messages {
        let outside = counted_figure(effect.outside_wakeups, 0, "wakeup");
        return format!(
            "The pattern lacks {outside} from outside the program, so it says little about the \
             program's time. Observe their senders too."
        );
    }
    let most = effect.saving_percent();
    let memory = if effect.saw_memory { "" } else { " Shared memory was not observed." };
    if most <= 0.0 {
        return format!("The plan saves no time for these messages.{memory}");
    }
    let longer = lasting(effect.farthest_s - effect.planned_s);
    if most >= MUCH_PERCENT {
        return format!(
            "The messages may take much of the program's time: at these costs, one after another, \
             they take {longer} less than between the farthest seats. 'seatmap tune' measures \
             whether the plan saves any of it."
        );
    }
    let verdict = if most < WORTH_A_RACE_PERCENT { " Seats hardly matter." } else { "" };
    // Never zero.
    let most = figure(most.max(0.1), 1);
    format!(
        "At these costs the plan saves at most {most} % of the program's time: the messages take \
         {longer} less than between the farthest seats.{verdict}{memory}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(messages: f64) -> Effect {
        Effect {
            observed_s: 3.0,
            messages,
            outside_wakeups: 0.0,
            saw_memory: false,
            nearest_ns: 1500.0,
            farthest_ns: 26_000.0,
            planned_s: messages * 1500.0 / 1e9,
            farthest_s: messages * 26_000.0 / 1e9,
        }
    }

    #[test]
    fn effect_sentences_show_calculation() {
        let seen = Effect { saw_memory: true, ..effect(3000.0) };
        let driven = Effect { outside_wakeups: 43_297.0, ..effect(15.0) };
        let all = Vec::from_iter(
            [
                effect(413_000.0),
                effect(3000.0),
                seen,
                effect(30.0),
                effect(3.0),
                effect(0.0),
                driven,
            ]
            .iter()
            .flat_map(sentences),
        );
        insta::assert_snapshot!(all.join("\n"));
    }
}
