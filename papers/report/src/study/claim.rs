//! A paper's claim about a figure, and the verdict on ours.

use super::number;
use serde::{Deserialize, Serialize};

/// The tolerance around a published number. Readers accept a tenth as "the same" in a figure read
/// off a curve.
const WITHIN: f64 = 0.1;

/// The margin of all orders: ours must be beyond the turning point by this share of it. A smaller
/// difference does not count.
const MARGIN: f64 = 0.1;

/// Whether the model was fitted to a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimKind {
    /// A parameter was fitted to it.
    Calibration,
    /// The model was not fitted to it.
    Check,
}

/// The verdict on our figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimVerdict {
    /// The published number, within the tolerance.
    Equal,
    /// The order or trend that the paper states; the arm without the effect lacks it.
    Direction,
    /// An agreement that proves nothing: the arm without the effect has it too.
    Unproven,
    /// Neither the number nor a difference in the stated direction.
    Miss,
    /// The opposite of the paper's statement.
    Reverse,
    /// An input of the model, which proves nothing.
    Calibrated,
}

impl ClaimVerdict {
    /// All verdicts, in a summary's order.
    pub const ALL: [Self; 6] =
        [Self::Equal, Self::Direction, Self::Unproven, Self::Miss, Self::Reverse, Self::Calibrated];

    /// The verdict's name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Direction => "direction",
            Self::Unproven => "unproven",
            Self::Miss => "miss",
            Self::Reverse => "reverse",
            Self::Calibrated => "calibrated",
        }
    }

    /// Whether the paper and Seatmap agree.
    pub fn is_agreement(self) -> bool {
        matches!(self, Self::Equal | Self::Direction)
    }

    /// Whether the paper and Seatmap disagree.
    pub fn is_disagreement(self) -> bool {
        matches!(self, Self::Miss | Self::Reverse)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Above,
    Below,
}

impl Side {
    /// A value's distance from the turning point on this side; negative on the other side.
    fn beyond(self, value: f64, turn: f64) -> f64 {
        match self {
            Self::Above => value - turn,
            Self::Below => turn - value,
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Above => ">",
            Self::Below => "<",
        }
    }
}

/// The order stated by a paper: a value is on one side of the turning point.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Order {
    side: Side,
    turn: f64,
    /// The smallest difference that counts, in the figure's unit.
    margin: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Published {
    number: f64,
    /// The tolerance in the figure's unit.
    tolerance: f64,
    is_share: bool,
    /// The permitted side, if the paper gives the number as a limit ("over a factor of two").
    limit: Option<Side>,
}

/// A paper's claim about a figure: a number, an order, or both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperClaim {
    published: Option<Published>,
    order: Option<Order>,
    kind: ClaimKind,
}

/// A claim as written in a study's file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WrittenClaim {
    /// The published number.
    pub published: Option<f64>,
    /// A stricter tolerance than a tenth, as a share of the published number.
    pub within: Option<f64>,
    /// The step of the last digit that the paper prints, if that is more than the tolerance.
    pub digit: Option<f64>,
    /// The kind of limit, if the published number is one.
    pub limit: Option<ClaimLimit>,
    /// The turning point that the value exceeds, according to the paper.
    pub above: Option<f64>,
    /// The turning point that the value is below, according to the paper.
    pub below: Option<f64>,
    /// The paper's statement of an order, in the study's words.
    pub says: Option<String>,
}

/// The kind of a published limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimLimit {
    /// The number or more.
    Over,
    /// The number or less.
    Under,
}

