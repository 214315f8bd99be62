//! How much a plan could change its program, in sentences. They stand above the costs of a model.

use crate::duration::duration;
use crate::traffic::three_digits;
use seatmap_plan::Effect;
use seatmap_statistics::words::{figure, lasting};

/// Savings below this share of the program's time are told as one that can be left, in percent:
/// a race of the program hardly shows a smaller difference.
const WORTH_A_RACE_PERCENT: f64 = 1.0;

/// The messages that were seen, and the most that the plan can save.
pub(crate) fn sentences(effect: &Effect) -> [String; 2] {
    [seen(effect), saving(effect)]
}

/// The messages of the program, and what one of them takes.
fn seen(effect: &Effect) -> String {
    let time = lasting(effect.observed_s);
    if effect.messages == 0.0 {
        return format!("No message was seen in the {time} for which the program was observed.");
    }
    let rate = rounded_rate(effect.messages / effect.observed_s);
    let near = duration(effect.nearest_ns);
    let far = duration(effect.farthest_ns);
    let one = if near == far {
        format!("one takes {near} on all seats")
    } else {
        format!("one takes {near} between the nearest seats and {far} between the farthest")
    };
    // Plural: an amount such as 16.8 M, or a rounded rate.
    format!("{rate} messages a second were seen, for {time}; {one}.")
}

/// The most that the plan can save of the program's time.
pub(crate) fn saving(effect: &Effect) -> String {
    let most = effect.saves_at_most_percent;
    if most <= 0.0 {
        return "The plan saves nothing of the program's time by its messages.".to_owned();
    }
    let reason = match effect.busiest_percent {
        Some(busiest) if effect.is_bound_by_work() => {
            format!("its busiest task works for {} % of it", figure(busiest, 0))
        }
        _ => {
            let saved_s = effect.farthest_s - effect.planned_s;
            format!("all messages between the farthest seats would take {} more", lasting(saved_s))
        }
    };
    let verdict = if most < WORTH_A_RACE_PERCENT { " Seats hardly matter to it." } else { "" };
    format!(
        "The plan saves at most {} % of the program's time: {reason}.{verdict}",
        shown_percent(most)
    )
}

/// A rate in the three digits that count; small ones as they are.
fn rounded_rate(rate: f64) -> String {
    if rate < 9999.5 { figure(rate, 0) } else { three_digits(rate) }
}

/// Two digits for small shares, which no rounding makes nothing.
fn shown_percent(percent: f64) -> String {
    match percent {
        10.0.. => figure(percent, 0),
        0.1.. => figure(percent, 1),
        _ => "0.1".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(messages: f64, saves_at_most_percent: f64) -> Effect {
        Effect {
            observed_s: 3.0,
            messages,
            nearest_ns: 1500.0,
            farthest_ns: 26_000.0,
            planned_s: messages * 1500.0 / 1e9,
            farthest_s: messages * 26_000.0 / 1e9,
            busiest_percent: Some(37.0),
            saves_at_most_percent,
        }
    }

    #[test]
    fn the_arithmetic_stands_beside_the_bound() {
        let all: Vec<String> =
            [effect(413_000.0, 63.0), effect(3000.0, 2.45), effect(30.0, 0.0245), effect(0.0, 0.0)]
                .iter()
                .flat_map(sentences)
                .collect();
        insta::assert_snapshot!(all.join("\n"));
    }
}
