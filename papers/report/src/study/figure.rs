//! A paper's figures, as written in a study and with ours.

use super::claim::{ClaimKind, ClaimVerdict, PaperClaim, WrittenClaim};
use super::with_program;
use seatmap_data::document::visible;
use serde::{Deserialize, Serialize};

/// A figure's source: commands and pointers into their JSON (RFC 6901), in which `[NAME]` stands
/// for the array element with this name.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureSource {
    /// The command, without the program's name and `--json`.
    pub command: String,
    /// The pointer to the value.
    pub value: String,
    /// A pointer to its divisor, in the same JSON.
    pub over_value: Option<String>,
    /// A pointer to a value to subtract, in the same JSON.
    pub minus_value: Option<String>,
    /// A command with the same pointers whose quantity divides the first one's.
    pub over: Option<String>,
    /// As [`Self::over`], but subtracted.
    pub minus: Option<String>,
}

impl FigureSource {
    fn commands(&self) -> String {
        let over = self.over.as_ref().map(|over| format!(" / {}", with_program(over)));
        let minus = self.minus.as_ref().map(|minus| format!(" - {}", with_program(minus)));
        let rest = over.into_iter().chain(minus).collect::<String>();
        with_program(&self.command) + &rest
    }
}

/// The arm of a figure in which the effect is absent. If it agrees with the paper too, then our
/// agreement proves nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct NullArm {
    /// The difference from the figure, in words.
    pub what: String,
    /// Its value's source.
    pub source: FigureSource,
}

/// An arm as written in a study: it changes some keys of its figure, and an empty text removes one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenArm {
    what: String,
    command: Option<String>,
    value: Option<String>,
    over_value: Option<String>,
    minus_value: Option<String>,
    over: Option<String>,
    minus: Option<String>,
}

impl WrittenArm {
    fn of(self, figure: &FigureSource) -> NullArm {
        NullArm {
            what: self.what,
            source: FigureSource {
                command: self.command.unwrap_or_else(|| figure.command.clone()),
                value: self.value.unwrap_or_else(|| figure.value.clone()),
                over_value: changed(self.over_value, figure.over_value.as_ref()),
                minus_value: changed(self.minus_value, figure.minus_value.as_ref()),
                over: changed(self.over, figure.over.as_ref()),
                minus: changed(self.minus, figure.minus.as_ref()),
            },
        }
    }
}

fn changed(own: Option<String>, of_figure: Option<&String>) -> Option<String> {
    own.or_else(|| of_figure.cloned()).filter(|key| !key.is_empty())
}

/// A figure or a result in a paper's text.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "WrittenFigure")]
pub struct StudyFigure {
    /// Its place in the paper: a figure, a table or a section.
    pub place: String,
    /// The figure's name.
    pub what: String,
    /// The source of ours.
    pub source: FigureSource,
    /// The arm in which the effect is absent; every order has one.
    pub null: Option<NullArm>,
    /// The unit of both figures.
    pub unit: String,
    /// Whether the model was fitted to it.
    pub kind: ClaimKind,
    /// The paper's number or order.
    pub claim: PaperClaim,
    /// The paper's statement of an order.
    pub says: Option<String>,
    /// A remark, usually the reason for a miss.
    pub note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFigure {
    place: String,
    what: String,
    command: String,
    value: String,
    over_value: Option<String>,
    minus_value: Option<String>,
    over: Option<String>,
    minus: Option<String>,
    null: Option<WrittenArm>,
    unit: String,
    kind: ClaimKind,
    note: Option<String>,
    published: Option<f64>,
    within: Option<f64>,
    digit: Option<f64>,
    limit: Option<super::ClaimLimit>,
    above: Option<f64>,
    below: Option<f64>,
    says: Option<String>,
}

impl TryFrom<WrittenFigure> for StudyFigure {
    type Error = String;

    fn try_from(written: WrittenFigure) -> Result<Self, String> {
        let claim = WrittenClaim {
            published: written.published,
            within: written.within,
            digit: written.digit,
            limit: written.limit,
            above: written.above,
            below: written.below,
            says: written.says.clone(),
        };
        let claim = claim
            .understood(written.kind, &written.unit)
            .map_err(|problem| format!("figure '{}': {problem}", visible(&written.what)))?;
        if claim.is_order() && written.null.is_none() {
            return Err(format!(
                "figure '{}': write 'null = {{ what = \"...\", ... }}', an arm in which the effect \
                 is absent, with the keys that differ",
                visible(&written.what)
            ));
        }
        let source = FigureSource {
            command: written.command,
            value: written.value,
            over_value: written.over_value,
            minus_value: written.minus_value,
            over: written.over,
            minus: written.minus,
        };
        Ok(Self {
            place: written.place,
            what: written.what,
            null: written.null.map(|arm| arm.of(&source)),
            source,
            unit: written.unit,
            kind: written.kind,
            claim,
            says: written.says,
            note: written.note,
        })
    }
}

/// A figure with ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasuredFigure {
    /// Its place in the paper.
    pub place: String,
    /// The figure's name.
    pub what: String,
    /// The command.
    pub command: String,
    /// The published value; null if the paper only gives an order.
    pub published: Option<f64>,
    /// The paper's statement of an order.
    pub says: Option<String>,
    /// The value that Seatmap found.
    pub ours: f64,
    /// Our value divided by the published one; null if that is 0 or missing.
    pub ratio: Option<f64>,
    /// The unit of both figures.
    pub unit: String,
    /// Whether it is a calibration or a check.
    pub kind: ClaimKind,
    /// The verdict's rule, with its tolerance.
    pub rule: String,
    /// The arm without the effect, if the study names one.
    pub null: Option<MeasuredNull>,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// A remark.
    pub note: Option<String>,
}