impl WrittenClaim {
    /// Checks and converts the claim about a figure in this unit.
    ///
    /// # Errors
    /// A sentence for the study's author, if the claim says nothing about the paper or contradicts
    /// itself.
    pub fn understood(&self, kind: ClaimKind, unit: &str) -> Result<PaperClaim, &'static str> {
        let published = self.number()?;
        let order = self.order(unit)?;
        if published.is_none() && order.is_none() {
            return Err(
                "it has neither a published number nor an order that the paper states; write \
                 'published = NUMBER', or 'says = \"...\"' with 'above' or 'below'",
            );
        }
        if published.is_none() && self.says.is_none() {
            // A bound on our own figure says nothing about the paper.
            return Err("write with 'says' what the paper says of the order");
        }
        if kind == ClaimKind::Calibration && published.is_none() {
            return Err("a calibration is a published number; write 'published = NUMBER'");
        }
        Ok(PaperClaim { published, order, kind })
    }

    fn number(&self) -> Result<Option<Published>, &'static str> {
        let Some(number) = self.published else {
            let is_alone = self.within.is_none() && self.digit.is_none() && self.limit.is_none();
            return if is_alone {
                Ok(None)
            } else {
                Err("'within', 'digit' and 'limit' belong to 'published', which is not there")
            };
        };
        let share = self.within.unwrap_or(WITHIN);
        if !(0.0..=WITHIN).contains(&share) {
            return Err("'within' makes a row stricter: it is a share from 0 to 0.1");
        }
        let digit = self.digit.unwrap_or(0.0);
        if !(number.is_finite() && digit.is_finite() && digit >= 0.0) {
            return Err("'published' and 'digit' are finite numbers, the latter from 0 on");
        }
        if number == 0.0 && self.digit.is_none() {
            return Err("a share of 0 is nothing; write 'digit', the step of its last digit");
        }
        Ok(Some(Published {
            number,
            tolerance: digit.max(share * number.abs()),
            is_share: digit <= share * number.abs(),
            limit: self.limit.map(|limit| match limit {
                ClaimLimit::Over => Side::Above,
                ClaimLimit::Under => Side::Below,
            }),
        }))
    }

    fn order(&self, unit: &str) -> Result<Option<Order>, &'static str> {
        let (side, turn) = match (self.above, self.below) {
            (Some(_), Some(_)) => {
                return Err("an order has one side; write 'above' or 'below', and not both");
            }
            (Some(turn), None) => (Side::Above, turn),
            (None, Some(turn)) => (Side::Below, turn),
            (None, None) => return Ok(None),
        };
        if !turn.is_finite() {
            return Err("'above' and 'below' are finite");
        }
        Ok(Some(Order { side, turn, margin: MARGIN * self.scale(turn, unit) }))
    }

    /// The quantity of which the margin is a share: the turning point, or if that is 0, the
    /// published number, or the whole of which the figure is a part.
    fn scale(&self, turn: f64, unit: &str) -> f64 {
        let whole = if unit == "%" { 100.0 } else { 1.0 };
        let known = [turn, self.published.unwrap_or(0.0), whole].map(f64::abs);
        known.into_iter().find(|scale| *scale > 0.0).unwrap_or(whole)
    }
}

impl PaperClaim {
    /// The published number, if any.
    pub fn published(&self) -> Option<f64> {
        self.published.map(|published| published.number)
    }

    /// Whether a figure can agree without being near a published number.
    pub fn is_order(&self) -> bool {
        self.published.is_none_or(|published| published.limit.is_some())
    }

    /// Our figure's verdict, before the arm without the effect is known.
    pub fn verdict(&self, ours: f64) -> ClaimVerdict {
        if self.kind == ClaimKind::Calibration {
            return ClaimVerdict::Calibrated;
        }
        // Tolerates rounding of a figure exactly at a limit.
        let slack = 1e-9 * ours.abs().max(1e-9);
        if let Some(published) = &self.published {
            let is_near = (ours - published.number).abs() <= published.tolerance + slack;
            // "Over a factor of two" is not met by less, however near.
            let is_beyond =
                published.limit.map(|side| side.beyond(ours, published.number) >= -slack);
            match (is_near, is_beyond) {
                (true, None | Some(true)) => return ClaimVerdict::Equal,
                (false, Some(true)) => return ClaimVerdict::Direction,
                _ => {}
            }
        }
        match self.order.map(|order| (order, order.side.beyond(ours, order.turn))) {
            Some((order, beyond)) if -beyond > order.margin + slack => ClaimVerdict::Reverse,
            Some((order, beyond)) if beyond > order.margin && self.published.is_none() => {
                ClaimVerdict::Direction
            }
            _ => ClaimVerdict::Miss,
        }
    }

    /// The verdict's rule, printed with each figure.
    pub fn rule(&self) -> String {
        if self.kind == ClaimKind::Calibration {
            return "fitted".to_owned();
        }
        let number_rule = self.published.map(|published| {
            let tolerance = if published.is_share {
                let percent = 100.0 * published.tolerance / published.number.abs();
                format!("within {} %", short(percent))
            } else {
                format!("within {}", short(published.tolerance))
            };
            match published.limit {
                Some(side) => format!("{} {}", side.sign(), short(published.number)),
                None => tolerance,
            }
        });
        let order_rule = self.order.map(|Order { side, turn, margin }| {
            format!("{} {} by {}", side.sign(), short(turn), short(margin))
        });
        match (number_rule, order_rule) {
            (Some(rule), None) | (None, Some(rule)) => rule,
            // Next to a number, the order only defines the opposite.
            (Some(rule), Some(_)) => {
                let turn = self.order.map_or(0.0, |order| order.turn);
                format!("{rule}; turns at {}", short(turn))
            }
            (None, None) => unreachable!("a claim says something"),
        }
    }
}