/// An arm without the effect, with its value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasuredNull {
    /// The difference from the figure, in words.
    pub what: String,
    /// The command.
    pub command: String,
    /// The value; null if the arm is not run, because our figure disagrees with the paper.
    pub ours: Option<f64>,
}

impl StudyFigure {
    /// Our figure's verdict, before the arm without the effect is known. A quotient of 0 was not
    /// measured, so it has no direction.
    pub fn verdict(&self, ours: f64) -> ClaimVerdict {
        let is_quotient = self.source.over.is_some() || self.source.over_value.is_some();
        match self.claim.verdict(ours) {
            ClaimVerdict::Direction if is_quotient && ours == 0.0 => ClaimVerdict::Miss,
            verdict => verdict,
        }
    }

    /// This figure with ours, and with the value of the arm without the effect if that was run.
    pub fn beside(&self, ours: f64, null: Option<f64>) -> MeasuredFigure {
        let published = self.claim.published();
        let is_agreement_of_null = null.is_some_and(|null| self.verdict(null).is_agreement());
        let verdict = match self.verdict(ours) {
            verdict if verdict.is_agreement() && is_agreement_of_null => ClaimVerdict::Unproven,
            verdict => verdict,
        };
        MeasuredFigure {
            place: self.place.clone(),
            what: self.what.clone(),
            command: self.source.commands(),
            published,
            says: self.says.clone(),
            ours,
            ratio: published.filter(|number| *number != 0.0).map(|number| ours / number),
            unit: self.unit.clone(),
            kind: self.kind,
            rule: self.claim.rule(),
            null: self.null.as_ref().map(|arm| MeasuredNull {
                what: arm.what.clone(),
                command: arm.source.commands(),
                ours: null,
            }),
            verdict,
            note: self.note.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(claim: &str) -> Result<StudyFigure, toml::de::Error> {
        let rest = "place = 'figure 1'\nwhat = 'growth'\ncommand = 'a'\nover = 'b'\n\
                    value = '/x'\nunit = ''\nkind = 'check'\n";
        toml::from_str(&format!("{rest}{claim}"))
    }

    #[test]
    fn agreement_that_the_null_arm_shares_is_unproven() {
        let order = "says = 'it grows'\nabove = 1.0\nnull = { what = 'alone', command = 'c' }";
        let grows = figure(order).unwrap();
        let verdict = |ours, null| grows.beside(ours, null).verdict;
        assert_eq!(verdict(1.5, Some(1.0)), ClaimVerdict::Direction);
        assert_eq!(verdict(1.5, Some(1.4)), ClaimVerdict::Unproven);
        assert_eq!(verdict(1.0, None), ClaimVerdict::Miss);
        assert_eq!(verdict(0.5, Some(1.4)), ClaimVerdict::Reverse);
        // A quotient of 0 by 0 agrees with nothing.
        assert_eq!(verdict(1.5, Some(f64::NAN)), ClaimVerdict::Direction);
        let same = figure("published = 1.0\nnull = { what = 'random', value = '/y' }").unwrap();
        assert_eq!(same.beside(1.0, Some(1.05)).verdict, ClaimVerdict::Unproven);
        assert_eq!(same.beside(1.0, Some(1.5)).verdict, ClaimVerdict::Equal);
    }

    #[test]
    fn null_arm_changes_only_its_keys() {
        let order = "says = 'it grows'\nabove = 1.0\nnull = { what = 'alone', command = 'c' }";
        let found = figure(order).unwrap().beside(1.0, None);
        assert_eq!(found.command, "seatmap-papers a / seatmap-papers b");
        let null = found.null.unwrap();
        assert_eq!(
            (null.command.as_str(), null.ours),
            ("seatmap-papers c / seatmap-papers b", None)
        );
        let alone = figure("says = 'it grows'\nabove = 1.0\nnull = { what = 'alone', over = '' }");
        assert_eq!(alone.unwrap().beside(1.0, None).null.unwrap().command, "seatmap-papers a");
    }

    #[test]
    fn orders_and_limits_need_a_null_arm() {
        assert!(figure("published = 2.0").is_ok());
        for claim in ["says = 'it grows'\nabove = 1.0", "published = 2.0\nlimit = 'over'"] {
            let refused = figure(claim).unwrap_err().to_string();
            assert!(refused.contains("figure 'growth': write 'null = "), "{refused}");
        }
    }
}