fn short(value: f64) -> String {
    let text = number(value);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(written: &WrittenClaim) -> PaperClaim {
        written.understood(ClaimKind::Check, "").unwrap()
    }

    fn published(number: f64) -> WrittenClaim {
        WrittenClaim { published: Some(number), ..WrittenClaim::default() }
    }

    #[test]
    fn published_number_tolerates_ten_percent() {
        let claim = claim(&published(100.0));
        assert_eq!(claim.verdict(110.0), ClaimVerdict::Equal);
        assert_eq!(claim.verdict(111.0), ClaimVerdict::Miss);
        assert_eq!(claim.verdict(0.1), ClaimVerdict::Miss);
        assert_eq!(claim.rule(), "within 10 %");
    }

    #[test]
    fn number_across_threshold_is_reverse() {
        // A call that Cellule made 6.4 times slower, while ours is faster.
        let claim = claim(&WrittenClaim { above: Some(1.0), ..published(6.4) });
        assert_eq!(claim.verdict(0.14), ClaimVerdict::Reverse);
        assert_eq!(claim.verdict(6.0), ClaimVerdict::Equal);
        // Slower, but by another factor: the number decides.
        assert_eq!(claim.verdict(3.0), ClaimVerdict::Miss);
        assert_eq!(claim.verdict(0.95), ClaimVerdict::Miss);
        assert_eq!(claim.rule(), "within 10 %; turns at 1");
    }

    #[test]
    fn ordering_needs_a_difference() {
        let written = WrittenClaim {
            above: Some(1.0),
            says: Some("distances grow".into()),
            ..WrittenClaim::default()
        };
        let claim = claim(&written);
        assert_eq!(claim.verdict(1.023), ClaimVerdict::Miss);
        assert_eq!(claim.verdict(1.2), ClaimVerdict::Direction);
        assert_eq!(claim.verdict(0.8), ClaimVerdict::Reverse);
        assert_eq!(claim.rule(), "> 1 by 0.1");
    }

    #[test]
    fn margin_at_zero_is_a_tenth_of_the_whole() {
        let rule = |unit, published| {
            let says = Some("gains".into());
            let written = WrittenClaim { above: Some(0.0), says, published, ..Default::default() };
            written.understood(ClaimKind::Check, unit).unwrap().rule()
        };
        assert_eq!(rule("%", None), "> 0 by 10");
        assert_eq!(rule("", None), "> 0 by 0.1");
        assert_eq!(rule("ns", Some(1000.0)), "within 10 %; turns at 0");
    }

    #[test]
    fn last_printed_digit_widens_the_tolerance() {
        let printed = claim(&WrittenClaim { digit: Some(10.0), ..published(30.0) });
        assert_eq!(printed.verdict(40.0), ClaimVerdict::Equal);
        assert_eq!(printed.verdict(41.0), ClaimVerdict::Miss);
        assert_eq!(printed.rule(), "within 10");
        let large = claim(&WrittenClaim { digit: Some(10.0), ..published(300.0) });
        assert_eq!(large.rule(), "within 10 %");
    }

    #[test]
    fn limit_holds_beyond_its_number() {
        let over =
            WrittenClaim { limit: Some(ClaimLimit::Over), above: Some(1.0), ..published(2.0) };
        let claim = claim(&over);
        assert_eq!(claim.verdict(1.51), ClaimVerdict::Miss);
        assert_eq!(claim.verdict(1.86), ClaimVerdict::Miss);
        assert_eq!(claim.verdict(2.0), ClaimVerdict::Equal);
        assert_eq!(claim.verdict(2.6), ClaimVerdict::Direction);
        assert_eq!(claim.verdict(0.5), ClaimVerdict::Reverse);
        assert_eq!(claim.rule(), "> 2; turns at 1");
    }

    #[test]
    fn calibration_input_is_never_judged() {
        let claim = published(100.0).understood(ClaimKind::Calibration, "").unwrap();
        assert_eq!(claim.verdict(100.0), ClaimVerdict::Calibrated);
        assert_eq!(claim.verdict(500.0), ClaimVerdict::Calibrated);
    }

    #[test]
    fn claim_without_published_statement_is_refused() {
        let refused = |written: WrittenClaim| written.understood(ClaimKind::Check, "").is_err();
        assert!(refused(WrittenClaim::default()));
        assert!(refused(WrittenClaim { below: Some(1000.0), ..WrittenClaim::default() }));
        assert!(refused(WrittenClaim { within: Some(0.1), ..WrittenClaim::default() }));
        assert!(refused(WrittenClaim { above: Some(1.0), below: Some(2.0), ..published(1.5) }));
        assert!(refused(published(0.0)));
        assert!(refused(published(f64::NAN)));
        assert!(refused(WrittenClaim { within: Some(-0.1), ..published(1.0) }));
        assert!(refused(WrittenClaim { within: Some(0.2), ..published(1.0) }));
        assert!(refused(WrittenClaim { digit: Some(1.0), ..WrittenClaim::default() }));
    }
}
